"""Where the graph embedding is: the first graph-level tensor, or what the user names.

The embedding psi of the paper is what the readout produced. It is found by watching one native run
over several graphs: the first tensor with one row for each graph that a module outside the readout
receives. Normalisation layers and aggregations work on such tensors inside themselves and are
passed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import MessagePassing
from torch_geometric.nn.aggr import Aggregation

from gnninterpreter.errors import ModelError
from gnninterpreter.models.frozen import Hook, hooked

PARTIAL = (Aggregation, MessagePassing)


@dataclass(frozen=True)
class EmbeddingPoint:
    """A place in the model: ``"input"`` or ``"output"`` of a submodule at its n-th call."""

    module: str
    side: str = "output"
    call: int = 0

    def __str__(self) -> str:
        return f"{self.side} of `{self.module}`" if self.module else "the class scores themselves"

    @contextmanager
    def changed(self, model: nn.Module, change: Callable[..., Any]) -> Iterator[None]:
        """Call ``change(args)``, or ``change(args, output)``, where a model comes by this place.

        What it returns, if anything, takes the place of either.
        """
        calls = count()

        def listen(*values: Any) -> Any:
            return change(*values) if next(calls) == self.call else None

        with hooked([(model.get_submodule(self.module), self.side, listen)]):
            yield

    @contextmanager
    def read(self, model: nn.Module) -> Iterator[list[Any]]:
        """Collect what a model has at this place while the context lasts."""
        found: list[Any] = []

        def collect(args: tuple[Any, ...], *output: Any) -> None:
            found.extend(output or args[:1])

        with self.changed(model, collect) if self.module else nullcontext():
            yield found


def find_embedding(
    model: nn.Module, run: Callable[[], Any], num_graphs: int, wanted: str | None = None
) -> EmbeddingPoint:
    """Find where the embedding of a graph appears: a tensor with one row for each graph.

    ``run`` runs the model on ``num_graphs`` graphs of more nodes than that. ``wanted`` names a
    submodule whose output to take; ``"name:input"`` takes what it receives.
    """
    if wanted is not None:
        return _named(model, run, num_graphs, wanted)
    seen: dict[str, list[EmbeddingPoint]] = {"input": [], "output": []}
    calls: Counter[str] = Counter()

    def watch(name: str, side: str, args: tuple[Any, ...], *output: Any) -> None:
        calls[name] += side == "input"
        if _graph_level((output or args or (None,))[0], num_graphs):
            seen[side].append(EmbeddingPoint(name, side, calls[name] - 1))

    hooks: list[Hook] = [
        (module, side, partial(watch, name, side))
        for name, module in model.named_modules()
        # What is part of an aggregation or convolution sees partial results.
        if name and not any(isinstance(o, PARTIAL) for o in owners_of(model, name))
        for side in seen
    ]
    with hooked(hooks):
        run()
    return next((found[0] for found in seen.values() if found), EmbeddingPoint(""))


def owners_of(model: nn.Module, name: str) -> Iterator[nn.Module]:
    """The modules that a module is part of, but for the model itself, the outermost first."""
    parts = name.split(".")
    return (model.get_submodule(".".join(parts[:i])) for i in range(1, len(parts)))


def _graph_level(value: Any, num_graphs: int) -> bool:
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dim() == 2
        and value.size(0) == num_graphs
    )


def _named(
    model: nn.Module, run: Callable[[], Any], num_graphs: int, wanted: str
) -> EmbeddingPoint:
    name, _, side = wanted.partition(":")
    point = EmbeddingPoint(name, side or "output")
    if side not in ("", "input", "output"):
        raise ModelError(
            f"embedding={wanted!r}: after ':' comes 'input' or 'output' (got {side!r})"
        )
    if name not in dict(model.named_modules()):
        names = ", ".join(n for n, _ in model.named_modules() if n)
        raise ModelError(f"embedding={wanted!r}: the model has no such module; it has {names}")
    with point.read(model) as found, torch.no_grad():
        run()
    check_embedding(f"embedding={wanted!r}", found[0] if found else None, num_graphs)
    return point


def check_embedding(label: str, value: Any, num_graphs: int) -> None:
    """Check that there is one row for each graph."""
    if not _graph_level(value, num_graphs):
        shape = f"shape {list(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        raise ModelError(
            f"{label} gives {shape} for {num_graphs} graphs, where one row for each graph was "
            "expected; name a module after the readout"
        )
