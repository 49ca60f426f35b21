"""Does it work from every seed? Every class of every model, explained again and again.

One `Run` is one class explained once. Runs are kept in a JSON file as they come, so that a
benchmark that was interrupted goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import torch

from gnninterpreter.errors import CheckpointError, OutputError
from gnninterpreter.explanation import Explanation
from gnninterpreter.files import write_atomically

__all__ = ["NEAR", "TIMES", "Job", "Run", "Summary", "read_runs", "robustness", "summarise"]

SCHEMA = 1
WANTED = 0.99
# Where a model allows no more, a run has to come this near to the best that a search so many times
# as large has found.
NEAR, TIMES = 0.005, 20


@dataclass(frozen=True, order=True)
class Job:
    """One class of one model, to be explained from one seed."""

    model: str
    target: str
    seed: int
    restarts: int = 8
    recipe: str = "auto"


@dataclass(frozen=True)
class Run:
    """What one job came to.

    Args:
        job: What was asked for.
        mean: Mean class probability over discrete samples, native model.
        std: Their standard deviation.
        samples: Number of samples.
        mode_probability: Class probability of the most probable graph.
        nodes: Its nodes.
        edges: Its edges.
        max_nodes: Limit on nodes.
        max_edges: Limit on edges.
        connected: Whether it is connected, has three nodes or more and keeps to the limits.
        similarity: Cosine similarity to the class mean.
        percentile: Share of the class's real graphs less similar, in percent.
        oracle: What the ground truth says of it, where the data set has an oracle.
        undecided: What is still open in the distribution, in bits.
        good_restarts: Restarts whose mean reached the wanted level.
        iterations: Gradient iterations.
        seconds: Time it took.
        reason: Why the chosen restart ended.
    """

    job: Job
    mean: float
    std: float
    samples: int
    mode_probability: float
    nodes: int
    edges: int
    max_nodes: int
    max_edges: float
    connected: bool
    similarity: float | None
    percentile: float | None
    oracle: str | None
    undecided: float
    good_restarts: int
    iterations: int
    seconds: float
    reason: str

    @property
    def lost(self) -> bool:
        """Whether the run fell short: in probability, in one piece, or in size."""
        return self.mean < WANTED or not self.connected


@dataclass(frozen=True)
class Summary:
    """The runs of one class of one model together.

    Args:
        model: The model.
        target: The class.
        runs: Number of runs.
        lost: How many of them fell short.
        best: The highest mean that is known for the class, where a search `TIMES` as large has
            found no more than is wanted of a single run; None elsewhere.
        near: How many of the lost runs have a sound graph and come within `NEAR` of the best.
        lowest: Lowest mean class probability.
        mean: Mean of the means.
        nodes: Median number of nodes.
        edges: Median number of edges.
        percentile: Median share of real graphs that are less similar to their class.
        oracle_agrees: How often the ground truth agrees, where there is one.
        seconds: Median time.
    """

    model: str
    target: str
    runs: int
    lost: int
    best: float | None
    near: int
    lowest: float
    mean: float
    nodes: float
    edges: float
    percentile: float | None
    oracle_agrees: float | None
    seconds: float


def robustness(
    jobs: Iterable[Job],
    out: Path,
    processes: int = 1,
    tell: Callable[[Run], None] | None = None,
) -> list[Run]:
    """Do the jobs that the file does not hold yet, and return all its runs.

    Args:
        jobs: What to do.
        out: JSON file of runs; written anew after every run.
        processes: How many jobs at a time, each in a process of its own with one thread.
        tell: Called with each new run.

    Raises:
        CheckpointError: If the file exists and is not one of these.
        OutputError: If it cannot be written.
    """
    runs = read_runs(out) if out.exists() else []
    if out.parent.exists() and not out.parent.is_dir():
        raise OutputError(f"{out} cannot be written: {out.parent} is a file")
    known = {run.job for run in runs}
    missing = [job for job in dict.fromkeys(jobs) if job not in known]
    for run in _do(missing, processes):
        runs.append(run)
        write_runs(runs, out)
        if tell is not None:
            tell(run)
    return runs


def write_runs(runs: list[Run], out: Path) -> None:
    """Write runs to their file, whole or not at all."""
    ordered = sorted(runs, key=lambda run: run.job)
    content = {"schema": SCHEMA, "kind": "robustness", "runs": [asdict(run) for run in ordered]}
    write_atomically(out, json.dumps(content, indent=0).encode())


def read_runs(out: Path) -> list[Run]:
    """Read the runs of a file.

    Raises:
        CheckpointError: If it is not a file of runs.
    """
    try:
        content = json.loads(out.read_text())
        if content["kind"] != "robustness" or content["schema"] != SCHEMA:
            raise KeyError("kind")
        return [Run(**{**row, "job": Job(**row["job"])}) for row in content["runs"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{out} is not a file of robustness runs ({error!r}); give another file"
        ) from error


def summarise(runs: Iterable[Run], larger: Iterable[Run] = ()) -> list[Summary]:
    """Sum runs up by class, in the order of the models' classes as they came.

    Args:
        runs: The runs.
        larger: Runs of a larger search of some of the classes, which show what a model allows.
    """
    groups, searched = _by_class(runs), _by_class(larger)
    return [
        _summary(model, target, group, _best(group, searched.get((model, target), [])))
        for (model, target), group in groups.items()
    ]


def _by_class(runs: Iterable[Run]) -> dict[tuple[str, str], list[Run]]:
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.job.model, run.job.target), []).append(run)
    return groups


def _best(group: list[Run], larger: list[Run]) -> float | None:
    if sum(run.job.restarts for run in larger) < TIMES * max(run.job.restarts for run in group):
        return None
    best = max(run.mean for run in [*group, *larger])
    return best if best < WANTED else None


def _summary(model: str, target: str, group: list[Run], best: float | None) -> Summary:
    percentiles = [run.percentile for run in group if run.percentile is not None]
    oracles = [run.oracle == target for run in group if run.oracle is not None]
    near = [run for run in group if best is not None and run.connected and run.mean >= best - NEAR]
    return Summary(
        model,
        target,
        len(group),
        sum(run.lost for run in group),
        best,
        len(near),
        min(run.mean for run in group),
        sum(run.mean for run in group) / len(group),
        median(run.nodes for run in group),
        median(run.edges for run in group),
        median(percentiles) if percentiles else None,
        sum(oracles) / len(oracles) if oracles else None,
        median(run.seconds for run in group),
    )


def _do(jobs: list[Job], processes: int) -> Iterator[Run]:
    if processes <= 1:
        for job in jobs:
            yield do(job)
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(processes, context, _one_thread) as pool:
        futures = [pool.submit(do, job) for job in jobs]
        for future in as_completed(futures):
            yield future.result()


def _one_thread() -> None:
    torch.set_num_threads(1)


def do(job: Job) -> Run:
    """Explain one class once."""
    from gnninterpreter.api import explain

    model, options, oracle = _subject(job.model)
    result = explain(
        model,
        targets=[job.target],
        restarts=job.restarts,
        seed=job.seed,
        recipe=job.recipe,
        progress=False,
        **options,
    )
    return _run(job, result[job.target], oracle)


def _subject(name: str) -> tuple[Any, dict[str, Any], Any]:
    """The model of a name, with what `explain` needs besides, and its oracle if there is one."""
    from gnninterpreter import datasets, models
    from gnninterpreter.experiments.zoo import ZOO, trained

    if name in ZOO:
        subject = trained(name)
        options = {"spec": subject.spec, "class_statistics": subject.statistics}
        return subject.model, options, None
    bundle = models.load(name)
    return bundle, {}, datasets.dataset_class(bundle.dataset_name).oracle


def _run(job: Job, explanation: Explanation, oracle: Any) -> Run:
    restart = explanation.restarts[explanation.choice]
    verdict = None
    if oracle is not None:
        verdict = explanation.spec.class_names[oracle(explanation.best)]
    return Run(
        job=job,
        mean=explanation.probability.mean,
        std=explanation.probability.std,
        samples=explanation.probability.n,
        mode_probability=explanation.mode_probability,
        nodes=explanation.num_nodes,
        edges=explanation.num_edges,
        max_nodes=explanation.max_nodes,
        max_edges=explanation.max_edges,
        connected=restart.feasible,
        similarity=explanation.similarity,
        percentile=explanation.similarity_percentile,
        oracle=verdict,
        undecided=explanation.undecided,
        good_restarts=sum(r.mean_probability >= WANTED for r in explanation.restarts),
        iterations=restart.iterations,
        seconds=explanation.seconds,
        reason=explanation.reason,
    )
