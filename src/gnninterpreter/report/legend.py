"""The legend below a drawing: rows of swatches with the real names of the features."""

from __future__ import annotations

from collections.abc import Iterator

from gnninterpreter.report.appearance import INK, LegendEntry, NodeLook
from gnninterpreter.report.text import text

ROW, GAP = 22, 10
SWATCH, LETTER = 44.0, 7.4


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
