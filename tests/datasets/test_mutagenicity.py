"""Mutagenicity in the files of the TU collection, and the toxicophores that are its rule."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace

import pytest
import torch

from gnninterpreter.chem import from_smiles
from gnninterpreter.datasets import mutagenicity
from gnninterpreter.datasets.mutagenicity import ATOMS, Mutagenicity
from gnninterpreter.errors import DataError, GNNInterpreterError

CSV = """name,smarts
Nitroso (specific),[NX2]=[OX1]
Anything (general),*
Aldehyde (additional),"[CX3;H1,H2]=O"
"""

# Formaldehyde (nodes 1 to 4) and hydrogen fluoride (5 and 6), as the collection writes them.
FILES = {
    "A": "1, 2\n2, 1\n1, 3\n3, 1\n1, 4\n4, 1\n5, 6\n6, 5\n",
    "graph_indicator": "1\n1\n1\n1\n2\n2\n",
    "graph_labels": "0\n1\n",
    "node_labels": "0\n1\n3\n3\n3\n5\n",
    "edge_labels": "1\n1\n0\n0\n0\n0\n0\n0\n",
}


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    digest = hashlib.sha256("".join(FILES.values()).encode()).hexdigest()
    monkeypatch.setattr(Mutagenicity, "source", replace(Mutagenicity.source, sha256=digest))
    with zipfile.ZipFile(tmp_path / "Mutagenicity.zip", "w") as packed:
        for part, text in FILES.items():
            packed.writestr(f"Mutagenicity/Mutagenicity_{part}.txt", text)
    return Mutagenicity(tmp_path)


@pytest.fixture
def patterns(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")
    (tmp_path / "toxicophores.csv").write_text(CSV)
    monkeypatch.setenv("GNNINTERPRETER_DATA", str(tmp_path))


def test_graphs_are_read_with_their_hydrogens(dataset):
    first, second = dataset
    assert [ATOMS[kind] for kind in first.x.argmax(1).tolist()] == ["C", "O", "H", "H"]
    assert [ATOMS[kind] for kind in second.x.argmax(1).tolist()] == ["H", "F"]
    bonds = dict(
        zip(map(tuple, first.edge_index.t().tolist()), first.edge_attr.argmax(1).tolist(),
            strict=True)
    )  # fmt: skip
    assert bonds[0, 1] == bonds[1, 0] == 1
    assert bonds[0, 2] == bonds[3, 0] == 0
    assert second.edge_index.tolist() == [[0, 1], [1, 0]]
    assert dataset.y.tolist() == [0, 1]


def test_the_rule_finds_toxicophores_but_no_general_ones(dataset, patterns):
    assert mutagenicity.toxicophores_in(dataset[0], dataset.spec) == ["Aldehyde (additional)"]
    assert [Mutagenicity.oracle(graph) for graph in dataset] == [0, 1]
    nitroso = from_smiles("CN(C)N=O", dataset.spec)
    assert mutagenicity.toxicophores_in(nitroso, dataset.spec) == ["Nitroso (specific)"]


def test_no_molecule_and_no_toxicophores(dataset, patterns, monkeypatch):
    crowded = dataset[0].clone()
    crowded.x = torch.eye(len(ATOMS))[[3, 1, 3, 3]]  # a hydrogen with three neighbours
    with pytest.raises(DataError, match="no molecule"):
        Mutagenicity.oracle(crowded)
    monkeypatch.delenv("GNNINTERPRETER_DATA")
    monkeypatch.setattr(mutagenicity.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DataError, match=r"not at hand.*toxicophores\.csv in GNNINTERPRETER_DATA"):
        mutagenicity.load_toxicophores()


def test_the_published_set_and_its_rule(tmp_path):
    try:
        dataset = Mutagenicity(tmp_path)
        mutagenicity.load_toxicophores()
    except GNNInterpreterError as error:
        pytest.skip(f"the data is not at hand: {error}")
    assert len(dataset) == 4337
    assert dataset.y.bincount().tolist() == [2401, 1936]
    some = range(0, 4337, 25)
    agreed = sum(Mutagenicity.oracle(dataset[i]) == int(dataset[i].y) for i in some)
    assert agreed / len(some) > 0.75
