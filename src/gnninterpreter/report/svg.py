"""A laid-out graph written as SVG text: lines, circles, short names and the legend below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np

from gnninterpreter.report.appearance import INK, EdgeLook, LegendEntry, NodeLook

if TYPE_CHECKING:
    from gnninterpreter.report.drawing import Drawing

__all__ = ["render", "text"]

LEGEND_ROW = 22
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

_FORBIDDEN = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")


def text(value: object) -> str:
    """Make any text safe inside XML: escaped, and without characters that XML has no place for."""
    return escape(_FORBIDDEN.sub("\ufffd", str(value)))


def render(
    drawing: Drawing,
    title: str | None = None,
    show_legend: bool = True,
    threshold: float | None = None,
) -> str:
    """Write a laid-out graph as an SVG element.

    Args:
        drawing: The graph in its box.
        title: What it shows; its size when omitted.
        show_legend: Whether to add the legend.
        threshold: Edges that carry a lower probability, and nodes that only they touch, are there
            but not shown; the page's slider brings them out.
    """
    width, height = drawing.size
    graph = drawing.graph
    counted = f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges"
    faint = _below(graph, threshold)
    rows = _legend_rows(drawing.legend(), width) if show_legend else []
    total = height + len(rows) * LEGEND_ROW + (10 if rows else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" width="{width}" '
        f'height="{total}" role="img" class="graph" font-family="{text(FONT)}" '
        f'data-radius="{drawing.radius:g}" data-directed="{int(drawing.spec.directed)}">',
        f"<title>{text(title or counted)}</title><desc>{counted}</desc>",
        '<g class="stage">',
        *_edges(drawing, faint),
        *_nodes(drawing, faint),
        "</g>",
    ]
    if not graph.number_of_nodes():
        parts.append(
            f'<text class="ink" x="{width / 2:g}" y="{height / 2:g}" text-anchor="middle" '
            f'font-size="15" fill="{INK}">no edges, so no graph</text>'
        )
    if rows:
        parts += ['<g class="legend" font-size="12.5">', *_legend(rows, height + 16), "</g>"]
    return "".join([*parts, "</svg>"])


def _below(graph: nx.Graph, threshold: float | None) -> set[object]:
    """Edges below the threshold, as pairs, and the nodes that no other edge touches."""
    if threshold is None:
        return set()
    kept = {(u, v) for u, v, p in graph.edges(data="_probability", default=1.0) if p >= threshold}
    touched = {node for pair in kept for node in pair}
    return (set(graph.edges) - kept) | (set(graph.nodes) - touched)


def _edges(drawing: Drawing, faint: set[object]) -> Iterator[str]:
    stroke_width = max(1.2, 0.17 * drawing.radius)
    for u, v, look, attributes in drawing.edges():
        x1, y1, x2, y2 = drawing.ends(u, v)
        dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
        chance = attributes.get("_probability")
        known = "" if chance is None else f' data-p="{chance:.4g}"'
        kind = "edge" + " plain" * look.plain + " off" * ((u, v) in faint)
        hint = f"<title>{text(look.hint)}</title>" if look.hint else ""
        yield (
            f'<line class="{kind}" data-u="{text(u)}" data-v="{text(v)}"{known} '
            f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{look.stroke}" '
            f'stroke-width="{stroke_width:.3g}" stroke-linecap="round"{dash}>{hint}</line>'
        )
        if drawing.spec.directed:
            yield _arrow(drawing.radius, (x1, y1, x2, y2), look, kind)


def _arrow(
    radius: float, line: tuple[float, float, float, float], look: EdgeLook, kind: str
) -> str:
    """The head of an arrow, one for each line and right after it."""
    x1, y1, x2, y2 = line
    angle = float(np.degrees(np.arctan2(y2 - y1, x2 - x1)))
    long, wide = 0.62 * radius, 0.36 * radius
    return (
        f'<path class="{kind} head" d="M{long:.1f},0 L0,{wide:.1f} L0,{-wide:.1f} Z" '
        f'transform="translate({x2:.1f} {y2:.1f}) rotate({angle:.1f})" fill="{look.stroke}"/>'
    )


def _nodes(drawing: Drawing, faint: set[object]) -> Iterator[str]:
    radius = drawing.radius
    for node, x, y, look in drawing.nodes():
        kind = "node" + " off" * (node in faint)
        size = radius * (1.05 if len(look.label) <= 2 else 0.78)
        label = (
            f'<text text-anchor="middle" dy="0.36em" font-size="{size:.3g}" font-weight="600" '
            f'fill="{INK}">{text(look.label)}</text>'
            if look.label and radius >= 6
            else ""
        )
        hint = f"<title>{text(look.hint)}</title>" if look.hint else ""
        yield (
            f'<g class="{kind}" data-id="{text(node)}" transform="translate({x:g} {y:g})">'
            f'{hint}<circle r="{radius:g}" fill="{look.fill}" stroke="{look.stroke}" '
            f'stroke-width="{max(1.0, 0.11 * radius):.3g}"/>{label}</g>'
        )


def _legend_rows(entries: list[LegendEntry], width: int) -> list[list[tuple[LegendEntry, float]]]:
    """Break the legend into rows that fit; nodes and edges begin rows of their own."""
    rows: list[list[tuple[LegendEntry, float]]] = []
    x, topic = 0.0, ""
    for entry in entries:
        wide = 44 + 7.2 * len(entry.name)
        heading = f"{entry.kind} {entry.topic}"
        if not rows or heading != topic or x + wide > width - 8:
            rows.append([])
            x, topic = (20.0 + 7.2 * len(heading) if heading != topic else 12.0), heading
        rows[-1].append((entry, x))
        x += wide
    return rows


def _legend(rows: list[list[tuple[LegendEntry, float]]], top: float) -> Iterator[str]:
    topic = ""
    for i, row in enumerate(rows):
        y = top + i * LEGEND_ROW
        heading = f"{row[0][0].kind} {row[0][0].topic}"
        if heading != topic:
            topic = heading
            yield (f'<text class="soft" x="12" y="{y + 4:g}" fill="#5a6675">{text(heading)}</text>')
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
                yield (
                    f'<path d="M{x - 4:g},{y:g} h24" stroke="{look.stroke}" stroke-width="2.6" '
                    f'stroke-dasharray="{look.dash or "none"}"/>'
                )
            yield (
                f'<text class="ink" x="{x + 25:g}" y="{y + 4:g}" fill="{INK}">'
                f"{text(entry.name)}</text>"
            )
