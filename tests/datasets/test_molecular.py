"""Structures and scaffolds by hand, and splits that keep them together."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.molecular import BONDS, MolecularDataset, structure_keys
from gnninterpreter.datasets.splits import grouped_split
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, GraphSpec

RING = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]


def molecule(size, edges, carbons=None, double=()):
    kinds = [int(i not in (carbons if carbons is not None else range(size))) for i in range(size)]
    bonds = [int(edge in double) for edge in edges]
    return undirected_graph(
        size, edges, 0, x=torch.eye(2)[kinds], edge_attr=torch.eye(len(BONDS))[bonds]
    )


def keys(*graphs, scaffold=False):
    first = torch.tensor([0, *(g.num_nodes for g in graphs)]).cumsum(0)
    return structure_keys(
        torch.cat([g.x.argmax(1) for g in graphs]),
        torch.cat([g.edge_index + n for g, n in zip(graphs, first.tolist()[:-1], strict=True)], 1),
        torch.cat([g.edge_attr.argmax(1) for g in graphs]),
        torch.cat([torch.full((g.num_nodes,), i) for i, g in enumerate(graphs)]),
        scaffold=scaffold,
    ).tolist()


def test_a_key_knows_the_structure_and_not_the_numbering():
    path = molecule(4, [(0, 1), (1, 2), (2, 3)], carbons=(0, 1, 2))
    turned = molecule(4, [(3, 2), (2, 1), (1, 0)], carbons=(1, 2, 3))
    moved = molecule(4, [(0, 1), (1, 2), (2, 3)], carbons=(0, 1, 3))
    double = molecule(4, [(0, 1), (1, 2), (2, 3)], carbons=(0, 1, 2), double=[(0, 1)])
    found = keys(path, turned, moved, double)
    assert found[0] == found[1]
    assert len(set(found)) == 3


def test_a_scaffold_is_rings_and_what_joins_them():
    ring = molecule(6, RING)
    tailed = molecule(9, [*RING, (0, 6), (6, 7), (7, 8)])
    joined = molecule(13, [*RING, (0, 6), (6, 7), *[(i + 7, j + 7) for i, j in RING]])
    chain, longer = molecule(2, [(0, 1)]), molecule(3, [(0, 1), (1, 2)])
    found = keys(ring, tailed, joined, chain, longer, scaffold=True)
    assert found[0] == found[1] != found[2]
    assert found[3] == found[4] == 0
    assert len(set(keys(ring, tailed, joined, chain, longer))) == 5


def test_groups_never_straddle_and_large_ones_are_trained_on():
    groups = torch.cat([torch.zeros(30), torch.arange(1, 36).repeat_interleave(2)]).long()
    for seed in range(5):
        split = grouped_split(groups, seed)
        parts = [set(groups[part].tolist()) for part in (split.train, split.validation, split.test)]
        assert 0 in parts[0]
        assert sum(map(len, parts)) == len(set.union(*parts))
        assert [len(split.train), len(split.validation), len(split.test)] == [80, 10, 10]
    assert not torch.equal(grouped_split(groups, 0).test, grouped_split(groups, 1).test)
    with pytest.raises(DataError, match="too few to split"):
        grouped_split(torch.zeros(20).long())


class Rings(MolecularDataset):
    """Chains and rings of several sizes, some of them twice."""

    name = "rings"
    spec = GraphSpec(
        nodes=(Categorical(2, ("C", "N"), name="atom"),),
        edges=(Categorical(len(BONDS), BONDS, name="bond"),),
        class_names=("a", "b"),
    )
    oracle = None

    def generate(self):
        for size in [*range(3, 23), *range(3, 23)]:
            yield molecule(size, [(i, (i + 1) % size) for i in range(size)])


def test_a_data_set_splits_by_structure_or_scaffold(tmp_path):
    dataset = Rings(tmp_path)
    for kind in ("random", "scaffold"):
        split = dataset.split(kind, seed=1)
        train, test = set((split.train % 20).tolist()), set((split.test % 20).tolist())
        assert len(split.test) == 4
        assert not train & test
    with pytest.raises(DataError, match="kind must be 'random' or 'scaffold'"):
        dataset.split("time")
