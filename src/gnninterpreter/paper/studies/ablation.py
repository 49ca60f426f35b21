"""What each term of the objective is good for (paper, ablation study, and beyond it).

The paper leaves out the embedding term for one class. Here every term of both recipes is left out
in turn, on every data set. Our recipe also walks over discrete graphs before the gradient search
and refines them afterwards, by the class probability and not by these terms; to see the terms
themselves, "gradient" is our recipe without either.
"""

from __future__ import annotations

from dataclasses import replace

from gnninterpreter import api
from gnninterpreter.datasets.molecules import nitro_groups
from gnninterpreter.errors import SpecError
from gnninterpreter.explanation import Explanation
from gnninterpreter.optim import Recipe
from gnninterpreter.paper.charts import HeatMap
from gnninterpreter.paper.figures import Cell, Sheet
from gnninterpreter.paper.published import ABLATION_LOGITS, CLASSES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["study", "without"]

SIMILARITY = "embedding similarity"
QUICK_ITERATIONS = 100
RECIPES = ("paper", "gradient", "auto")


def without(recipe: Recipe, term: str | None) -> Recipe:
    """The recipe without one term of its objective; as it is for None.

    Args:
        recipe: The recipe.
        term: Name of the term.

    Raises:
        SpecError: If the recipe has no such term.
    """
    if term is None:
        return recipe
    names = [weighted.term.name for weighted in recipe.terms]
    if term not in names:
        raise SpecError(f"the recipe has no term {term!r}; it has {', '.join(names)}")
    terms = tuple(weighted for weighted in recipe.terms if weighted.term.name != term)
    return replace(recipe, terms=terms)


def study(workshop: Workshop) -> Outcome:
    """Leave out the embedding term for mutagens, then every term everywhere."""
    embedding, sheet = _embedding_term(workshop)
    heat_tables, heat_maps = [], []
    for recipe in ("paper", "gradient") if workshop.settings.quick else RECIPES:
        table, maps = _every_term(workshop, recipe)
        heat_tables.append(table)
        heat_maps += maps
    return Outcome([embedding, *heat_tables], [sheet, *heat_maps])


def _embedding_term(workshop: Workshop) -> tuple[Table, Sheet]:
    classifier = workshop.classifier("mutag")
    rows, drawn = [], []
    for name in ("with", "without"):
        term = None if name == "with" else SIMILARITY
        for recipe in ("paper", "auto"):
            found = _explain(workshop, "mutag", "mutagen", recipe, term)
            order = sorted(range(len(found.restarts)), key=lambda r: r != found.choice)[:2]
            graphs = found.distribution.select(order).mode().to_data_list()
            graphs = [graph for graph in graphs if graph.num_edges]
            cells = []
            for index, graph in enumerate(graphs):
                scores = classifier.score_data([graph])
                logit = float(scores.logits[0, found.target])
                groups = nitro_groups(graph)
                published = Value(ABLATION_LOGITS[name][index]) if recipe == "paper" else None
                rows.append(
                    Row(
                        (f"{name} the term", recipe, str(index + 1)),
                        published,
                        Value(logit),
                        "logits of different classifiers have different scales",
                        {
                            "probability": float(scores.probabilities[0, found.target]),
                            "NO2 groups": groups,
                            "similarity": found.restarts[order[index]].similarity,
                            "nodes": int(graph.num_nodes or 0),
                        },
                    )
                )
                cells.append(Cell(graph, found.spec, f"logit {logit:.1f}, {groups} NO2"))
            drawn.append((f"{name}, {recipe}", cells))
    table = Table(
        "embedding-term",
        "Mutagen with and without the embedding term",
        ("objective", "recipe", "graph"),
        tuple(rows),
        "What matters is the ratio. Published: without the term logits grow sevenfold and the NO2 "
        "groups go; this classifier has none in either, see the study of verification.",
    )
    return table, Sheet("embedding-term", "Mutagen with and without the embedding term", drawn)


def _every_term(workshop: Workshop, recipe: str) -> tuple[Table, list[HeatMap]]:
    quick = workshop.settings.quick
    cases = [(d, t) for d in DATASETS for t in (CLASSES[d][:1] if quick else CLASSES[d])]
    names = [weighted.term.name for weighted in _recipe(workshop, *cases[0], recipe).terms]
    rows, found, alike = [], [], []
    for dataset, target in cases:
        explained = [_explain(workshop, dataset, target, recipe, term) for term in (None, *names)]
        found.append([one.probability.mean for one in explained])
        alike.append([max(one.similarity or 0.0, 0.0) for one in explained])
        for term, one in zip(("nothing", *names), explained, strict=True):
            rows.append(
                Row(
                    (dataset, target, term),
                    None,
                    Value(one.probability.mean, one.probability.std),
                    "",
                    {
                        "similarity": one.similarity,
                        "nodes": one.num_nodes,
                        "edges": one.num_edges,
                        "sound": str(one.restarts[one.choice].connected).lower(),
                    },
                )
            )
    table = Table(
        f"terms-{recipe}",
        f"Every term of the {recipe} recipe left out in turn",
        ("data set", "class", "left out"),
        tuple(rows),
        "Sound: connected, within the size limit and at least three nodes.",
    )
    labels = [f"{dataset}, {target}" for dataset, target in cases]
    columns = ["all terms", *(f"no {name}" for name in names)]
    maps = [
        HeatMap(f"{name}-{recipe}", f"{title}, {recipe} recipe", labels, columns, values)
        for name, title, values in (
            ("terms", "Mean class probability", found),
            ("similarity", "Similarity to the class", alike),
        )
    ]
    return table, maps


def _recipe(workshop: Workshop, dataset: str, target: str, name: str) -> Recipe:
    quick = workshop.settings.quick
    if name == "paper":
        limit = {"iterations": QUICK_ITERATIONS} if quick else {}
        return Recipe.paper(dataset, target, **limit)
    if name == "gradient":
        steps = QUICK_ITERATIONS if quick else 1000
        return Recipe.auto(start="density", refine=False, settle=False, iterations=steps)
    return Recipe.auto()


def _explain(
    workshop: Workshop, dataset: str, target: str, name: str, term: str | None
) -> Explanation:
    workshop.say(f"{dataset}, {target}: {name} recipe without {term or 'nothing'}")
    recipe = without(_recipe(workshop, dataset, target, name), term)
    found = api.explain(
        workshop.bundle(dataset),
        targets=target,
        recipe=recipe,
        restarts=2 if workshop.settings.quick else 8,
        seed=workshop.settings.seed,
        progress=False,
    )
    return found[target]
