"""Charts: every number where it belongs, in its color."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from gnninterpreter.experiments.charts import (
    MISSED,
    REACHED,
    certainty,
    heat_map,
    log_lines,
    save,
    seed_chart,
)

colors = pytest.importorskip("matplotlib.colors")


def test_every_run_is_a_mark_and_misses_stand_out() -> None:
    (ax,) = seed_chart({("shape", "wheel"): [0.999, 0.5], ("shape", "<b>"): [1.0]}).axes
    marks = [
        (round(float(x), 6), float(y), colors.to_hex(face).upper())
        for row in ax.collections
        for (x, y), face in zip(row.get_offsets(), row.get_facecolors(), strict=True)
    ]
    assert [(y, color) for _, y, color in marks] == [(0, REACHED), (0, MISSED), (1, REACHED)]
    assert [x for x, _, _ in marks[:2]] == [3.0, round(certainty(0.5), 6)]
    assert {"shape", "1/2", "1/1"} == {text.get_text() for text in ax.texts}
    assert [label.get_text() for label in ax.get_yticklabels()] == ["wheel", "<b>"]


def test_the_axis_runs_from_nothing_to_certainty() -> None:
    assert certainty(0.0) == 0.0
    assert certainty(1.0) == certainty(0.9995)
    assert certainty(0.9) - certainty(0.0) == pytest.approx(certainty(0.99) - certainty(0.9))


def test_a_heat_map_names_rows_columns_and_values() -> None:
    (ax,) = heat_map("Heat", ["a", "b"], ["no L1"], [[0.25], [None]]).axes
    assert [text.get_text() for text in ax.texts] == ["0.25"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["no\nL1"]
    assert ax.images[0].get_array().mask.tolist() == [[False], [True]]


def test_lines_have_their_points_and_names() -> None:
    lines = {"one": [(1.0, 1.0), (10.0, 100.0)], "flat": [(1.0, 2.0), (10.0, 2.0)]}
    (ax,) = log_lines("Lines", "n", lines).axes
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        [[1.0, 1.0], [10.0, 100.0]],
        [[1.0, 2.0], [10.0, 2.0]],
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "flat"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_files_are_well_formed_and_the_same_twice(tmp_path: Path) -> None:
    for name in ("a.svg", "b.svg", "c.png"):
        save(heat_map("Heat & more", ["a"], ["c"], [[0.25]]), tmp_path / name)
    svg = (tmp_path / "a.svg").read_text()
    words = {element.text for element in ElementTree.fromstring(svg).iter() if element.text}
    assert "Heat & more" in words
    assert svg == (tmp_path / "b.svg").read_text()
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"
