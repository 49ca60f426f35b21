"""Tables of molecules: rows that are read, left out and counted; labels that are missing."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest
import torch

from gnninterpreter import datasets
from gnninterpreter.chem import to_smiles
from gnninterpreter.datasets import summarize
from gnninterpreter.datasets.moleculenet import BBBP, ESOL, Tox21
from gnninterpreter.errors import DataError, GNNInterpreterError, MissingExtraError

# A salt, a molecule twice, a row that RDKit refuses, a metal, nitrobenzene with its charges.
ROWS = ["[Na+].CCC(=O)[O-]", "OCC", "CCO", "c1cc", "C[Pt]C", "c1ccccc1[N+](=O)[O-]"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    pytest.importorskip("rdkit", reason="needs the extra 'chem'")

    def write(cls, cells, rows=ROWS):
        lines = [",".join(["name", *cls.columns, "smiles"])]
        lines += [f"x,{cell},{smiles}" for cell, smiles in zip(cells, rows, strict=True)]
        text = "\n".join(lines).encode()
        digest = hashlib.sha256(text).hexdigest()
        monkeypatch.setattr(cls, "source", replace(cls.source, names=("t.csv",), sha256=digest))
        (tmp_path / "t.csv").write_bytes(text)
        return cls(tmp_path)

    return write


def test_molecules_are_read_and_what_is_left_out_is_counted(table):
    dataset = table(BBBP, [1, 0, 0, 1, 1, 1])
    assert dataset.metadata["rows"] == 6
    assert dataset.metadata["notes"] == {
        "left out: atoms of rare kinds": 1,
        "left out: refused by RDKit": 1,
        "only the largest part kept": 1,
    }
    assert dataset.y.tolist() == [1, 0, 0, 1]
    smiles = [to_smiles(graph, dataset.spec) for graph in dataset]
    assert smiles == ["CCC(=O)[O-]", "CCO", "CCO", "O=[N+]([O-])c1ccccc1"]
    kinds = [dataset.spec.nodes[0].names[kind] for kind in dataset[3].x.argmax(1).tolist()]
    assert sorted(kinds) == ["C"] * 6 + ["N+", "O", "O-"]
    # Nine bonds, of which three of the ring and one of the nitro group are double.
    assert dataset[3].edge_attr.sum(0).tolist() == [10.0, 8.0, 0.0]
    assert summarize(dataset)["oracle_agreement"] is None
    assert summarize(dataset)["classes"] == {"stays out": 2, "gets in": 2}


def test_one_molecule_is_one_graph_however_it_is_written(table):
    rows = ["Cc1ccccc1O", "C1(C)=C(O)C=CC=C1", "C1(O)=CC=CC=C1C", "C[C@H](O)F", "C[C@@H](O)F", "C"]
    keys = table(BBBP, [1, 0, 0, 1, 1, 1], rows).structures()
    assert len(set(keys[:3].tolist())) == len(set(keys[3:5].tolist())) == 1
    assert len(set(keys.tolist())) == 3


def test_values_keep_their_unit(table):
    dataset = table(ESOL, [-1.5, 0.25, 0.5, 1, 1, "nan"])
    assert dataset.task == "regression"
    assert dataset.y.dtype == torch.float
    assert dataset.y.tolist() == [[-1.5], [0.25], [0.5]]
    assert dataset.metadata["notes"]["left out: no label"] == 1
    assert summarize(dataset)["classes"] == {"log solubility": 3}


def test_missing_labels_are_nan(table):
    some = ",".join(["1", "0"] + [""] * 10)
    dataset = table(Tox21, [some, some, "," * 11, some, some, some])
    assert dataset.y.shape == (3, 12)
    assert dataset.y[0, :2].tolist() == [1.0, 0.0]
    assert bool(dataset.y[:, 2:].isnan().all())
    assert dataset.metadata["notes"]["left out: no label"] == 1
    assert summarize(dataset)["classes"]["NR-AR"] == 3


def test_a_cell_that_is_no_number_is_told_with_its_line(table):
    with pytest.raises(DataError, match=r"line 3 of the table of 'bbbp'.*'yes'"):
        table(BBBP, [1, "yes", 0, 1, 1, 1])


def test_without_rdkit_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match="chem"):
        ESOL(tmp_path)


@pytest.mark.parametrize(("name", "count", "left_out"), [("bbbp", 2029, 21), ("esol", 1128, 0)])
def test_the_published_tables(name, count, left_out, tmp_path):
    try:
        dataset = datasets.load(name, tmp_path)
    except GNNInterpreterError as error:
        pytest.skip(f"the data is not at hand: {error}")
    assert len(dataset) == count >= 0.99 * (count + left_out - 11 * (name == "bbbp"))
    assert dataset.metadata["rows"] == count + left_out
    for kind in ("random", "scaffold"):
        split = dataset.split(kind)
        keys = dataset.structures(scaffold=kind == "scaffold")
        parts = [set(keys[part].tolist()) for part in (split.train, split.validation, split.test)]
        assert sum(map(len, parts)) == len(set.union(*parts))
        sizes = [len(split.train), len(split.validation), len(split.test)]
        assert sum(sizes) == count
        assert sizes[2] == pytest.approx(0.1 * count, rel=0.15)
