"""MUTAG from the copies at hand, and the chemistry of its oracle."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest
import torch

from gnninterpreter.datasets import molecules, mutag
from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.mutag import ATOMS, BONDS, MUTAG
from gnninterpreter.errors import DataError, MissingExtraError


@pytest.fixture(scope="module")
def source():
    if importlib.util.find_spec("grakel") is None:
        pytest.skip("needs the extra 'chem'")
    folder, found = mutag._find_files(Path("nowhere"))
    assert found == "grakel"
    return folder


@pytest.fixture(scope="module")
def dataset(source, tmp_path_factory):
    return MUTAG(tmp_path_factory.mktemp("mutag"))


def nitrobenzene(bonds: bool = False):
    ring = [(i, (i + 1) % 6) for i in range(6)]
    edges = [*ring, (0, 6), (6, 7), (6, 8)]
    kinds = [0] * 6 + [1, 2, 1]
    atoms = [ATOMS.index(a) for a in "CCCCCCNOO"]
    features = torch.eye(len(BONDS))[kinds] if bonds else None
    return undirected_graph(9, edges, 0, x=torch.eye(7)[atoms], edge_attr=features)


def test_published_figures(dataset):
    assert len(dataset) == 188
    assert torch.bincount(dataset.y).tolist() == [63, 125]
    assert float(dataset.slices["x"].diff().double().mean()) == pytest.approx(17.93, abs=0.01)
    edges = float(dataset.slices["edge_index"].diff().double().mean()) / 2
    assert edges == pytest.approx(19.79, abs=0.01)
    counts = dataset.x.sum(0).int().tolist()
    assert dict(zip(ATOMS, counts, strict=True)) == {
        "C": 2395, "N": 345, "O": 593, "F": 12, "I": 1, "Cl": 23, "Br": 2
    }  # fmt: skip
    assert dataset.metadata["source"] == "grakel"
    assert "edge_attr" not in dataset[0]


def test_bonds_on_demand(source, tmp_path):
    dataset = MUTAG(tmp_path, bonds=True)
    assert dataset.spec.edge_width == dataset[0].edge_attr.size(1) == 4
    assert MUTAG.spec.edge_width == 0
    pytest.importorskip("rdkit")
    valid = sum(molecules.is_valid_molecule(graph) for graph in dataset)
    assert valid == 179  # the rest are aromatic nitrogens whose charge the data leaves out


def test_oracle_agreement(dataset):
    assert sum(dataset.oracle(graph) == int(graph.y) for graph in dataset) == 167
    assert all(molecules.nitro_groups(graph) >= 1 for graph in dataset)


def test_nitrobenzene():
    graph = nitrobenzene()
    assert molecules.nitro_groups(graph) == 1
    assert molecules.count_cycles(graph) == 1
    assert MUTAG.oracle(graph) == 0


def test_two_nitro_groups_make_a_mutagen():
    graph = nitrobenzene()
    edges = graph.edge_index[:, : graph.num_edges // 2].t().tolist()
    x = torch.cat([graph.x, torch.eye(7)[[1, 2, 2]]])
    twice = undirected_graph(12, [*edges, (3, 9), (9, 10), (9, 11)], 1, x=x)
    assert molecules.nitro_groups(twice) == 2
    assert MUTAG.oracle(twice) == 1


def test_smiles_and_validity():
    chem = pytest.importorskip("rdkit.Chem")
    molecule = molecules.to_rdkit(nitrobenzene(bonds=True))
    chem.SanitizeMol(molecule)
    assert chem.MolToSmiles(molecule) == "O=[N+]([O-])c1ccccc1"
    assert molecules.is_valid_molecule(nitrobenzene())
    five_bonds = undirected_graph(6, [(0, i) for i in range(1, 6)], 0, x=torch.eye(7)[[0] * 6])
    assert not molecules.is_valid_molecule(five_bonds)
    apart = undirected_graph(4, [(0, 1), (2, 3)], 0, x=torch.eye(7)[[0] * 4])
    assert not molecules.is_valid_molecule(apart)
    with pytest.raises(DataError, match="one column for each of the atoms"):
        molecules.to_rdkit(undirected_graph(2, [(0, 1)], 0))


def test_missing_rdkit_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gnninterpreter\[chem\]'"):
        molecules.to_rdkit(nitrobenzene())


def test_files_in_root_come_first(source, tmp_path):
    for path in source.glob("MUTAG_*.txt"):
        shutil.copy(path, tmp_path)
    assert MUTAG(tmp_path).metadata["source"] == "root"


def test_incomplete_and_damaged_files(source, tmp_path):
    shutil.copy(source / "MUTAG_A.txt", tmp_path)
    with pytest.raises(DataError, match="incomplete"):
        MUTAG(tmp_path)
    for path in source.glob("MUTAG_*.txt"):
        shutil.copy(path, tmp_path)
    labels = tmp_path / "MUTAG_graph_labels.txt"
    labels.write_text("1\n-1\n")
    with pytest.raises(DataError, match="holds 2 molecules, not MUTAG's 188"):
        MUTAG(tmp_path)
    labels.write_text("1\nmutagen\n")
    with pytest.raises(DataError, match="is damaged"):
        MUTAG(tmp_path)


def test_nowhere_to_be_had(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise OSError("no route to host")

    monkeypatch.setattr(mutag.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("torch_geometric.datasets.TUDataset", refuse)
    with pytest.raises(DataError, match=r"cannot download MUTAG .*no route to host"):
        MUTAG(tmp_path)
