"""Doing runs: those that are stored are not repeated, and a file holds those asked for.

Needs torch and little else, so that it runs where nothing else is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gnninterpreter.errors import OutputError
from gnninterpreter.experiments.robustness.runs import (
    WANTED,
    Run,
    RunConfig,
    read_runs,
    write_runs,
)
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.explanation import Explanation
from gnninterpreter.fingerprints import model_fingerprint
from gnninterpreter.parallel import Workers

__all__ = ["configs_of", "depends_on", "explain_once", "robustness"]

CACHE = "cache"


def configs_of(models: str, seeds: int, restarts: int = 8, recipe: str = "auto") -> list[RunConfig]:
    """Every class of some models from seeds 0 on.

    Args:
        models: Names with commas between; ``bundled`` and ``zoo`` stand for all of each.
        seeds: How many seeds.
        restarts: Restarts of each run.
        recipe: ``"auto"`` or ``"paper"``, which has weights for some classes alone.
    """
    from gnninterpreter.datasets import MOLECULES
    from gnninterpreter.experiments.zoo import ZOO
    from gnninterpreter.models import bundled_names

    six = [name for name in bundled_names() if name not in MOLECULES]
    groups = {"bundled": six, "molecules": list(MOLECULES), "zoo": list(ZOO)}
    names = dict.fromkeys(name for part in models.split(",") for name in groups.get(part, [part]))
    return [
        RunConfig(name, target, seed, restarts, recipe)
        for name in names
        for target in _targets(name, recipe)
        for seed in range(seeds)
    ]


def robustness(
    configs: Iterable[RunConfig],
    out: Path,
    jobs: int | Workers = 1,
    tell: Callable[[Run], None] | None = None,
) -> list[Run]:
    """Do the runs that are not stored yet, and write down and return all that were asked for.

    Args:
        configs: What to do.
        out: JSON file of these runs, written anew after every run. Every run ever done is stored in
            the folder ``cache`` beside it, under everything it depends on.
        jobs: How many runs at a time, each in a process of its own with one thread.
        tell: Called with each new run.

    Raises:
        CheckpointError: If the file exists and is not one of these.
        OutputError: If it cannot be written.
    """
    if out.exists():
        read_runs(out)  # A foreign file is not overwritten.
    if out.parent.exists() and not out.parent.is_dir():
        raise OutputError(f"{out} cannot be written: {out.parent} is a file")
    store = Store(out.parent / CACHE)
    wanted = {_computation(config): config for config in configs}
    known = {work: store.read(work) for work in wanted}
    runs = {work: Run.from_json(value) for work, value in known.items() if value is not None}
    for work, value in store.compute(wanted, jobs):
        runs[work] = Run.from_json(value)
        write_runs(list(runs.values()), out)
        if tell is not None:
            tell(runs[work])
    found = [runs[work] for work in wanted]
    write_runs(found, out)
    return found


def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model of a run; one of the zoo is made by code, which the store looks at anyway."""
    from gnninterpreter.experiments.zoo import ZOO

    name = arguments["model"]
    return {"model": repr(ZOO[name]) if name in ZOO else model_fingerprint(name)}


def explain_once(model: str, target: str, seed: int, restarts: int, recipe: str) -> dict[str, Any]:
    """Explain one class once and say what it came to, as JSON values."""
    from gnninterpreter.api import explain

    subject, options, oracle = _subject(model)
    result = explain(
        subject,
        targets=[target],
        restarts=restarts,
        seed=seed,
        recipe=recipe,
        progress=False,
        **options,
    )
    config = RunConfig(model, target, seed, restarts, recipe)
    return asdict(_run(config, result[target], oracle))


def _computation(config: RunConfig) -> Computation:
    return Computation("robustness.compute", "explain_once", tuple(sorted(asdict(config).items())))


def _targets(name: str, recipe: str) -> tuple[str, ...]:
    from gnninterpreter.experiments.zoo import SPECS, ZOO
    from gnninterpreter.models import load
    from gnninterpreter.search.paper_settings import PAPER_WEIGHTS

    if name in ZOO:
        return SPECS[ZOO[name].data].class_names
    bundle = load(name)
    known = PAPER_WEIGHTS.get(bundle.dataset_name, {})
    return tuple(
        c for c in bundle.spec.class_names if recipe != "paper" or c.replace("_", " ") in known
    )


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


def _run(config: RunConfig, explanation: Explanation, oracle: Any) -> Run:
    restart = explanation.restarts[explanation.choice]
    return Run(
        config=config,
        mean=explanation.probability.mean,
        std=explanation.probability.std,
        samples=explanation.probability.n,
        mode_probability=explanation.mode_probability,
        nodes=explanation.num_nodes,
        edges=explanation.num_edges,
        max_nodes=explanation.max_nodes,
        max_edges=explanation.max_edges,
        feasible=restart.feasible,
        similarity=explanation.similarity,
        percentile=explanation.similarity_percentile,
        oracle=None if oracle is None else explanation.spec.class_names[oracle(explanation.best)],
        entropy=explanation.entropy,
        good_restarts=sum(r.mean_probability >= WANTED for r in explanation.restarts),
        iterations=restart.iterations,
        seconds=explanation.seconds,
        reason=explanation.reason,
    )
