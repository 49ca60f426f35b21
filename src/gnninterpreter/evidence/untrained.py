"""Graph networks that nobody trained: what they make of graphs owes nothing to the model.

They see much of a graph all the same (Thompson et al., 2022). Nothing that searches may use them:
they are for judging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import edge_rows, node_rows
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.encoding import decode, dense_width

NETWORKS = 5
LAYERS = 3
WIDTH = 32
DEVIATION = 0.5


@dataclass(frozen=True)
class RandomGIN:
    """An untrained GIN: ``h <- tanh((h_i + sum_j (h_j + e_ij V)) W)``, three times.

    Edges without features have no ``V``. The embedding joins the mean over nodes after each layer.
    The same seed gives the same weights, from a normal distribution of deviation 0.5.
    """

    spec: GraphSpec
    seed: int = 0

    @cached_property
    def _weights(self) -> tuple[list[Tensor], list[Tensor]]:
        generator = torch.Generator().manual_seed(self.seed)

        def normal(rows: int, columns: int) -> Tensor:
            return DEVIATION * torch.randn(rows, columns, generator=generator, dtype=torch.double)

        widths = [dense_width(self.spec.nodes), *[WIDTH] * (LAYERS - 1)]
        nodes = [normal(width, WIDTH) for width in widths]
        edges = [normal(dense_width(self.spec.edges), width) for width in widths]
        return nodes, edges if self.spec.edges else []

    def embed(self, graphs: Sequence[Data]) -> Tensor:
        """Embeddings of some graphs, [B, 96]."""
        counts = torch.tensor([node_count(graph) for graph in graphs])
        first = counts.cumsum(0) - counts
        edge_index = torch.cat(
            [graph.edge_index.cpu() + start for graph, start in zip(graphs, first, strict=True)], 1
        )
        source, target = edge_index
        rows = [decode(node_rows(g).cpu(), self.spec.nodes, torch.double) for g in graphs]
        h = torch.cat(rows)
        owner = torch.repeat_interleave(torch.arange(len(graphs)), counts)
        nodes, edges = self._weights
        strengths = None
        if edges:
            rows = [decode(edge_rows(g).cpu(), self.spec.edges, torch.double) for g in graphs]
            strengths = torch.cat(rows)
        means = []
        for layer, weight in enumerate(nodes):
            message = h[source]
            if strengths is not None:
                message = message + strengths @ edges[layer]
            h = torch.tanh((h + torch.zeros_like(h).index_add_(0, target, message)) @ weight)
            total = h.new_zeros(len(graphs), h.size(1)).index_add_(0, owner, h)
            means.append(total / counts.clamp_min(1).unsqueeze(1))
        return torch.cat(means, dim=1)
