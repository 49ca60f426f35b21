"""MUTAG from the copies at hand, and the chemistry of its oracle."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
import torch

from gnninterpreter.chem import is_valid
from gnninterpreter.datasets import mutag
from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.mutag import ATOMS, BONDS, MUTAG


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
    # Two of them have a carbon with five bonds, in the data as it is published.
    assert sum(is_valid(graph, dataset.spec) for graph in dataset) == 186


def test_oracle_agreement(dataset):
    assert sum(dataset.oracle(graph) == int(graph.y) for graph in dataset) == 167
    assert all(mutag.nitro_groups(graph) >= 1 for graph in dataset)


def test_nitrobenzene():
    graph = nitrobenzene()
    assert mutag.nitro_groups(graph) == 1
    assert mutag.count_cycles(graph) == 1
    assert MUTAG.oracle(graph) == 0


def test_two_nitro_groups_make_a_mutagen():
    graph = nitrobenzene()
    edges = graph.edge_index[:, : graph.num_edges // 2].t().tolist()
    x = torch.cat([graph.x, torch.eye(7)[[1, 2, 2]]])
    twice = undirected_graph(12, [*edges, (3, 9), (9, 10), (9, 11)], 1, x=x)
    assert mutag.nitro_groups(twice) == 2
    assert MUTAG.oracle(twice) == 1
