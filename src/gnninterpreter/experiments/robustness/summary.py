"""Runs summed up by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from gnninterpreter.errors import needs
from gnninterpreter.experiments.robustness.compute import WANTED, Run

if TYPE_CHECKING:
    import pandas as pd

    from gnninterpreter.experiments.bench import Printed

# Where a model allows no more, a run has to come this near to the best that a search so many times
# as large has found.
NEAR, TIMES = 0.005, 20
# Heading, column of the summary, and how it is written.
COLUMNS = {
    "runs": ("runs", "{:.0f}"),
    "missed": ("missed", "{:.0f}"),
    "best": ("best", "{:.4f}"),
    "lowest": ("lowest", "{:.4f}"),
    "mean": ("mean", "{:.4f}"),
    "nodes": ("nodes", "{:g}"),
    "edges": ("edges", "{:g}"),
    "oracle": ("oracle_agrees", "{:.0%}"),
    "s": ("seconds", "{:.1f}"),
}


def summarize(runs: Iterable[Run], larger: Iterable[Run] = ()) -> pd.DataFrame:
    """Sum runs up by class, in the order of the models' classes as they came.

    ``best`` is the highest mean that is known where ``larger`` runs, of a search `TIMES` as large,
    have found no more than is wanted of one run; ``near`` says how many of the missed came near it
    with a feasible graph.
    """
    frame, searched = _frame(runs), _frame(larger)
    by_class = frame.groupby(["model", "target"], sort=False)
    found = by_class.agg(
        runs=("mean", "size"),
        missed=("missed", "sum"),
        lowest=("mean", "min"),
        mean=("mean", "mean"),
        nodes=("nodes", "median"),
        edges=("edges", "median"),
        percentile=("percentile", "median"),
        oracle_agrees=("agrees", "mean"),
        seconds=("seconds", "median"),
        highest=("mean", "max"),
        restarts=("restarts", "max"),
    )
    more = searched.groupby(["model", "target"]).agg(
        searched=("restarts", "sum"), found=("mean", "max")
    )
    found = found.join(more)
    best = found[["highest", "found"]].max(axis=1)
    found["best"] = best.where((found.searched >= TIMES * found.restarts) & (best < WANTED))
    level = frame.join(found.best, on=["model", "target"]).best - NEAR
    near = frame.assign(near=frame.feasible & (frame["mean"] >= level))
    found["near"] = near.groupby(["model", "target"], sort=False).near.sum()
    return found.drop(columns=["highest", "restarts", "searched", "found"]).reset_index()


def tables(summary: pd.DataFrame) -> Printed:
    """The summary as it is printed."""
    limited = bool(summary.best.notna().any())
    runs, missed = int(summary.runs.sum()), int(summary.missed.sum())
    lines = ["nodes, edges, s: medians; oracle: how often it agrees"]
    reached = f"{runs - missed} of {runs} runs reached 0.99 with a feasible graph"
    if limited:
        lines += [
            "best: found by a larger search, where the model allows no 0.99",
            reached,
            f"{int(summary.near.sum())} more, of classes where the model allows no 0.99, came "
            f"within {NEAR:g} of the best that a search {TIMES} times as large has found",
        ]
    else:
        lines.append(reached)
    shown = {name: how for name, how in COLUMNS.items() if limited or name != "best"}
    return {"Robustness over seeds": summary}, shown, lines


def _frame(runs: Iterable[Run]) -> pd.DataFrame:
    with needs("pandas", "experiments", "summing runs up"):
        import pandas as pd
    names = [*(field.name for field in fields(Run)), "missed", "agrees"]
    rows = [
        asdict(run)
        | {"missed": run.missed}
        | {"agrees": None if run.oracle is None else float(run.oracle == run.target)}
        for run in runs
    ]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({"percentile": float, "agrees": float, "mean": float, "restarts": int})
