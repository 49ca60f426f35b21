"""Sizes of the data sets (paper, tables of statistics)."""

from __future__ import annotations

from gnninterpreter import datasets
from gnninterpreter.paper.published import SIZES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["study"]

NOTES = {
    ("cyclicity", "mean edges"): "the paper's figure is no more than its mean number of nodes, "
    "which connected Rome graphs with a cycle exceed; the released generator skips some of them",
    ("shape", "mean edges"): "sizes of the shapes are drawn from ranges that the paper leaves open",
    ("shape", "mean nodes"): "sizes of the shapes are drawn from ranges that the paper leaves open",
}


def study(workshop: Workshop) -> Outcome:
    """Count the graphs; the quick version reads the counts kept with the bundled models."""
    rows = []
    for dataset in DATASETS:
        nodes, edges = _means(workshop, dataset)
        classes, published_edges, published_nodes = SIZES[dataset]
        measured = (
            ("classes", float(classes), float(workshop.bundle(dataset).spec.num_classes)),
            ("mean nodes", published_nodes, nodes),
            ("mean edges", published_edges, edges),
        )
        for what, published, ours in measured:
            differs = abs(ours - published) > 0.05 * published
            note = NOTES.get((dataset, what), "drawn from another seed") if differs else ""
            rows.append(Row((dataset, what), Value(published), Value(ours), note))
    return Outcome(
        [Table("statistics", "Sizes of the data sets", ("data set", "what"), tuple(rows))]
    )


def _means(workshop: Workshop, dataset: str) -> tuple[float, float]:
    if not workshop.settings.quick:
        workshop.say(f"{dataset}: counting")
        counted = datasets.summarize(datasets.load(dataset), oracle_graphs=0)
        return counted["mean_nodes"], counted["mean_edges"]
    statistics = workshop.bundle(dataset).statistics
    share = statistics.count / statistics.count.sum()
    nodes, edges = (share * statistics.mean_nodes).sum(), (share * statistics.mean_edges).sum()
    return float(nodes), float(edges)
