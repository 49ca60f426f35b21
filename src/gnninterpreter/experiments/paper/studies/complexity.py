"""Time of our method and of XGNN against what it depends on (paper, appendix on complexity)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnninterpreter.experiments.charts import log_lines
from gnninterpreter.experiments.paper.computations import computation
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation


@dataclass(frozen=True)
class Series:
    """One number that is varied: whose, its name here and in the paper, and its exponent there."""

    method: str
    what: str
    symbol: str
    published: float | None
    values: tuple[int, ...]
    quick: tuple[int, ...]
    note: str


SERIES = (
    Series(
        "ours", "nodes", "nodes N", 2.0, (10, 20, 40, 80, 160, 320), (10, 40, 160),
        "dense kernels: a fixed cost for each call hides the square while graphs are small",
    ),
    Series(
        "ours", "samples", "samples K", 1.0, (10, 40, 160, 640), (10, 160, 640),
        "all samples are one batch: a fixed cost for each call hides K while it is small",
    ),
    Series(
        "ours", "iterations", "iterations T", 1.0, (50, 100, 200, 400), (40, 160),
        "connecting and probing the model come once",
    ),
    Series(
        "xgnn", "episodes", "episodes T", 1.0, (10, 20, 40, 80), (10, 40),
        "ten episodes run side by side and share each update",
    ),
    Series(
        "xgnn", "rollouts", "rollouts R", 1.0, (10, 40, 160, 640), (10, 160, 640),
        "all rollouts are one batch: a fixed cost for each call hides R while it is small",
    ),
    Series(
        "xgnn", "max_steps", "steps M", 3.0, (8, 16, 32, 64), (8, 16, 32),
        "rollouts are one batch and end where a rule is broken, well before M steps",
    ),
)  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """A power law through measured times.

    The error of the exponent is NaN for two points; ``last`` is the slope between the two largest
    values, where fixed costs count least; ``beyond`` the exponent once the fixed cost that makes
    the line straightest is taken off, None for fewer than four points.
    """

    exponent: float
    error: float
    r_squared: float
    last: float
    beyond: float | None = None


def fit(points: Sequence[tuple[float, float]]) -> Fit:
    """Fit a power to points.

    Example:
        >>> round(fit([(1, 3), (2, 12), (4, 48)]).exponent, 6)
        2.0
    """
    values = np.asarray(points, dtype=np.float64)
    slope, error, explained = _line(values)
    steps = np.log(values)
    last = float((steps[-1, 1] - steps[-2, 1]) / (steps[-1, 0] - steps[-2, 0]))
    beyond = None
    if len(points) > 3:
        fixed = np.linspace(0.0, 0.99, 100) * values[:, 1].min()
        lines = [_line(values - np.array([0.0, cost])) for cost in fixed]
        beyond = max(lines, key=lambda line: line[2])[0]
    return Fit(slope, error, explained, last, beyond)


def _line(points: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    """Slope of the line through the logarithms, its standard error, and r squared."""
    x, y = np.log(points).T
    slope, start = np.polyfit(x, y, 1)
    rest = y - (slope * x + start)
    total = float(((y - y.mean()) ** 2).sum())
    free, spread = len(points) - 2, float((rest**2).sum())
    error = (spread / free / float(((x - x.mean()) ** 2).sum())) ** 0.5 if free else float("nan")
    return float(slope), error, 1.0 - spread / total if total > 0 else 1.0


def computations(settings: Settings) -> list[Computation]:
    """One series each."""
    return [
        computation(
            "complexity",
            10.0 if settings.quick else 60.0,
            method=series.method,
            what=series.what,
            values=series.quick if settings.quick else series.values,
            repeats=1 if settings.quick else 2,
        )
        for series in SERIES
    ]


def study(context: StudyContext) -> Outcome:
    """Fit a power to the times of each series."""
    rows, lines = [], []
    for series, work in zip(SERIES, computations(context.settings), strict=True):
        points = [(float(x), float(y)) for x, y in context.get(work)]
        rows.append(_row(series, series.symbol, series.published, points))
        lines.append((series, points))
        if series.what == "nodes":
            pairs = [(n * (n - 1) / 2, seconds) for n, seconds in points]
            rows.append(_row(series, "candidate edges", 1.0, pairs))
    table = Table.of(
        "complexity",
        "Fitted exponents of the time",
        ("method", "against"),
        rows,
        "Processor seconds of one thread. Published: O(T K N^2) for the paper's method and "
        "O(T R M^3) for XGNN, M its steps. Ours is the slope of a line through the logarithms with "
        "its standard error. Last slope: between the two largest values. Beyond fixed cost: the "
        "exponent of what is left once the constant is taken off that makes the line straightest. "
        + _verdict(rows),
    )
    charts = {
        f"complexity-{method}": log_lines(
            f"Time of {'our method' if method == 'ours' else 'XGNN'}",
            "value of the varied number",
            {series.symbol: points for series, points in lines if series.method == method},
        )
        for method in ("ours", "xgnn")
    }
    return Outcome([table], charts)


def _verdict(rows: Sequence[Row]) -> str:
    """Whether the published bounds hold."""
    above = [
        " ".join(row.key)
        for row in rows
        if row.published is not None
        and row.ours is not None
        and row.ours.mean - 2 * (row.ours.std or 0.0) > row.published.mean
    ]
    if above:
        return f"Above the published exponent by more than two errors: {', '.join(above)}."
    return (
        "No exponent is above the published one: both bounds hold, and batching hides part of them "
        "at the sizes that explanations have."
    )


def _row(
    series: Series, symbol: str, published: float | None, points: Sequence[tuple[float, float]]
) -> Row:
    found = fit(points)
    times = ", ".join(f"{value:g}: {seconds:.2f} s" for value, seconds in points)
    error = None if np.isnan(found.error) else found.error
    return Row(
        (series.method, symbol),
        None if published is None else Value(published),
        Value(found.exponent, error),
        series.note if published is not None and found.exponent < published - 0.1 else "",
        {
            "r squared": found.r_squared,
            "last slope": found.last,
            "beyond fixed cost": found.beyond,
            "times": times,
        },
    )
