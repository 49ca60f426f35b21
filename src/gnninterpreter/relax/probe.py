"""The check at the start of every run: does the relaxed model agree with the native one?

On random discrete graphs both must say the same (the first law). Where they do not, the first module
whose output differs is named, and the model is explained by the score-function gradient instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import Scores
from gnninterpreter.relax.model import RelaxedModel

__all__ = ["ProbeReport", "probe"]

GRAPHS = 8
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-7}


@dataclass(frozen=True)
class ProbeReport:
    """What the probe found.

    Args:
        passed: Whether relaxed and native output agree and the gradient is usable.
        logits_error: Largest difference of logits, relative to their size.
        embedding_error: The same for embeddings.
        reason: Why it did not pass, in one clause; empty if it did.
        module: Name of the first module whose output differs, where one was found.
    """

    passed: bool
    logits_error: float
    embedding_error: float
    reason: str = ""
    module: str = ""


def probe(
    relaxed: RelaxedModel, num_candidates: int = 7, seed: int = 0, count: int = GRAPHS
) -> ProbeReport:
    """Compare the relaxed model with the native one on random discrete graphs.

    Args:
        relaxed: The model.
        num_candidates: Candidate nodes of the random graphs.
        seed: Seed of the random graphs.
        count: Number of random graphs.
    """
    classifier = relaxed.classifier
    generator = torch.Generator().manual_seed(seed)
    graphs = random_graphs(
        classifier.spec, count, num_candidates, generator, dtype=classifier.dtype
    )
    graphs = DenseGraphs(
        graphs.spec,
        graphs.weight.to(classifier.device),
        graphs.nodes.to(classifier.device),
        None if graphs.edges is None else graphs.edges.to(classifier.device),
    )
    if not classifier.convention.takes_batch:
        return ProbeReport(False, torch.nan, torch.nan, "it takes one graph at a time")
    native = classifier.score(graphs)
    try:
        with torch.no_grad():
            soft = relaxed(graphs)
    except Exception as error:
        return ProbeReport(
            False,
            torch.nan,
            torch.nan,
            f"it fails on soft graphs ({type(error).__name__}: {error})",
        )
    logits = _difference(soft.logits, native.logits)
    embedding = _difference(soft.embedding, native.embedding)
    limit = TOLERANCE[classifier.dtype]
    if logits <= limit and embedding <= limit:
        trouble = _gradient_trouble(relaxed, graphs)
        return ProbeReport(not trouble, logits, embedding, trouble)
    name, kind = _first_difference(relaxed, graphs, limit)
    where = f"`{name}` ({kind})" if name else "something outside its modules"
    reason = f"{where} does not see edge weights (logits differ by {logits:.2g})"
    return ProbeReport(False, logits, embedding, reason, name)


def _difference(soft: Tensor, native: Tensor) -> float:
    if soft.shape != native.shape:
        return torch.inf
    if native.numel() == 0:
        return 0.0
    scale = native.abs().amax().clamp_min(1.0)
    return float(((soft - native).abs().amax() / scale).nan_to_num(nan=torch.inf))


def _gradient_trouble(relaxed: RelaxedModel, graphs: DenseGraphs) -> str:
    """Say what is wrong with the gradient in the edge weights; empty if nothing is."""
    weight = (0.25 + 0.5 * graphs.weight).requires_grad_()
    weight = weight * (1 - torch.eye(weight.size(1), dtype=weight.dtype, device=weight.device))
    weight.retain_grad()
    scores: Scores = relaxed(DenseGraphs(graphs.spec, weight, graphs.nodes, graphs.edges))
    if not scores.logits.requires_grad:
        return "its output does not depend differentiably on the edges"
    scores.logits.square().sum().backward()
    gradient = weight.grad
    if gradient is None or not bool(torch.isfinite(gradient).all()):
        return "its gradient in the edges is not finite"
    return ""


def _first_difference(relaxed: RelaxedModel, graphs: DenseGraphs, limit: float) -> tuple[str, str]:
    """Name and type of the first module whose output differs between the two readings."""
    classifier = relaxed.classifier
    # On the generic path every submodule is really called, so that the two lists run in parallel.
    relaxed = RelaxedModel(classifier, dense=False)
    native: list[tuple[str, Tensor]] = []
    soft: list[tuple[str, Tensor]] = []
    with torch.no_grad():
        with classifier.borrow() as model:
            _recording(model, native, lambda: classifier.call(graphs.to_batch()))
        with relaxed.session():
            _recording(classifier.model, soft, lambda: relaxed(graphs))
    present = graphs.presence.gt(0.5).flatten()
    modules = dict(classifier.model.named_modules())
    for (name, expected), (other, found) in zip(native, soft, strict=False):
        if name != other:
            return name, type(modules[name]).__name__
        if found.dim() and found.size(0) == present.numel() != expected.size(0):
            found = found[present]
        if found.is_floating_point() and _difference(found, expected) > limit:
            return name, type(modules[name]).__name__
    return "", ""


def _recording(model: nn.Module, into: list[tuple[str, Tensor]], run: Callable[[], Any]) -> None:
    def hook(name: str) -> Callable[..., None]:
        def record(_: nn.Module, __: Any, output: Any) -> None:
            value = output[0] if isinstance(output, (tuple, list)) and output else output
            if isinstance(value, Tensor):
                into.append((name, value))

        return record

    handles = [m.register_forward_hook(hook(name)) for name, m in model.named_modules() if name]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
