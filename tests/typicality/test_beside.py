"""Each graph is compared with the bank of its own class, as that alone would have it."""

from dataclasses import replace

import pytest
import torch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.typicality import Environments, Kinds, SideBySide, fit
from tests.typicality.some import KINDS, graph, path, ring, star, to_dense, whole


def kinds(size):
    return [i % 3 for i in range(size)]


@pytest.fixture(scope="module")
def banks():
    """Rings, of which environments are counted, and stars; only the second has a density."""
    rings = [ring(n, kinds=kinds(n)) for n in range(4, 12)] * 3
    stars = [star(n, kinds=[0] * (n + 1)) for n in range(3, 11)] * 3
    first, second = (
        fit(whole(graphs, KINDS)).with_kinds(Kinds.of(graphs, KINDS)) for graphs in (rings, stars)
    )
    around = Environments.of(rings, KINDS)
    return replace(first, environments=around), replace(second, density=torch.tensor(0.9))


def asked():
    graphs = [ring(6, kinds=kinds(6)), path(5, kinds=[0] * 5), star(6, kinds=[1] * 7)]
    odd = graph([(0, 1), (1, 2), (2, 0), (2, 3)], 4, kinds=[2, 2, 0, 0])
    return to_dense([*graphs, odd, ring(3, kinds=[0] * 3), star(4, kinds=[0] * 5)], KINDS)


def beside(banks, counts):
    place = torch.arange(len(banks)).repeat_interleave(torch.tensor(counts))
    ends = torch.tensor(counts).cumsum(0).tolist()
    spans = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
    return SideBySide.of(banks).for_(place, spans)


@pytest.mark.parametrize("counts", [(2, 4), (0, 6), (6, 0)])
@pytest.mark.parametrize("fixed", [False, True])
def test_as_each_bank_alone(banks, counts, fixed):
    graphs, both = asked(), beside(banks, counts)
    parts = [graphs[: counts[0]], graphs[counts[0] :]]

    def alone(ask):
        each = [ask(b, p) for b, p in zip(banks, parts, strict=True) if len(p)]
        return torch.cat(each)

    if fixed:
        with fixed_shapes():
            found = both.penalty(graphs, 40.0)
            expected = alone(lambda bank, part: bank.penalty(part, 40.0))
        assert torch.allclose(found, expected, atol=1e-5)
        return
    for name in ("nodes", "whole", "local", "outside", "rare", "density"):
        found = getattr(both.strangeness(graphs), name)
        assert torch.allclose(
            found, alone(lambda b, p, name=name: getattr(b.strangeness(p), name)), atol=1e-5
        )
    assert torch.equal(both.percentile(graphs), alone(lambda bank, part: bank.percentile(part)))
    assert torch.equal(both.reaches(graphs, 40.0), alone(lambda b, part: b.reaches(part, 40.0)))


def test_the_order_in_which_tables_were_stored_does_not_keep_banks_apart(banks):
    first, other = banks
    turned = replace(first, seen=dict(reversed(first.seen.items())))
    assert turned.layout == first.layout == other.layout
    assert replace(first, graphs=first.graphs[:3]).layout != first.layout


def test_of_some_graphs(banks):
    graphs, both, rows = asked(), beside(banks, (3, 3)), torch.tensor([1, 3, 4])
    some = both.select(rows)
    assert torch.allclose(some.penalty(graphs[rows]), both.penalty(graphs)[rows], atol=1e-5)


def test_soft_graphs_have_a_slope(banks):
    graphs, both = asked(), beside(banks, (3, 3))
    weight = graphs.weight.clone().requires_grad_()
    soft = DenseGraphs(KINDS, weight, graphs.nodes)
    (slope,) = torch.autograd.grad(both.penalty(soft).sum(), weight)
    assert torch.isfinite(slope).all()
    assert slope.abs().sum() > 0


def test_many_graphs_are_described_some_at_a_time(banks, monkeypatch):
    graphs, both = asked(), beside(banks, (2, 4))
    at_once = both.penalty(graphs)
    monkeypatch.setattr("gnninterpreter.batches.MOST_PAIRS", 2 * graphs.num_candidates**2)
    assert torch.allclose(both.penalty(graphs), at_once, atol=1e-5)
    assert both.reaches(graphs, 25.0).shape == (6,)
