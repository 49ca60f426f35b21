"""Sheets of graphs: rows of drawings with captions, as SVG and, with matplotlib, as PNG."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from torch_geometric.data import Data

from gnninterpreter.chem.drawing import is_molecular
from gnninterpreter.datasets._storage import atomic_path
from gnninterpreter.datasets.color_consistency import inconsistent_edges
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.layout import Positions, fit
from gnninterpreter.report.legend import legend_group
from gnninterpreter.report.svg import FONT, render
from gnninterpreter.report.text import text
from gnninterpreter.spec import GraphSpec

__all__ = ["Cell", "Sheet", "outlines", "write_text"]

INK, FAINT, OUTLINE = "#16202c", "#5b6673", "#f7a8bd"
LABEL, CAPTION, TITLE, MARGIN = 108, 20, 34, 10
# Of RDKit's drawings; and the share of it below which two atoms count as one on top of the other.
BOND_LENGTH, CROWDED = 1.5, 0.6
DOTS = 130
POINTS = 72.0


@dataclass(frozen=True)
class Cell:
    """One drawing of a sheet.

    Args:
        graph: The graph.
        spec: What its features mean.
        caption: One short line below it.
    """

    graph: Data
    spec: GraphSpec
    caption: str = ""

    def drawing(self, size: tuple[int, int]) -> Drawing:
        """Lay the graph out: molecules as chemists do where RDKit is there."""
        drawn = to_networkx(self.graph, self.spec)
        placed = _chemical(self.graph, drawn, self.spec)
        plain = Drawing.of(drawn, self.spec, size)
        if placed is None:
            return plain
        margin = min(24.0, 0.09 * min(size))
        at = fit(placed, *size, margin)
        return Drawing(drawn, self.spec, at, size, min(plain.radius, 9.0))

    def outlined(self) -> set[tuple[int, int]]:
        """Edges to bring out: those of ColorConsistency with another colour than their ends mix."""
        blocks = (*self.spec.nodes, *self.spec.edges)
        if self.spec.class_names != ("consistent", "inconsistent") or len(blocks) != 2:
            return set()
        wrong = inconsistent_edges(self.graph).tolist()
        pairs = self.graph.edge_index.t().tolist()
        return {(u, v) for (u, v), bad in zip(pairs, wrong, strict=True) if bad and u < v}


@dataclass(frozen=True)
class Sheet:
    """Rows of drawings.

    Args:
        name: Name of its files.
        title: What it shows.
        rows: Each row has a label and its drawings.
        size: Width and height of a drawing.
    """

    name: str
    title: str
    rows: Sequence[tuple[str, Sequence[Cell]]]
    size: tuple[int, int] = (190, 150)

    def svg(self) -> str:
        """The sheet as one SVG document."""
        width, height = self.size
        columns = max((len(cells) for _, cells in self.rows), default=1)
        wide = LABEL + columns * (width + MARGIN)
        step = height + CAPTION + MARGIN
        parts = [f'<text x="8" y="22" font-size="15" font-weight="600">{text(self.title)}</text>']
        for r, (label, cells) in enumerate(self.rows):
            top = TITLE + r * step
            parts.append(
                f'<text x="8" y="{top + height / 2:g}" font-size="13">{text(label)}</text>'
            )
            for c, cell in enumerate(cells):
                left = LABEL + c * (width + MARGIN)
                parts += [f'<g transform="translate({left} {top})">', *self._cell(cell), "</g>"]
        bottom = TITLE + len(self.rows) * step
        key, room = self._legend(wide, bottom)
        total = bottom + room
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {total}" width="{wide}" '
            f'height="{total}" font-family="{text(FONT)}" fill="{INK}">'
            f'<rect width="{wide}" height="{total}" fill="#ffffff"/>{"".join(parts)}{key}</svg>\n'
        )

    def png(self, path: Path) -> bool:
        """Write the sheet as PNG; False where matplotlib is missing."""
        if find_spec("matplotlib") is None:
            return False
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        from gnninterpreter.report._matplotlib import draw_on

        columns = max((len(cells) for _, cells in self.rows), default=1)
        figure = Figure(figsize=(2.1 * columns + 0.9, 1.9 * len(self.rows) + 0.5))
        FigureCanvasAgg(figure)
        grid = figure.subplots(len(self.rows), columns, squeeze=False)
        drawn: list[tuple[Any, Drawing]] = []
        for axes, (label, cells) in zip(grid, self.rows, strict=True):
            for c, ax in enumerate(axes):
                if c >= len(cells):
                    ax.set_axis_off()
                    continue
                drawing = cells[c].drawing(self.size)
                for u, v in cells[c].outlined():
                    x1, y1, x2, y2 = drawing.ends(u, v)
                    ax.plot([x1, x2], [y1, y2], color=OUTLINE, linewidth=6.5, zorder=0.5)
                draw_on(drawing, ax, "")
                drawn.append((ax, drawing))
                if ax.get_legend() is not None:
                    ax.get_legend().remove()
                title = f"{label}: {cells[c].caption}" if label and c == 0 else cells[c].caption
                ax.set_title(title, fontsize=7)
        figure.suptitle(self.title, fontsize=9)
        figure.tight_layout()
        for ax, drawing in drawn:
            _fit_letters(ax, drawing)
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png", dpi=DOTS)
        return True

    def _cell(self, cell: Cell) -> list[str]:
        width, height = self.size
        drawing = cell.drawing(self.size)
        below = []
        for u, v in sorted(cell.outlined()):
            x1, y1, x2, y2 = drawing.ends(u, v)
            below.append(
                f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{OUTLINE}" '
                'stroke-width="9" stroke-linecap="round"/>'
            )
        return [
            *below,
            render(drawing, cell.caption or None, show_legend=False, compact=True),
            f'<text x="{width / 2:g}" y="{height + 14}" font-size="11.5" text-anchor="middle" '
            f'fill="{FAINT}">{text(cell.caption)}</text>',
        ]

    def _legend(self, width: int, top: int) -> tuple[str, int]:
        cells = [cell for _, cells in self.rows for cell in cells]
        if not cells:
            return "", 0
        entries = cells[0].drawing(self.size).legend()
        return legend_group(entries, width, top)


def outlines(dataset: str) -> str:
    """What to add to the title of a sheet whose inconsistent edges are outlined."""
    return " (pink: inconsistent edges)" if dataset == "color_consistency" else ""


def write_text(path: Path, content: str) -> None:
    """Write a text file whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


