"""Charts of the paper's studies: heat maps, and lines on logarithmic scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from gnninterpreter.datasets._storage import atomic_path
from gnninterpreter.report.svg import FONT
from gnninterpreter.report.text import text
from gnninterpreter.spec import PALETTE

__all__ = ["HeatMap", "LogLines"]

INK = "#16202c"


@dataclass(frozen=True)
class HeatMap:
    """A grid of numbers between 0 and 1, darker for higher.

    Args:
        name: Name of its files.
        title: What it shows.
        rows: Names of the rows.
        columns: Names of the columns.
        values: One list for each row; None where there is nothing.
    """

    name: str
    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Sequence[Sequence[float | None]]

    def svg(self) -> str:
        """The heat map as one SVG document."""
        left, top, wide, high = 230, 64, 176, 30
        width, height = left + wide * len(self.columns) + 10, top + high * len(self.rows) + 10
        parts = [f'<text x="8" y="22" font-size="15" font-weight="600">{text(self.title)}</text>']
        for c, name in enumerate(self.columns):
            x = left + (c + 0.5) * wide
            parts.append(f'<text x="{x:g}" y="{top - 8}" text-anchor="middle">{text(name)}</text>')
        for r, name in enumerate(self.rows):
            y = top + r * high
            parts.append(f'<text x="8" y="{y + 20}">{text(name)}</text>')
            for c, value in enumerate(self.values[r]):
                x = left + c * wide
                ink = "#ffffff" if value is not None and value > 0.55 else INK
                label = "" if value is None else f"{value:.2f}"
                parts.append(
                    f'<rect x="{x}" y="{y}" width="{wide - 2}" height="{high - 2}" '
                    f'fill="{_shade(value)}"/><text x="{x + wide / 2 - 1:g}" y="{y + 19}" '
                    f'text-anchor="middle" fill="{ink}">{label}</text>'
                )
        return _document(width, height, parts)

    def png(self, path: Path) -> bool:
        """Write the heat map as PNG; False where matplotlib is missing."""
        if find_spec("matplotlib") is None:
            return False
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(1.5 * len(self.columns) + 2.4, 0.4 * len(self.rows) + 1.3))
        FigureCanvasAgg(figure)
        ax = figure.subplots()
        numbers = [[math.nan if v is None else v for v in row] for row in self.values]
        ax.imshow(numbers, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        ax.set_xticks(range(len(self.columns)), self.columns, fontsize=7)
        ax.set_yticks(range(len(self.rows)), self.rows, fontsize=7)
        for r, row in enumerate(self.values):
            for c, value in enumerate(row):
                if value is not None:
                    color = "white" if value > 0.55 else INK
                    ax.text(c, r, f"{value:.2f}", ha="center", va="center", color=color, fontsize=7)
        ax.set_title(self.title, fontsize=9)
        figure.tight_layout()
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png", dpi=110)
        return True


@dataclass(frozen=True)
class LogLines:
    """Lines over two logarithmic axes, on which powers are straight.

    Args:
        name: Name of its files.
        title: What it shows.
        across: Name of the horizontal axis.
        lines: Name of each line with its points; all coordinates positive.
    """

    name: str
    title: str
    across: str
    lines: Sequence[tuple[str, Sequence[tuple[float, float]]]]

    def svg(self) -> str:
        """The chart as one SVG document."""
        width, height, left, top, bottom = 520, 340, 64, 44, 48
        points = [point for _, line in self.lines for point in line]
        x_low, x_high = _bounds([math.log10(x) for x, _ in points])
        y_low, y_high = _bounds([math.log10(y) for _, y in points])

        def place(x: float, y: float) -> tuple[float, float]:
            across = (math.log10(x) - x_low) / (x_high - x_low)
            up = (math.log10(y) - y_low) / (y_high - y_low)
            return left + across * (width - left - 150), height - bottom - up * (
                height - top - bottom
            )

        floor, right = height - bottom, width - 150
        parts = [
            f'<text x="8" y="22" font-size="15" font-weight="600">{text(self.title)}</text>',
            f'<path d="M{left},{top} V{floor} H{right}" fill="none" stroke="#8a949e"/>',
            f'<text x="{(left + right) / 2:g}" y="{height - 10}" text-anchor="middle">'
            f"{text(self.across)}</text>",
            f'<text x="8" y="{top - 6}">seconds</text>',
        ]
        for value in sorted({x for x, _ in points}):
            x, _ = place(value, points[0][1])
            parts.append(
                f'<text x="{x:.1f}" y="{floor + 16}" text-anchor="middle">{value:g}</text>'
            )
        for value in _round_values([y for _, y in points]):
            _, y = place(points[0][0], value)
            parts.append(
                f'<path d="M{left},{y:.1f} H{right}" stroke="#e3e7eb"/>'
                f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>'
            )
        for index, (name, line) in enumerate(self.lines):
            color = PALETTE[index % len(PALETTE)]
            at = [place(x, y) for x, y in line]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
            parts.append(
                f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>'
            )
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}"/>' for x, y in at]
            parts.append(
                f'<text x="{right + 12}" y="{top + 14 + 18 * index}" fill="{color}">'
                f"{text(name)}</text>"
            )
        return _document(width, height, parts)

    def png(self, path: Path) -> bool:
        """Write the chart as PNG; False where matplotlib is missing."""
        if find_spec("matplotlib") is None:
            return False
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5.2, 3.4))
        FigureCanvasAgg(figure)
        ax = figure.subplots()
        for index, (name, line) in enumerate(self.lines):
            xs, ys = zip(*line, strict=True)
            ax.loglog(xs, ys, marker="o", label=name, color=PALETTE[index % len(PALETTE)])
        ticks = sorted({x for _, line in self.lines for x, _ in line})
        ax.minorticks_off()
        ax.set_xticks(ticks, [f"{x:g}" for x in ticks], fontsize=7)
        heights = _round_values([y for _, line in self.lines for _, y in line])
        ax.set_yticks(heights, [f"{y:g}" for y in heights], fontsize=7)
        ax.grid(axis="y", color="#e3e7eb", linewidth=0.8)
        ax.set(xlabel=self.across, ylabel="seconds")
        ax.set_title(self.title, fontsize=9)
        ax.legend(fontsize=7)
        figure.tight_layout()
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="png", dpi=110)
        return True


def _round_values(values: Sequence[float]) -> list[float]:
    """Round numbers 1, 2 and 5 times powers of ten within the range of some values.

    Example:
        >>> _round_values([0.08, 1.3])
        [0.1, 0.2, 0.5, 1.0]
    """
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [value for value in found if low <= value <= high] or [low]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    return (low - 0.5, high + 0.5) if high - low < 1e-9 else (low, high)


def _shade(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "#f1f3f5"
    share = min(max(value, 0.0), 1.0)
    low, high = (236, 243, 250), (8, 72, 135)
    return "#" + "".join(
        f"{round(a + (b - a) * share):02x}" for a, b in zip(low, high, strict=True)
    )


def _document(width: int, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="{text(FONT)}" font-size="12.5" fill="{INK}">'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )
