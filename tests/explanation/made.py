"""Explanations made by hand, so that nothing has to be searched for."""

from __future__ import annotations

from collections.abc import Sequence

from gnninterpreter.distribution import GraphDistribution, from_graphs
from gnninterpreter.explanation import (
    Curve,
    Explanation,
    ExplanationSet,
    LatentSampler,
    Probability,
    Restart,
)
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, GraphSpec

MOLECULES = GraphSpec(
    nodes=(Categorical(3, names=("C", "N", "O"), name="atom"),),
    edges=(Categorical(2, names=("single", "double"), name="bond"),),
    class_names=("inert", "active"),
)


def explanation(
    of: GraphDistribution | DenseGraphs,
    target: int = 0,
    probabilities: Sequence[float] | None = None,
    choice: int = 0,
) -> Explanation:
    """An explanation whose restarts have these distributions, or settle on these graphs."""
    distribution = from_graphs(of) if isinstance(of, DenseGraphs) else of
    modes = distribution.mode()
    given = probabilities or [0.99] * distribution.restarts
    restarts = [
        Restart(
            probability=p,
            mean_probability=p - 0.01,
            nodes=int(modes.num_nodes[r].round()),
            edges=int(modes.num_edges[r]),
            similarity=0.9,
            feasible=True,
            entropy=float(distribution.entropy()[r]),
            reason="converged" if p > 0.9 else "plateau",
            iterations=20 * (r + 1),
        )
        for r, p in enumerate(given)
    ]
    return Explanation(
        spec=distribution.spec,
        target=ClassTarget(target, distribution.spec.class_names[target]),
        sampler=LatentSampler.of(distribution, choice),
        choice=choice,
        probability=Probability(given[choice] - 0.01, 0.02, 1000),
        mode_probability=given[choice],
        class_probabilities=_shares(given[choice], target, distribution.spec.num_classes),
        restarts=restarts,
        similarity=0.9,
        similarity_percentile=45.0,
        max_nodes=8,
        max_edges=9.5,
        gradient="relaxed",
        recipe="auto",
        seed=3,
        seconds=1.25,
        history=[Curve("probability", [20, 40], [[0.5] * len(given), [0.9] * len(given)])],
        notes=["a note"],
    )


def _shares(probability: float, target: int, classes: int) -> list[float]:
    rest = (1 - probability) / (classes - 1)
    return [probability if c == target else rest for c in range(classes)]


def explanation_set(*explanations: Explanation) -> ExplanationSet:
    return ExplanationSet(
        explanations[0].spec,
        {one.name: one for one in explanations},
        "tiny",
        ["called as forward(data)"],
        {"seed": 3, "versions": {"torch": "2"}},
    )
