"""Small charts as inline SVG: curves along the search, and the spread over restarts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gnninterpreter.explanation import Curve
from gnninterpreter.report.svg import text

WIDTH, HEIGHT = 300, 130
LEFT, RIGHT, TOP, BOTTOM = 46, 8, 8, 22
MOST_POINTS = 150
MOST_LINES = 24
BINS = 50


def curve_svg(curve: Curve, choice: int, bounds: tuple[float, float] | None = None) -> str:
    """Draw one quantity along the search: a line for each restart, the chosen one on top."""
    step = max(1, math.ceil(len(curve.iterations) / MOST_POINTS))
    rows = [
        (i, values)
        for i, values in zip(curve.iterations[::step], curve.values[::step], strict=True)
        if values
    ]
    if not rows:
        return ""
    finite = [value for _, values in rows for value in values if math.isfinite(value)] or [0.0]
    low, high = bounds or (min(finite), max(finite))
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    last = max(rows[-1][0], 1)

    def place(iteration: int, value: float) -> str:
        x = LEFT + (WIDTH - LEFT - RIGHT) * iteration / last
        share = (min(max(value, low), high) - low) / (high - low)
        return f"{x:.1f},{HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share:.1f}"

    count = len(rows[0][1])
    others = [r for r in range(count) if r != choice][: MOST_LINES - 1]
    lines = []
    for r in [*others, choice] if choice < count else others:
        points = " ".join(place(i, v[r]) for i, v in rows if math.isfinite(v[r]))
        kind = "chosen" if r == choice else "other"
        lines.append(f'<polyline class="{kind}" points="{points}"/>')
    final = rows[-1][1][choice] if choice < count else finite[-1]
    title = f"{curve.name}: {_number(final)} at iteration {last}, {count} restarts"
    return _frame(title, low, high, last, lines)


def dots_svg(values: Sequence[float], choice: int, title: str) -> str:
    """Draw a dot for each restart over a scale from 0 to 1, equal ones on top of each other."""
    stacks: dict[int, list[int]] = {}
    for r, value in enumerate(values):
        share = min(max(value if math.isfinite(value) else 0.0, 0.0), 1.0)
        stacks.setdefault(round(share * BINS), []).append(r)
    tallest = max((len(stack) for stack in stacks.values()), default=1)
    width, radius = 460, 5.0
    height = 34 + min(12.0 * tallest, 84.0)
    gap = min(12.0, 84.0 / tallest)
    dots = []
    for place, stack in sorted(stacks.items()):
        # The chosen restart lies at the bottom of its stack, where the eye begins.
        for level, r in enumerate(sorted(stack, key=lambda r: r != choice)):
            x = 12 + (width - 24) * place / BINS
            y = height - 26 - radius - gap * level
            kind = "chosen" if r == choice else "other"
            dots.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>')
    base = height - 24
    ticks = "".join(
        f'<text x="{12 + (width - 24) * t / 4:g}" y="{height - 6:g}" text-anchor="middle">'
        f"{t / 4:g}</text>"
        for t in range(5)
    )
    return (
        f'<svg class="chart dots" viewBox="0 0 {width} {height:g}" role="img">'
        f"<title>{text(title)}</title>"
        f'<path class="axis" d="M12,{base:g} H{width - 12}"/>{ticks}{"".join(dots)}</svg>'
    )


def _frame(title: str, low: float, high: float, last: int, lines: list[str]) -> str:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    return (
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img"><title>{text(title)}</title>'
        f'<path class="grid" d="M{LEFT},{TOP} H{right}"/>'
        f'<path class="axis" d="M{LEFT},{bottom} H{right}"/>'
        f'<text x="{LEFT - 6}" y="{TOP + 5}" text-anchor="end">{_number(high)}</text>'
        f'<text x="{LEFT - 6}" y="{bottom + 3}" text-anchor="end">{_number(low)}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 5}">0</text>'
        f'<text x="{right}" y="{HEIGHT - 5}" text-anchor="end">{last} iterations</text>'
        f"{''.join(lines)}</svg>"
    )


def _number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "none"
    if abs(value) < 1e-3:
        return f"{value:.0e}"
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
