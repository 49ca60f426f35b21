"""What is measured with a clock, and how far XGNN's game goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gnninterpreter import api
from gnninterpreter.baselines import XGNN
from gnninterpreter.baselines.xgnn.building import Rules
from gnninterpreter.experiments.paper.bundled import bundle, classifier
from gnninterpreter.experiments.paper.work.reachable import best_reachable
from gnninterpreter.explanation import Explanation
from gnninterpreter.fingerprints import model_fingerprint
from gnninterpreter.search import Recipe

NEVER = 2.0
OURS = ("motif", "house")
THEIRS = ("mutag", "mutagen")


def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model, and the settings of both methods."""
    dataset = arguments.get("dataset", (OURS if arguments.get("method") == "ours" else THEIRS)[0])
    return {"model": model_fingerprint(dataset), "recipe": repr((Recipe.auto(), XGNN()))}


def race(dataset: str, target: str, restarts: int, repeats: int) -> dict[str, Any]:
    """Run our recipe and XGNN in turn in this process, each time from another seed.

    Gives seconds of both, by the clock and of the processor, and mean class probabilities.
    """
    methods: dict[str, Callable[[int], Explanation]] = {
        "ours": lambda seed: _auto(dataset, target, restarts, seed),
        "one": lambda seed: _auto(dataset, target, 1, seed),
        "xgnn": lambda seed: XGNN().explain(bundle(dataset), targets=target, seed=seed)[target],
    }
    found: dict[str, list[float]] = {}
    for seed in range(repeats):
        for name, explain in methods.items():
            started, cpu = time.perf_counter(), time.process_time()
            explanation = explain(seed)
            spent = (time.perf_counter() - started, time.process_time() - cpu)
            found.setdefault(f"{name}_seconds", []).append(spent[0])
            found.setdefault(f"{name}_cpu", []).append(spent[1])
            found.setdefault(f"{name}_probability", []).append(explanation.probability.mean)
    return found


def _auto(dataset: str, target: str, restarts: int, seed: int) -> Explanation:
    return api.explain(
        bundle(dataset), targets=target, restarts=restarts, seed=seed, progress=False
    )[target]


def reach(dataset: str, target: str, max_nodes: int, width: int) -> dict[str, Any]:
    """The best graph that XGNN's rules allow."""
    model = classifier(dataset)
    rules = Rules.of(model.spec, max_nodes)
    return asdict(best_reachable(rules, model, model.spec.class_index(target), width))


def complexity(method: str, what: str, values: Sequence[int], repeats: int) -> list[list[float]]:
    """Shortest time of a method for each value of one of its numbers."""
    measure = _ours if method == "ours" else _xgnn
    return [[float(value), min(measure(what, value) for _ in range(repeats))] for value in values]


def _ours(what: str, value: int) -> float:
    """Processor seconds of one explainer with the paper's recipe, which may not stop early."""
    numbers = {"nodes": 20, "samples": 10, "iterations": 40, what: value}
    recipe = Recipe.paper(
        *OURS,
        max_nodes=numbers["nodes"],
        max_edges=float(numbers["nodes"]),
        samples=numbers["samples"],
        iterations=numbers["iterations"],
        # Looked at only once it is over, so that it cannot stop before.
        check_every=numbers["iterations"],
    )
    target = OURS[1]
    started = time.process_time()
    api.explain(bundle(OURS[0]), targets=target, recipe=recipe, restarts=1, progress=False)
    return time.process_time() - started


def _xgnn(what: str, value: int) -> float:
    numbers: dict[str, Any] = {
        "episodes": 10,
        "rollouts": 10,
        "max_steps": 10,
        "max_nodes": 6,
        what: value,
    }
    if what == "max_steps":
        # Room for as many edges as there are steps, or the game would be over before.
        numbers["max_nodes"] = value
    method = XGNN(stop_probability=NEVER, patience=10**6, **numbers)
    started = time.process_time()
    method.explain(bundle(THEIRS[0]), targets=THEIRS[1])
    return time.process_time() - started
