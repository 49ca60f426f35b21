"""The class score (equation 1, first term) and the log-probability that stands in for it."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.objective import Certainty, RawScore
from tests.tiny import PLAIN as SPEC
from tests.tiny import aim, distribution, graph, iterate, problem

LOGITS = torch.tensor(
    [[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]], [[-5.0, 5.0, 0.0], [1.0, 1.0, 4.0]]], dtype=torch.double
)


def test_equation_1_takes_the_raw_score_of_the_target() -> None:
    of = distribution(SPEC, 3, restarts=2)
    found = RawScore().soft(iterate(of, logits=LOGITS, after=aim(1)))
    assert found.tolist() == [[-2.0, 0.0], [-5.0, -1.0]]


def test_log_probability_by_hand() -> None:
    of = distribution(SPEC, 3, restarts=2)
    found = Certainty().soft(iterate(of, logits=LOGITS, after=aim(1)))
    first = math.log(math.exp(1) + math.exp(2) + math.exp(3)) - 2
    last = math.log(2 * math.exp(1) + math.exp(4)) - 1
    assert found[0].tolist() == pytest.approx([first, math.log(3)])
    assert found[1, 1].item() == pytest.approx(last)


def test_the_raw_score_sees_a_common_shift_and_the_log_probability_does_not() -> None:
    of, after = distribution(SPEC, 3, restarts=2), aim(1)
    for term, moves in ((RawScore(), True), (Certainty(), False)):
        before = term.soft(iterate(of, logits=LOGITS, after=after))
        shifted = term.soft(iterate(of, logits=LOGITS + 7.0, after=after))
        assert torch.allclose(shifted, before - 7.0 * moves)


def test_log_probability_stays_finite_for_large_scores() -> None:
    logits = torch.tensor([[[1e4, -1e4]]], dtype=torch.double)
    of = distribution(SPEC, 3)
    assert Certainty().soft(iterate(of, logits=logits)).item() == 0.0
    assert Certainty().soft(iterate(of, logits=-logits)).item() == pytest.approx(2e4)


@pytest.mark.parametrize("p", [0.9, 0.5, 1e-4])
def test_on_discrete_graphs_it_counts_up_to_near_certainty_and_not_beyond(p: float) -> None:
    path = graph(4, [(0, 1), (1, 2)])
    found = problem(lambda g: g.num_edges, lambda g: torch.full((len(g),), p)).propose(path)
    assert float(Certainty().discrete(found)) == pytest.approx(math.log(0.9999 / p))
    assert float(Certainty().guide(found)) == pytest.approx(math.log1p(-math.log(p)))
    sure = problem(lambda g: g.num_edges).propose(path)
    assert float(Certainty().discrete(sure)) == 0.0
