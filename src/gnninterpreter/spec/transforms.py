"""PyG transforms as they are: which columns they appended, and who computes those from now on."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import torch
from torch import Tensor
from torch_geometric import transforms
from torch_geometric.data import Data

from gnninterpreter.errors import DataError, SpecError
from gnninterpreter.spec.blocks import Block, Continuous, Derived
from gnninterpreter.spec.derived import columns, register_derived
from gnninterpreter.spec.spec import GraphSpec

MARK = 7.0
FEW = 5


def transform_blocks(features: Any, graphs: Sequence[Data]) -> dict[str, list[Block]]:
    """The blocks that transforms append, by where they put them: "x", "edge_attr", or a name."""
    found: dict[str, list[Block]] = {}
    some = [graph for graph in graphs if graph.num_nodes and graph.num_edges][:FEW]
    for transform in _flat(features):
        for place, block in _blocks_of(transform, some):
            found.setdefault(place, []).append(block)
    if not found:
        raise DataError(f"features={features!r} appends no columns to the graphs of the dataset")
    return found


def _flat(features: Any) -> list[Any]:
    if isinstance(features, transforms.Compose):
        return _flat(features.transforms)
    if isinstance(features, (list, tuple)):
        return [one for part in features for one in _flat(part)]
    if not callable(features):
        raise SpecError(
            "features must be the transform that made the columns, such as T.OneHotDegree(10), or "
            f"a list of them (got {features!r})"
        )
    return [features]


def _blocks_of(transform: Any, graphs: Sequence[Data]) -> list[tuple[str, Block]]:
    kind = type(transform)
    if kind is transforms.Constant:
        value = float(transform.value)
        return [("x", Continuous(1, value, value, ("constant",), "constant"))]
    if kind is transforms.OneHotDegree:
        settings = {"in_degree": True} if transform.in_degree else {}
        width = transform.max_degree + 1
        return [("x", Derived("degree one-hot", width, name="degree", settings=settings))]
    if kind is transforms.LocalDegreeProfile:
        return [("x", profile_block())]
    if kind in (transforms.AddRandomWalkPE, transforms.AddLaplacianEigenvectorPE):
        walk = kind is transforms.AddRandomWalkPE
        width = transform.walk_length if walk else transform.k
        own = transform.attr_name
        name = own or ("random walk" if walk else "laplacian")
        return [(own or "x", Derived("random walk" if walk else "laplacian", width, name=name))]
    return _own_blocks(transform, graphs)


def profile_block() -> Derived:
    """The block of PyG's local degree profile."""
    names = ("degree", "least next", "most next", "mean next", "spread next")
    return Derived("local degree profile", 5, names, "local degree profile")


def _own_blocks(transform: Any, graphs: Sequence[Data]) -> list[tuple[str, Block]]:
    """What any other transform appends, found by running it."""
    function = f"transform {transform!r}"
    widths: dict[str, int] = {}
    for graph in graphs:
        marked = _marked(graph)
        made, again = _run(transform, marked), _run(transform, marked)
        found = _appended(transform, marked, made)
        if widths and found != widths:
            raise DataError(f"features: {transform!r} appends other columns to other graphs")
        widths = found
        for place in widths:
            if not torch.equal(made[place].nan_to_num(), again[place].nan_to_num()):
                raise DataError(
                    f"features: {transform!r} gives the same graph other columns each time it is "
                    "run; a random transform says nothing of a graph, so leave it out"
                )
    register_derived(function, _Compute(transform))
    own = getattr(transform, "__name__", type(transform).__name__)
    blocks: list[tuple[str, Block]] = []
    for place, width in widths.items():
        name = own if place in ("x", "edge_attr") else place
        blocks.append((place, Derived(function, width, name=name, settings={"into": place})))
    return blocks


