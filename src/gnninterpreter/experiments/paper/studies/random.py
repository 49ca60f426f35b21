"""What random graphs fall to (paper, appendix on the random baseline)."""

from __future__ import annotations

from typing import Any

from gnninterpreter.experiments.paper.computations import class_nodes, computation, data_nodes
from gnninterpreter.experiments.paper.published import CLASSES, RANDOM
from gnninterpreter.experiments.paper.settings import DATASETS, Settings, cases
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation

FAR = 0.02
# Graphs behind each published mean, and behind ours.
SAMPLES = 1000
CHANCE = 3.0


def gabriel(settings: Settings, dataset: str, nodes: int, kind: str = "gabriel") -> Computation:
    """Random graphs of a kind and size, classified."""
    return computation(
        "gabriel",
        3.0,
        dataset=dataset,
        graphs=kind,
        nodes=nodes,
        samples=settings.samples,
        seed=settings.seed,
    )


def computations(settings: Settings) -> list[Computation]:
    """Graphs of the data set's mean size, of two kinds, and of each class's mean size."""
    found = [
        gabriel(settings, dataset, data_nodes(dataset), kind)
        for dataset in DATASETS
        for kind in ("gabriel", "gilbert")
    ]
    return found + [gabriel(settings, d, class_nodes(d, target)) for d, target in cases()]


def study(context: StudyContext) -> Outcome:
    """Show what 1,000 random graphs of each kind and size get."""
    rows = []
    for dataset in DATASETS:
        spec = context.bundle(dataset).spec
        for target in CLASSES[dataset]:
            index, own = spec.class_index(target), class_nodes(dataset, target)
            for kind, size, nodes, published in (
                ("gabriel", "data set", data_nodes(dataset), RANDOM[dataset, target]),
                ("gabriel", "class", own, None),
                ("gilbert", "data set", data_nodes(dataset), None),
            ):
                found = context.get(gabriel(context.settings, dataset, nodes, kind))
                mean = found["mean"][index]
                far = published is not None and abs(published.mean - mean) > FAR
                rows.append(
                    Row(
                        (dataset, target, f"{kind}, size of the {size}"),
                        published,
                        Value(mean, found["std"][index]),
                        explanation(dataset, target, found, index) if far else "",
                        {
                            "nodes": nodes,
                            "assigned": found["counts"][index],
                            "true share": found["true"][index],
                            "mean edges": found["edges"],
                        },
                    )
                )
    table = Table.of(
        "random",
        "Class probability of random graphs",
        ("data set", "class", "graphs"),
        rows,
        "Published: graphs of the data set's mean size. Gabriel graphs on uniform points with "
        "uniform features, since the paper leaves the features open; gilbert is G(n, 1/n), the "
        "baseline of the published code. True share: how many are of the class by the rule of the "
        "data set.",
    )
    return Outcome([table])


def explanation(dataset: str, target: str, found: dict[str, Any], index: int) -> str:
    """Why a model of ours gives random graphs another probability than the paper's, as measured."""
    published = RANDOM[dataset, target]
    spread = ((published.std or 0.0) ** 2 + found["std"][index] ** 2) / SAMPLES
    errors = abs(published.mean - found["mean"][index]) / max(spread, 1e-12) ** 0.5
    if errors < CHANCE:
        return f"{errors:.1f} standard errors of the two means: no more than chance"
    true = found["true"][index]
    if dataset == "is_acyclic":
        return (
            f"by the rule {true:.0%} of these graphs are {target}, yet {found['leaf']:.0%} have a "
            "leaf, which no cyclic graph of the data has; how much a leaf counts is up to the model"
        )
    return (
        f"by the rule of the data set {true:.0%} of these graphs are {target}; the model assigns "
        f"{found['counts'][index] / SAMPLES:.0%} of them to it"
    )
