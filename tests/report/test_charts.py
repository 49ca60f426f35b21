"""Charts: one line for each restart, one dot for each, whatever the numbers are."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from gnninterpreter.explanation import Curve
from gnninterpreter.report.charts import MOST_LINES, MOST_POINTS, curve_svg, dots_svg


def test_the_chosen_restart_is_drawn_last() -> None:
    root = ElementTree.fromstring(curve_svg(Curve("p", [1, 2], [[0, 1, 2], [1, 1, 0]]), choice=0))
    assert [line.get("class") for line in root.iter("polyline")] == ["other", "other", "chosen"]
    assert root.findtext("title") == "p: 1 at iteration 2, 3 restarts"


def test_the_axis_spans_the_values_or_the_bounds() -> None:
    curve = Curve("edges", [10, 20], [[4.0], [12.0]])
    labels = [t.text for t in ElementTree.fromstring(curve_svg(curve, 0)).iter("text")]
    assert labels == ["12", "4", "0", "20 iterations"]
    bounded = ElementTree.fromstring(curve_svg(curve, 0, (0.0, 100.0)))
    assert [t.text for t in bounded.iter("text")][:2] == ["100", "0"]


def test_odd_values_do_not_break_a_chart() -> None:
    broken = Curve("loss", [1, 2, 3], [[math.nan, 1.0], [math.inf, 1.0], [2.0, 1.0]])
    assert "nan" not in curve_svg(broken, 0).lower()
    ElementTree.fromstring(curve_svg(Curve("flat", [1], [[0.5]]), 0))
    assert curve_svg(Curve("none", [], []), 0) == ""
    ElementTree.fromstring(dots_svg([], 0, "none"))


def test_long_runs_stay_small() -> None:
    curve = Curve("p", list(range(5000)), [[0.5] * 500 for _ in range(5000)])
    root = ElementTree.fromstring(curve_svg(curve, 499))
    lines = list(root.iter("polyline"))
    assert len(lines) == MOST_LINES
    assert all(len(line.get("points", "").split()) <= MOST_POINTS for line in lines)


def test_there_is_a_dot_for_each_restart_even_outside_the_scale() -> None:
    root = ElementTree.fromstring(dots_svg([0.99, 0.99, 1.2, math.nan], 1, "spread"))
    dots = list(root.iter("circle"))
    assert len(dots) == 4
    assert [dot.get("class") for dot in dots].count("chosen") == 1
    assert len({(dot.get("cx"), dot.get("cy")) for dot in dots}) == 4
