"""A batch of graphs on the same N candidate nodes, with weights that may be soft.

`DenseGraphs` is what the distribution draws, what the relaxation runs a model on and, where every
weight is 0 or 1, what the native model is asked about. Both readings come from the same value,
which is what makes them comparable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.recording import recording
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.blocks import distinct
from gnninterpreter.spec.derived import fill, table
from gnninterpreter.spec.encoding import (
    as_read,
    decode,
    dense_width,
    encode,
    rows_of,
)

__all__ = [
    "DenseGraphs",
    "attribute_names",
    "dense_graphs",
    "node_rows",
    "random_graphs",
    "table",
    "to_networkx",
]

TINY = 1e-20


@dataclass(frozen=True, eq=False)
class DenseGraphs(Alike, ByValue):
    """B graphs on N candidate nodes.

    Args:
        spec: What the columns mean.
        weight: Edge weights in [0, 1], shape [B, N, N]; ``weight[b, i, j]`` is the edge from j to
            i. The diagonal is zero, and the matrix is symmetric unless the spec is directed.
        nodes: Node features, shape [B, N, F]: a block's categories are always F columns of (soft)
            one-hot values here, whatever encoding the model reads. Derived blocks have none: what
            follows from the graph is computed where the graph is read.
        edges: Edge features, shape [B, N, N, D], or None where the spec has none.
    """

    spec: GraphSpec
    weight: Tensor
    nodes: Tensor
    edges: Tensor | None = None

    def __len__(self) -> int:
        return self.weight.size(0)

    @property
    def num_candidates(self) -> int:
        """Number of candidate nodes N."""
        return self.weight.size(1)

    def __getitem__(self, index: Any) -> DenseGraphs:
        """Select graphs by anything that indexes the first dimension."""
        if isinstance(index, int):
            index = slice(index, index + 1 or None)
        return self.select(index)

    def detach(self) -> DenseGraphs:
        """The same graphs without their slopes."""
        return self.each(Tensor.detach)

    @staticmethod
    def cat(parts: Sequence[DenseGraphs]) -> DenseGraphs:
        """Put batches on as many candidate nodes one after the other."""
        return parts[0].each(lambda *each: torch.cat(each), *parts[1:])

    def each(self, change: Callable[..., Tensor], *others: DenseGraphs) -> DenseGraphs:
        """Change weights, node features and edge features alike, with those of other batches."""
        every = (self, *others)
        edges = None
        if self.edges is not None:
            edges = change(*(graphs.edges for graphs in every))
        weight = change(*(graphs.weight for graphs in every))
        return DenseGraphs(self.spec, weight, change(*(graphs.nodes for graphs in every)), edges)

    @property
    def presence(self) -> Tensor:
        """How far each node is present, shape [B, N]: v_i = 1 - prod_j (1 - a_ij)."""
        # Sums of logarithms rather than products, whose gradient divides by zeros.
        missing = (1 - self.weight).clamp_min(TINY).log()
        absent = missing.sum(dim=2)
        if self.spec.directed:
            absent = absent + missing.sum(dim=1)
        return 1 - absent.exp()

    @property
    def num_nodes(self) -> Tensor:
        """Number of present nodes of each graph (expected number where weights are soft)."""
        return self.presence.sum(dim=1)

    @property
    def num_edges(self) -> Tensor:
        """Number of edges of each graph, an undirected edge counted once."""
        total = self.weight.sum(dim=(1, 2))
        return total if self.spec.directed else total / 2

    @property
    def empty(self) -> Tensor:
        """Which graphs have no edge at all, shape [B]."""
        return ~self.weight.flatten(1).gt(0.5).any(dim=1)

    def main_component(self) -> tuple[Tensor, Tensor]:
        """Which nodes hang together with the one of highest degree, and which are present."""
        adjacent = self.weight.gt(0.5)
        adjacent = adjacent | adjacent.transpose(1, 2)
        hub = adjacent.sum(dim=2).argmax(dim=1, keepdim=True)
        present = adjacent.any(dim=2)
        if adjacent.device.type == "cpu" and not recording():
            part = _parts(adjacent)
            return (part == part.gather(1, hub)) & present, present
        reach = adjacent.to(torch.float32) + torch.eye(self.num_candidates, device=adjacent.device)
        # Paths of length 2^k after k squarings: nothing waits for the last graph.
        for _ in range(max(self.num_candidates - 1, 1).bit_length()):
            reach = (reach @ reach).clamp_max_(1.0)
        rows = torch.arange(len(self), device=hub.device)
        return reach[rows, hub.squeeze(1)].gt(0) & present, present

    def connected(self) -> Tensor:
        """Which graphs hold together: every present node reaches every other, shape [B]."""
        reached, present = self.main_component()
        return (reached == present).all(dim=1) & present.any(dim=1)

    @property
    def possible(self) -> Tensor:
        """Which graphs there can be, [B]: not those whose derived features do not exist."""
        if not self.spec.derived:
            return torch.ones(len(self), dtype=torch.bool, device=self.weight.device)
        lost: Tensor = self.to_batch().impossible
        return ~lost

    def to_batch(self, known_only: bool = False) -> Batch:
        """Return the graphs as one PyG batch of present nodes and edges only.

        A weight above one half is an edge. With ``known_only`` derived columns that cannot be
        computed here are NaN, and no error.
        """
        present_edges = self.weight.gt(0.5)
        present = present_edges.any(dim=2) | present_edges.any(dim=1)
        position = present.flatten().cumsum(0).view_as(present) - 1
        graph, target, source = present_edges.nonzero(as_tuple=True)
        edge_index = torch.stack([position[graph, source], position[graph, target]])
        counts = present.sum(dim=1)
        batch = torch.arange(len(self), device=counts.device).repeat_interleave(counts)
        edges = None if self.edges is None else self.edges[graph, target, source]
        made = _batch(self.spec, self.nodes[present], edge_index, edges, batch, len(self), counts)
        return fill(made, self.spec, known_only)

    def to_data_list(self) -> list[Data]:
        """Return each graph as its own PyG `Data`, ready for the native model.

        Derived columns are NaN where what computes them is not known here, as in a stored run.
        """
        whole = self.to_batch(known_only=True)
        ends: Tensor = whole.edge_index
        counts = whole.batch[ends[0]].bincount(minlength=len(self))
        keys = ("x", *(block.name for block in self.spec.attributes))
        parts = {key: whole[key].split(whole.ptr.diff().tolist()) for key in keys}
        for key in ("edge_attr", "edge_type"):
            if key in whole:
                parts[key] = whole[key].split(counts.tolist())
        found = []
        for b, edges in enumerate(torch.split(ends, counts.tolist(), dim=1)):
            fields = {key: values[b] for key, values in parts.items()}
            size = int(fields["x"].size(0))
            data = Data(**fields, edge_index=edges - whole.ptr[b], num_nodes=size)
            found.append(with_weights(data, self.spec))
        return found


def _parts(adjacent: Tensor) -> Tensor:
    """A number for each node, [B, N], the same for those that hang together.

    Nodes take the least number around them, and then that of the node it names: the way to the
    least of all is halved each time, and nothing is as large as the square of a matrix.
    """
    count, n, _ = adjacent.shape
    graph, end, start = adjacent.nonzero(as_tuple=True)
    target, source = graph * n + end, graph * n + start
    part, before = torch.arange(count * n), torch.empty(0)
    while not torch.equal(part, before):
        before, part = part, part.scatter_reduce(0, target, part[source], "amin")
        part = part[part]
    return part.view(count, n)


def dense_graphs(
    graphs: Sequence[Data], spec: GraphSpec, dtype: torch.dtype = torch.float32
) -> DenseGraphs:
    """Put graphs on common candidate nodes; nodes without edges are absent there."""
    n = max(2, *(int(graph.num_nodes or 0) for graph in graphs))
    weight = torch.zeros(len(graphs), n, n, dtype=dtype)
    nodes = weight.new_zeros(len(graphs), n, dense_width(spec.nodes))
    edges = weight.new_zeros(len(graphs), n, n, dense_width(spec.edges)) if spec.edges else None
    for b, graph in enumerate(graphs):
        source, end = graph.edge_index
        weight[b, end, source] = 1.0
        nodes[b, : graph.num_nodes] = decode(node_rows(graph), spec.nodes, dtype)
        if edges is not None:
            edges[b, end, source] = decode(graph.edge_attr, spec.edges, dtype)
    return DenseGraphs(spec, weight, nodes, edges)


def with_weights(data: Data, spec: GraphSpec) -> Data:
    """The same graph, with its weights where the model's own data has them, if it has any."""
    if spec.weighted and data.get("edge_attr") is not None:
        data.edge_weight = data.edge_attr.reshape(-1)
    return data


