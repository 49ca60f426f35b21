"""The generic relaxation: an unmodified model, run on soft graphs.

One law covers every layer: *each reduction over edges counts an edge by its weight, each reduction
over nodes counts a node by its presence*. A GCN's degrees, the mean of a SAGE layer, the normaliser
of an attention, the statistics of a graph norm and the readout are all such reductions, and in
PyTorch they are a handful of operations: ``scatter_add``, ``index_add``, ``scatter_reduce``,
``bincount``. A `torch.overrides.TorchFunctionMode` sees them all, also those in a user's own code,
so nothing needs to be known about the layers. Only PyG's `softmax` is replaced as a whole, since
its steps taken one by one would overflow on absent edges. Inverse powers and roots keep their value
and get a slope that is finite where a node is absent and its degree zero.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import pad
from torch.overrides import TorchFunctionMode
from torch_geometric.utils import softmax as pyg_softmax

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.reductions import expected_max, grouped, power, weighted_softmax_shares

# Whatever a model calls: an operation of torch.
Op = Callable[..., Any]

_ACTIVE: ContextVar[Relaxation | None] = ContextVar("active_relaxation", default=None)

_LOCK = Lock()
_REPLACED: list[None] = []
_HOLDERS: list[dict[str, Any]] = []

NOTHING = 1e9

# Every spelling of the operations that are weighed, with the method that does it.
_HANDLERS: dict[Op, str] = {
    **dict.fromkeys((Tensor.scatter_add_, Tensor.scatter_add, torch.scatter_add), "_sum"),
    **dict.fromkeys((Tensor.index_add_, Tensor.index_add, torch.index_add), "_sum"),
    **dict.fromkeys(
        (Tensor.scatter_reduce_, Tensor.scatter_reduce, torch.scatter_reduce), "_reduce"
    ),
    **dict.fromkeys((torch.bincount, Tensor.bincount), "_count"),
    **dict.fromkeys((torch.max, Tensor.max), "_max"),
    **dict.fromkeys(
        (Tensor.pow_, Tensor.pow, torch.pow, Tensor.__pow__, Tensor.__ipow__), "_power"
    ),
    **dict.fromkeys((Tensor.rsqrt_, Tensor.rsqrt, torch.rsqrt), "_rsqrt"),
    **dict.fromkeys((Tensor.reciprocal_, Tensor.reciprocal, torch.reciprocal), "_reciprocal"),
    Tensor.__rdiv__: "_divide",
    torch.nn.functional.embedding: "_embed",
    torch.nn.functional.one_hot: "_one_hot",
}
# The same argument goes by several names.
_ARGUMENTS = {"input": "out", "source": "src"}


def active_relaxation() -> Relaxation | None:
    """Return the relaxation under which the current thread runs, if any."""
    return _ACTIVE.get()


class Relaxation(TorchFunctionMode):
    """Weighs every reduction over some soft graphs; ``kernels`` compute layers of their types."""

    def __init__(self, candidates: Candidates, kernels: Mapping[type, Op] | None = None) -> None:
        super().__init__()
        self.candidates = candidates
        self.kernels = kernels or {}

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run models under this relaxation while the context lasts; needs `softmax_replaced`."""
        token = _ACTIVE.set(self)
        try:
            with self:
                yield
        finally:
            _ACTIVE.reset(token)

    def __torch_function__(
        self, func: Op, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        handler = _HANDLERS.get(func)
        if handler is None:
            return func(*args, **(kwargs or {}))
        named = {_ARGUMENTS.get(name, name): value for name, value in (kwargs or {}).items()}
        return getattr(self, handler)(func, *args, **named)

    def _sum(self, func: Op, out: Tensor, dim: int, index: Tensor, src: Tensor, **kw: Any) -> Any:
        weight = self.candidates.weight_of(index, src.size(dim) if src.dim() else 0)
        if weight is None or not src.is_floating_point():
            return func(out, dim, index, src, **kw)
        weighed = (src * _along(weight, src, dim)).to(out.dtype)
        if not kw and self._is_readout(index, dim, src, out.size(dim)):
            # The readout: nodes lie graph by graph, so the sum needs no scatter.
            total = self.candidates.per_graph(weighed).sum(dim=1)
            return out.add_(total) if _in_place(func) else out + total
        return func(out, dim, index, weighed, **kw)

    def _reduce(
        self,
        func: Op,
        out: Tensor,
        dim: int,
        index: Tensor,
        src: Tensor,
        reduce: str = "sum",
        include_self: bool = True,
    ) -> Any:
        weight = self.candidates.weight_of(index, src.size(dim) if src.dim() else 0)
        if weight is None or not src.is_floating_point() or reduce == "prod":
            return func(out, dim, index, src, reduce=reduce, include_self=include_self)
        flat = index.movedim(dim, 0)
        flat = flat.reshape(flat.size(0), -1)[:, 0]
        size = out.size(dim)
        group = self._by_graph if self._is_readout(index, dim, src, size) else grouped
        if reduce in ("sum", "mean"):
            start = out if include_self else torch.zeros_like(out)
            result = start.scatter_add(dim, index, src * _along(weight, src, dim))
            if reduce == "mean":
                count = weight.new_full((size,), float(include_self)).scatter_add_(0, flat, weight)
                result = result / _along(count.clamp_min(1), result, dim)
        else:
            self.candidates.products_only = False
            sign = 1.0 if reduce == "amax" else -1.0
            members, _ = group(sign * src.movedim(dim, 0), flat, size)
            shares, _ = group(weight, flat, size)
            before = sign * out.movedim(dim, 0) if include_self else None
            result = (sign * _largest(members, shares, before)).movedim(0, dim)
        return out.copy_(result) if func is torch.Tensor.scatter_reduce_ else result

    def _is_readout(self, index: Tensor, dim: int, src: Tensor, size: int) -> bool:
        """Whether a reduction is over the nodes of each graph, which lie graph by graph."""
        here = dim in (0, -src.dim()) and size == self.candidates.num_graphs
        return here and self.candidates.is_batch(index)

    def _by_graph(self, values: Tensor, index: Tensor, size: int) -> tuple[Tensor, None]:
        """The same as `grouped` of a readout, without a sort."""
        return self.candidates.per_graph(values), None

    def _max(self, func: Op, out: Tensor, *args: Any, **kw: Any) -> Any:
        # How many graphs there are, as pools ask for it; to look would wait for a GPU.
        if args or kw or not self.candidates.is_batch(out):
            return func(out, *args, **kw)
        return torch.tensor(self.candidates.num_graphs - 1)

    def _count(
        self, func: Op, index: Tensor, weights: Tensor | None = None, minlength: int = 0
    ) -> Any:
        weight = self.candidates.weight_of(index, index.numel())
        if weight is None:
            return func(index, weights, minlength)
        size = max(minlength, int(index.max()) + 1)
        values = weight if weights is None else weight * weights
        return values.new_zeros(size).scatter_add_(0, index, values)

    def _power(self, func: Op, out: Tensor, exponent: Any, **kw: Any) -> Any:
        steep = isinstance(exponent, Tensor) or (
            isinstance(exponent, (int, float)) and exponent < 1
        )
        if kw or not steep or not isinstance(out, Tensor):
            return func(out, exponent, **kw)
        return _inverse(func, out, exponent, lambda: func(out, exponent))

    def _rsqrt(self, func: Op, out: Tensor, **kw: Any) -> Any:
        return _inverse(func, out, -0.5, lambda: func(out, **kw))

    def _reciprocal(self, func: Op, out: Tensor, **kw: Any) -> Any:
        return _inverse(func, out, -1.0, lambda: func(out, **kw))

    def _divide(self, func: Op, out: Tensor, other: Any) -> Any:
        # ``other / out``, as in the inverse of a degree.
        if not isinstance(out, Tensor):
            return func(out, other)
        return _inverse(func, out, -1.0, out.reciprocal) * other

    def _embed(self, func: Op, codes: Tensor, table: Tensor, *args: Any, **kw: Any) -> Any:
        soft = self.candidates.soft_codes(codes)
        if soft is None or soft.size(-1) > table.size(0):
            return func(codes, table, *args, **kw)
        return (soft @ table[: soft.size(-1)]).view(*codes.shape, table.size(1))

    def _one_hot(self, func: Op, out: Tensor, num_classes: int = -1) -> Any:
        soft = self.candidates.soft_codes(out)
        if soft is None or num_classes < soft.size(-1):
            return func(out, num_classes)
        return pad(soft, (0, num_classes - soft.size(-1))).view(*out.shape, num_classes)


def _inverse(
    func: Op, base: Tensor, exponent: float | Tensor, plain: Callable[[], Tensor]
) -> Tensor:
    """Power, steep at zero, of what may be the degree of an absent node; see `power`."""
    if not (base.requires_grad and torch.is_grad_enabled()):
        return plain()
    result = power(base, exponent)
    return base.copy_(result) if _in_place(func) else result


def _in_place(func: Op) -> bool:
    return func.__name__.endswith("_") and not func.__name__.endswith("__")


def _largest(members: Tensor, shares: Tensor, start: Tensor | None) -> Tensor:
    """Expected maximum of each group; ``start`` is one more member where it is a number at all."""
    shape = (*shares.shape, *[1] * (members.dim() - 2))
    if start is None:
        return expected_max(members, shares.view(shape), dim=1)
    # People start a maximum from minus infinity or the smallest float: nothing yet, not a value.
    real = start.abs() < NOTHING
    members = torch.cat([members, start.where(real, 0.0).unsqueeze(1)], dim=1)
    weights = torch.cat([shares.view(shape).expand_as(members[:, :-1]), real.unsqueeze(1)], dim=1)
    nobody = ~real & shares.eq(0).all(dim=1).view(-1, *[1] * (start.dim() - 1))
    return torch.where(nobody, start, expected_max(members, weights, dim=1))


def _along(weight: Tensor, like: Tensor, dim: int) -> Tensor:
    shape = [1] * like.dim()
    shape[dim] = -1
    return weight.view(shape)


def _softmax(
    src: Tensor,
    index: Tensor | None = None,
    ptr: Tensor | None = None,
    num_nodes: int | None = None,
    dim: int = 0,
) -> Tensor:
    """PyG's softmax, with partly present members where a relaxation is active."""
    relaxation = active_relaxation()
    weight = None
    if relaxation is not None and index is not None:
        weight = relaxation.candidates.weight_of(index, src.size(dim))
    if weight is None or index is None:
        result: Tensor = pyg_softmax(src, index, ptr, num_nodes, dim)
        return result
    size = int(index.max()) + 1 if num_nodes is None else num_nodes
    with torch._C.DisableTorchFunction():
        return weighted_softmax_shares(src, weight, index, size, dim % src.dim())


@contextmanager
def softmax_replaced() -> Iterator[None]:
    """Put `_softmax` wherever PyG's was imported by name, and take it out again.

    Where no relaxation is active (another thread, say) the replacement behaves as the original, so
    that the swap is never seen from outside. The last of several overlapping contexts restores.
    """
    with _LOCK:
        if not _REPLACED:
            for module in list(sys.modules.values()):
                names = getattr(module, "__dict__", {})
                if names.get("softmax") is pyg_softmax and names is not globals():
                    _HOLDERS.append(names)
                    names["softmax"] = _softmax
        _REPLACED.append(None)
    try:
        yield
    finally:
        with _LOCK:
            _REPLACED.pop()
            if not _REPLACED:
                for names in _HOLDERS:
                    names["softmax"] = pyg_softmax
                _HOLDERS.clear()
