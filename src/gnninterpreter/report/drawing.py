"""One graph as a picture: SVG for pages and files, matplotlib for notebooks and papers."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import networkx as nx
import numpy as np
from markupsafe import Markup
from torch_geometric.data import Data

from gnninterpreter.arguments import several, whole_number
from gnninterpreter.chem.drawing import formula_svg, places
from gnninterpreter.errors import needs
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report.appearance import (
    INK,
    EdgeLook,
    LegendEntry,
    NodeLook,
    edge_look,
    legend,
    node_look,
    numbered,
)
from gnninterpreter.report.layout import Positions, fit, layout
from gnninterpreter.report.svg import render
from gnninterpreter.spec import GraphSpec

LARGEST_RADIUS, SMALLEST_RADIUS = 15.0, 3.0
FIGURE = (4.8, 3.4)
# Points of a letter for each unit of a node's radius, in a figure of that size.
LETTER = 0.72


@dataclass(frozen=True)
class Drawing:
    """A graph with everything decided that a picture in a box of ``size`` needs."""

    graph: nx.Graph
    spec: GraphSpec
    positions: Positions
    size: tuple[int, int]
    radius: float

    @classmethod
    def of(
        cls,
        graph: nx.Graph,
        spec: GraphSpec,
        size: tuple[int, int],
        start: Positions | None = None,
    ) -> Drawing:
        """Lay a graph out in a box; a molecule as chemists do, where RDKit is there."""
        width, height = size
        placed = places(graph, spec) if start is None else None
        return cls.arranged(graph, spec, size, placed or layout(graph, width / height, start))

    @classmethod
    def arranged(
        cls, graph: nx.Graph, spec: GraphSpec, size: tuple[int, int], placed: Positions
    ) -> Drawing:
        """Fit a graph that is laid out already into a box, keeping its proportions."""
        width, height = size
        margin = min(24.0, 0.09 * min(size))
        positions = fit(placed, width, height, margin)
        return cls(graph, spec, positions, size, _radius(positions, min(size)))

    def nodes(self) -> Iterator[tuple[Hashable, float, float, NodeLook]]:
        """Each node with its place and look."""
        for node, attributes in self.graph.nodes(data=True):
            shown = {k: a for k, a in attributes.items() if not k.startswith("_")}
            look = node_look(shown, self.spec)
            if "_number" in attributes:
                look = numbered(look, attributes["_number"], self.spec)
            yield (node, *self.positions[node], look)

    def edges(self) -> Iterator[tuple[Hashable, Hashable, EdgeLook, dict[str, Any]]]:
        """Each edge with its look and its attributes."""
        for u, v, attributes in self.graph.edges(data=True):
            shown = {k: a for k, a in attributes.items() if not k.startswith("_")}
            yield u, v, edge_look(shown, self.spec), attributes

    def ends(self, u: Hashable, v: Hashable) -> tuple[float, float, float, float]:
        """Where the line from u to v begins and ends.

        Undirected lines run from centre to centre below the nodes. Directed ones stop where the
        head of the arrow begins, and step aside where another runs the other way.
        """
        (x1, y1), (x2, y2) = self.positions[u], self.positions[v]
        if not self.spec.directed:
            return x1, y1, x2, y2
        length = max(float(np.hypot(x2 - x1, y2 - y1)), 1e-6)
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        aside = 0.35 * self.radius if self.graph.has_edge(v, u) else 0.0
        short = self.radius + 0.6 * self.radius
        x1, y1, x2, y2 = x1 - dy * aside, y1 + dx * aside, x2 - dy * aside, y2 + dx * aside
        return x1, y1, x2 - dx * short, y2 - dy * short

    def legend(self) -> list[LegendEntry]:
        """Legend of the features in it."""
        return legend(self.spec, present([self.graph]))


def present(graphs: Iterable[nx.Graph]) -> set[tuple[str, str]]:
    """What a legend of these graphs has to name: nodes and edges by what they show."""
    return {
        (kind, str(value))
        for graph in graphs
        for kind, items in (("node", graph.nodes), ("edge", graph.edges))
        for *_, attributes in items(data=True)
        for value in attributes.values()
    }


def graph_svg(
    graph: nx.Graph,
    spec: GraphSpec,
    *,
    size: tuple[int, int] = (480, 340),
    title: str | None = None,
    show_legend: bool = True,
    start: Positions | None = None,
    compact: bool = False,
    marked: Collection[object] = (),
) -> Markup:
    """Draw a graph, as `Explanation.graph` gives it, as a self-contained SVG element.

    Every node is one ``circle``, every edge one ``line``; the same graph gives the same text. The
    legend comes below a drawing of ``size``. The title says what it shows to people who cannot see
    it. Known places of some nodes (``start``, in units of an edge) make drawings comparable;
    ``compact`` leaves out what only hands and pointers need; ``marked`` nodes get a thick ring.
    """
    width, height = (whole_number("size", side, 1) for side in several("size", size, "two numbers"))
    drawing = Drawing.of(graph, spec, (width, height), start)
    return render(drawing, title, show_legend, compact=compact, marked=marked)


def small_svg(
    graph: nx.Graph | Data,
    spec: GraphSpec,
    size: tuple[int, int],
    title: str | None = None,
    marked: Collection[object] = (),
    start: Positions | None = None,
) -> Markup:
    """The same for a small picture, without legend and handles; a molecule as its formula."""
    if isinstance(graph, Data) and start is None:
        formula = formula_svg(graph, spec, title or "Graph", marked=marked, size=size)
        if formula:
            return Markup(formula)
    named = to_networkx(graph, spec) if isinstance(graph, Data) else graph
    return render(Drawing.of(named, spec, size, start), title, False, compact=True, marked=marked)


def draw(explanation: Explanation, ax: Any = None) -> Any:
    """Draw the most probable graph of an explanation on matplotlib axes, and return them.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    drawing = Drawing.of(explanation.graph, explanation.spec, (480, 340))
    mean = explanation.probability
    return draw_on(drawing, ax, f"{explanation.name}   p = {mean.mean:.3f} ± {mean.std:.3f}")


