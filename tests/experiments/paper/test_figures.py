from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.mutag import ATOMS, MUTAG
from gnninterpreter.experiments.paper.figures import OUTLINE, Cell, sheet


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
    pytest.importorskip("matplotlib")
    figure = sheet("Title", [("row", [cell])])
    lines = [line for ax in figure.axes for line in ax.lines]
    assert sum(line.get_color() == OUTLINE for line in lines) == 1


def test_molecules_lie_as_chemists_draw_them():
    pytest.importorskip("rdkit")
    at = Cell(nitro(), MUTAG.spec).drawing((200, 150)).positions
    middle, ends = at[1], [at[0], at[2], at[3]]
    lengths = [((x - middle[0]) ** 2 + (y - middle[1]) ** 2) ** 0.5 for x, y in ends]
    # Three bonds of the same length at 120 degrees sum to nothing.
    assert max(lengths) == pytest.approx(min(lengths), rel=0.02)
    assert sum(x - middle[0] for x, _ in ends) == pytest.approx(0.0, abs=1.0)


def test_a_sheet_has_every_graph_caption_and_label():
    pytest.importorskip("matplotlib")
    cells = [Cell(nitro(), MUTAG.spec, "p = 1 < 2"), Cell(nitro(), MUTAG.spec)]
    figure = sheet("A & B", [("mutagen", cells), ("nonmutagen", cells[:1])])
    assert "A & B" in [text.get_text() for text in figure.texts]
    assert [ax.get_title() for ax in figure.axes if ax.patches] == ["p = 1 < 2", "", "p = 1 < 2"]
    letters = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert letters.count("N") == 3
    assert {"mutagen", "nonmutagen"} <= set(letters)
    # One legend for all of them.
    (legend,) = figure.legends
    assert {"C", "N", "O"} <= {text.get_text() for text in legend.get_texts()}
    assert not any(ax.get_legend() for ax in figure.axes)


def test_nodes_and_edges_of_one_name_both_have_their_place_in_the_legend():
    pytest.importorskip("matplotlib")
    (legend,) = sheet("Title", [("", [Cell(mixed(), ColorConsistency.spec)])]).legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names.count("red") == 2
