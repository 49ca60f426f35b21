"""Charts of experiments on matplotlib: heat maps, lines over logarithmic axes, marks by seed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from gnninterpreter.errors import needs
from gnninterpreter.files import atomic_path
from gnninterpreter.spec import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, FAINT, RULE = "#16202c", "#5b6673", "#dfe4e8"
REACHED, MISSED = "#0072B2", "#D55E00"
# Levels of probability with a line of their own; all above the last count as that.
LEVELS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.995, 0.999)
WANTED = 0.99
LEAST_DOUBT = 5e-4
# Text stays text, and the same figure gives the same file.
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "gnninterpreter",
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "DejaVu Sans"],
    "text.color": INK,
}


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """A figure of a size in inches that no window shows."""
    with needs("matplotlib", "experiments", "drawing"):
        from matplotlib.figure import Figure
    return Figure(figsize=(width, height), layout=layout)


def save(figure: Figure, path: Path) -> None:
    """Write a figure, whole or not at all, in the format that the file's name ends in."""
    import matplotlib as mpl

    kind = path.suffix.removeprefix(".")
    timeless: dict[str, Any] = {"metadata": {"Date": None}} if kind == "svg" else {}
    with mpl.rc_context(STYLE), atomic_path(path) as temporary:
        figure.savefig(temporary, format=kind, dpi=130, **timeless)


def heat_map(
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
) -> Figure:
    """A grid of numbers between 0 and 1, darker for higher."""
    figure = new_figure(1.35 * len(columns) + 2.4, 0.3 * len(rows) + 0.9)
    ax = figure.subplots()
    numbers = [[math.nan if v is None else v for v in row] for row in values]
    ax.imshow(numbers, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    ax.set_xticks(range(len(columns)), [name.replace(" ", "\n", 1) for name in columns])
    ax.set_yticks(range(len(rows)), rows)
    ax.tick_params(length=0, labelsize=8, top=True, bottom=False, labeltop=True, labelbottom=False)
    ax.spines[:].set_visible(False)
    # White lines between the cells.
    ax.set_xticks([c - 0.5 for c in range(1, len(columns))], minor=True)
    ax.set_yticks([r - 0.5 for r in range(1, len(rows))], minor=True)
    ax.grid(which="minor", color="white", linewidth=2)
    ax.tick_params(which="minor", length=0)
    for r, row in enumerate(values):
        for c, value in enumerate(row):
            if value is not None:
                color = "white" if value > 0.55 else INK
                ax.text(c, r, f"{value:.2f}", ha="center", va="center", color=color, fontsize=8)
    ax.set_title(title, fontsize=10, fontweight="bold", loc="left")
    return figure


def log_lines(
    title: str, across: str, lines: Mapping[str, Sequence[tuple[float, float]]]
) -> Figure:
    """Seconds over two logarithmic axes, on which powers are straight."""
    from matplotlib.ticker import LogLocator, NullLocator

    figure = new_figure(5.6, 3.6)
    ax = figure.subplots()
    for index, (name, line) in enumerate(lines.items()):
        xs, ys = zip(*line, strict=True)
        ax.loglog(xs, ys, marker="o", markersize=4, label=name, color=PALETTE[index % len(PALETTE)])
    ticks = sorted({x for line in lines.values() for x, _ in line})
    ax.set_xticks(ticks, [f"{x:g}" for x in ticks])
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.tick_params(labelsize=8)
    ax.grid(axis="y", color=RULE, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_xlabel(across, fontsize=9)
    ax.set_ylabel("seconds", fontsize=9)
    ax.set_title(title, fontsize=10, fontweight="bold", loc="left")
    ax.legend(fontsize=8, frameon=False)
    return figure


def seed_chart(values: Mapping[tuple[str, str], Sequence[float]]) -> Figure:
    """The mean class probability of every run: a row for each class, a mark for each seed."""
    from matplotlib.transforms import blended_transform_factory

    width, height = 8.2, 0.2 * len(values) + 0.7
    figure = new_figure(width, height, layout=None)
    # Room for both names on the left, for counts on the right and for the axis on top, in inches.
    box = (2.6 / width, 0.1 / height, 1 - 3.2 / width, 1 - 0.7 / height)
    ax = figure.add_axes(box)
    across = blended_transform_factory(figure.transFigure, ax.transData)
    models = [model for model, _ in values]
    for row, ((model, _), means) in enumerate(values.items()):
        colors = [REACHED if mean >= WANTED else MISSED for mean in means]
        places = [certainty(mean) for mean in means]
        ax.scatter(places, [row] * len(means), 20, colors, alpha=0.55, linewidths=0, zorder=3)
        reached = f"{sum(mean >= WANTED for mean in means)}/{len(means)}"
        ax.text(0.945, row, reached, transform=across, va="center", fontsize=8, color=FAINT)
        if row == models.index(model):
            ax.text(0.01, row, model, transform=across, va="center", fontsize=8, fontweight="bold")
            style: dict[str, Any] = {"color": RULE, "linewidth": 0.8, "clip_on": False}
            ax.plot([0.01, 0.99], [row - 0.5] * 2, transform=across, **style)
    ax.set_yticks(range(len(values)), [target for _, target in values])
    ax.set_ylim(len(values) - 0.5, -0.5)
    ax.set_xticks([certainty(level) for level in LEVELS], [f"{level:g}" for level in LEVELS])
    ax.set_xlim(certainty(0.0) - 0.05, certainty(1.0) + 0.05)
    ax.tick_params(length=0, labelsize=8, top=True, bottom=False, labeltop=True, labelbottom=False)
    ax.grid(axis="x", color=RULE, linewidth=0.8)
    ax.axvline(certainty(WANTED), color=MISSED, linestyle="--", linewidth=1)
    ax.spines[:].set_visible(False)
    ax.set_title(
        "mean class probability over 1,000 samples, one mark a seed", fontsize=9, loc="left"
    )
    return figure


def certainty(mean: float) -> float:
    """Where a probability lies: each tenth of the remaining doubt takes the same width.

    Example:
        >>> round(certainty(0.9), 6), round(certainty(0.99), 6)
        (1.0, 2.0)
    """
    return -math.log10(min(max(1 - mean, LEAST_DOUBT), 1.0))
