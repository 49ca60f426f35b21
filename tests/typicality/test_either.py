"""Typical of one class or of another: the better of both banks, whichever it is."""

from __future__ import annotations

import torch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality import EitherBank, Typicality, TypicalityBank, either
from tests.tiny import shapes


def known() -> list[Typicality]:
    """Cycles, and stars."""
    spec = GraphSpec(class_names=("cycle", "star"))
    found = []
    for kind in range(2):
        graphs = [graph for graph in shapes(range(4, 18)) if int(graph.y) == kind]
        one = Typicality.of(graphs, spec, 12, lambda some: torch.ones(len(some)).bool())
        assert one is not None
        found.append(one)
    return found


def test_a_graph_is_as_typical_as_of_the_class_it_suits_better() -> None:
    both, parts = either(known()), known()
    assert isinstance(both.bank, EitherBank)
    graphs = DenseGraphs.cat([one.exemplars.graphs[slice(0, 2)] for one in parts])
    banks = [one.bank for one in parts if isinstance(one.bank, TypicalityBank)]
    each = torch.stack([bank.percentile(graphs) for bank in banks])
    assert torch.equal(both.bank.percentile(graphs), each.amax(0))
    least = torch.stack([bank.penalty(graphs) for bank in banks]).amin(0)
    assert torch.allclose(both.bank.penalty(graphs), least)
    assert torch.allclose(both.bank.penalty(both.bank.strangeness(graphs)), least)
    assert both.bank.reaches(graphs, 0.0).tolist() == [True] * 4
    assert len(both.exemplars) == sum(len(one.exemplars) for one in parts)
    assert both.bank.limits.tolist()[3] == max(float(bank.limits[3]) for bank in banks)
    assert torch.equal(both.to("cpu").bank.percentile(graphs), both.bank.percentile(graphs))
