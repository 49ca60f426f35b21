"""Sheets of graphs: rows of drawings with captions, drawn by the report on matplotlib's axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data

from gnninterpreter.datasets.color_consistency import inconsistent_edges
from gnninterpreter.experiments.charts import FAINT, new_figure
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.spec import GraphSpec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OUTLINE = "#f7a8bd"
# Units of a drawing, and how many of them make an inch.
CELL, UNITS = (190, 150), 100
# In inches: the column of labels, a caption, the title with a line of the legend, another line.
LABEL, CAPTION, TITLE, LINE = 0.95, 0.2, 0.7, 0.2
POINTS = 72.0


@dataclass(frozen=True)
class Cell:
    """One drawing of a sheet, with a short line below it."""

    graph: Data
    spec: GraphSpec
    caption: str = ""

    @classmethod
    def stored(cls, values: Mapping[str, Any], spec: GraphSpec, caption: str) -> Cell:
        """One of a graph as the store keeps it."""
        return cls(graph_from_json(values, spec), spec, caption)

    def drawing(self, size: tuple[int, int] = CELL) -> Drawing:
        """Lay the graph out: molecules as chemists do where RDKit is there."""
        return Drawing.of(to_networkx(self.graph, self.spec), self.spec, size)

    def outlined(self) -> set[tuple[int, int]]:
        """Edges to bring out: those of ColorConsistency with another color than their ends mix."""
        blocks = (*self.spec.nodes, *self.spec.edges)
        if self.spec.class_names != ("consistent", "inconsistent") or len(blocks) != 2:
            return set()
        wrong = inconsistent_edges(self.graph).tolist()
        pairs = self.graph.edge_index.t().tolist()
        return {(u, v) for (u, v), bad in zip(pairs, wrong, strict=True) if bad and u < v}


def sheet(title: str, rows: Sequence[tuple[str, Sequence[Cell]]]) -> Figure:
    """Draw rows of graphs, with one legend for all of them."""
    columns = max((len(cells) for _, cells in rows), default=1)
    labelled = LABEL if any(label for label, _ in rows) else 0.05
    wide, high = (side / UNITS for side in CELL)
    figure = new_figure(labelled + columns * wide, TITLE + len(rows) * (high + CAPTION))
    widths = [labelled, *([wide] * columns)]
    grid = figure.subplots(len(rows), 1 + columns, squeeze=False, width_ratios=widths)
    for ax in grid.flat:
        ax.set_axis_off()
    drawn: list[tuple[Any, Drawing]] = []
    handles: dict[tuple[str, str], Any] = {}
    for (first, *axes), (label, cells) in zip(grid, rows, strict=True):
        first.text(0, 0.5, label.replace(", ", ",\n"), va="center", fontsize=9)
        for ax, cell in zip(axes, cells, strict=False):
            drawing = cell.drawing()
            _draw(ax, cell, drawing, handles)
            drawn.append((ax, drawing))
    if handles:
        across = min(2 * columns, len(handles))
        # Room for what does not fit on one line.
        figure.set_figheight(figure.get_figheight() + LINE * ((len(handles) - 1) // across))
        figure.legend(
            handles=list(handles.values()),
            loc="outside lower center",
            ncols=across,
            fontsize=8,
            frameon=False,
        )
    figure.suptitle(title, fontsize=10, fontweight="bold", x=0.01, ha="left")
    figure.draw_without_rendering()  # Sizes of the axes are known only now.
    for ax, drawing in drawn:
        _fit_letters(ax, drawing)
    return figure


def outlines(dataset: str) -> str:
    """What to add to the title of a sheet whose inconsistent edges are outlined."""
    return " (pink: inconsistent edges)" if dataset == "color_consistency" else ""


def _draw(ax: Any, cell: Cell, drawing: Drawing, handles: dict[tuple[str, str], Any]) -> None:
    """Draw a cell, and move its legend to the handles of the sheet."""
    from gnninterpreter.report.drawing import draw_on

    for u, v in cell.outlined():
        x1, y1, x2, y2 = drawing.ends(u, v)
        ax.plot([x1, x2], [y1, y2], color=OUTLINE, linewidth=6.5, zorder=0.5)
    draw_on(drawing, ax, "")
    ax.set_title(cell.caption, fontsize=8, color=FAINT, y=-0.06, va="top")
    legend = ax.get_legend()
    if legend is not None:
        for handle, text in zip(legend.legend_handles, legend.get_texts(), strict=True):
            handle.set_label(text.get_text())
            handle.set_markersize(8)
            # A node and an edge may have the same name.
            handles[text.get_text(), str(handle.get_marker())] = handle
        legend.remove()


def _fit_letters(ax: Any, drawing: Drawing) -> None:
    """Fit letters to their circles and lines to be seen: what draws knows one size of figure."""
    figure, place = ax.get_figure(), ax.get_position()
    wide, high = figure.get_size_inches()
    share = min(place.width * wide / drawing.size[0], place.height * high / drawing.size[1])
    radius = POINTS * share * drawing.radius
    for label in ax.texts:
        length = len(label.get_text())
        label.set_fontsize(max(3.0, min(8.0, (1.15 if length < 2 else 0.95) * radius)))
    for line in ax.lines:
        line.set_linewidth(max(line.get_linewidth(), 1.2))
