"""The check at the start of every run: does the relaxed model agree with the native one?

On random discrete graphs both must say the same (the first law), and what the native model looks at
must carry a gradient (the second). Where they do not, the layer that is to blame is named, and the
model is explained by the score-function gradient instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import Aggregation

from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.embedding import owners_of
from gnninterpreter.models.frozen import Hook, hooked
from gnninterpreter.models.task import Scores
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense import REQUIRED
from gnninterpreter.relax.model import RelaxedModel
from gnninterpreter.spec import Block
from gnninterpreter.spec.encoding import split_blocks

GRAPHS = 12
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-7}
# Where PyG keeps its layers: what is inside one of them is its business, not the user's.
LAYERS = tuple(f"torch_geometric.nn.{part}." for part in ("conv", "aggr", "pool", "norm", "dense"))


@dataclass(frozen=True)
class ProbeReport:
    """What the probe found.

    Args:
        passed: Whether relaxed and native output agree and the gradient is usable.
        logits_error: Largest difference of logits, relative to their size.
        embedding_error: The same for embeddings.
        reason: Why it did not pass, in one clause; empty if it did.
        module: Name of the layer that is to blame, where one was found.
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
        num_candidates: Candidate nodes of the random graphs, a third of which are absent.
        seed: Seed of the random graphs.
        count: Number of random graphs.
    """
    classifier = relaxed.classifier
    graphs = _draw(relaxed, count, num_candidates, seed)
    try:
        Candidates(graphs[:1])
    except SpecError as error:
        return ProbeReport(False, torch.nan, torch.nan, str(error))
    graphs = graphs[graphs.possible]
    if not len(graphs):
        reason = "none of the random graphs it was tried on can have its derived features"
        return ProbeReport(False, torch.nan, torch.nan, reason)
    native = classifier.score(graphs)
    try:
        with torch.no_grad():
            soft = relaxed(graphs)
    except Exception as error:
        blamed = _first_failure(relaxed, graphs)
        cause = f"{type(error).__name__}: {error}"
        reason = f"{blamed} fails on soft graphs ({cause})"
        return ProbeReport(False, torch.nan, torch.nan, reason, blamed.name)
    logits = _difference(soft.logits, native.logits)
    embedding = _difference(soft.embedding, native.embedding)
    limit = TOLERANCE[classifier.dtype]
    if logits <= limit and embedding <= limit:
        trouble = _gradient_trouble(relaxed, graphs, native)
        return ProbeReport(not trouble, logits, embedding, trouble)
    blamed = _first_difference(relaxed, graphs, limit)
    reason = f"{blamed} does not see edge weights (logits differ by {logits:.2g})"
    return ProbeReport(False, logits, embedding, reason, blamed.name)


def _draw(relaxed: RelaxedModel, count: int, num_candidates: int, seed: int) -> DenseGraphs:
    classifier = relaxed.classifier
    graphs = random_graphs(
        classifier.spec,
        count,
        num_candidates,
        torch.Generator().manual_seed(seed),
        dtype=classifier.dtype,
        absent=num_candidates // 3,
    )
    return graphs.to(classifier.device)


def _difference(soft: Tensor, native: Tensor) -> float:
    if soft.shape != native.shape:
        return torch.inf
    if native.numel() == 0:
        return 0.0
    scale = native.detach().abs().amax().clamp_min(1.0)
    return float(((soft - native).detach().abs().amax() / scale).nan_to_num(nan=torch.inf))


def _gradient_trouble(relaxed: RelaxedModel, graphs: DenseGraphs, native: Scores) -> str:
    """Say what is wrong with the gradient in weights and features; empty if nothing is."""
    apart = 1 - torch.eye(graphs.num_candidates, dtype=graphs.weight.dtype).to(graphs.weight)
    weight = (0.25 + 0.5 * graphs.weight).mul(apart).requires_grad_()
    leaves = [weight, graphs.nodes.clone().requires_grad_()]
    if graphs.edges is not None:
        leaves.append(graphs.edges.clone().requires_grad_())
    scores: Scores = relaxed(DenseGraphs(graphs.spec, *leaves))
    if not scores.logits.requires_grad:
        return "its output does not depend differentiably on the graph"
    loss = scores.logits.square().sum()
    try:
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    except RuntimeError as error:  # it overwrites what the gradient is computed from
        return f"its gradient cannot be computed ({str(error).partition(':')[0]})"
    if not gradients[0].any():
        return "its output does not depend differentiably on the edges"
    if not all(bool(torch.isfinite(gradient).all()) for gradient in gradients):
        return "its gradient is not finite"
    other = _draw(relaxed, len(graphs), graphs.num_candidates, seed=1)
    spec = graphs.spec
    for kind, blocks, gradient in zip(
        ("nodes", "edges"), (spec.nodes, spec.edges), gradients[1:], strict=False
    ):
        for changed, name in _flat_blocks(kind, graphs, other, blocks, gradient):
            moved = _difference(relaxed.classifier.score(changed).logits, native.logits)
            if moved > TOLERANCE[relaxed.classifier.dtype]:
                return f"it reads '{name}' of the {kind} in a way that has no gradient"
    return ""


def _flat_blocks(
    kind: str, graphs: DenseGraphs, other: DenseGraphs, blocks: Sequence[Block], gradient: Tensor
) -> list[tuple[DenseGraphs, str]]:
    """For each block without gradient, the graphs with that block drawn anew."""
    mine, theirs = (list(split_blocks(getattr(g, kind), blocks)) for g in (graphs, other))
    found = []
    for k, part in enumerate(split_blocks(gradient, blocks)):
        if not part.any():
            columns = torch.cat([*mine[:k], theirs[k], *mine[k + 1 :]], dim=-1)
            changed: dict[str, Any] = {kind: columns}
            found.append((replace(graphs, **changed), blocks[k].name))
    return found


@dataclass(frozen=True)
class _Blamed:
    """A layer, and the part of it where the trouble showed first."""

    name: str = ""
    kind: str = ""
    inner: str = ""

    def __str__(self) -> str:
        if not self.name:
            return f"the code of {self.kind}.forward" if self.kind else "something in the model"
        inner = f", in its {self.inner}" if self.inner else ""
        return f"`{self.name}` ({self.kind}{inner})"


def _blame(model: nn.Module, name: str) -> _Blamed:
    """Name the layer of which a module is part: that is what the user put into the model."""
    modules = dict(model.named_modules())
    kind = type(modules[name]).__name__
    parts = name.split(".")
    for i in range(1, len(parts)):
        owner = ".".join(parts[:i])
        layer = modules[owner]
        library = f"{type(layer).__module__}.".startswith(LAYERS)
        if library or isinstance(layer, (MessagePassing, Aggregation)):
            return _Blamed(owner, type(layer).__name__, kind)
    return _Blamed(name, kind)


def _first_failure(relaxed: RelaxedModel, graphs: DenseGraphs) -> _Blamed:
    """The layer inside which the relaxed model raises."""
    model = relaxed.classifier.model
    records: list[_Record] = []
    with torch.no_grad(), relaxed.session(), suppress(Exception):
        _record(model, records, partial(relaxed, graphs))
    inside: list[str] = []
    for record in records:
        if record.returned:
            inside.pop()
        else:
            inside.append(record.module)
    if not inside or not inside[-1]:
        return _Blamed(kind=type(model).__name__ if inside else "")
    return _blame(model, inside[-1])


def _first_difference(relaxed: RelaxedModel, graphs: DenseGraphs, limit: float) -> _Blamed:
    """The first layer to differ; one that already receives something different is not to blame."""
    classifier = relaxed.classifier
    # On the generic path every submodule is really called, so that the two lists run in parallel.
    relaxed = RelaxedModel(classifier, dense=False)
    # Graphs are sent one by one where they would influence each other, and so are they here.
    batches = [graphs] if classifier.batched else [graphs[b] for b in range(len(graphs))]
    for part in batches:
        native: list[_Record] = []
        soft: list[_Record] = []
        with torch.no_grad():
            with classifier.frozen() as model:
                batch = part.to_batch().to(classifier.device)
                _record(model, native, partial(classifier.call, batch))
            with relaxed.session():
                _record(classifier.model, soft, partial(relaxed, part))
        blamed = _compare(classifier.model, native, soft, Candidates(part), limit)
        if blamed is not None:
            return blamed
    return _Blamed()


@dataclass(frozen=True)
class _Record:
    """The first tensor a module received or returned in one call."""

    module: str
    returned: bool
    value: Tensor | None


def _compare(
    model: nn.Module,
    native: list[_Record],
    soft: list[_Record],
    candidates: Candidates,
    limit: float,
) -> _Blamed | None:
    edges, nodes = candidates.edge_weight > 0.5, candidates.presence > 0.5
    masks = {mask.numel(): mask for mask in (edges, nodes, torch.cat([edges, nodes]))}
    for expected, found in zip(native, soft, strict=False):
        same_place = (expected.module, expected.returned) == (found.module, found.returned)
        if same_place and _agree(expected.value, found.value, masks, limit):
            continue
        if expected.module and expected.returned:
            return _blame(model, expected.module)
        caller = _caller(model, expected.module)
        return _blame(model, caller) if caller else _Blamed(kind=type(model).__name__)
    return None


def _caller(model: nn.Module, name: str) -> str:
    """The module whose code calls the named one: its nearest ancestor that is not just a list."""
    name = name.rpartition(".")[0]
    while isinstance(model.get_submodule(name), (nn.ModuleList, nn.ModuleDict)):
        name = name.rpartition(".")[0]
    return name


def _agree(
    expected: Tensor | None, found: Tensor | None, masks: dict[int, Tensor], limit: float
) -> bool:
    if expected is None or found is None:
        return expected is None and found is None
    if found.dim() and found.size(0) in masks and found.size(0) != expected.size(0):
        # Candidates and what is present of them come in the same order.
        found = found[masks[found.size(0)]]
    return not found.is_floating_point() or _difference(found, expected) <= limit


def _record(model: nn.Module, into: list[_Record], run: Callable[[], Any]) -> None:
    """Run a model and write down what each of its modules receives and returns."""

    def note(name: str, *values: Any) -> None:
        # What it receives comes alone, what it returns behind that.
        into.append(_Record(name, len(values) > 1, _first_tensor(values[-1])))

    hooks: list[Hook] = [
        (module, side, partial(note, name))
        for name, module in model.named_modules()
        # A layer that is always computed as a whole does not call its parts.
        if not any(type(owner) in REQUIRED for owner in owners_of(model, name))
        for side in ("input", "output")
    ]
    with hooked(hooks):
        run()


def _first_tensor(value: Any) -> Tensor | None:
    if isinstance(value, (tuple, list)) and value:
        value = value[0]
    return value if isinstance(value, Tensor) else None