def _fit_letters(ax: Any, drawing: Drawing) -> None:
    """Give letters the size of their circles and lines a breadth that can be seen.

    What draws on axes knows one size of figure; a sheet has many small ones.
    """
    figure, place = ax.get_figure(), ax.get_position()
    wide, high = figure.get_size_inches()
    share = min(place.width * wide / drawing.size[0], place.height * high / drawing.size[1])
    radius = POINTS * share * drawing.radius
    for label in ax.texts:
        length = len(label.get_text())
        label.set_fontsize(max(3.0, min(8.0, (1.15 if length < 2 else 0.95) * radius)))
    for line in ax.lines:
        line.set_linewidth(max(line.get_linewidth(), 1.2))


def _chemical(graph: Data, drawn: nx.Graph, spec: GraphSpec) -> Positions | None:
    """Places of the atoms as RDKit puts them; None for other graphs, and without RDKit."""
    if not is_molecular(spec) or find_spec("rdkit") is None or drawn.number_of_edges() == 0:
        return None
    from rdkit.Chem import rdDepictor

    from gnninterpreter.datasets.molecules import to_rdkit

    molecule = to_rdkit(graph)
    molecule.UpdatePropertyCache(strict=False)
    try:
        rdDepictor.Compute2DCoords(molecule)
    except (RuntimeError, ValueError):
        return None
    places = molecule.GetConformer().GetPositions() / BOND_LENGTH
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)
    if (apart + 2 * np.eye(len(places))).min() < CROWDED:
        # No molecule that could lie flat; atoms would cover each other.
        return None
    found: dict[Hashable, tuple[float, float]] = {
        node: (float(places[node][0]), float(places[node][1])) for node in drawn
    }
    return found
