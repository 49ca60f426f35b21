"""One explanation for each class beside a real graph of it (paper, figures 1 and 5)."""

from __future__ import annotations

from typing import Any

from torch_geometric.data import Data

from gnninterpreter import datasets
from gnninterpreter.evaluation import likeness
from gnninterpreter.explanation import Explanation
from gnninterpreter.paper.figures import Cell, Sheet, outlines
from gnninterpreter.paper.published import CLASSES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["example", "study"]

EXAMPLES = 200


def study(workshop: Workshop) -> Outcome:
    """Draw the explanations, and check them against the true rule of each class."""
    rows, sheets = [], []
    for dataset in DATASETS:
        explained = workshop.explained(dataset)
        known = _load(dataset)
        drawn = []
        for target in CLASSES[dataset]:
            explanation = explained[target]
            real = example(workshop, known, explanation.target, dataset)
            drawn.append((target, _cells(workshop, dataset, explanation, real)))
            rows.append(_row(workshop, dataset, explanation))
        sheets.append(
            Sheet(
                f"qualitative-{dataset}",
                f"{dataset}: explanation, and a real graph{outlines(dataset)}",
                drawn,
            )
        )
    table = Table(
        "qualitative",
        "The explanation graph of each class",
        ("data set", "class"),
        tuple(rows),
        "Published: the paper shows one graph with probability 1 for each class. The validation "
        "score is that of GIN-Graph. True class: what the rule of the data set says of our graph; "
        "where it is another class, the model can be fooled.",
    )
    return Outcome([table], sheets)


def example(workshop: Workshop, known: Any, target: int, dataset: str) -> Data:
    """The smallest real graph of a class that the model recognises."""
    mine = [graph for graph in known if int(graph.y) == target]
    scores = workshop.classifier(dataset).score_data(mine).probabilities[:, target]
    sure = [graph for graph, p in zip(mine, scores.tolist(), strict=True) if p > 0.9] or mine
    return min(sure, key=lambda graph: int(graph.num_nodes))


def _load(dataset: str) -> Any:
    """A few hundred graphs of a data set; MUTAG has no more."""
    options: dict[str, Any] = {} if dataset == "mutag" else {"num_graphs": EXAMPLES}
    return datasets.load(dataset, **options)


def _cells(workshop: Workshop, dataset: str, explanation: Explanation, real: Data) -> list[Cell]:
    probability = workshop.classifier(dataset).score_data([real]).probabilities
    spec = explanation.spec
    return [
        Cell(explanation.best, spec, f"explanation, p = {explanation.mode_probability:.3f}"),
        Cell(real, spec, f"real, p = {float(probability[0, explanation.target]):.3f}"),
    ]


def _row(workshop: Workshop, dataset: str, explanation: Explanation) -> Row:
    classifier = workshop.classifier(dataset)
    best = explanation.best
    statistics = workshop.bundle(dataset).statistics
    alike = likeness(classifier, statistics, best, explanation.target)
    logit = float(classifier.score_data([best]).logits[0, explanation.target])
    oracle = datasets.dataset_class(dataset).oracle(best)
    return Row(
        (dataset, explanation.name),
        Value(1.0),
        Value(explanation.mode_probability),
        "",
        {
            "logit": logit,
            "nodes": explanation.num_nodes,
            "edges": explanation.num_edges,
            "similarity": alike.similarity,
            "validation score": alike.score,
            "true class": explanation.spec.class_names[oracle],
        },
    )
