from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.mutag import ATOMS, MUTAG
from gnninterpreter.experiments.paper.charts import HeatMap, LogLines
from gnninterpreter.experiments.paper.figures import Cell, Sheet

SVG = "{http://www.w3.org/2000/svg}"


def mixed() -> Data:
    """Red - green - blue, the first edge yellow as it should be, the second red."""
    return undirected_graph(3, [(0, 1), (1, 2)], 1, x=torch.eye(3), edge_attr=torch.eye(6)[[3, 0]])


def nitro() -> Data:
    x = torch.eye(7)[[ATOMS.index(atom) for atom in ("C", "N", "O", "O")]]
    return undirected_graph(4, [(0, 1), (1, 2), (1, 3)], 1, x=x)


def test_inconsistent_edges_are_outlined():
    cell = Cell(mixed(), ColorConsistency.spec)
    assert cell.outlined() == {(1, 2)}
    assert Cell(nitro(), MUTAG.spec).outlined() == set()
    text = Sheet("s", "Title", [("row", [cell])]).svg()
    assert text.count('stroke-width="9"') == 1


def test_molecules_lie_as_chemists_draw_them():
    pytest.importorskip("rdkit")
    at = Cell(nitro(), MUTAG.spec).drawing((200, 150)).positions
    middle, ends = at[1], [at[0], at[2], at[3]]
    lengths = [((x - middle[0]) ** 2 + (y - middle[1]) ** 2) ** 0.5 for x, y in ends]
    # Three bonds of the same length at 120 degrees sum to nothing.
    assert max(lengths) == pytest.approx(min(lengths), rel=0.02)
    assert sum(x - middle[0] for x, _ in ends) == pytest.approx(0.0, abs=1.0)


def test_a_sheet_has_every_graph_caption_and_label():
    cells = [Cell(nitro(), MUTAG.spec, "p = 1 < 2"), Cell(nitro(), MUTAG.spec)]
    root = ElementTree.fromstring(Sheet("s", "A & B", [("mutagen", cells)]).svg())
    texts = {element.text for element in root.iter(f"{SVG}text")}
    assert {"A & B", "mutagen", "p = 1 < 2"} <= texts
    assert len(list(root.iter(f"{SVG}svg"))) == 3


def test_charts_are_well_formed():
    heat = HeatMap("h", "Heat", ["a", "b"], ["c"], [[0.25], [None]])
    root = ElementTree.fromstring(heat.svg())
    assert "0.25" in {element.text for element in root.iter(f"{SVG}text")}
    lines = LogLines("l", "Lines", "n", [("one", [(1, 1), (10, 100)]), ("flat", [(1, 2), (10, 2)])])
    root = ElementTree.fromstring(lines.svg())
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    assert len(list(root.iter(f"{SVG}circle"))) == 4


def test_png_of_each_kind(tmp_path):
    pytest.importorskip("matplotlib")
    figures = (
        Sheet("s", "Title", [("row", [Cell(mixed(), ColorConsistency.spec, "caption")])]),
        HeatMap("h", "Heat", ["a"], ["c"], [[0.25]]),
        LogLines("l", "Lines", "n", [("one", [(1, 1), (10, 100)])]),
    )
    for figure in figures:
        assert figure.png(tmp_path / f"{figure.name}.png")
        assert (tmp_path / f"{figure.name}.png").read_bytes()[:4] == b"\x89PNG"
