"""The spread over seeds: a mark for each run, where it belongs, in its colour."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from gnninterpreter.experiments.spread import LEFT, WIDTH, _place, spread_svg

SVG = "{http://www.w3.org/2000/svg}"


def test_every_run_is_a_mark_and_misses_stand_out() -> None:
    svg = ET.fromstring(spread_svg({("shape", "wheel"): [0.999, 0.5], ("shape", "<b>"): [1.0]}))
    marks = svg.findall(f"{SVG}circle")
    assert len(marks) == 3
    assert [mark.get("fill") for mark in marks] == ["#0072B2", "#D55E00", "#0072B2"]
    words = [text.text for text in svg.findall(f"{SVG}text")]
    assert "<b>" in words
    assert "1/2" in words


def test_the_axis_runs_from_nothing_to_certainty() -> None:
    assert _place(0.0) == LEFT
    assert _place(1.0) == LEFT + WIDTH
    assert _place(0.9) - _place(0.0) == pytest.approx(_place(0.99) - _place(0.9))
