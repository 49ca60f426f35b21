"""Units that several studies share, by what they are good for; their costs are seconds measured."""

from __future__ import annotations

from gnninterpreter.experiments.paper.published import SIZES
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.units import Unit, bundle, unit

__all__ = [
    "ablated",
    "by_random",
    "by_xgnn",
    "class_nodes",
    "data_nodes",
    "examples",
    "explained",
    "letter",
]

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


def explained(settings: Settings, dataset: str, target: str, seed: int | None = None) -> Unit:
    """A class explained by our recipe."""
    number = settings.seed if seed is None else seed
    measured = number in settings.measured_seeds
    cost = AUTO[dataset] * settings.restarts / 8 + (METRICS if measured else 0.0)
    return unit(
        "ours",
        cost,
        dataset=dataset,
        target=target,
        recipe="auto",
        seed=number,
        restarts=settings.restarts,
        iterations=None,
        term=None,
        measured=measured,
    )


def letter(settings: Settings, dataset: str, target: str) -> Unit:
    """A class explained by the paper's recipe, several runs as one batch."""
    share = 0.3 + 0.07 * settings.paper_runs
    cost = share * HUNDRED[dataset] * settings.paper_iterations / 100
    return unit(
        "ours",
        cost,
        dataset=dataset,
        target=target,
        recipe="paper",
        seed=settings.seed,
        restarts=settings.paper_runs,
        iterations=settings.paper_iterations,
        term=None,
        measured=False,
    )


def ablated(
    settings: Settings,
    dataset: str,
    target: str,
    recipe: str,
    term: str | None,
    whole: bool = False,
) -> Unit:
    """A class explained by a recipe that lacks a term, at its whole length or cut short."""
    iterations = settings.ablation_iterations(recipe)
    if whole and iterations is not None:
        iterations = settings.paper_iterations
    dear = AUTO[dataset] / 2 if iterations is None else 0.44 * HUNDRED[dataset] * iterations / 100
    return unit(
        "ours",
        dear,
        dataset=dataset,
        target=target,
        recipe=recipe,
        seed=settings.seed,
        restarts=settings.ablation_restarts,
        iterations=iterations,
        term=term,
        measured=False,
    )


def by_xgnn(settings: Settings, dataset: str, target: str) -> list[Unit]:
    """A class explained by XGNN, once for each seed."""
    return [
        unit(
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


def by_random(settings: Settings, dataset: str, target: str, nodes: int) -> Unit:
    """Gabriel graphs of a size, measured as an explanation."""
    return unit(
        "random",
        5.0,
        dataset=dataset,
        target=target,
        seed=settings.seed,
        nodes=nodes,
        measured=nodes == class_nodes(dataset, target),
    )


def examples(dataset: str) -> Unit:
    """Real graphs of a data set, for its figures."""
    return unit("examples", 2.0, dataset=dataset)


def class_nodes(dataset: str, target: str) -> int:
    """Mean number of nodes of a class, as a whole number."""
    found = bundle(dataset)
    index = found.spec.class_index(target)
    return max(2, round(float(found.statistics.mean_nodes[index])))


def data_nodes(dataset: str) -> int:
    """Mean number of nodes of a data set as published, as a whole number."""
    return round(SIZES[dataset][2])
