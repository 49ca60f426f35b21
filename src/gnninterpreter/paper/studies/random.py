"""What random graphs fall to (paper, appendix on the random baseline)."""

from __future__ import annotations

from gnninterpreter.evaluation import class_counts, random_baseline
from gnninterpreter.paper.published import CLASSES, RANDOM, SIZES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["study"]

NOTES = {
    "cyclicity": "ours is right: with random colours nearly every Gabriel graph holds a cycle of "
    "one colour, so that none of them is acyclic by the rule of the data set",
    "shape": "Gabriel graphs are planar and look like pieces of a grid; another classifier",
}
OTHER = "another classifier, and the paper leaves the features open"


def study(workshop: Workshop) -> Outcome:
    """Classify 1,000 Gabriel graphs for each data set, and as many of G(n, 1/n)."""
    rows = []
    for dataset in DATASETS:
        workshop.say(f"{dataset}: random graphs")
        classifier = workshop.classifier(dataset)
        nodes = round(SIZES[dataset][2])
        for kind in ("gabriel", "gilbert"):
            graphs = random_baseline(
                classifier.spec, workshop.settings.samples, nodes, workshop.settings.seed, kind
            )
            if kind == "gilbert":
                graphs = [graph for graph in graphs if graph.num_edges]
            probabilities = classifier.score_data(graphs).probabilities.double()
            counts = class_counts(classifier, graphs).counts
            edges = sum(graph.num_edges for graph in graphs) / 2 / len(graphs)
            for target in CLASSES[dataset]:
                index = classifier.spec.class_index(target)
                column = probabilities[:, index]
                published = RANDOM[dataset, target] if kind == "gabriel" else None
                far = published is not None and abs(published.mean - float(column.mean())) > 0.05
                rows.append(
                    Row(
                        (dataset, kind, target),
                        published,
                        Value(float(column.mean()), float(column.std(unbiased=False))),
                        NOTES.get(dataset, OTHER) if far else "",
                        {"assigned": counts[index], "nodes": nodes, "mean edges": edges},
                    )
                )
    table = Table(
        "random",
        "Class probability of random graphs",
        ("data set", "graphs", "class"),
        tuple(rows),
        "Gabriel graphs on uniform points with uniform features; gilbert is G(n, 1/n), the "
        "baseline of the published code.",
    )
    return Outcome([table])
