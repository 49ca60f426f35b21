"""Time of our method and of XGNN against what it depends on (paper, appendix on complexity)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gnninterpreter import api
from gnninterpreter.baselines import XGNN
from gnninterpreter.optim import Recipe
from gnninterpreter.paper.charts import LogLines
from gnninterpreter.paper.study import Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["exponent", "study"]

REPEATS = 3

NOTES = {
    ("ours", "nodes N"): "dense kernels: fixed costs hide the square until graphs are large",
    ("ours", "samples K"): "all samples are one batch, so that K costs less than its number",
    ("ours", "candidate edges"): "half the exponent of N, as candidate edges grow with its square",
    ("xgnn", "steps M"): "rollouts are one batch and end where a rule is broken, well before M",
    ("xgnn", "rollouts R"): "all rollouts are one batch",
    ("xgnn", "nodes N"): "larger graphs allow more legal steps",
}


def study(workshop: Workshop) -> Outcome:
    """Vary one number at a time and fit a power to the times."""
    quick = workshop.settings.quick
    nodes = (20, 60, 120) if quick else (20, 40, 80, 160)
    series: list[tuple[str, str, float | None, Sequence[int], Callable[[int], float]]] = [
        ("ours", "nodes N", 2.0, nodes, lambda n: _ours(workshop, nodes=n)),
        ("ours", "samples K", 1.0, (5, 20, 80), lambda k: _ours(workshop, samples=k)),
        ("ours", "iterations T", 1.0, (20, 40, 80), lambda t: _ours(workshop, iterations=t)),
        ("xgnn", "episodes T", 1.0, (10, 20, 40), lambda t: _xgnn(workshop, episodes=t)),
        ("xgnn", "rollouts R", 1.0, (5, 10, 20), lambda r: _xgnn(workshop, rollouts=r)),
        ("xgnn", "steps M", 3.0, (4, 8, 16), lambda m: _xgnn(workshop, max_steps=m)),
        ("xgnn", "nodes N", None, (4, 8, 16), lambda n: _xgnn(workshop, max_nodes=n)),
    ]
    rows, lines = [], {}
    for method, what, published, values, measure in series:
        workshop.say(f"{method}: time against {what}")
        points = [(float(value), min(measure(value) for _ in range(REPEATS))) for value in values]
        rows.append(_row(method, what, published, points))
        lines[method, what] = points
        if (method, what) == ("ours", "nodes N"):
            pairs = [(n * (n - 1) / 2, seconds) for n, seconds in points]
            rows.append(_row(method, "candidate edges", 1.0, pairs))
    table = Table(
        "complexity",
        "Fitted exponents of the time",
        ("method", "against"),
        tuple(rows),
        "Each time is the shortest of three. Published: O(T K N^2) for the paper's method and "
        "O(T R M^3) for XGNN, M its steps. Ours is the slope of a line through the logarithms.",
    )
    charts = [
        LogLines(
            f"complexity-{method}",
            f"Time of {'our method' if method == 'ours' else 'XGNN'}",
            "value of the varied number",
            [(what, points) for (m, what), points in lines.items() if m == method],
        )
        for method in ("ours", "xgnn")
    ]
    return Outcome([table], charts)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Slope of the line through the logarithms of the points.

    Example:
        >>> round(exponent([(1, 3), (2, 12), (4, 48)]), 6)
        2.0
    """
    x, y = np.log(np.asarray(points, dtype=np.float64)).T
    return float(np.polyfit(x, y, 1)[0])


def _row(
    method: str, what: str, published: float | None, points: Sequence[tuple[float, float]]
) -> Row:
    measured = ", ".join(f"{value:g}: {seconds:.2f} s" for value, seconds in points)
    return Row(
        (method, what),
        None if published is None else Value(published),
        Value(exponent(points)),
        NOTES.get((method, what), ""),
        {"times": measured},
    )


def _ours(workshop: Workshop, nodes: int = 20, samples: int = 10, iterations: int = 40) -> float:
    """Seconds of one explainer with the paper's recipe, which is not allowed to stop early."""
    recipe = Recipe.paper(
        "motif",
        "house",
        max_nodes=nodes,
        max_edges=float(nodes),
        samples=samples,
        iterations=iterations,
        check_every=iterations,
        stop_probability=2.0,
    )
    found = api.explain(
        workshop.bundle("motif"), targets="house", recipe=recipe, restarts=1, progress=False
    )
    return found["house"].seconds


def _xgnn(
    workshop: Workshop,
    episodes: int = 10,
    rollouts: int = 10,
    max_steps: int = 10,
    max_nodes: int = 6,
) -> float:
    method = XGNN(
        episodes=episodes,
        rollouts=rollouts,
        max_steps=max_steps,
        max_nodes=max_nodes,
        stop_probability=2.0,
    )
    return method.explain(workshop.bundle("mutag"), target="mutagen").seconds