# PyG derives a class anew for every batch it constructs; a copy does not.
_EMPTY_BATCH = Batch()


def _batch(
    spec: GraphSpec,
    nodes: Tensor,
    edge_index: Tensor,
    edges: Tensor | None,
    batch: Tensor,
    num_graphs: int,
    counts: Tensor,
) -> Batch:
    """Assemble a PyG batch from flat features; shared by the native and the relaxed reading."""
    x = as_read(encode(nodes, spec.nodes), spec, nodes.dtype)
    data: Batch = copy(_EMPTY_BATCH)
    data.x = x.squeeze(-1) if spec.metadata.get("x") == "flat" else x
    data.edge_index = edge_index
    if edges is not None:
        attr = as_read(encode(edges, spec.edges), spec, edges.dtype)
        data.edge_attr = attr.squeeze(-1) if spec.metadata.get("edge_attr") == "flat" else attr
        if not attr.is_floating_point() and attr.size(-1) == 1:
            data.edge_type = attr.squeeze(-1)
    data.batch = batch
    data.ptr = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
    data._num_graphs = num_graphs
    return data


def random_graphs(
    spec: GraphSpec,
    count: int,
    num_candidates: int,
    generator: torch.Generator,
    density: float | None = None,
    dtype: torch.dtype = torch.float32,
    absent: int = 0,
) -> DenseGraphs:
    """Draw discrete graphs with independent edges and uniform features, none of them empty.

    Args:
        spec: What to draw.
        count: How many.
        num_candidates: Number of candidate nodes.
        generator: Source of randomness.
        density: Edge probability; drawn anew for each graph between sparse and dense when omitted.
        dtype: Floating-point type of weights and features.
        absent: How many candidates no edge touches, at least, anywhere among the candidates; two
            always stay.
    """
    n = num_candidates
    rate = (
        torch.rand(count, 1, 1, generator=generator) if density is None else torch.tensor(density)
    )
    weight = (torch.rand(count, n, n, generator=generator) < rate).to(dtype)
    weight[:, 0, 1] = 1.0
    weight = weight * (1 - torch.eye(n, dtype=dtype))
    if not spec.directed:
        weight = weight.triu(1) + weight.triu(1).transpose(1, 2)
    if absent:
        weight[:, max(2, n - absent) :] = 0.0
        weight[:, :, max(2, n - absent) :] = 0.0
        order = torch.rand(count, n, generator=generator).argsort(dim=1)
        graph = torch.arange(count).view(-1, 1, 1)
        weight = weight[graph, order.unsqueeze(2), order.unsqueeze(1)]
    nodes = uniform_features(spec.nodes, (count, n), generator, dtype)
    edges = None
    if spec.edges:
        edges = uniform_features(spec.edges, (count, n, n), generator, dtype)
        edges = edges if spec.directed else mirrored(edges)
    return DenseGraphs(spec, weight, nodes, edges)


