"""Which class wins where there is nothing to see (paper, section on bias attribution)."""

from __future__ import annotations

from gnninterpreter.experiments.paper.computations import computation, data_nodes
from gnninterpreter.experiments.paper.published import RANDOM
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.paper.tables import Row, Table, Value
from gnninterpreter.experiments.store import Computation

BINARY = ("mutag", "is_acyclic", "color_consistency")
PUBLISHED = {"mutag": "nonmutagen", "is_acyclic": "acyclic", "color_consistency": "inconsistent"}
DECISIVE = 0.6


def computations(settings: Settings) -> list[Computation]:
    """Graphs without evidence, for each binary model."""
    return [
        computation(
            "bias",
            5.0,
            dataset=dataset,
            nodes=data_nodes(dataset),
            count=settings.bias_graphs,
            seed=settings.seed,
        )
        for dataset in BINARY
    ]


def study(context: StudyContext) -> Outcome:
    """Say where random, tiny and nearly empty graphs fall, and which class wins by default."""
    rows, verdicts = [], []
    for dataset, work in zip(BINARY, computations(context.settings), strict=True):
        names = context.bundle(dataset).spec.class_names
        sets = context.get(work)
        for entry in sets:
            shares = entry["shares"]
            most = 0 if shares[0] >= shares[1] else 1
            rows.append(
                Row(
                    (dataset, entry["graphs"]),
                    ours=Value(shares[most]),
                    extra={
                        "falls to": names[most],
                        "mean probability": entry["mean"][most],
                        "share of the other": shares[1 - most],
                    },
                )
            )
        verdicts.append(_verdict(dataset, names, [entry["shares"] for entry in sets]))
    return Outcome(
        [
            Table.of(
                "bias",
                "Share of graphs without evidence that falls to each class",
                ("data set", "graphs"),
                rows,
                "Ours is the share of graphs that fall to the class named beside it; features are "
                "drawn uniformly.",
            ),
            Table.of(
                "default-class",
                "The class that wins by default",
                ("data set",),
                verdicts,
                "Mean share over all sets; below 0.6 neither is said to win. The paper names "
                "nonmutagen for MUTAG; the other two are the classes that its random graphs fall "
                "to, and the published figure is their mean probability for those.",
            ),
        ]
    )


def _verdict(dataset: str, names: tuple[str, ...], shares: list[list[float]]) -> Row:
    means = [sum(column) / len(shares) for column in zip(*shares, strict=True)]
    winner = 0 if means[0] >= means[1] else 1
    named = names[winner] if means[winner] >= DECISIVE else "neither"
    won = sum(row[winner] > 0.5 for row in shares)
    agrees = named == PUBLISHED[dataset]
    return Row(
        (dataset,),
        RANDOM[dataset, PUBLISHED[dataset]],
        Value(means[winner]),
        ("as in the paper" if agrees else "not as in the paper")
        + f": it wins {won} of {len(shares)} sets",
        {"wins by default": named, "in the paper": PUBLISHED[dataset]},
    )
