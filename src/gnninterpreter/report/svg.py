"""A laid-out graph written as SVG text: lines, circles, short names and the legend below."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html import escape
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from gnninterpreter.report.appearance import EDGE_STROKE, INK, LegendEntry, NodeLook

if TYPE_CHECKING:
    from gnninterpreter.report.drawing import Drawing

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
HEAD_LENGTH, HEAD_WIDTH = 0.62, 0.36
READABLE = 6.0
RING = "#d1480f"
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
) -> str:
    """Write a laid-out graph as an SVG element; see `graph_svg`.

    Edges less probable than ``threshold``, and nodes that only they touch, are there but not shown;
    the page's slider brings them out.
    """
    width, height = drawing.size
    graph = drawing.graph
    counted = f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges"
    key, room = legend_group(drawing.legend(), width, height) if show_legend else ("", 0)
    faint = _below(graph, threshold)
    handles = "" if compact else f' data-radius="{drawing.radius:g}"'
    handles += ' data-directed="1"' if drawing.spec.directed and not compact else ""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height + room}" '
        f'width="{width}" height="{height + room}" role="img" class="graph" '
        f'font-family="{text(FONT)}"{handles}>',
        f"<title>{text(title or counted)}</title><desc>{counted}</desc>",
        '<g class="stage">',
        *_edges(drawing, faint, compact),
        *_nodes(drawing, faint, compact, marked),
        "</g>",
    ]
    if not graph.number_of_nodes():
        parts.append(
            f'<text class="ink" x="{width / 2:g}" y="{height / 2:g}" text-anchor="middle" '
            f'font-size="15" fill="{INK}">no edges, so no graph</text>'
        )
    return "".join([*parts, key, "</svg>"])


def _below(graph: nx.Graph, threshold: float | None) -> set[object]:
    """Edges below the threshold, as pairs, and the nodes that no other edge touches."""
    if threshold is None:
        return set()
    kept = {(u, v) for u, v, p in graph.edges(data="_probability", default=1.0) if p >= threshold}
    touched = {node for pair in kept for node in pair}
    return (set(graph.edges) - kept) | (set(graph.nodes) - touched)


def _edges(drawing: Drawing, faint: set[object], compact: bool) -> Iterator[str]:
    """One line for each edge; where there is direction, followed by the head of its arrow."""
    breadth = max(1.2, 0.17 * drawing.radius)
    yield (
        f'<g class="edges" stroke="{EDGE_STROKE}" fill="{EDGE_STROKE}" '
        f'stroke-width="{breadth:.3g}" stroke-linecap="round">'
    )
    for u, v, look, attributes in drawing.edges():
        x1, y1, x2, y2 = drawing.ends(u, v)
        off = ' class="off"' if (u, v) in faint else ""
        own = "" if look.plain else f' stroke="{look.stroke}"'
        own += f' stroke-dasharray="{look.dash}"' if look.dash else ""
        own += f' stroke-width="{breadth * look.breadth:.3g}"' if look.breadth != 1 else ""
        handles = hint = ""
        if not compact:
            handles = f' data-u="{text(u)}" data-v="{text(v)}"'
            chance = attributes.get("_probability")
            handles += "" if chance is None else f' data-p="{chance:.4g}"'
            hint = f"<title>{text(look.hint)}</title>" if look.hint else ""
        line = f'<line{off}{handles} x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"{own}'
        yield f"{line}>{hint}</line>" if hint else f"{line}/>"
        if drawing.spec.directed:
            fill = "" if look.plain else f' fill="{look.stroke}"'
            yield f'<path{off} stroke="none"{fill} d="{_head(drawing.radius, x1, y1, x2, y2)}"/>'
    yield "</g>"


def _head(radius: float, x1: float, y1: float, x2: float, y2: float) -> str:
    """A triangle whose base is at the end of the line; the page's script has the same rule."""
    length = max(float(np.hypot(x2 - x1, y2 - y1)), 1e-6)
    dx, dy = (x2 - x1) / length * radius, (y2 - y1) / length * radius
    tip = f"{x2 + HEAD_LENGTH * dx:.1f},{y2 + HEAD_LENGTH * dy:.1f}"
    left = f"{x2 - HEAD_WIDTH * dy:.1f},{y2 + HEAD_WIDTH * dx:.1f}"
    right = f"{x2 + HEAD_WIDTH * dy:.1f},{y2 - HEAD_WIDTH * dx:.1f}"
    return f"M{tip}L{left}L{right}Z"


