"""The laws of the relaxation as checks that a user can run on a model of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.spec import GraphSpec
from gnninterpreter.testing.graphs import random_soft_graphs

LIMIT = {torch.float32: 1e-4, torch.float64: 1e-9}
SIZES = (2, 3, 5, 9)

Forward = Callable[[nn.Module, Batch], Any]


def discrete_error(
    model: nn.Module | GraphClassifier,
    spec: GraphSpec,
    *,
    dense: bool = True,
    forward: Forward | None = None,
    sizes: Sequence[int] = SIZES,
    count: int = 6,
    seed: int = 0,
) -> float:
    """Largest difference between relaxed and native output on random discrete graphs.

    Args:
        model: The model, in float32 or float64, or a `GraphClassifier` around it.
        spec: The graphs it takes.
        dense: Whether common layers take the fast path.
        forward: How to call the model, ``forward(model, data)``, where that cannot be inferred.
        sizes: Numbers of candidate nodes to try; a third of them are absent.
        count: Number of graphs of each size.
        seed: Seed of the graphs.

    Returns:
        The largest absolute difference over logits and embeddings; infinite where one is NaN.
    """
    relaxed = RelaxedModel(_classifier(model, spec, forward), dense=dense)
    generator = torch.Generator().manual_seed(seed)
    worst = 0.0
    for size in sizes:
        graphs = random_graphs(
            spec, count, size, generator, dtype=relaxed.classifier.dtype, absent=size // 3
        )
        graphs = graphs.to(relaxed.classifier.device)
        graphs = graphs[graphs.possible]
        if not len(graphs):
            continue
        with torch.no_grad():
            worst = max(worst, _distance(relaxed(graphs), relaxed.classifier.score(graphs)))
    return worst


def assert_discrete_consistency(
    model: nn.Module | GraphClassifier,
    spec: GraphSpec,
    *,
    forward: Forward | None = None,
    limit: float | None = None,
    sizes: Sequence[int] = SIZES,
    count: int = 6,
    seed: int = 0,
) -> float:
    """Check the first law on both paths: on discrete graphs the relaxation *is* the model.

    Args:
        model: The model, in float32 or float64, or a `GraphClassifier` around it.
        spec: The graphs it takes.
        forward: How to call the model, ``forward(model, data)``, where that cannot be inferred.
        limit: Largest difference allowed; 1e-4 in float32 and 1e-9 in float64 when omitted.
        sizes: Numbers of candidate nodes to try; a third of them are absent.
        count: Number of graphs of each size.
        seed: Seed of the graphs.

    Returns:
        The largest difference found.

    Raises:
        AssertionError: If a difference is above the limit; the message says on which path.
    """
    classifier = _classifier(model, spec, forward)
    allowed = LIMIT[classifier.dtype] if limit is None else limit
    errors = {
        name: discrete_error(classifier, spec, dense=dense, sizes=sizes, count=count, seed=seed)
        for name, dense in (("generic", False), ("dense", True))
    }
    for name, error in errors.items():
        if not error < allowed:
            raise AssertionError(
                f"the {name} path is off by {error:.3g} on discrete graphs, where less than "
                f"{allowed:g} is allowed: some reduction of the model does not see edge weights"
            )
    return max(errors.values())


def assert_absent_means_absent(
    model: nn.Module | GraphClassifier,
    spec: GraphSpec,
    *,
    forward: Forward | None = None,
    limit: float | None = None,
    num_candidates: int = 7,
    count: int = 6,
    seed: int = 0,
) -> None:
    """Check the third law on both paths: features of absent nodes and edges change nothing.

    The weights that are not zero are soft, so that this says more than the first law does.

    Args:
        model: The model, in float32 or float64, or a `GraphClassifier` around it.
        spec: The graphs it takes.
        forward: How to call the model, ``forward(model, data)``, where that cannot be inferred.
        limit: Largest change allowed; 1e-4 in float32 and 1e-9 in float64 when omitted.
        num_candidates: Number of candidate nodes, a third of them absent.
        count: Number of graphs.
        seed: Seed of the graphs.

    Raises:
        AssertionError: If the output changes; the message says on which path.
    """
    classifier = _classifier(model, spec, forward)
    allowed = LIMIT[classifier.dtype] if limit is None else limit
    generator = torch.Generator().manual_seed(seed)
    dtype = classifier.dtype
    gone = num_candidates // 3
    hard = random_graphs(spec, count, num_candidates, generator, dtype=dtype, absent=gone)
    soft = random_soft_graphs(spec, count, num_candidates, generator, dtype=dtype)
    other = random_soft_graphs(spec, count, num_candidates, generator, dtype=dtype)
    graphs = replace(soft, weight=hard.weight * soft.weight)
    absent = hard.presence.eq(0).unsqueeze(-1)
    edges = graphs.edges
    if edges is not None and other.edges is not None:
        edges = torch.where(hard.weight.eq(0).unsqueeze(-1), other.edges, edges)
    changed = replace(graphs, nodes=torch.where(absent, other.nodes, graphs.nodes), edges=edges)
    graphs, changed = graphs.to(classifier.device), changed.to(classifier.device)
    for name, dense in (("generic", False), ("dense", True)):
        relaxed = RelaxedModel(classifier, dense=dense)
        with torch.no_grad():
            error = _distance(relaxed(changed), relaxed(graphs))
        if not error < allowed:
            raise AssertionError(
                f"on the {name} path features of absent nodes or edges change the output by "
                f"{error:.3g}, where less than {allowed:g} is allowed"
            )


def path_error(
    model: nn.Module | GraphClassifier,
    spec: GraphSpec,
    *,
    forward: Forward | None = None,
    num_candidates: int = 6,
    count: int = 4,
    seed: int = 0,
) -> float:
    """Largest difference between the dense and the generic path on random soft graphs.

    Compared are logits, embeddings and, by a random projection of both, the gradients in weights
    and features. The diagonal of the weights is no edge and its gradient means nothing.

    Args:
        model: The model, in float32 or float64, or a `GraphClassifier` around it.
        spec: The graphs it takes.
        forward: How to call the model, ``forward(model, data)``, where that cannot be inferred.
        num_candidates: Number of candidate nodes.
        count: Number of graphs.
        seed: Seed of the graphs.
    """
    classifier = _classifier(model, spec, forward)
    generator = torch.Generator().manual_seed(seed)
    graphs = random_soft_graphs(spec, count, num_candidates, generator, dtype=classifier.dtype)
    graphs = graphs.to(classifier.device)
    results = [_with_gradients(RelaxedModel(classifier, dense), graphs) for dense in (False, True)]
    (generic, slow), (fast_scores, fast) = results
    worst = _distance(fast_scores, generic)
    for one, two in zip(slow, fast, strict=True):
        worst = max(worst, _largest(one - two))
    return worst


def _with_gradients(relaxed: RelaxedModel, graphs: DenseGraphs) -> tuple[Scores, list[Tensor]]:
    parts = [graphs.weight, graphs.nodes] + ([] if graphs.edges is None else [graphs.edges])
    leaves = [part.detach().clone().requires_grad_() for part in parts]
    scores = relaxed(DenseGraphs(graphs.spec, *leaves))
    generator = torch.Generator().manual_seed(1)
    total = leaves[0].new_zeros(())
    for value in (scores.logits, scores.embedding):
        direction = torch.randn(value.shape, generator=generator, dtype=value.dtype)
        total = total + (value * direction.to(value.device)).sum()
    gradients = torch.autograd.grad(total, leaves, allow_unused=True, materialize_grads=True)
    off_diagonal = 1 - torch.eye(graphs.num_candidates).to(leaves[0])
    shaped = [gradients[0] * off_diagonal, gradients[1]]
    shaped += [edge * off_diagonal.unsqueeze(-1) for edge in gradients[2:]]
    return Scores(scores.logits.detach(), scores.embedding.detach()), shaped


def _classifier(
    model: nn.Module | GraphClassifier, spec: GraphSpec, forward: Forward | None
) -> GraphClassifier:
    if isinstance(model, GraphClassifier):
        return model
    return GraphClassifier(model, spec, forward=forward)


def _distance(one: Scores, two: Scores) -> float:
    return max(_largest(one.logits - two.logits), _largest(one.embedding - two.embedding))


def _largest(difference: Tensor) -> float:
    return float(difference.abs().max().nan_to_num(nan=torch.inf))
