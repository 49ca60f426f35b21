"""One class explained once: by our recipes, with or without a term, by XGNN, by random graphs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from torch_geometric.data import Data

from gnninterpreter import api, datasets
from gnninterpreter.baselines import XGNN, Random
from gnninterpreter.datasets.mutag import nitro_groups
from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.paper.bundled import bundle, classifier
from gnninterpreter.experiments.paper.records import record
from gnninterpreter.explanation import Explanation, LatentSampler
from gnninterpreter.fingerprints import data_fingerprint, model_fingerprint
from gnninterpreter.interchange import graph_to_json
from gnninterpreter.search import Recipe

EXAMPLES = 400
SAMPLES = 1000
FEW = 3


def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model, all settings of the recipe or baseline, and the real graphs where they count."""
    dataset = arguments["dataset"]
    if function == "ours":
        names = ("dataset", "target", "recipe", "iterations", "term")
        settings: object = recipe_of(*(arguments[name] for name in names)).to_json()
    else:
        settings = repr(XGNN(patience=arguments["patience"]) if function == "xgnn" else Random())
    return {
        "model": model_fingerprint(dataset),
        "recipe": settings,
        "data": data_fingerprint(dataset) if arguments["measured"] else None,
    }


def recipe_of(
    dataset: str, target: str, name: str, iterations: int | None, term: str | None
) -> Recipe:
    """A recipe by name, without one of its terms: ``"auto"``, ``"paper"`` or ``"gradient"``.

    The last is ours with its gradient search alone, without what looks at discrete graphs before
    and after it.
    """
    limit = {} if iterations is None else {"iterations": iterations}
    if name == "paper":
        return without(Recipe.paper(dataset, target, **limit), term)
    if name == "gradient":
        auto = Recipe.auto(**limit)
        others = [phase.name for phase in auto.phases if phase.name != "gradient"]
        return without(auto.without(*others), term)
    return without(Recipe.auto(**limit), term)


def without(recipe: Recipe, term: str | None) -> Recipe:
    """The recipe without one term of its objective; as it is for None."""
    if term is None:
        return recipe
    names = [weighted.term.name for weighted in recipe.terms]
    if term not in names:
        raise SpecError(f"the recipe has no term {term!r}; it has {', '.join(names)}")
    return replace(recipe, terms=recipe.objective.without(term).terms)


def ours(
    dataset: str,
    target: str,
    recipe: str,
    seed: int,
    restarts: int,
    iterations: int | None,
    term: str | None,
    measured: bool,
) -> dict[str, Any]:
    """Explain a class; ``runs`` has the mean over 1,000 samples of every restart."""
    chosen = recipe_of(dataset, target, recipe, iterations, term)
    found = api.explain(
        bundle(dataset), targets=target, recipe=chosen, seed=seed, restarts=restarts, progress=False
    )[target]
    values = record(found, dataset, known(dataset) if measured else None)
    if recipe != "auto" or restarts < FEW:
        # Where a restart stands for a run, each is measured on its own.
        values["runs"] = _runs(found, dataset)
        values["graphs"] = _first_two(found, dataset)
    return values


def xgnn(dataset: str, target: str, seed: int, patience: int, measured: bool) -> dict[str, Any]:
    """Train XGNN for a class and draw from it."""
    method = XGNN(patience=patience)
    found = method.explain(bundle(dataset), targets=target, seed=seed)[target]
    return record(found, dataset, known(dataset) if measured else None)


def random(dataset: str, target: str, seed: int, nodes: int, measured: bool) -> dict[str, Any]:
    """Draw 1,000 Gabriel graphs of a size."""
    found = Random(num_nodes=nodes).explain(bundle(dataset), targets=target, seed=seed)[target]
    return record(found, dataset, known(dataset) if measured else None)


@lru_cache(maxsize=6)
def known(dataset: str) -> list[Data]:
    """A few hundred labelled graphs of a data set; MUTAG has no more."""
    options: dict[str, Any] = {} if dataset == "mutag" else {"num_graphs": EXAMPLES}
    return list(datasets.load(dataset, **options))


def _first_two(found: Explanation, dataset: str) -> list[dict[str, Any]]:
    """The most probable graphs of two restarts, the chosen one first."""
    order = sorted(range(len(found.restarts)), key=lambda r: r != found.choice)[:2]
    shown = []
    for index in order:
        graph = found.sampler.modes()[index].to_data_list()[0]
        if not graph.num_edges:
            continue
        scores = classifier(dataset).score_data([graph])
        shown.append(
            {
                "graph": graph_to_json(graph, found.spec),
                "logit": float(scores.logits[0, found.target.index]),
                "probability": float(scores.probabilities[0, found.target.index]),
                "similarity": found.restarts[index].similarity,
                "nitro": nitro_groups(graph) if dataset == "mutag" else None,
            }
        )
    return shown


def _runs(found: Explanation, dataset: str) -> list[dict[str, Any]]:
    runs = []
    for index, restart in enumerate(found.restarts):
        assert found.distribution is not None
        one = LatentSampler.of(found.distribution, index)
        drawn = one.sample(SAMPLES, found.seed, purpose=index)
        scored = classifier(dataset).probability(drawn, found.target.index).double()
        runs.append(
            {
                "mean": float(scored.mean()),
                "std": float(scored.std(unbiased=False)),
                "nodes": restart.nodes,
                "reason": restart.reason,
                "iterations": restart.iterations,
                "similarity": restart.similarity,
            }
        )
    return runs
