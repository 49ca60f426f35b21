"""How a model is called: which of its arguments are the graph's tensors, and what it overwrites.

A `Convention` is inferred from the signature of ``model.forward``. Anything it cannot read is left
to the user's own ``forward(model, data)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter
from torch.optim.swa_utils import AveragedModel
from torch_geometric.data import Batch
from torch_geometric.utils import add_remaining_self_loops

from gnninterpreter.errors import ModelError
from gnninterpreter.models.bundle import Bundle
from gnninterpreter.spec import Derived

LAZY = (UninitializedParameter, UninitializedBuffer)
WRAPPERS = (nn.DataParallel, nn.parallel.DistributedDataParallel, AveragedModel)

# What people call the parts of a graph in a forward method.
ALIASES = {
    "x": "x", "feat": "x", "feats": "x", "features": "x", "h": "x", "node_attr": "x",
    "node_feat": "x", "node_features": "x",
    "edge_index": "edge_index", "edges": "edge_index", "adj": "edge_index",
    "edge_idx": "edge_index",
    "edge_attr": "edge_attr", "edge_feat": "edge_attr", "edge_features": "edge_attr",
    "e": "edge_attr",
    "adj_t": "adj_t",
    "edge_weight": "edge_weight", "edge_weights": "edge_weight",
    "edge_type": "edge_type", "edge_types": "edge_type",
    "batch": "batch", "batch_index": "batch", "batch_idx": "batch", "graph_ids": "batch",
    "batch_size": "num_graphs", "num_graphs": "num_graphs", "size": "num_graphs",
    "num_nodes": "num_nodes",
}  # fmt: skip


# Arguments that say what a model is about, where that is not a graph as a whole.
ELSEWHERE = {
    "pos": "models of positions in space", "z": "models of positions in space",
    "coords": "models of positions in space", "positions": "models of positions in space",
    "edge_label_index": "link-level models", "edge_label": "link-level models",
    "x_dict": "models of heterogeneous graphs", "edge_index_dict": "models of heterogeneous graphs",
}  # fmt: skip


def native_module(model: nn.Module | Bundle) -> nn.Module:
    """The module as it was written, out of a bundle, `torch.compile`, parallel or averaged."""
    module: Any = model.model if isinstance(model, Bundle) else model
    if not isinstance(module, nn.Module):
        got, mend = type(model).__name__, "load the weights into the class they were trained with"
        if isinstance(model, type):
            got, mend = f"the class {model.__name__}", "make one of it and load its weights"
        raise ModelError(f"model must be a torch.nn.Module (got {got}); {mend} first")
    while True:
        if isinstance(module, WRAPPERS):
            module = module.module
        elif type(module).__name__ == "OptimizedModule" and hasattr(module, "_orig_mod"):
            module = module._orig_mod
        else:
            break
    if any(isinstance(part, torch.jit.ScriptModule) for part in module.modules()):
        raise ModelError(
            "a TorchScript model cannot be looked into; pass the Python model it was made from"
        )
    tensors = (*module.parameters(), *module.buffers())
    if any(isinstance(t, LAZY) or t.is_meta for t in tensors):
        raise ModelError(
            f"{type(module).__name__} has layers without weights (lazy, or on the device 'meta'); "
            "load its weights, or call it once on a graph"
        )
    native: nn.Module = module
    return native


@dataclass(frozen=True)
class Convention:
    """The arguments a model takes, each with the field of the data that fills it.

    Pairs of both, empty for ``forward(data)``; the user's own ``function(model, data)`` goes first.
    """

    arguments: tuple[tuple[str, str], ...] = ()
    function: Callable[[nn.Module, Batch], Any] | None = field(default=None, compare=False)
    weighted: bool = False
    looped: bool = False

    def __call__(self, model: nn.Module, data: Batch) -> Any:
        """Call the model on a batch; weights of edges are its single feature."""
        if self.looped:
            data = copy(data)
            data.edge_index = add_remaining_self_loops(data.edge_index, num_nodes=data.num_nodes)[0]
        if self.weighted:
            # What is changed in a search is the feature; a weight beside it may be an older one.
            data = copy(data)
            data.edge_weight = data.edge_attr.view(-1)
        if self.function is not None:
            return self.function(model, data)
        if not self.arguments:
            return model(data)
        return model(**{name: _field(data, source) for name, source in self.arguments})

    @property
    def takes_batch(self) -> bool:
        """Whether several graphs can be sent through the model at once."""
        return not self.arguments or any(source == "batch" for _, source in self.arguments)

    def __str__(self) -> str:
        if self.function is not None:
            return "your own forward(model, data)"
        return f"forward({', '.join(name for name, _ in self.arguments) or 'data'})"


def infer_convention(
    model: nn.Module,
    forward: Callable[[nn.Module, Batch], Any] | None,
    has_edge_features: bool,
    has_edge_types: bool = False,
    attributes: Sequence[Derived] = (),
    weighted: bool = False,
    looped: bool = False,
) -> Convention:
    """Read the convention off the signature of ``model.forward``; a user's ``forward`` goes first.

    Optional edge arguments are filled where the graphs have edge features.
    """
    if forward is not None and not callable(forward):
        raise ModelError(f"forward must be a function forward(model, data) (got {forward!r:.60})")
    if forward is not None:
        return Convention(function=forward, weighted=weighted, looped=looped)
    parameters = [
        p
        for p in inspect.signature(model.forward).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    required = [p for p in parameters if p.default is p.empty]
    other = next((p.name for p in required if p.name in ELSEWHERE), None)
    if other is not None:
        raise ModelError(
            f"{ELSEWHERE[other]} are not supported yet ({type(model).__name__}.forward takes "
            f"'{other}'); explain one that takes x and edge_index and scores whole graphs"
        )
    if not any(ALIASES.get(p.name) in ("edge_index", "adj_t") for p in parameters):
        if len(required) == 1 or (not required and parameters):
            return Convention(weighted=weighted, looped=looped)
        raise ModelError(
            f"cannot tell how to call {type(model).__name__}.forward"
            f"({', '.join(p.name for p in parameters)}): it names no edge_index; "
            "pass forward=lambda model, data: model(...)"
        )
    optional = {"x", "edge_index", "batch", "num_graphs", "num_nodes"}
    optional |= {"edge_attr"} if has_edge_features else set()
    optional |= {"edge_type"} if has_edge_types else set()
    optional |= {"edge_weight"} if weighted else set()
    own = {block.name: block.name for block in attributes}
    optional |= set(own)
    arguments = []
    for p in parameters:
        source = own.get(p.name, ALIASES.get(p.name))
        if source is None and p.default is p.empty:
            given = (
                f"data.{ALIASES[q.name]}" if q.name in ALIASES else q.name
                for q in parameters
                if q.default is q.empty
            )
            raise ModelError(
                f"{type(model).__name__}.forward needs an argument '{p.name}' that is not part of "
                f"a graph; pass forward=lambda model, data: model({', '.join(given)}), with a "
                f"usual value in the place of '{p.name}'"
            )
        if source is not None and (p.default is p.empty or source in optional):
            arguments.append((p.name, source))
    return Convention(tuple(arguments), weighted=weighted, looped=looped)


def _field(data: Batch, source: str) -> Tensor | int:
    if source in ("num_graphs", "num_nodes"):
        return int(getattr(data, source))
    value: Tensor | None = data.get(source)
    if value is None and source == "adj_t":
        return _transposed_adjacency(data)
    if value is None and source == "edge_weight":
        # A present edge of an unweighted graph has weight one; how far a soft edge counts is the
        # relaxation's business, which weighs every reduction over edges.
        dtype = data.x.dtype if data.x.is_floating_point() else torch.get_default_dtype()
        return torch.ones(data.edge_index.size(1), dtype=dtype, device=data.x.device)
    if value is None:
        raise ModelError(
            f"the model takes '{source}', which the graphs do not have; "
            "describe it in the spec (GraphSpec(edges=...)) or pass forward="
        )
    return value


def _transposed_adjacency(data: Batch) -> Tensor:
    """The matrix that PyG keeps as ``adj_t``: a row for each target, a column for each source."""
    size = int(data.num_nodes)
    source, target = data.edge_index[:, (data.edge_index[1] * size + data.edge_index[0]).argsort()]
    rows = torch.nn.functional.pad(target.bincount(minlength=size).cumsum(0), (1, 0))
    dtype = data.x.dtype if data.x.is_floating_point() else torch.get_default_dtype()
    ones = torch.ones_like(source, dtype=dtype)
    return torch.sparse_csr_tensor(rows, source, ones, (size, size), check_invariants=False)


def written_by(
    model: nn.Module, data: Batch, run: Callable[[Batch], Tensor]
) -> tuple[Tensor, tuple[str, ...]]:
    """Run a model; return what it gives and which fields it overwrote; its weights are put back."""
    given = copy(data)
    before = {key: value.clone() for key, value in given if isinstance(value, Tensor)}
    for key, value in before.items():
        given[key] = value
    versions = {key: value._version for key, value in before.items()}
    weights = [(name, p, p.detach().clone()) for name, p in model.named_parameters()]
    result = run(given)
    # NaN is not equal to itself, and no change.
    changed = [name for name, p, old in weights if bool(((p != old) & ~old.isnan()).any())]
    if changed:
        for _, p, old in weights:
            p.data.copy_(old)
        raise ModelError(
            f"the model changes its own weights when it is called (`{changed[0]}`), so that its "
            "answers depend on what it was asked before; make forward leave them alone"
        )
    written = tuple(
        key
        for key, value in before.items()
        if given.get(key) is not value or value._version != versions[key]
    )
    return result, written


def dtype_and_device(model: nn.Module) -> tuple[torch.dtype, torch.device]:
    """What a model computes in, and where; a mixture, or what is too coarse, is refused."""
    floats = [p for p in (*model.parameters(), *model.buffers()) if p.is_floating_point()]
    dtypes = {p.dtype for p in floats}
    if len(dtypes) > 1:
        raise ModelError(
            f"the model mixes floating-point types ({', '.join(sorted(map(str, dtypes)))}); "
            "call model.float() first"
        )
    dtype = dtypes.pop() if dtypes else torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise ModelError(
            f"the model is in {dtype}, too coarse for a gradient through it; "
            "call model.float() first"
        )
    return dtype, floats[0].device if floats else torch.device("cpu")


def check_weights(model: nn.Module, scores: Tensor) -> None:
    """Name the weights that make scores NaN."""
    if torch.isfinite(scores).all():
        return
    broken = [name for name, p in model.named_parameters() if not torch.isfinite(p).all()]
    if broken:
        raise ModelError(
            f"the weights `{broken[0]}` of the model are NaN or infinite, and so are its scores; "
            "its training went wrong, or its file"
        )