def _marked(graph: Data) -> Data:
    """The edges of a graph, with one column of which it is seen whether it stays."""
    nodes, edges = int(graph.num_nodes or 0), int(graph.num_edges)
    marked = Data(x=torch.full((nodes, 1), MARK), edge_index=graph.edge_index, num_nodes=nodes)
    if graph.get("edge_attr") is not None:
        marked.edge_attr = torch.full((edges, 1), MARK)
    return marked


def _run(transform: Any, graph: Data) -> Data:
    try:
        made = transform(graph.clone())
    except Exception as error:
        raise DataError(
            f"features: {transform!r} fails on graphs of nodes, edges and their columns "
            f"({type(error).__name__}: {error}); what it needs besides cannot be part of an "
            "explanation"
        ) from error
    if not isinstance(made, Data):
        raise DataError(f"features: {transform!r} must return a graph (got {type(made).__name__})")
    return made


def _appended(transform: Any, before: Data, after: Data) -> dict[str, int]:
    """How many columns there are more, by where."""
    same = torch.equal(after.edge_index, before.edge_index)
    pairs = [sorted(one.edge_index.t().tolist()) for one in (before, after)]
    sorted_only = pairs[0] == pairs[1] and after.get("edge_attr") is before.get("edge_attr")
    if after.num_nodes != before.num_nodes or not (same or sorted_only):
        raise DataError(
            f"features: {transform!r} changes the nodes or edges of a graph "
            f"({before.num_nodes} nodes and {before.num_edges} edges before, {after.num_nodes} and "
            f"{after.num_edges} after); only transforms that append columns can be taken over"
        )
    found: dict[str, int] = {}
    for key in after.keys():  # noqa: SIM118 - a Data is no mapping
        value = after[key]
        if key in ("edge_index", "num_nodes") or not isinstance(value, Tensor) or not value.dim():
            continue
        old = before.get(key)
        rows = before.num_edges if key == "edge_attr" else before.num_nodes
        if value.size(0) != rows:
            raise DataError(f"features: {transform!r} writes '{key}', which is not one row a node")
        width = 1 if value.dim() == 1 else value.size(1)
        if old is None or width == 1 or not torch.equal(value[:, :1], old):
            # The mark is gone: what was there before has been replaced.
            changed = old is None or not torch.equal(value.reshape(rows, -1), old)
            found |= {key: width} if changed else {}
        else:
            found[key] = width - 1
    return found


class _Compute:
    """Runs a user's transform on each graph; one on which it fails has no such columns."""

    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __call__(self, data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
        parts: list[list[Tensor]] = [[] for _ in blocks]
        data = data.cpu()  # where transforms are usually run
        x, attr = _free(data.get("x"), spec.nodes), _free(data.get("edge_attr"), spec.edges)
        owner = data.batch[data.edge_index[0]]
        first = 0
        for number, size in enumerate(data.batch.bincount().tolist()):
            mine = owner == number
            graph = Data(edge_index=data.edge_index[:, mine] - first, num_nodes=size)
            graph.x = None if x is None else x[first : first + size]
            graph.edge_attr = None if attr is None else attr[mine]
            first += size
            try:
                made = self.transform(copy(graph))
            except Exception:
                made = None
            for block, into in zip(blocks, parts, strict=True):
                place = block.options["into"]
                rows = int(mine.sum()) if place == "edge_attr" else size
                into.append(_last(None if made is None else made.get(place), rows, block.width))
        return [torch.cat(into) for into in parts]


def _free(values: Tensor | None, blocks: Sequence[Block]) -> Tensor | None:
    if values is None:
        return None
    parts = columns(values, blocks)
    free = [p for p, b in zip(parts, blocks, strict=True) if not isinstance(b, Derived)]
    return torch.cat(free, dim=1) if free else None


def _last(values: Tensor | None, rows: int, width: int) -> Tensor:
    if values is None or values.size(0) != rows:
        return torch.full((rows, width), torch.nan)
    last = values.reshape(rows, -1)[:, -width:]
    return last.to(torch.get_default_dtype()) if not last.is_floating_point() else last
