"""One explanation for each class beside a real graph of it (paper, figures 1 and 5)."""

from __future__ import annotations

from typing import Any

from gnninterpreter.experiments.paper.computations import by_our_recipe, examples
from gnninterpreter.experiments.paper.figures import Cell, outlines, sheet
from gnninterpreter.experiments.paper.published import CLASSES
from gnninterpreter.experiments.paper.settings import DATASETS, Settings, cases
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation


def computations(settings: Settings) -> list[Computation]:
    """Every class, explained once, and real graphs."""
    return [
        *(by_our_recipe(settings, dataset, target) for dataset, target in cases()),
        *(examples(dataset) for dataset in DATASETS),
    ]


def study(context: StudyContext) -> Outcome:
    """Draw the explanations, and check them against the true rule of each class."""
    rows, sheets = [], {}
    for dataset in DATASETS:
        spec, real = context.bundle(dataset).spec, context.get(examples(dataset))
        drawn = []
        for target in CLASSES[dataset]:
            found = context.get(by_our_recipe(context.settings, dataset, target))
            cells = [
                Cell.stored(one, spec, f"{name}, p = {probability:.3f}")
                for name, one, probability in (
                    ("explanation", found["best"], found["mode_probability"]),
                    ("real", real[target]["graph"], real[target]["probability"]),
                )
            ]
            drawn.append((target, cells))
            rows.append(_row(dataset, target, found))
        title = f"{dataset}: explanation, and a real graph{outlines(dataset)}"
        sheets[f"qualitative-{dataset}"] = sheet(title, drawn)
    table = Table.of(
        "qualitative",
        "The explanation graph of each class",
        ("data set", "class"),
        rows,
        "Published: the paper shows one graph with probability 1 for each class. The validation "
        "score is that of GIN-Graph. True class: what the rule of the data set says of our graph; "
        "where it is another class, the model can be fooled.",
    )
    return Outcome([table], sheets)


def _row(dataset: str, target: str, found: dict[str, Any]) -> Row:
    alike = found.get("likeness", {})
    oracle = found.get("oracle", "none")
    fooled = oracle != target
    return Row(
        (dataset, target),
        Value(1.0),
        Value(found["mode_probability"]),
        f"the model says {target}, the rule {oracle}" if fooled else "",
        {
            "logit": found.get("logit"),
            "nodes": found["nodes"],
            "edges": found["edges"],
            "similarity": alike.get("similarity"),
            "validation score": alike.get("score"),
            "true class": oracle,
        },
    )