def _nodes(
    drawing: Drawing, faint: set[object], compact: bool, marked: Collection[object]
) -> Iterator[str]:
    radius = drawing.radius
    nodes = list(drawing.nodes())
    longest = max((len(look.label) for *_, look in nodes), default=0)
    size = radius * (1.05 if longest <= 2 else 0.78)
    yield (
        f'<g class="nodes" text-anchor="middle" font-size="{size:.3g}" font-weight="600" '
        f'fill="{INK}" stroke-width="{max(1.0, 0.11 * radius):.3g}">'
    )
    for node, x, y, look in nodes:
        label = f'<text dy="0.36em" stroke="none">{text(look.label)}</text>'
        hint = f"<title>{text(look.hint)}</title>" if look.hint and not compact else ""
        kind = "node" + " off" * (node in faint)
        handles = "" if compact else f' class="{kind}" data-id="{text(node)}"'
        yield (
            f'<g{handles} transform="translate({x:g} {y:g})">{hint}'
            f'<circle r="{radius:g}" fill="{look.fill}" {_outline(look, radius, node in marked)}/>'
            f"{label if look.label and radius >= READABLE else ''}</g>"
        )
    yield "</g>"


def _outline(look: NodeLook, radius: float, ring: bool) -> str:
    """The line around a node: its own, or a ring that is both thicker and of another colour."""
    if not ring:
        return f'stroke="{look.stroke}"'
    return f'class="ring" stroke="{RING}" stroke-width="{max(2.4, 0.34 * radius):.3g}"'


def legend_group(entries: list[LegendEntry], width: int, top: int) -> tuple[str, int]:
    """Write a legend as an SVG group, with its height; nothing and 0 for no entries."""
    rows = _rows(entries, width)
    if not rows:
        return "", 0
    parts = ['<g class="legend" font-size="12.5">', *_legend(rows, top + 16), "</g>"]
    return "".join(parts), len(rows) * ROW + GAP


def _rows(entries: list[LegendEntry], width: int) -> list[list[tuple[LegendEntry, float]]]:
    """Break the legend into rows that fit; nodes and edges begin rows of their own."""
    rows: list[list[tuple[LegendEntry, float]]] = []
    x, topic = 0.0, ("", "")
    for entry in entries:
        wide = SWATCH + LETTER * len(entry.name)
        begins = (entry.kind, entry.topic) != topic
        if begins or x + wide > width - 8:
            rows.append([])
            x = 34.0 + LETTER * len(entry.topic) if begins else 14.0
            topic = (entry.kind, entry.topic)
        rows[-1].append((entry, x))
        x += wide
    return rows


def _legend(rows: list[list[tuple[LegendEntry, float]]], top: float) -> Iterator[str]:
    topic = ("", "")
    for i, row in enumerate(rows):
        y = top + i * ROW
        first = row[0][0]
        if (first.kind, first.topic) != topic:
            topic = (first.kind, first.topic)
            heading = text(first.topic[:1].upper() + first.topic[1:])
            yield f'<text class="soft" x="12" y="{y + 4:g}" fill="#5a6675">{heading}</text>'
        for entry, x in row:
            look = entry.look
            if isinstance(look, NodeLook):
                yield (
                    f'<rect x="{x:g}" y="{y - 9:g}" width="18" height="18" rx="9" '
                    f'fill="{look.fill}" stroke="{look.stroke}" stroke-width="1.4"/>'
                    f'<text x="{x + 9:g}" y="{y + 3.5:g}" '
                    f'text-anchor="middle" font-size="10" font-weight="600" fill="{INK}">'
                    f"{text(look.label)}</text>"
                )
            else:
                dash = look.dash or "none"
                yield (
                    f'<path d="M{x - 4:g},{y:g} h24" stroke="{look.stroke}" '
                    f'stroke-width="{2 * look.breadth:g}" stroke-dasharray="{dash}"/>'
                )
            yield (
                f'<text class="ink" x="{x + 25:g}" y="{y + 4:g}" fill="{INK}">'
                f"{text(entry.name)}</text>"
            )


_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def text(value: object) -> str:
    """Make any text safe inside XML: escaped, and without characters that XML has no place for."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))
