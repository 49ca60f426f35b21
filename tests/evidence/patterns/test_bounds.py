from __future__ import annotations

import pytest
import torch

from gnninterpreter.evidence.patterns.bounds import Bounds, _around
from gnninterpreter.evidence.patterns.core import Core, core_check
from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.typed import Range, typed_graphs
from tests.evidence.patterns.hot import HOT, SPEC, path, real_graphs


def test_numbers_get_the_ranges_in_which_the_model_stays_with_the_class():
    real = real_graphs()
    bounds = Bounds(real, HOT, real.of(HOT), 0.99)
    assert {(name, column) for name, column, _ in bounds.columns} == {("x", 0), ("edge_attr", 0)}
    piece = path([0.9, 0.8, 0.1], [0.9, 0.3], torch.Generator().manual_seed(1))
    typed = typed_graphs([piece], SPEC)[0]
    (found,) = bounds([(piece, typed)])
    limits = {(one.nodes, one.column): (one.low, one.high) for one in found.ranges}
    # The third node and its edge are free; ends lie half-way between values a tenth apart.
    assert set(limits) == {((0,), 0), ((1,), 0), ((0, 1), 0)}
    for (nodes, _), (low, high) in limits.items():
        assert low == pytest.approx(0.6 if len(nodes) == 1 else 0.5, abs=0.1)
        assert high is None


def test_the_core_of_numbers_is_the_warm_pair():
    core = find_cores(real_graphs(), HOT).core
    assert core is not None
    assert core.num_nodes == 2
    assert {len(one.nodes) for one in core.ranges} == {1, 2}
    assert core.coverage > 0.8
    assert core.lift > 5
    assert any(said.startswith("heat of node 0 at least 0.") for said in core.conditions)
    assert any(said.startswith("strength of edge 0-1 at least 0.") for said in core.conditions)
    again = core_check(SPEC)(core.to_json(), "core")
    assert again == core
    old = {k: v for k, v in core.to_json().items() if k != "ranges"}
    assert core_check(SPEC)(old, "core").ranges == ()


@pytest.mark.parametrize(
    ("good", "expected"),
    [
        ([True] * 5, (None, None)),
        ([False, False, True, True, True], (1.5, None)),
        ([True, True, True, False, False], (None, 2.55)),
        ([False, True, True, True, False], (None, None)),
        ([False, False, False, False, False], (2.05, 2.55)),
    ],
)
def test_ends_lie_half_way_and_the_outermost_values_are_none(good, expected):
    assert _around(2.1, [0.0, 1.0, 2.0, 3.0, 4.0], good) == pytest.approx(expected)


def test_conditions_in_words():
    graph = path([0.9, 0.8], [0.9], torch.Generator().manual_seed(1))
    ranges = (Range((0,), 0, 0.25, 0.5), Range((1,), 1, high=0.125), Range((0, 1), 0, low=0.75))
    assert Core(graph, SPEC, 1.0, True, ranges=ranges).conditions == [
        "heat of node 0 from 0.25 to 0.5",
        "noise of node 1 at most 0.125",
        "strength of edge 0-1 at least 0.75",
    ]
