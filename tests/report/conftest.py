"""Runs made by hand, so that every number on the page is known and no search is needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.evidence import Check, evidence_of
from gnninterpreter.explanation import (
    Curve,
    Explanation,
    ExplanationSet,
    LatentSampler,
    Probability,
    Restart,
)
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, GraphSpec

SURE = 8.0


def _edge_logits(
    spec: GraphSpec, candidates: int, edges: dict[tuple[int, int], float]
) -> torch.Tensor:
    """Sure of the listed edges (or as sure as their logits say), sure of no others."""
    pairs = [
        (i, j)
        for i in range(candidates)
        for j in range(candidates)
        if (i != j if spec.directed else i < j)
    ]
    # A directed pair is stored as (target, source).
    return torch.tensor([edges.get((j, i) if spec.directed else (i, j), -SURE) for i, j in pairs])


def make_explanation(
    spec: GraphSpec,
    target: int = 0,
    edges: dict[tuple[int, int], float] | None = None,
    candidates: int = 6,
    mean: float = 0.995,
    percentile: float | None = 40.0,
    reached: int = 3,
    notes: tuple[str, ...] = (),
    random: float = 0.123,
) -> Explanation:
    """An explanation of three restarts; the second one is chosen and has the edges given."""
    if edges is None:
        edges = {(0, 1): SURE, (1, 2): SURE, (0, 2): SURE, (2, 3): SURE, (3, 4): 0.5, (1, 4): -0.5}
    generator = torch.Generator().manual_seed(target)
    chosen = _edge_logits(spec, candidates, edges)
    path = _edge_logits(spec, candidates, {(i, i + 1): SURE for i in range(3)})

    def features(blocks: tuple[object, ...], count: int) -> tuple[torch.Tensor, ...]:
        widths = [b.size if isinstance(b, Categorical) else b.dim for b in blocks]  # type: ignore[attr-defined]
        return tuple(4 * torch.randn(3, count, width, generator=generator) for width in widths)

    distribution = GraphDistribution(
        spec,
        candidates,
        torch.stack([path, chosen, path]),
        features(spec.nodes, candidates),
        features(spec.edges, chosen.numel()),
    )
    modes = distribution.mode()
    restarts = [
        Restart(
            probability=0.99,
            mean_probability=mean if r < reached else 0.1,
            nodes=int(modes.num_nodes[r]),
            edges=int(modes.num_edges[r]),
            similarity=None if percentile is None else 0.9 + 0.01 * r,
            feasible=True,
            entropy=float(distribution.entropy()[r]),
            reason="converged",
            iterations=100,
        )
        for r in range(3)
    ]
    others = (1 - 0.99) / max(spec.num_classes - 1, 1)
    explanation = Explanation(
        spec=spec,
        target=ClassTarget(target, spec.class_names[target]),
        sampler=LatentSampler.of(distribution, 1),
        choice=1,
        probability=Probability(mean, 0.01, 1000),
        mode_probability=0.99,
        class_probabilities=[0.99 if c == target else others for c in range(spec.num_classes)],
        restarts=restarts,
        similarity=None if percentile is None else 0.91,
        similarity_percentile=percentile,
        max_nodes=candidates,
        max_edges=12.0,
        gradient="relaxed",
        recipe="auto",
        seed=7,
        seconds=1.5,
        history=[
            Curve(
                "probability", [20, 40, 60], [[0.1, 0.2, 0.1], [0.5, 0.9, 0.4], [0.7, 0.99, 0.9]]
            ),
            Curve(
                "expected edges", [20, 40, 60], [[9.0, 8.0, 7.0], [6.0, 5.5, 5.0], [4.0, 5.0, 4.0]]
            ),
        ],
        notes=list(notes),
    )
    control = Check("random graphs", random < 0.9, f"random graphs get {random}", random, mean)
    return replace(explanation, evidence=evidence_of(explanation).with_check(control))


def make_result(spec: GraphSpec, name: str = "toy", **fields: object) -> ExplanationSet:
    """A run that explains every class of a spec."""
    explanations = [make_explanation(spec, c, **fields) for c in range(spec.num_classes)]  # type: ignore[arg-type]
    return ExplanationSet(
        spec,
        {explanation.name: explanation for explanation in explanations},
        name,
        ["called as forward(x, edge_index, batch)", "output: raw logits"],
        {"versions": {"gnninterpreter": "0.1.0"}, "seed": 7, "restarts": 3, "recipe": "auto"},
    )


def make_core(graph: Data, **figures: Any) -> Any:
    """A core with every figure known, unless they say otherwise."""
    known = {
        "probability": 0.9987,
        "said": "0.999",
        "coverage": 0.78,
        "lift": 4.13,
        "matched": 39,
        "total": 50,
        "others": 9,
        "undecided": 0,
        "necessity": SimpleNamespace(value=0.34, control=0.1),
        "sufficiency": SimpleNamespace(value=0.42, control=0.05),
    }
    same = {"same": lambda _: False, "held_by": lambda _: True, "to_json": dict}
    size = {
        "num_nodes": graph.num_nodes,
        "num_edges": graph.num_edges // 2,
        "open": (),
        "free": (),
        "freedoms": [],
        "ranges": (),
    }
    return SimpleNamespace(graph=graph, **{**known, **same, **size, **figures})


def with_answers(explanation: Explanation, percentile: float | None = 61.0) -> Explanation:
    """The same with two cores, a shortcut and two real graphs, the core on the first one's 0-2."""
    best = explanation.best
    real = [best.clone(), best.clone()]
    real[0].core_mask = torch.arange(int(best.num_nodes or 0)) < 3
    real[0].y = torch.tensor([0])
    cores = [make_core(best), make_core(best, coverage=0.2, others=0)]
    unseen = make_core(best, probability=0.99996, coverage=0.0, matched=0, total=2401)
    if percentile is not None:
        check = Check("typical", percentile >= 10, "how typical it is", percentile, 10)
        explanation = replace(explanation, evidence=explanation.evidence.with_check(check))
    # Fields of the explanation or not: what shows them asks for them by name.
    vars(explanation).update(cores=cores, shortcuts=[unseen], exemplars=lambda k: real[:k])
    return explanation


@pytest.fixture
def plain_spec() -> GraphSpec:
    return GraphSpec(class_names=("chain", "ring"))


@pytest.fixture
def rich_spec() -> GraphSpec:
    """Categories on nodes and on edges."""
    return GraphSpec(
        nodes=(Categorical(3, names=("red", "green", "blue"), name="colour"),),
        edges=(Categorical(2, names=("single", "double"), name="bond"),),
        class_names=("chain", "ring"),
    )


@pytest.fixture
def explanation_of() -> Callable[..., Explanation]:
    return make_explanation


@pytest.fixture
def result_of() -> Callable[..., ExplanationSet]:
    return make_result
