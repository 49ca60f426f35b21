"""Whether an answer is one of the real graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.evidence import novelty
from gnninterpreter.evidence.novelty import new
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.explanation.made import explanation

SPEC = GraphSpec(
    nodes=(Categorical(4),), edges=(Continuous(1, 0.0, 1.0),), class_names=("plain", "paired")
)


def complete(seed: int) -> Data:
    """All of four nodes joined, which differ from graph to graph in the weights of edges alone."""
    pairs = torch.combinations(torch.arange(4)).t()
    weights = torch.rand(6, 1, generator=torch.Generator().manual_seed(seed))
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
    return Data(x=torch.eye(4), edge_index=both, edge_attr=torch.cat([weights, weights]))


def test_graphs_whose_edges_differ_need_not_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def counted(one: Data, other: Data, spec: GraphSpec) -> bool:
        compared.append(other)
        return same_graph(one, other, spec)

    monkeypatch.setattr(novelty, "same_graph", counted)
    graphs = [complete(seed) for seed in range(novelty.FEW + 20)]
    found = explanation(dense_graphs([graphs[3]], SPEC), target=1, probabilities=[0.999])
    case = Case(replace(found, spec=SPEC), graphs=graphs)
    assert new(case).value == 1
    assert len(compared) == 1
    assert new(replace(case, graphs=graphs[:3] + graphs[4:])).value == 0
