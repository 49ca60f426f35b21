"""Look-alikes against random graphs: like with like, and seldom a finding where none is."""

from __future__ import annotations

import numpy as np
import pytest
from torch_geometric.data import Data

from gnninterpreter.audit.findings import Severity
from gnninterpreter.audit.flips import CONTROLS, Comparison, Flips, matched_p_value

NOTHING = Data()


def flips(count: int, hosts: int) -> Flips:
    return Flips(NOTHING, count, hosts, (NOTHING,) * count)


def compared(sets: list[list[int]], hosts: int, alone: bool = False) -> Comparison:
    """Sets of counts: the look-alike first, then its random graphs."""
    return Comparison(
        [flips(one[0], hosts) for one in sets],
        [[flips(count, hosts) for count in one[1:]] for one in sets],
        flips(0, hosts),
        "a clique",
        "dense",
        alone,
    )


def test_p_values_by_hand() -> None:
    assert matched_p_value([[5, 1, 1, 0]]) == pytest.approx(1 / 4)
    assert matched_p_value([[1, 1, 1, 0]]) == pytest.approx(3 / 4)
    assert matched_p_value([[0, 4]]) == 1.0
    # Sums of two draws from {2, 0} and {3, 1}: 5, 3, 3, 1.
    assert matched_p_value([[2, 0], [3, 1]]) == pytest.approx(1 / 4)
    assert matched_p_value([[0, 2], [3, 1]]) == pytest.approx(3 / 4)


def test_figures_by_hand() -> None:
    found = compared([[10, 0, 2], [4, 0, 2]], hosts=20)
    assert found.rate == pytest.approx(14 / 40)
    assert found.chance == pytest.approx(4 / 80)
    assert found.fooling == 1
    assert [len(one.fooled) for one in found.ranked] == [10, 4]
    # 3 draws from each set; only 10 + 4 is as high as 14.
    assert found.p_value == pytest.approx(1 / 9)


@pytest.mark.parametrize(
    ("count", "severity"),
    [(20, Severity.HIGH), (10, Severity.MEDIUM), (4, Severity.LOW), (2, None), (0, None)],
)
def test_severity_is_by_the_mean_excess(count: int, severity: Severity | None) -> None:
    assert compared([[count] + [0] * 20] * 3, hosts=30).severity is severity


def test_what_may_be_chance_is_no_finding() -> None:
    assert compared([[20, 0, 0, 0]], hosts=30).severity is None
    assert compared([[20] + [0] * CONTROLS], hosts=30).severity is Severity.HIGH


def test_one_look_alike_alone_is_a_small_finding() -> None:
    assert compared([[1] + [0] * CONTROLS], hosts=1, alone=True).severity is Severity.LOW
    many = [[1] + [0] * 20] * 3
    assert compared(many, hosts=1, alone=True).severity is Severity.HIGH


@pytest.mark.parametrize("kind", ["unequal parts", "all or nothing", "alone"])
@pytest.mark.parametrize("look_alikes", [1, 3, 8, 24])
def test_seldom_a_finding_where_look_alikes_are_random_graphs(look_alikes: int, kind: str) -> None:
    rng = np.random.default_rng([look_alikes, len(kind)])
    shape = (look_alikes, 1 + -(-CONTROLS // look_alikes))
    hosts = 1 if kind == "alone" else 60
    wrong = 0
    for _ in range(200):
        if kind == "all or nothing":
            rates = np.where(rng.random(shape) < 0.3, 0.9, 0.0)
        else:
            rates = rng.beta(0.3, 1.0, shape)
        counts = rng.binomial(hosts, rates).tolist()
        wrong += compared(counts, hosts, alone=kind == "alone").severity is not None
    assert wrong <= 10  # 5%
