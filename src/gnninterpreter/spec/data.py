"""The user's data set as a list of graphs: read once, checked, and made of tensors.

This is the first step of the flow. Everything after it takes the list, so that a generator is
walked through once and a bad graph is told before anything is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.utils import to_edge_index

from gnninterpreter.errors import DataError
from gnninterpreter.spec.sampling import Sample
from gnninterpreter.spec.sampling import node_count as node_count

# Graphs that are looked at for edges from a node to itself, and where such edges are put aside.
LOOKED, ASIDE = 200, "_loops"
# Where this share of the edges goes both ways, the others may have lost their reverse.
MOSTLY = 0.8
FEATURES = ("x", "edge_attr", "edge_type", "edge_weight")
ABOUT = ("name", "spec", "class_names", "oracle", "rule_of_thumb", "patterns")


class GraphList(list[Data]):
    """Graphs that were checked, with what their data set says about itself.

    Of many that were ``read`` some are kept, with ``totals`` over all by label (see `Sample`);
    ``left_out`` counts graphs without nodes; ``patterns`` are what defines the classes;
    ``weighted`` whether the features of edges were their weights; ``looped`` whether every node had
    an edge to itself, which was then left out.
    """

    read: int = 0
    totals: Mapping[int | None, Any] = MappingProxyType({})
    name: str | None = None
    spec: Any = None
    class_names: Any = None
    oracle: Any = None
    rule_of_thumb: bool | None = None
    patterns: Any = None
    left_out: int = 0
    weighted: bool = False
    looped: bool = False


def graph_list(dataset: Any, progress: Callable[[int], object] | None = None) -> GraphList:
    """Read a data set: a list, a PyG data set, a subset, a loader, or anything that yields graphs.

    Arrays and lists in the fields of a graph become tensors, and a sparse ``adj_t`` an
    ``edge_index``; the user's graphs stay as they are. Of more than `sampling.MOST_KEPT` graphs a
    sample is kept, in bounded memory, with exact counts of all. Graphs without nodes, of which
    readouts make no row where they come last, are left out where there are others.

    Args:
        dataset: The data set.
        progress: Called now and then with the number of graphs that were read, if they are many.

    Example:
        >>> graph = Data(x=[[1.0], [2.0]], edge_index=[[0, 1], [1, 0]])
        >>> graph_list(graph for _ in range(2))[0].x.shape
        torch.Size([2, 1])

    Raises:
        DataError: If there are no graphs, or one that cannot be read.
    """
    if isinstance(dataset, GraphList):
        return dataset
    # Data sets of the package were checked when they were made.
    known = dataset.as_graphs() if hasattr(dataset, "as_graphs") else None
    checked = known or (_checked(graph, i) for i, graph in enumerate(_items(dataset)))
    empty: list[Data] = []
    weights: set[bool] = set()
    loops: set[bool] = set()
    full = known or _full(_loops_apart(_weights_as_features(checked, weights), loops), empty)
    sample = Sample.of(full, progress)
    graphs = GraphList(sample.graphs or empty)
    graphs.looped = loops == {True}
    if True in loops:
        _put_back(graphs, graphs.looped)
    graphs.weighted = weights == {True}
    graphs.left_out = len(empty) if sample.graphs else 0
    if not graphs:
        raise DataError("dataset is empty; give the graphs the model was trained on, or spec=")
    for key in FEATURES if known is None else ():
        if len({graph.get(key) is None for graph in graphs}) > 1:
            key = "edge_weight" if len(weights) == 2 and key == "edge_attr" else key
            raise DataError(
                f"some graphs of the dataset have '{key}' and some do not; give it to all or none"
            )
    graphs.read, graphs.totals = sample.read, sample.totals
    while dataset is not None:
        for key in ABOUT:
            if getattr(graphs, key) is None:
                setattr(graphs, key, getattr(dataset, key, None))
        # A subset and a loader say nothing about themselves, but hold what they were made of.
        dataset = getattr(dataset, "dataset", None)
    return graphs


def told_size(graphs: Any) -> list[str]:
    """How many graphs were read and how many were kept, where these differ, in short lines."""
    read, empty = getattr(graphs, "read", 0), getattr(graphs, "left_out", 0)
    lines = [f"graphs without nodes, left out: {empty:,}"] if empty else []
    looked = (graphs or ())[:LOOKED]
    for odd, what in ((_loops, "from a node to itself"), (_repeated, "that are there twice")):
        count = sum(map(odd, looked))
        if count:
            some = f"{count:,} of {len(looked):,} graphs that were looked at have edges {what}"
            lines.append(f"{some}; graphs that are made here have none")
    both = _both_ways(looked)
    if MOSTLY <= both < 1:
        lines.append(
            f"directed, though {min(100 * both, 99.9):.3g}% of the edges go both ways: if all "
            "should, torch_geometric.transforms.ToUndirected adds what is missing"
        )
    bare = sum(not graph.edge_index.size(1) for graph in looked)
    if bare:
        some = f"{bare:,} of {len(looked):,} graphs that were looked at have no edge"
        lines.append(f"{some}; graphs that are made here have one at least")
    if read <= len(graphs or ()):
        return lines
    return [
        *lines,
        f"read {read:,} graphs and kept {len(graphs):,}, of each class as many as of any other "
        "where there are enough; numbers and sizes of graphs are over all",
    ]


def _loops(graph: Data) -> bool:
    return bool((graph.edge_index[0] == graph.edge_index[1]).any())


def _repeated(graph: Data) -> bool:
    return bool(graph.edge_index.unique(dim=1).size(1) < graph.edge_index.size(1))


def _both_ways(graphs: Iterable[Data]) -> float:
    """Share of the edges whose reverse is there, too."""
    found = [graph.edge_index.t().tolist() for graph in graphs]
    every = [(i, j, number) for number, pairs in enumerate(found) for i, j in pairs]
    known = set(every)
    return sum((j, i, number) in known for i, j, number in every) / max(len(every), 1)


def _full(graphs: Iterable[Data], empty: list[Data]) -> Iterable[Data]:
    """Those that have nodes; the others are put aside."""
    for graph in graphs:
        if node_count(graph):
            yield graph
        else:
            empty.append(graph)


def _items(dataset: Any) -> Iterable[Any]:
    if isinstance(dataset, Batch):
        return list(dataset.to_data_list())
    readable = not isinstance(dataset, (Data, Tensor, str, bytes, Mapping))
    if isinstance(dataset, Iterable) and readable:
        return _unbatched(dataset)
    if readable and hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__"):
        return _unbatched(dataset[i] for i in range(len(dataset)))
    hint = "; give a list of torch_geometric.data.Data"
    if isinstance(dataset, Data):
        hint = "; put a single graph into a list"
    elif isinstance(dataset, (str, bytes, os.PathLike)):
        hint = "; load the graphs from it first"
    elif isinstance(dataset, Mapping):
        hint = "; give one of its parts"
    raise DataError(
        f"dataset must be a data set or a list of graphs (got {type(dataset).__name__}){hint}"
    )


def _unbatched(items: Iterable[Any]) -> Iterable[Any]:
    for item in items:
        if isinstance(item, Batch):
            yield from item.to_data_list()
        else:
            yield item


def _checked(graph: Any, number: int) -> Data:
    """Return the graph with tensors in its fields, or say what is wrong with it."""
    if isinstance(graph, HeteroData):
        raise DataError(
            "heterogeneous graphs are not supported yet (got HeteroData); explain a model of "
            "homogeneous ones, as graph.to_homogeneous() makes them"
        )
    if not isinstance(graph, Data):
        raise DataError(
            "dataset must hold graphs of type torch_geometric.data.Data, with labels in 'y' "
            f"(got a {type(graph).__name__} at place {number})"
        )
    if any(getattr(graph.get(key), "is_cuda", False) for key in ("x", "edge_index")):
        graph = graph.cpu()  # where graphs are read and compared; the model gets them in batches
    changes = {
        key: change
        for key, read in _FIELDS.items()
        if (value := graph.get(key)) is not None
        and (change := read(value, f"'{key}' of graph {number}")) is not value
    }
    if graph.get("edge_index") is None:
        if graph.get("adj_t") is None and graph.get("pos") is not None:
            raise DataError(
                f"graphs of positions alone are not supported yet (graph {number} has 'pos' and no "
                "'edge_index'); explain a model that takes edges"
            )
        if graph.get("adj_t") is None:
            raise DataError(f"every graph needs an 'edge_index' (graph {number} has none)")
        changes["edge_index"] = _edges_of(graph.adj_t)
    if graph.get("edge_attr") is None and graph.get("edge_type") is not None:
        # One name for what edges are; a model that asks for types gets these.
        changes["edge_attr"] = changes.get("edge_type", graph.edge_type)
    if changes:
        graph = copy(graph)
        for key, change in changes.items():
            graph[key] = change
    edges = graph.get("edge_index")
    counts = {key: (edges.size(1), "edges") for key in FEATURES[1:]}
    if graph.get("num_nodes") is not None:
        counts["x"] = (int(graph.num_nodes or 0), "nodes")
    for key, (count, noun) in counts.items():
        if (rows := graph.get(key)) is not None and len(rows) != count:
            raise DataError(
                f"'{key}' of graph {number} must have a row for each of its {count} {noun} "
                f"(got {len(rows)})"
            )
    if edges.numel():
        low, high = (int(bound) for bound in edges.aminmax())
        if low < 0 or high >= node_count(graph):
            raise DataError(
                f"'edge_index' of graph {number} must name nodes from 0 to {graph.num_nodes - 1} "
                f"(got {low if low < 0 else high})"
            )
    return graph


def _weights_as_features(graphs: Iterable[Data], found: set[bool]) -> Iterator[Data]:
    """Make weights the features of edges that have no others, and note whether there were any."""
    for graph in graphs:
        weight = graph.get("edge_weight")
        alone = all(graph.get(key) is None for key in ("edge_attr", "edge_type"))
        found.add(weight is not None and alone)
        if weight is not None and alone:
            graph = copy(graph)
            graph.edge_attr = weight.reshape(-1, 1)
            del graph.edge_weight
        yield graph


def _loops_apart(graphs: Iterable[Data], found: set[bool]) -> Iterator[Data]:
    """Put edges from a node to itself aside where every node has one, and note where that is so."""
    for graph in graphs:
        ends, count = graph.edge_index, node_count(graph)
        loops = ends[0] == ends[1]
        plain = all(graph.get(key) is None for key in FEATURES[1:])
        every = plain and count > 0 and len(ends[0, loops].unique()) == count
        if every:
            graph = copy(graph)
            graph.edge_index, graph[ASIDE] = ends[:, ~loops], ends[:, loops]
        if count:
            found.add(every)
        yield graph


def _put_back(graphs: Iterable[Data], everywhere: bool) -> None:
    """Forget the edges that were put aside, or put them back where only some graphs had them."""
    for graph in graphs:
        if ASIDE in graph:
            loops = graph[ASIDE]
            del graph[ASIDE]
            if not everywhere:
                graph.edge_index = torch.cat([graph.edge_index, loops], dim=1)


def _tensor(value: Any, what: str, advice: str = "turn it into a tensor first") -> Tensor:
    try:
        tensor = value if isinstance(value, Tensor) else torch.as_tensor(value)
    except (TypeError, ValueError, RuntimeError):
        got = repr(value) if isinstance(value, str) else type(value).__name__
        raise DataError(f"{what} must be numbers (got {got}); {advice}") from None
    if tensor.is_complex():
        raise DataError(f"{what} must be real numbers (got {tensor.dtype})")
    if tensor.is_meta:
        raise DataError(f"{what} holds no numbers (got a tensor on the device 'meta')")
    return tensor


def _features(value: Any, what: str) -> Tensor:
    tensor = _tensor(value, what)
    if tensor.layout != torch.strided:
        tensor = tensor.to_dense()
    if tensor.dim() not in (1, 2):
        raise DataError(
            f"{what} must have one row of columns for each node or edge "
            f"(got shape {list(tensor.shape)})"
        )
    return tensor.float() if tensor.dtype == torch.bool else tensor


def _edges(value: Any, what: str) -> Tensor:
    tensor = _tensor(value, what)
    if tensor.layout != torch.strided:
        return _edges_of(tensor)
    if tensor.numel() == 0:
        return tensor if tensor.shape == (2, 0) and tensor.dtype == torch.long else NO_EDGES
    if tensor.dim() != 2 or tensor.size(0) != 2:
        turned = tensor.dim() == 2 and tensor.size(1) == 2
        hint = "; turn it round with .t().contiguous()" if turned else ""
        raise DataError(f"{what} must have shape [2, edges] (got {list(tensor.shape)}){hint}")
    if tensor.is_floating_point() or tensor.dtype == torch.bool:
        raise DataError(f"{what} must be whole numbers (got {tensor.dtype})")
    return tensor.long()


def _edges_of(adjacency: Any) -> Tensor:
    """The edges of a transposed adjacency matrix, as PyG keeps it in ``adj_t``."""
    index: Tensor = to_edge_index(adjacency)[0]
    return index.flip(0)


def _label(value: Any, what: str) -> Tensor:
    advice = "number the classes from 0 and give their names as class_names="
    tensor = _tensor(value, what, advice)
    return tensor.long() if tensor.dtype == torch.bool else tensor


NO_EDGES = torch.zeros(2, 0, dtype=torch.long)
_FIELDS: dict[str, Callable[[Any, str], Tensor]] = {
    "x": _features,
    "edge_index": _edges,
    "edge_attr": _features,
    "edge_type": _features,
    "edge_weight": _features,
    "y": _label,
}