def mirrored(edges: Tensor) -> Tensor:
    """Features of edges, [B, N, N, D], the same both ways: those of the lower triangle."""
    n = edges.size(1)
    lower = torch.ones(n, n, dtype=torch.bool).tril(-1).view(1, n, n, 1)
    return torch.where(lower, edges, edges.transpose(1, 2))


def uniform_features(
    blocks: Sequence[Block],
    shape: tuple[int, ...],
    generator: torch.Generator,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Random features: every category equally likely, every number uniform between its bounds."""
    parts = []
    for block in blocks:
        if isinstance(block, Categorical):
            choice = torch.randint(block.size, shape, generator=generator)
            parts.append(torch.nn.functional.one_hot(choice, block.size).to(dtype))
        else:
            low, high = torch.tensor(block.low, dtype=dtype), torch.tensor(block.high, dtype=dtype)
            unit = torch.rand(*shape, block.dim, generator=generator, dtype=dtype)
            parts.append(low + (high - low) * unit)
    return torch.cat(parts, dim=-1)


def to_networkx(data: Data, spec: GraphSpec, read_only: bool = False) -> nx.Graph:
    """Return a discrete graph as networkx, with the names of its categories as attributes.

    With ``read_only`` categories that the model does not read are left out.
    """
    graph: nx.Graph = nx.DiGraph() if spec.directed else nx.Graph()
    graph.add_nodes_from(enumerate(_described(node_rows(data), spec.nodes, read_only)))
    pairs = data.edge_index.t().tolist()
    rows: list[dict[str, Any]] = [{}] * len(pairs)
    if spec.edges:
        rows = _described(data.edge_attr, spec.edges, read_only)
    graph.add_edges_from((i, j, row) for (i, j), row in zip(pairs, rows, strict=True))
    return graph


def attribute_names(blocks: Sequence[Block]) -> list[tuple[str, ...]]:
    """What `to_networkx` calls the features of each block: one name, or one for each number.

    Blocks of equal names are counted ("type", "type 2"), so that none hides another; constants say
    nothing and have no name.

    Example:
        >>> from gnninterpreter.spec import Continuous
        >>> attribute_names((Categorical(2), Categorical(3), Continuous(1, names=("charge",))))
        [('type',), ('type 2',), ('charge',)]
    """
    return [
        (block.name,) if isinstance(block, Categorical) else () if block.constant else block.names
        for block in distinct(blocks)
    ]


def _described(
    values: Tensor, blocks: Sequence[Block], read_only: bool = False
) -> list[dict[str, Any]]:
    """The features of each node or edge by their names."""
    named = list(zip(blocks, attribute_names(blocks), strict=True))
    rows: list[dict[str, Any]] = []
    for cells in rows_of(values, blocks):
        rows.append({})
        for (block, names), value in zip(named, cells, strict=True):
            if isinstance(block, Categorical):
                if block.read or not read_only:
                    rows[-1][names[0]] = block.names[value]
            elif names:
                rows[-1].update(zip(names, map(float, value), strict=True))
    return rows


def edge_rows(data: Data) -> Tensor:
    """Features of the edges, by whichever name the data has them."""
    rows: Tensor = data.edge_type if data.get("edge_attr") is None else data.edge_attr
    return rows


def node_rows(data: Data) -> Tensor:
    """Features of the nodes, a column of ones where there are none."""
    x: Tensor | None = data.get("x")
    return torch.ones(int(data.num_nodes or 0), 1) if x is None else x