def picture(explanation: Explanation, kind: str = "png") -> bytes:
    """The same drawing as a file of matplotlib's, made without any display."""
    with needs("matplotlib", "report", f"writing {kind.upper()}"):
        from matplotlib.figure import Figure
    figure, buffer = Figure(figsize=FIGURE), BytesIO()
    draw(explanation, figure.add_subplot())
    figure.savefig(buffer, format=kind, dpi=200, bbox_inches="tight")
    return buffer.getvalue()


def _radius(positions: Positions, box: int) -> float:
    """As large as the closest pair of nodes allows."""
    largest = min(LARGEST_RADIUS, 0.06 * box)
    if len(positions) < 2:
        return largest
    at = np.array(list(positions.values()))
    apart = np.linalg.norm(at[:, None] - at[None], axis=-1) + np.diag(np.full(len(at), np.inf))
    return round(float(np.clip(0.34 * apart.min(), SMALLEST_RADIUS, largest)), 2)


def draw_on(drawing: Drawing, ax: Any, title: str) -> Any:
    """Draw on axes, which are made when None, and return them."""
    with needs("matplotlib", "report", "drawing on axes"):
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        from matplotlib.patches import Circle
    if ax is None:
        _, ax = plt.subplots(figsize=FIGURE)
    scale = _scale(ax)
    for u, v, look, _ in drawing.edges():
        _edge(ax, drawing.ends(u, v), look, drawing.spec.directed, scale)
    for _, x, y, node in drawing.nodes():
        ax.add_patch(
            Circle((x, y), drawing.radius, facecolor=node.fill, edgecolor=node.stroke, zorder=2)
        )
        if node.label:
            size = LETTER * scale * drawing.radius
            ax.text(x, y, node.label, ha="center", va="center", fontsize=size, color=INK, zorder=3)
    handles = [
        Line2D([], [], color=entry.look.stroke, linestyle=_dashes(entry.look), label=entry.name)
        if isinstance(entry.look, EdgeLook)
        else Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markersize=9 * scale,
            markerfacecolor=entry.look.fill,
            markeredgecolor=entry.look.stroke,
            label=entry.name,
        )
        for entry in drawing.legend()
    ]
    if handles:
        # Narrow enough to stay below its own axes where there are several side by side.
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            ncols=min(5, len(handles)),
            fontsize=9 * scale,
            handletextpad=0.3,
            columnspacing=1.0,
            handlelength=1.6,
            frameon=False,
        )
    width, height = drawing.size
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.set_title(title, fontsize=11 * max(scale, 0.75))
    ax.set_axis_off()
    return ax


def _scale(ax: Any) -> float:
    """How large the axes are beside a figure of their own: letters and lines shrink with them."""
    figure, place = ax.get_figure(), ax.get_position()
    width, height = figure.get_size_inches()
    share = min(
        place.width * width / (0.775 * FIGURE[0]), place.height * height / (0.77 * FIGURE[1])
    )
    return float(min(max(share, 0.4), 1.6))


def _edge(
    ax: Any,
    line: tuple[float, float, float, float],
    look: EdgeLook,
    directed: bool,
    scale: float,
) -> None:
    x1, y1, x2, y2 = line
    breadth = 1.8 * scale * look.breadth
    style = {"color": look.stroke, "linewidth": breadth, "linestyle": _dashes(look)}
    if directed:
        ax.annotate("", (x2, y2), (x1, y1), arrowprops={"arrowstyle": "-|>", **style}, zorder=1)
    else:
        ax.plot([x1, x2], [y1, y2], zorder=1, **style)


def _dashes(look: EdgeLook) -> Any:
    return (0, tuple(float(part) / 2 for part in look.dash.split())) if look.dash else "-"
