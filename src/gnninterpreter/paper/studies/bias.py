"""Which class wins where there is nothing to see (paper, section on bias attribution)."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.evaluation import class_counts, random_baseline, random_features
from gnninterpreter.paper.published import SIZES
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value
from gnninterpreter.spec import GraphSpec

__all__ = ["study"]

TINY = {
    "single node": (1, ()),
    "one edge": (2, ((0, 1),)),
    "path of 3": (3, ((0, 1), (1, 2))),
    "star of 4": (4, ((0, 1), (0, 2), (0, 3))),
    "path of 5": (5, ((0, 1), (1, 2), (2, 3), (3, 4))),
}
PUBLISHED = {"mutag": "nonmutagen", "is_acyclic": "acyclic", "color_consistency": "inconsistent"}
DECISIVE = 0.6


def study(workshop: Workshop) -> Outcome:
    """Classify random, tiny and nearly empty graphs with each binary model."""
    rows, verdicts = [], []
    for dataset in DATASETS:
        classifier = workshop.classifier(dataset)
        spec = classifier.spec
        if spec.num_classes != 2:
            continue
        workshop.say(f"{dataset}: bias")
        sums = torch.zeros(2, dtype=torch.double)
        sets = _sets(spec, round(SIZES[dataset][2]), 200 if workshop.settings.quick else 1000)
        for kind, graphs in sets.items():
            found = class_counts(classifier, graphs)
            shares = [count / found.total for count in found.counts]
            sums += torch.tensor(shares, dtype=torch.double)
            most = max(range(2), key=lambda index: shares[index])
            rows.append(
                Row(
                    (dataset, kind),
                    None,
                    Value(shares[most]),
                    "",
                    {"falls to": spec.class_names[most], "mean probability": found.mean[most]},
                )
            )
        share = sums / len(sets)
        winner = int(share.argmax())
        decisive = float(share[winner]) >= DECISIVE
        named = spec.class_names[winner] if decisive else "neither"
        agrees = named == PUBLISHED[dataset]
        verdicts.append(
            Row(
                (dataset,),
                None,
                Value(float(share[winner])),
                "as in the paper" if agrees else "the paper's classifier has other weights",
                {"wins by default": named, "in the paper": PUBLISHED[dataset]},
            )
        )
    return Outcome(
        [
            Table(
                "bias",
                "Share of graphs without evidence that falls to each class",
                ("data set", "graphs"),
                tuple(rows),
                "Ours is the share of graphs that fall to the class named beside it; features are "
                "drawn uniformly.",
            ),
            Table(
                "default-class",
                "The class that wins by default",
                ("data set",),
                tuple(verdicts),
                "Mean share over all sets; below 0.6 neither is said to win. The paper's entries "
                "are the classes that its random graphs fall to.",
            ),
        ]
    )


def _sets(spec: GraphSpec, nodes: int, count: int) -> dict[str, list[Data]]:
    sets = {
        f"gabriel, {nodes} nodes": random_baseline(spec, count, nodes),
        f"gilbert, {nodes} nodes": random_baseline(spec, count, nodes, kind="gilbert"),
        "gabriel, 5 to 10 nodes": random_baseline(spec, count, range(5, 11)),
    }
    generator = torch.Generator().manual_seed(0)
    for name, (size, edges) in TINY.items():
        sets[name] = [random_features(spec, size, edges, generator) for _ in range(count)]
    return sets
