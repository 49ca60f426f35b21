"""Soft graphs laid out as a model receives them: every candidate edge, its weight beside it.

The candidate edges of a graph on N nodes are all N(N-1) ordered pairs, sorted by target, so that
edge values also read as [B, N, N-1] blocks without any scatter. Self-loops are left to the layers
that add them, which append one for each node behind the candidates.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor
from torch_geometric.data import Batch

from gnninterpreter.batches import widened
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs, _batch
from gnninterpreter.spec import Categorical, Derived
from gnninterpreter.spec.derived import soft_values
from gnninterpreter.spec.encoding import encode_block, split_blocks

# Pairs of nodes of a batch whose layout is kept for the next one.
MOST_KEPT = 2**18


class Candidates:
    """The candidate nodes and edges of B soft graphs, flattened.

    With fewer than three candidate nodes an absent one is added, since nodes and edges are told
    apart by their number. ``products_only``: all that was computed so far were products of
    matrices, nothing for each candidate edge by itself and nothing sorted.
    """

    def __init__(self, graphs: DenseGraphs) -> None:
        if graphs.num_candidates < 3:
            graphs = widened(graphs, 3)
        self.graphs = graphs
        self.num_graphs, self.size = len(graphs), graphs.num_candidates
        device = graphs.weight.device
        self.target, self.source = _pairs(self.size, device)
        self.edge_index, self.batch = _layout(self.num_graphs, self.size, device)
        self.num_edges = self.num_graphs * self.target.numel()
        self.cache: dict[object, Tensor] = {}
        self.products_only = True
        edges = None
        if graphs.edges is not None:
            edges = graphs.edges[:, self.target, self.source].flatten(0, 1)
        self.edge_features = edges
        counts = torch.full((self.num_graphs,), self.size, dtype=torch.long, device=device)
        nodes = graphs.nodes.flatten(0, 1)
        self.data: Batch = _batch(
            graphs.spec, nodes, self.edge_index, edges, self.batch, self.num_graphs, counts
        )
        self._fill(graphs)

    def _fill(self, graphs: DenseGraphs) -> None:
        """Put in what follows from the soft graphs; raises `SpecError` where that has no slope."""
        spec = graphs.spec
        for block in spec.edges:
            if isinstance(block, Derived):
                raise SpecError(f"'{block.name}' of edges follows from the graph without a slope")

        def soft(block: Derived) -> Tensor:
            return soft_values(graphs.weight, block).flatten(0, 1)

        if any(isinstance(block, Derived) for block in spec.nodes):
            if not self.data.x.is_floating_point():
                raise SpecError("integer codes that follow from the graph have no slope")
            free = split_blocks(graphs.nodes.flatten(0, 1), spec.nodes)
            parts = [
                soft(block) if isinstance(block, Derived) else encode_block(part, block)
                for block, part in zip(spec.nodes, free, strict=True)
            ]
            self.data.x = torch.cat(parts, dim=1)
        for block in spec.attributes:
            self.data[block.name] = soft(block)

    def remember(self, key: object, make: Callable[[], Tensor]) -> Tensor:
        """Compute something once, with a slope: the first may ask under `torch.no_grad`."""
        if key not in self.cache:
            with torch.enable_grad():
                self.cache[key] = make()
        return self.cache[key]

    @property
    def edge_weight(self) -> Tensor:
        """Weights of the candidate edges, [E]; not needed where every layer has a dense kernel."""
        self.products_only = False
        return self.remember(
            "edge weight", lambda: self.graphs.weight[:, self.target, self.source].flatten()
        )

    @property
    def presence(self) -> Tensor:
        """How far each candidate node is present, [B * N]."""
        return self.remember("presence", lambda: self.graphs.presence.flatten())

    @property
    def num_nodes(self) -> int:
        """Number of candidate nodes of all graphs together."""
        return self.num_graphs * self.size

    def weight_of(self, index: Tensor, length: int) -> Tensor | None:
        """Weights of edges, of edges and then loops, or of nodes, told by number; or None."""
        if length == self.num_edges:
            return self.edge_weight
        if length == self.num_edges + self.num_nodes:
            loops = self.edge_weight.new_ones(self.num_nodes)
            return self.remember("with loops", lambda: torch.cat([self.edge_weight, loops]))
        if length == self.num_nodes:
            return self.presence
        return None

    def are_all_edges(self, edge_index: object) -> bool:
        """Whether a layer was given the candidate edges themselves, all and in their order."""
        return (
            isinstance(edge_index, Tensor)
            and edge_index.data_ptr() == self.edge_index.data_ptr()
            and edge_index.shape == self.edge_index.shape
            and edge_index.stride() == self.edge_index.stride()
        )

    def is_batch(self, index: Tensor) -> bool:
        """Whether an index (possibly expanded) is the one that says which graph a node is in."""
        return index.data_ptr() == self.batch.data_ptr() and index.size(0) == self.num_nodes

    def soft_codes(self, codes: Tensor) -> Tensor | None:
        """Soft one-hot rows behind integer codes: a view of the features, or the same ones."""
        if codes.is_floating_point():
            return None
        spec = self.graphs.spec
        for blocks, values, field in (
            (spec.nodes, self.graphs.nodes.flatten(0, 1), self.data.x),
            (spec.edges, self.edge_features, self.data.get("edge_attr")),
        ):
            indexed = bool(blocks) and isinstance(blocks[0], Categorical)
            indexed = indexed and getattr(blocks[0], "encoding", None) == "index"
            if not indexed or values is None or field is None:
                continue
            if codes.numel() != values.size(0):
                continue
            parts = split_blocks(values, blocks)
            if field.untyped_storage().data_ptr() == codes.untyped_storage().data_ptr():
                return parts[codes.storage_offset() % len(parts)]
            for part in parts:
                if torch.equal(part.argmax(dim=-1), codes.flatten()):
                    return part
        return None

    def adjacency(self, loops: bool = False) -> Tensor:
        """Edge weights as [B, N, N], target first; with ``loops`` a node is its own neighbour."""
        weight = self.graphs.weight
        if loops:
            return weight + torch.eye(self.size, dtype=weight.dtype, device=weight.device)
        return weight

    def per_graph(self, nodes: Tensor) -> Tensor:
        """View node values [B * N, ...] as [B, N, ...]."""
        return nodes.view(self.num_graphs, self.size, *nodes.shape[1:])

    def square(self, edges: Tensor) -> Tensor:
        """Edge values [E, K] or [E] as [B, N, N, K], target first: sums are then products."""
        edges = edges.unsqueeze(1) if edges.dim() == 1 else edges
        own, whole = self.edge_features, self.graphs.edges
        mine = own is not None and edges.data_ptr() == own.data_ptr() and edges.shape == own.shape
        if whole is not None and mine:
            return whole
        n = self.size
        flat = edges.new_zeros(self.num_graphs, n * n, edges.size(1))
        values = edges.view(self.num_graphs, -1, edges.size(1))
        flat = flat.index_copy(1, self.target * n + self.source, values)
        return flat.view(self.num_graphs, n, n, edges.size(1))


@lru_cache(maxsize=64)
def _pairs(size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Targets and sources of all ordered pairs, sorted by target."""
    everything = ~torch.eye(size, dtype=torch.bool, device=device)
    target, source = everything.nonzero(as_tuple=True)
    return target, source


def _layout(num_graphs: int, size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """``edge_index`` and ``batch`` of the candidates; the same for every draw of one shape."""
    # Of large graphs no two batches have the same shape, and 64 layouts would fill gigabytes.
    large = device.type == "cpu" and num_graphs * size**2 > MOST_KEPT
    return (_made.__wrapped__ if large else _made)(num_graphs, size, device)


@lru_cache(maxsize=64)
def _made(num_graphs: int, size: int, device: torch.device) -> tuple[Tensor, Tensor]:
    target, source = _pairs(size, device)
    offset = torch.arange(num_graphs, device=device).unsqueeze(1) * size
    edge_index = torch.stack([(source + offset).flatten(), (target + offset).flatten()])
    batch = torch.arange(num_graphs, device=device).repeat_interleave(size)
    return edge_index, batch
