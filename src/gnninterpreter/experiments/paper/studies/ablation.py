"""What each term of the objective is good for (paper, ablation study, and beyond it).

The paper leaves out the embedding term for one class. Here every term of both recipes is left out
in turn, on every data set. Our recipe also walks over discrete graphs before the gradient search
and refines them afterwards, by the class probability and not by these terms; to see the terms
themselves, "gradient" is our recipe without either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gnninterpreter.experiments.charts import heat_map
from gnninterpreter.experiments.paper.computations import ablated
from gnninterpreter.experiments.paper.figures import Cell, sheet
from gnninterpreter.experiments.paper.published import ABLATION_LOGITS
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.paper.work.explaining import recipe_of
from gnninterpreter.experiments.store import Computation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SIMILARITY = "embedding similarity"
MUTAGEN = ("mutag", "mutagen")

KEPT_BY_AUTO = (
    "A term that is left out is missing everywhere: in the gradient, the walks and the judge. "
    "Gradient is auto with its gradient search alone."
)


def terms(recipe: str) -> list[str]:
    """Names of the terms of a recipe."""
    return [weighted.term.name for weighted in recipe_of(*MUTAGEN, recipe, None, None).terms]


def computations(settings: Settings) -> list[Computation]:
    """Every class with all terms and without each."""
    found = [
        ablated(settings, *MUTAGEN, recipe, term, whole=True)
        for recipe in ("paper", "auto")
        for term in (None, SIMILARITY)
    ]
    return found + [
        ablated(settings, dataset, target, recipe, term)
        for recipe in settings.ablation_recipes
        for dataset, target in settings.ablated
        for term in (None, *terms(recipe))
    ]


def study(context: StudyContext) -> Outcome:
    """Leave out the embedding term for mutagens, then every term everywhere."""
    embedding, drawn = _embedding_term(context)
    tables, figures = [embedding], {"embedding-term": drawn}
    for recipe in context.settings.ablation_recipes:
        table, maps = _every_term(context, recipe)
        tables.append(table)
        figures |= maps
    return Outcome(tables, figures)


def _embedding_term(context: StudyContext) -> tuple[Table, Figure]:
    spec = context.bundle(MUTAGEN[0]).spec
    rows, drawn = [], []
    logits: dict[str, list[float]] = {}
    groups: dict[str, list[int]] = {}
    for name, term in (("with", None), ("without", SIMILARITY)):
        for recipe in ("paper", "auto"):
            found = context.get(ablated(context.settings, *MUTAGEN, recipe, term, whole=True))
            cells = []
            for index, one in enumerate(found["graphs"]):
                known = recipe == "paper"
                published = Value(ABLATION_LOGITS[name][index]) if known else None
                rows.append(
                    Row(
                        (f"{name} the term", recipe, str(index + 1)),
                        published,
                        Value(one["logit"]),
                        _ratio(one["logit"], published),
                        {
                            "probability": one["probability"],
                            "NO2 groups": one["nitro"],
                            "similarity": one["similarity"],
                            "nodes": len(one["graph"]["nodes"]),
                        },
                    )
                )
                if known:
                    logits.setdefault(name, []).append(one["logit"])
                groups.setdefault(name, []).append(one["nitro"])
                caption = f"logit {one['logit']:.1f}, {one['nitro']} NO2"
                cells.append(Cell.stored(one["graph"], spec, caption))
            drawn.append((f"{name}, {recipe}", cells))
    table = Table.of(
        "embedding-term",
        "Mutagen with and without the embedding term",
        ("objective", "recipe", "graph"),
        rows,
        "Published: without the term logits grow 7.6-fold and the NO2 groups go. "
        + _told(logits, groups)
        + " "
        + KEPT_BY_AUTO,
    )
    return table, sheet("Mutagen with and without the embedding term", drawn)


def _ratio(logit: float, published: Value | None) -> str:
    if published is None:
        return ""
    return (
        f"{logit / published.mean:.2f} of the published logit: the scale of logits is that of the "
        "classifier, compare with and without"
    )


def _told(logits: dict[str, list[float]], groups: dict[str, list[int]]) -> str:
    """What this classifier does, from the numbers of the table."""
    mean = {name: sum(values) / len(values) for name, values in logits.items() if values}
    if len(mean) < 2:
        return "Ours: the search ended without a graph."
    return (
        f"Ours, with the paper's recipe: {mean['with']:.1f} with the term and "
        f"{mean['without']:.1f} without; NO2 groups in all graphs together: "
        f"{sum(groups['with'])} with and {sum(groups['without'])} without."
    )


def _every_term(context: StudyContext, recipe: str) -> tuple[Table, dict[str, Figure]]:
    settings, names = context.settings, terms(recipe)
    rows, found, alike, labels = [], [], [], []
    for dataset, target in settings.ablated:
        labels.append(f"{dataset}, {target}")
        explained = [
            context.get(ablated(settings, dataset, target, recipe, term)) for term in (None, *names)
        ]
        found.append([one["probability"]["mean"] for one in explained])
        alike.append([max(one["similarity"] or 0.0, 0.0) for one in explained])
        for term, one in zip(("nothing", *names), explained, strict=True):
            rows.append(
                Row(
                    (dataset, target, term),
                    ours=Value(one["probability"]["mean"], one["probability"]["std"]),
                    extra={name: one[name] for name in ("similarity", "nodes", "edges")}
                    | {"feasible": str(one["feasible"]).lower()},
                )
            )
    iterations = settings.ablation_iterations(recipe)
    length = "" if iterations is None else f" of {iterations} iterations"
    table = Table.of(
        f"terms-{recipe}",
        f"Every term of the {recipe} recipe left out in turn",
        ("data set", "class", "left out"),
        rows,
        f"Best of {settings.ablation_restarts} restarts{length}. Feasible: connected, within the "
        "size limit and at least three nodes." + (f" {KEPT_BY_AUTO}" if recipe == "auto" else ""),
    )
    columns = ["all terms", *(f"no {name}" for name in names)]
    maps = {
        f"{name}-{recipe}": heat_map(f"{title}, {recipe} recipe", labels, columns, values)
        for name, title, values in (
            ("terms", "Mean class probability", found),
            ("similarity", "Similarity to the class", alike),
        )
    }
    return table, maps
