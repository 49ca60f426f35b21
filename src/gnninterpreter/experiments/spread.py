"""The spread over seeds: a row for each class, a mark for each run, on an axis of near-misses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["spread_svg"]

ROW, TOP, LEFT, WIDTH, RIGHT = 20, 46, 250, 470, 60
# How far from certainty, on a logarithmic axis: 0.999 and above on the right, 0 on the left.
TICKS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.995, 0.999)
WANTED = 0.99


def spread_svg(values: Mapping[tuple[str, str], Sequence[float]]) -> str:
    """Draw the mean class probability of every run.

    Args:
        values: For each (model, class) the means of its runs.

    Returns:
        A self-contained SVG.
    """
    rows = list(values.items())
    height = TOP + ROW * len(rows) + 30
    total = LEFT + WIDTH + RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" width="{total}" '
        f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="12">',
        "<title>Mean class probability of every run, by class</title>",
        f'<rect width="{total}" height="{height}" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="16" fill="#333">mean class probability over 1,000 samples, '
        "one mark a seed</text>",
    ]
    for tick in TICKS:
        x = _place(tick)
        wanted = tick == WANTED
        style = 'stroke="#D55E00" stroke-dasharray="4 3"' if wanted else 'stroke="#dddddd"'
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 6}" x2="{x:.1f}" y2="{height - 24}" {style}/>')
        parts.append(
            f'<text x="{x:.1f}" y="{TOP - 12}" text-anchor="middle" fill="#555">{tick:g}</text>'
        )
    previous = ""
    for index, ((model, target), means) in enumerate(rows):
        y = TOP + ROW * index + ROW / 2
        if model != previous:
            parts.append(
                f'<text x="8" y="{y + 4:.1f}" fill="#111" font-weight="600">{escape(model)}</text>'
            )
            if previous:
                line = y - ROW / 2
                parts.append(
                    f'<line x1="8" y1="{line:.1f}" x2="{LEFT + WIDTH}" y2="{line:.1f}" '
                    'stroke="#eeeeee"/>'
                )
            previous = model
        parts.append(
            f'<text x="{LEFT - 14}" y="{y + 4:.1f}" text-anchor="end" fill="#333">'
            f"{escape(target)}</text>"
        )
        parts += [
            f'<circle cx="{_place(mean):.1f}" cy="{y:.1f}" r="3.2" '
            f'fill="{"#0072B2" if mean >= WANTED else "#D55E00"}" fill-opacity="0.55"/>'
            for mean in means
        ]
        parts.append(
            f'<text x="{LEFT + WIDTH + 14}" y="{y + 4:.1f}" fill="#555">'
            f"{sum(mean >= WANTED for mean in means)}/{len(means)}</text>"
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _place(mean: float) -> float:
    """Where a probability lies: each tenth of the remaining doubt takes the same width."""
    doubt = min(max(1 - mean, 5e-4), 1.0)
    return LEFT + WIDTH * (-math.log10(doubt)) / -math.log10(5e-4)
