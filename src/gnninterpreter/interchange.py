"""Discrete graphs as plain JSON values and back, checked against the spec.

The form is short and the same everywhere: in audits, in links, between the live page and its
server. A graph is ``{"nodes": [...], "edges": [...]}``; a node is a list with one entry for each
feature block (the number of a category, a list of numbers, or null for what is constant or follows
from the graph), an edge is
``[source, target]``, followed by such a list where edges have features. ``"y"`` is the class, where
it is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.graphs import node_rows, with_weights
from gnninterpreter.spec import Block, Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import completed
from gnninterpreter.spec.encoding import as_read, coded, rows_of

__all__ = ["graph_from_json", "graph_to_json"]

MOST_NODES, MOST_EDGES = 500, 5000


def graph_to_json(graph: Data, spec: GraphSpec) -> dict[str, Any]:
    """Return a graph as plain JSON values; an undirected edge is listed once."""
    rows = _rows(node_rows(graph), spec.nodes)
    attributes = _rows(graph.edge_attr, spec.edges) if spec.edges else None
    edges: list[list[Any]] = []
    seen: set[tuple[int, int]] = set()
    for e, (i, j) in enumerate(graph.edge_index.t().tolist()):
        key = (i, j) if spec.directed else (min(i, j), max(i, j))
        if key not in seen:
            seen.add(key)
            edges.append([*key] if attributes is None else [*key, attributes[e]])
    values: dict[str, Any] = {"nodes": rows, "edges": edges}
    if graph.get("y") is not None:
        values["y"] = int(graph.y)
    return values


def graph_from_json(
    values: Any,
    spec: GraphSpec,
    *,
    most_nodes: int = MOST_NODES,
    most_edges: int = MOST_EDGES,
    dtype: torch.dtype = torch.float32,
) -> Data:
    """Read a graph that `graph_to_json`, or anybody else, wrote.

    Raises:
        DataError: If it is no graph, has more than ``most_nodes`` or ``most_edges``, or the spec
            cannot express it.
    """
    if not isinstance(values, Mapping) or set(values) - {"nodes", "edges", "y"}:
        raise DataError('a graph must be an object with "nodes", "edges" and maybe "y"')
    nodes: Any = values.get("nodes")
    edges: Any = values.get("edges")
    for name, listed, most in (("nodes", nodes, most_nodes), ("edges", edges, most_edges)):
        if not isinstance(listed, list):
            raise DataError(f'"{name}" must be a list (got {type(listed).__name__})')
        if len(listed) > most:
            raise DataError(f"a graph may have at most {most} {name} here (got {len(listed)})")
    x = _features([_entry(n, spec.nodes, f"node {i}") for i, n in enumerate(nodes)], spec.nodes)
    x = as_read(x, spec, dtype)
    pairs, rows = _edges(edges, len(nodes), spec)
    index = torch.tensor(pairs, dtype=torch.long).reshape(-1, 2).t()
    attributes = as_read(_features(rows, spec.edges), spec, dtype) if spec.edges else None
    if not spec.directed:
        index = torch.cat([index, index.flip(0)], dim=1)
        attributes = None if attributes is None else torch.cat([attributes, attributes])
    data = Data(
        x=_shaped(x, spec.metadata.get("x"), dtype),
        edge_index=index.contiguous(),
        num_nodes=len(nodes),
    )
    if attributes is not None:
        data.edge_attr = _shaped(attributes, spec.metadata.get("edge_attr"), dtype)
        if spec.has_edge_types:
            data.edge_type = attributes.squeeze(-1)
        with_weights(data, spec)
    if values.get("y") is not None:
        data.y = torch.tensor([_whole(values["y"], spec.num_classes, "the class is")])
    return completed(data, spec)


def _rows(features: Tensor, blocks: Sequence[Block]) -> list[list[Any]]:
    """One entry for each block and row."""

    def written(block: Block, value: Any) -> Any:
        if isinstance(block, Categorical):
            return value
        return None if block.constant else [round(number, 5) for number in value]

    return [list(map(written, blocks, row)) for row in rows_of(features, blocks)]


def _edges(
    edges: list[Any], count: int, spec: GraphSpec
) -> tuple[list[tuple[int, int]], list[list[float]]]:
    width = 3 if spec.edges else 2
    pairs: list[tuple[int, int]] = []
    rows: list[list[float]] = []
    seen = set()
    for e, edge in enumerate(edges):
        if not isinstance(edge, list) or len(edge) not in (2, width):
            raise DataError(f"edge {e} must be a list of two nodes (and its features)")
        i, j = (_whole(end, count, f"edge {e} ends at a node") for end in edge[:2])
        key = (i, j) if spec.directed else (min(i, j), max(i, j))
        if i == j:
            raise DataError(f"edge {e} joins node {i} to itself, which the spec does not know")
        if key in seen:
            raise DataError(f"edge {e} joins nodes {i} and {j}, as another one does already")
        seen.add(key)
        pairs.append(key)
        given = edge[2] if len(edge) == 3 else [None] * len(spec.edges)
        rows.append(_entry(given, spec.edges, f"edge {e}"))
    return pairs, rows


def _entry(entry: Any, blocks: Sequence[Block], what: str) -> list[float]:
    """The columns of one node or edge."""
    if not isinstance(entry, list) or len(entry) != len(blocks):
        raise DataError(f"{what} must be a list of {len(blocks)} features, one for each block")
    columns: list[float] = []
    for value, block in zip(entry, blocks, strict=True):
        if isinstance(block, Categorical):
            code = _whole(0 if value is None else value, block.size, f"{what} has a {block.name}")
            columns += (
                [float(code)] if coded(block) else [float(i == code) for i in range(block.width)]
            )
        elif isinstance(block, Derived):
            columns += [0.0] * block.width
        else:
            columns += _numbers(value, block, what)
    return columns


def _numbers(value: Any, block: Continuous, what: str) -> list[float]:
    low: Any = block.low
    high: Any = block.high
    if value is None:
        return [(a + b) / 2 for a, b in zip(low, high, strict=True)]
    if not isinstance(value, list) or len(value) != block.dim:
        raise DataError(f"{what} must have {block.dim} numbers for {block.name}")
    for number, least, most in zip(value, low, high, strict=True):
        real = isinstance(number, (int, float)) and not isinstance(number, bool)
        slack = 1e-4 * max(1.0, abs(least), abs(most))
        # What is not a number is not between two either.
        if not real or not least - slack <= number <= most + slack:
            raise DataError(
                f"{what} has a {block.name} of {number!r}; it must lie between {least} and {most}"
            )
    return [float(number) for number in value]


def _features(rows: list[list[float]], blocks: Sequence[Block]) -> Tensor:
    columns = sum(block.width for block in blocks)
    values = torch.tensor(rows, dtype=torch.float64).reshape(len(rows), columns)
    return values.long() if any(coded(block) for block in blocks) else values


def _shaped(values: Tensor, layout: str | None, dtype: torch.dtype) -> Tensor:
    values = values.to(dtype) if values.is_floating_point() else values
    return values.squeeze(-1) if layout == "flat" else values


def _whole(value: Any, count: int, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < count:
        known = f"it must be a whole number from 0 to {count - 1}" if count else "there is none"
        raise DataError(f"{what} {value!r}; {known}")
    return value
