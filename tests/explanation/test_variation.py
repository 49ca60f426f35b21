"""What may vary around a prototype, read off its distribution."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.distribution import GraphDistribution, from_graphs
from gnninterpreter.explanation.modes import variations
from tests.tiny import COLOURED, graph


def path() -> GraphDistribution:
    """Nodes 0, 1 and 3 of five are there: 0-1 and 1-3."""
    return from_graphs(graph(5, [(0, 1), (1, 3)], COLOURED, [0] * 5), 0.9999)


def test_a_distribution_that_is_closed_varies_in_nothing() -> None:
    assert variations(path()) == []


def test_edges_nodes_and_kinds_that_are_open_are_named() -> None:
    closed = path()
    square = closed.to_dense(closed.edge_logits)[0]
    for (i, j), logit in {(0, 1): 1.0, (0, 3): -1.5, (3, 2): -2.0}.items():
        square[i, j] = square[j, i] = logit
    kinds = closed.node_logits[0].clone()
    top = int(kinds[0, 1].argmax())
    kinds[0, 1] = 0.0
    kinds[0, 1, top] = 0.5
    found = variations(closed.with_latents([closed.to_pairs(square.unsqueeze(0)), kinds]))
    said = {(v.kind, frozenset(v.nodes)): v for v in found}
    # In `best` node 3 is number 2.
    gone = said["edge gone", frozenset({0, 1})]
    assert gone.probability == pytest.approx(float(torch.tensor(-1.0).sigmoid()))
    assert said["edge added", frozenset({0, 2})].probability == pytest.approx(0.182, abs=1e-3)
    assert said["node added", frozenset({2})].nodes == (2,)
    other = said["node", frozenset({1})]
    assert other.value == COLOURED.nodes[0].names[1 - top]
    assert len(found) == 4
    chances = [v.probability for v in found]
    assert chances == sorted(chances, reverse=True)
    assert "may be missing (27%)" in str(gone)
