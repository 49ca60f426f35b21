"""Sizes of the data sets (paper, tables of statistics)."""

from __future__ import annotations

from gnninterpreter.experiments.paper.computations import computation
from gnninterpreter.experiments.paper.published import SIZES
from gnninterpreter.experiments.paper.settings import DATASETS, Settings
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation

CLOSE = 0.01
NOTES = {
    "mutag": "the same 188 molecules: only rounding could differ",
    "cyclicity": "colors and cuts are drawn from another seed than the paper's",
    "motif": "base graphs and motifs are drawn from another seed than the paper's",
    "shape": "sizes of the shapes are drawn from ranges that the paper leaves open",
    "is_acyclic": "the paper leaves sizes open; ours were chosen to meet its means",
    "color_consistency": "which edges are recolored is drawn from another seed than the paper's",
}


def computations(settings: Settings) -> list[Computation]:
    """Counting the graphs; the quick version reads what is kept with the models."""
    dear = 1.0 if settings.quick else 60.0
    return [computation("sizes", dear, dataset=d, whole=not settings.quick) for d in DATASETS]


def study(context: StudyContext) -> Outcome:
    """Put the sizes beside the published ones."""
    rows = []
    for work in computations(context.settings):
        dataset = str(dict(work.arguments)["dataset"])
        found = context.get(work)
        classes, published_edges, published_nodes = SIZES[dataset]
        measured = (
            ("classes", float(classes), float(context.bundle(dataset).spec.num_classes)),
            ("mean nodes", published_nodes, found["mean_nodes"]),
            ("mean edges", published_edges, found["mean_edges"]),
        )
        for what, published, ours in measured:
            differs = (ours - published) / published
            note = f"{differs:+.1%}: {NOTES[dataset]}" if abs(differs) > CLOSE / 2 else ""
            rows.append(Row((dataset, what), Value(published), Value(ours), note))
    return Outcome([Table.of("statistics", "Sizes of the data sets", ("data set", "what"), rows)])
