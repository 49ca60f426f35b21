"""A laid-out graph written as SVG text: lines, circles, short names and the legend below."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
from markupsafe import Markup

from gnninterpreter.report.appearance import EDGE_STROKE, INK, LegendEntry
from gnninterpreter.report.templates import rendered

if TYPE_CHECKING:
    from gnninterpreter.report.drawing import Drawing

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
HEAD_LENGTH, HEAD_WIDTH = 0.62, 0.36
# Of the legend.
ROW, GAP = 22, 10
SWATCH, LETTER = 44.0, 7.4


def render(
    drawing: Drawing,
    title: str | None = None,
    show_legend: bool = True,
    threshold: float | None = None,
    compact: bool = False,
    marked: Collection[object] = (),
) -> Markup:
    """Write a laid-out graph as an SVG element; see `graph_svg`.

    Edges less probable than ``threshold``, and nodes that only they touch, are there but not shown;
    the page's slider brings them out.
    """
    (width, height), graph = drawing.size, drawing.graph
    key, room = legend_group(drawing.legend(), width, height) if show_legend else ("", 0)
    return rendered(
        "graph.svg.jinja",
        drawing=drawing,
        nodes=list(drawing.nodes()),
        title=title,
        counted=f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges",
        compact=compact,
        faint=_below(graph, threshold),
        marked=marked,
        room=room,
        key=key,
        head=_head,
        font=FONT,
        ink=INK,
        line=EDGE_STROKE,
    )


def _below(graph: nx.Graph, threshold: float | None) -> set[object]:
    """Edges below the threshold, as pairs, and the nodes that no other edge touches."""
    if threshold is None:
        return set()
    kept = {(u, v) for u, v, p in graph.edges(data="_probability", default=1.0) if p >= threshold}
    touched = {node for pair in kept for node in pair}
    return (set(graph.edges) - kept) | (set(graph.nodes) - touched)


def _head(radius: float, x1: float, y1: float, x2: float, y2: float) -> str:
    """A triangle whose base is at the end of the line; the page's script has the same rule."""
    length = max(float(np.hypot(x2 - x1, y2 - y1)), 1e-6)
    dx, dy = (x2 - x1) / length * radius, (y2 - y1) / length * radius
    tip = f"{x2 + HEAD_LENGTH * dx:.1f},{y2 + HEAD_LENGTH * dy:.1f}"
    left = f"{x2 - HEAD_WIDTH * dy:.1f},{y2 + HEAD_WIDTH * dx:.1f}"
    right = f"{x2 + HEAD_WIDTH * dy:.1f},{y2 - HEAD_WIDTH * dx:.1f}"
    return f"M{tip}L{left}L{right}Z"


def legend_group(entries: list[LegendEntry], width: int, top: int) -> tuple[str, int]:
    """Write a legend as an SVG group, with its height; nothing and 0 for no entries.

    Nodes and edges begin rows of their own, which have a heading.
    """
    rows: list[tuple[str, list[tuple[LegendEntry, float]]]] = []
    x, topic = 0.0, ("", "")
    for entry in entries:
        wide = SWATCH + LETTER * len(entry.name)
        begins = (entry.kind, entry.topic) != topic
        if begins or x + wide > width - 8:
            rows.append((entry.topic[:1].upper() + entry.topic[1:] if begins else "", []))
            x = 34.0 + LETTER * len(entry.topic) if begins else 14.0
            topic = (entry.kind, entry.topic)
        rows[-1][1].append((entry, x))
        x += wide
    if not rows:
        return "", 0
    group = rendered("legend.svg.jinja", rows=rows, top=top + 16, row=ROW, ink=INK)
    return group, len(rows) * ROW + GAP
