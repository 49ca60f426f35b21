"""Runs summed up by class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from gnninterpreter.errors import needs
from gnninterpreter.experiments.robustness.compute import WANTED, Run

if TYPE_CHECKING:
    import pandas as pd

# Where a model allows no more, a run has to come this near to the best that a search so many times
# as large has found.
NEAR, TIMES = 0.005, 20


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
