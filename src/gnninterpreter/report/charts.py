"""Small charts as inline SVG: curves along the search, and the spread over restarts."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from gnninterpreter.explanation import Curve
from gnninterpreter.report.templates import rendered

WIDTH, HEIGHT = 300, 130
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 8, 8, HEIGHT - 22
MOST_POINTS = 150
MOST_LINES = 24
BINS = 50
DOTS, RADIUS = 460, 5.0


def curve_svg(curve: Curve, choice: int, bounds: tuple[float, float] | None = None) -> Markup:
    """Draw one quantity along the search: a line for each restart, the chosen one on top."""
    step = max(1, math.ceil(len(curve.iterations) / MOST_POINTS))
    looks = zip(curve.iterations[::step], curve.values[::step], strict=True)
    rows = [(i, values) for i, values in looks if values]
    if not rows:
        return Markup()
    finite = [value for _, values in rows for value in values if math.isfinite(value)] or [0.0]
    low, high = bounds or (min(finite), max(finite))
    if high - low < 1e-9:
        low, high = low - 0.5, high + 0.5
    last, count = max(rows[-1][0], 1), len(rows[0][1])

    def place(iteration: int, value: float) -> str:
        share = (min(max(value, low), high) - low) / (high - low)
        x = LEFT + (RIGHT - LEFT) * iteration / last
        return f"{x:.1f},{BOTTOM - (BOTTOM - TOP) * share:.1f}"

    others = [r for r in range(count) if r != choice][: MOST_LINES - 1]
    final = rows[-1][1][choice] if choice < count else finite[-1]
    return rendered(
        "curve.svg.jinja",
        title=f"{curve.name}: {_number(final)} at iteration {last}, {count} restarts",
        lines=[
            (_kind(r, choice), " ".join(place(i, v[r]) for i, v in rows if math.isfinite(v[r])))
            for r in ([*others, choice] if choice < count else others)
        ],
        low=_number(low),
        high=_number(high),
        last=last,
        **{"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT},
        **{"top": TOP, "bottom": BOTTOM},
    )


def dots_svg(values: Sequence[float], choice: int, title: str) -> Markup:
    """Draw a dot for each restart over a scale from 0 to 1, equal ones on top of each other."""
    stacks: dict[int, list[int]] = {}
    for r, value in enumerate(values):
        share = min(max(value if math.isfinite(value) else 0.0, 0.0), 1.0)
        stacks.setdefault(round(share * BINS), []).append(r)
    tallest = max((len(stack) for stack in stacks.values()), default=1)
    height, gap = 34 + min(12.0 * tallest, 84.0), min(12.0, 84.0 / tallest)
    dots = [
        (_kind(r, choice), 12 + (DOTS - 24) * place / BINS, height - 26 - RADIUS - gap * level)
        for place, stack in sorted(stacks.items())
        # The chosen restart lies at the bottom of its stack, where the eye begins.
        for level, r in enumerate(sorted(stack, key=lambda r: r != choice))
    ]
    return rendered(
        "dots.svg.jinja", title=title, dots=dots, width=DOTS, height=height, radius=RADIUS
    )


def _kind(restart: int, choice: int) -> str:
    return "chosen" if restart == choice else "other"


def _number(value: float) -> str:
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "none"
    if abs(value) < 1e-3:
        return f"{value:.0e}"
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"
