"""What studies compute, by what it is good for; costs are seconds measured."""

from __future__ import annotations

from typing import Any

from gnninterpreter.experiments.paper.bundled import bundle
from gnninterpreter.experiments.paper.published import SIZES
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.store import Computation

MODULES: dict[str, str] = {
    "ours": "explaining",
    "xgnn": "explaining",
    "random": "explaining",
    "race": "racing",
    "reach": "racing",
    "complexity": "racing",
    "gabriel": "classifying",
    "bias": "classifying",
    "sizes": "classifying",
    "examples": "classifying",
    "attach": "attaching",
    "nitro": "attaching",
}
"""Functions that compute, with the module of `experiments.paper.work` that has them."""

# Processor seconds of our recipe with 8 restarts, and of 100 iterations of ten of the paper's.
AUTO = {
    "mutag": 5.0,
    "cyclicity": 10.0,
    "motif": 6.0,
    "shape": 5.0,
    "is_acyclic": 6.0,
    "color_consistency": 20.0,
}
HUNDRED = {
    "mutag": 2.0,
    "cyclicity": 11.0,
    "motif": 2.5,
    "shape": 3.5,
    "is_acyclic": 4.0,
    "color_consistency": 9.0,
}
GAME = {"mutag": 4.0, "is_acyclic": 7.0, "motif": 10.0, "shape": 8.0}
METRICS = 4.0


def computation(function: str, cost: float = 1.0, /, **arguments: Any) -> Computation:
    """Name a piece of work.

    Example:
        >>> computation("nitro", seed=0, count=10).name
        'nitro: count=10, seed=0'
    """
    module = f"paper.work.{MODULES[function]}"
    return Computation(module, function, tuple(sorted(arguments.items())), cost)


def _ours(
    cost: float, settings: Settings, dataset: str, target: str, **changed: Any
) -> Computation:
    usual = {"seed": settings.seed, "iterations": None, "term": None, "measured": False}
    return computation("ours", cost, dataset=dataset, target=target, **{**usual, **changed})


def by_our_recipe(
    settings: Settings, dataset: str, target: str, seed: int | None = None
) -> Computation:
    """A class explained by our recipe."""
    number = settings.seed if seed is None else seed
    measured = number in settings.measured_seeds
    cost = AUTO[dataset] * settings.restarts / 8 + (METRICS if measured else 0.0)
    changed = {"recipe": "auto", "seed": number, "measured": measured}
    return _ours(cost, settings, dataset, target, restarts=settings.restarts, **changed)


def by_paper_recipe(settings: Settings, dataset: str, target: str) -> Computation:
    """A class explained by the paper's recipe, several runs as one batch."""
    share = 0.3 + 0.07 * settings.paper_runs
    cost = share * HUNDRED[dataset] * settings.paper_iterations / 100
    limits = {"restarts": settings.paper_runs, "iterations": settings.paper_iterations}
    return _ours(cost, settings, dataset, target, recipe="paper", **limits)


def ablated(
    settings: Settings,
    dataset: str,
    target: str,
    recipe: str,
    term: str | None,
    whole: bool = False,
) -> Computation:
    """A class explained by a recipe that lacks a term, at its whole length or cut short."""
    iterations = settings.ablation_iterations(recipe)
    if whole and iterations is not None:
        iterations = settings.paper_iterations
    dear = AUTO[dataset] / 2 if iterations is None else 0.44 * HUNDRED[dataset] * iterations / 100
    limits = {"restarts": settings.ablation_restarts, "iterations": iterations}
    return _ours(dear, settings, dataset, target, recipe=recipe, term=term, **limits)


def by_xgnn(settings: Settings, dataset: str, target: str) -> list[Computation]:
    """A class explained by XGNN, once for each seed."""
    return [
        computation(
            "xgnn",
            GAME[dataset] * settings.xgnn_patience / 20 + METRICS,
            dataset=dataset,
            target=target,
            seed=seed,
            patience=settings.xgnn_patience,
            measured=seed in settings.measured_seeds,
        )
        for seed in settings.xgnn_seeds(dataset)
    ]


def by_random(settings: Settings, dataset: str, target: str, nodes: int) -> Computation:
    """Gabriel graphs of a size, measured as an explanation."""
    return computation(
        "random",
        5.0,
        dataset=dataset,
        target=target,
        seed=settings.seed,
        nodes=nodes,
        measured=nodes == class_nodes(dataset, target),
    )


def examples(dataset: str) -> Computation:
    """Real graphs of a data set, for its figures."""
    return computation("examples", 2.0, dataset=dataset)


def class_nodes(dataset: str, target: str) -> int:
    """Mean number of nodes of a class, as a whole number."""
    found = bundle(dataset)
    index = found.spec.class_index(target)
    return max(2, round(float(found.statistics.mean_nodes[index])))


def data_nodes(dataset: str) -> int:
    """Mean number of nodes of a data set as published, as a whole number."""
    return round(SIZES[dataset][2])
