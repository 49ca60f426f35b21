"""Density: edges per node as a figure of typicality, and where it says nothing."""

import pytest
import torch

from gnninterpreter.typicality import Typicality, TypicalityBank, fit
from gnninterpreter.typicality.bank import DENSITY
from gnninterpreter.typicality.density import with_density
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import PLAIN, graph, path, ring, star, whole


def chorded(size, chords):
    """A ring with so many chords: (size + chords) / size edges per node."""
    edges = [(i, (i + 1) % size) for i in range(size)]
    return graph(edges + [(i, (i + 2) % size) for i in range(chords)], size)


# Edges per node 1, 1.1, 1.2 three times, 1.3 and 1.4: in the mean 1.2.
REAL = [chorded(10, chords) for chords in (0, 1, 2, 2, 2, 3, 4)] * 6


def sure(some):
    return torch.ones(len(some), dtype=torch.bool)


def counted(real=REAL):
    return with_density(fit(whole(real, PLAIN)), real, PLAIN, 1.0)


def test_the_share_of_real_graphs_that_are_as_far_from_the_mean():
    bank = counted()
    assert float(bank.density) == pytest.approx(1.2)
    asked = to_dense([chorded(10, 2), chorded(10, 1), ring(10), path(10)], PLAIN)
    found = bank.strangeness(asked)
    assert found.density.tolist() == pytest.approx([0, 0.1, 0.2, 0.3], abs=1e-6)
    # Of seven graphs three have the mean, two lie 0.1 from it and two 0.2.
    nearest, near, far, beyond = bank.percentiles(found)[:, DENSITY].tolist()
    assert nearest == 100
    assert near == pytest.approx(100 * 4 / 7, abs=2)
    assert far == pytest.approx(100 * 2 / 7, abs=2)
    assert beyond == 0
    assert bank.percentile(asked)[3] == 0


def test_more_edges_than_asked_for_cost_with_a_slope():
    bank = counted()
    dense = to_dense([chorded(10, 6)], PLAIN)
    weight = dense.weight.clone().requires_grad_()
    found = bank.strangeness(type(dense)(PLAIN, weight, dense.nodes))
    (slope,) = torch.autograd.grad(found.density.sum(), weight)
    assert float(slope[0, 0, 5]) > 0  # one edge more is farther from the mean
    assert float(bank.penalty(dense)) > 0


@pytest.mark.parametrize(
    ("real", "why"),
    [
        ([ring(40)] * 20, "too large to be shown"),
        ([path(10), chorded(10, 9)] * 10, "of two kinds, and none like the mean"),
    ],
)
def test_says_nothing_of_large_graphs_and_of_several_kinds(real, why):
    bank = fit(whole(real, PLAIN, 40))
    assert with_density(bank, real, PLAIN, 1.0) is bank, why


def test_says_nothing_where_the_model_is_rarely_certain():
    assert Typicality.of(REAL, PLAIN, 12, sure).bank.density is not None
    rarely = Typicality.of(REAL, PLAIN, 12, lambda some: some.num_edges == 10)
    assert rarely.bank.density is None
    assert Typicality.of(REAL, PLAIN, 12, sure, density=False).bank.density is None


def test_of_whole_graphs_alone_and_stored_with_the_rest():
    known = Typicality.of(REAL, PLAIN, 12, sure)
    asked = to_dense([chorded(10, 2), star(9)], PLAIN)
    again = TypicalityBank.from_tensors(known.bank.tensors()).to("cpu")
    assert again.density == known.bank.density
    assert torch.equal(again.percentile(asked), known.bank.percentile(asked))
    pieces = Typicality.of([ring(25)] * 20, PLAIN, 8, sure)
    assert pieces.bank.density is None
    assert pieces.bank.strangeness(asked).density.tolist() == [0, 0]
