"""Columns that follow from a graph: who computes them, and the one place where that is done.

`fill` is called wherever a discrete graph is made for the model or for the eye. Graphs on candidate
nodes hold free choices alone, so nothing that edits them can leave a derived column behind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.errors import SpecError
from gnninterpreter.spec.blocks import Block, Derived
from gnninterpreter.spec.spec import GraphSpec
from gnninterpreter.views import view

__all__ = [
    "cleared",
    "columns",
    "completed",
    "completed_each",
    "fill",
    "register_derived",
    "registered",
    "soft_values",
]

Compute = Callable[[Data, Sequence[Derived], GraphSpec], Sequence[Tensor]]
Soft = Callable[[Tensor, Derived], Tensor]
Graphs = TypeVar("Graphs", bound=Data)


@dataclass(frozen=True)
class _Function:
    compute: Compute
    soft: Soft | None


_FUNCTIONS: dict[str, _Function] = {}


def register_derived(name: str, compute: Compute, soft: Soft | None = None) -> None:
    """Say how the columns of all `Derived` blocks with this function are computed.

    Args:
        name: The function's name, which stored runs keep.
        compute: ``compute(data, blocks, spec)`` gets graphs side by side (``x``, ``edge_index``,
            ``edge_attr``, ``batch``; derived columns are zeros) and all blocks of the spec that
            name the function, those of nodes first, then of edges. It returns one tensor for each:
            [nodes, width] or [edges, width]. NaN says that a graph has no such value, so that it
            can be no answer and is never shown: a degree beyond the largest, a broken molecule.
        soft: ``soft(weight, block)`` gives the same for nodes of soft graphs, [B, N, width], from
            weights [B, N, N] of edges from the second to the first; differentiable, and equal to
            ``compute`` on present nodes where all weights are 0 or 1. Without it the model is
            explained by the score-function gradient.
    """
    if not isinstance(name, str) or not name or not callable(compute):
        raise SpecError("register_derived needs a name and a function compute(data, blocks, spec)")
    _FUNCTIONS[name] = _Function(compute, soft)


def registered(block: Derived) -> _Function:
    """What computes a block.

    Raises:
        SpecError: If it is not known here, as with a user's own transform in a stored run.
    """
    if not _is_known(block.function):
        raise SpecError(
            f"'{block.name}' was computed by {block.function!r}, which is not known here; "
            f"call register_derived({block.function!r}, ...) first"
        )
    return _FUNCTIONS[block.function]


def _is_known(function: str) -> bool:
    if function not in _FUNCTIONS:
        view("derived")()
    return function in _FUNCTIONS


def table(values: Tensor) -> Tensor:
    """Features with one row for each node or edge, whether they were flat or not."""
    return values.flatten(1) if values.dim() > 1 else values.unsqueeze(1)


def columns(values: Tensor, blocks: Sequence[Block]) -> tuple[Tensor, ...]:
    """Cut the columns that a model reads into one tensor for each block."""
    return torch.split(table(values), [block.width for block in blocks], dim=1)


def fill(data: Graphs, spec: GraphSpec, known_only: bool = False) -> Graphs:
    """Return graphs with their derived columns computed anew, whatever stood there before.

    Where a value does not exist, it is set to 0 and the graph marked in ``data.impossible``. With
    ``known_only`` what nothing here can compute becomes NaN (-1 among integer codes).
    """
    if not spec.derived:
        return data
    data = cleared(data, spec)
    values = _computed(data, spec, known_only)
    graph = _graph_of_node(data)
    count = int(graph.max()) + 1 if graph.numel() else 1
    graphs = int(getattr(data, "num_graphs", count) or count)
    lost = torch.zeros(graphs, dtype=torch.bool, device=graph.device)
    ends = graph[data.edge_index[0]]
    for key, blocks, owner in (("x", spec.nodes, graph), ("edge_attr", spec.edges, ends)):
        if any(isinstance(block, Derived) for block in blocks):
            parts = [
                _settled(values[block], part, owner, lost, known_only) if block in values else part
                for block, part in zip(blocks, columns(data[key], blocks), strict=True)
            ]
            made = torch.cat(parts, dim=1)
            flat = spec.metadata.get(key) == "flat"
            data[key] = made.squeeze(-1) if flat else made
    for block in spec.attributes:
        like = data.x if data.x.is_floating_point() else values[block].float()
        data[block.name] = _settled(values[block], like, graph, lost, known_only)
    data["impossible"] = lost
    return data


def cleared(data: Graphs, spec: GraphSpec) -> Graphs:
    """Graphs whose derived columns are zeros, so that they differ in what is free alone."""
    data = copy(data)
    for key, blocks in (("x", spec.nodes), ("edge_attr", spec.edges)):
        if not any(isinstance(block, Derived) for block in blocks):
            continue
        found, wanted = table(data[key]).size(1), sum(block.width for block in blocks)
        if found != wanted:
            raise SpecError(
                f"the spec describes {wanted} columns of '{key}' but the data has {found}; "
                "GraphSpec.from_dataset(dataset) reads them off the data"
            )
        parts = [
            torch.zeros_like(part) if isinstance(block, Derived) else part
            for block, part in zip(blocks, columns(data[key], blocks), strict=True)
        ]
        data[key] = torch.cat(parts, dim=1)
    return data


def completed(data: Graphs, spec: GraphSpec) -> Graphs:
    """`fill` for a graph that is shown: unmarked, and NaN where nothing here knows the function."""
    made = fill(data, spec, known_only=True)
    if made is not data:
        del made["impossible"]
    return made


def completed_each(graphs: Sequence[Data], spec: GraphSpec) -> list[Data]:
    """`completed` for many graphs, whose columns are computed together."""
    if not spec.derived or spec.attributes or len(graphs) < 2:
        return [completed(graph, spec) for graph in graphs]
    whole = completed(Batch.from_data_list(list(graphs)), spec)
    found = [copy(graph) for graph in graphs]
    for key, blocks in (("x", spec.nodes), ("edge_attr", spec.edges)):
        if any(isinstance(block, Derived) for block in blocks):
            parts = whole[key].split([len(graph[key]) for graph in graphs])
            for graph, part in zip(found, parts, strict=True):
                graph[key] = part
    return found


def soft_values(weight: Tensor, block: Derived) -> Tensor:
    """Values of a derived block of the nodes of soft graphs, [B, N, width]."""
    soft = registered(block).soft
    if soft is None:
        raise SpecError(f"'{block.name}' follows from the graph by steps that have no slope")
    return soft(weight, block)


def _computed(data: Data, spec: GraphSpec, known_only: bool) -> dict[Block, Tensor]:
    asked: dict[str, list[Derived]] = {}
    for block in spec.derived:
        asked.setdefault(block.function, []).append(block)
    plain: dict[str, Any] = {
        key: data[key] for key in ("x", "edge_index", "edge_attr") if data.get(key) is not None
    }
    bare = Data(**plain, batch=_graph_of_node(data), num_nodes=data.num_nodes)
    found: dict[Block, Tensor] = {}
    edges = data.edge_index.size(1)
    for name, blocks in asked.items():
        rows = [edges if block in spec.edges else int(data.num_nodes or 0) for block in blocks]
        if known_only and not _is_known(name):
            made: Sequence[Tensor] = [
                torch.full((count, block.width), torch.nan)
                for count, block in zip(rows, blocks, strict=True)
            ]
        else:
            made = registered(blocks[0]).compute(bare, blocks, spec)
        for block, value, count in zip(blocks, made, rows, strict=True):
            if tuple(value.shape) != (count, block.width):
                raise SpecError(
                    f"the function {name!r} must give '{block.name}' the shape "
                    f"[{count}, {block.width}] (got {list(value.shape)})"
                )
            found[block] = value
    return found


def _settled(values: Tensor, like: Tensor, owner: Tensor, lost: Tensor, known_only: bool) -> Tensor:
    """Values in the type of the other columns; graphs without them are marked."""
    values = values.to(like.device)
    if values.is_floating_point():
        missing = values.isnan().any(dim=1)
        lost[owner[missing]] = True
        if not known_only:
            values = values.nan_to_num(nan=0.0)
        elif not like.is_floating_point():
            values = values.nan_to_num(nan=-1.0)
    return values.to(like.dtype)


def _graph_of_node(data: Data) -> Tensor:
    batch: Tensor | None = data.get("batch")
    if batch is not None:
        return batch
    return torch.zeros(int(data.num_nodes or 0), dtype=torch.long, device=data.edge_index.device)
