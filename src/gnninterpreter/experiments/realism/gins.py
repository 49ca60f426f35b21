"""Where a graph stands among real ones under graph networks that nobody trained.

A measure for judging alone: nothing that searches may use it (Thompson et al., 2022, show that
untrained GINs see as much of generated graphs as trained ones).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.experiments.subjects import subject
from gnninterpreter.graphs import decode, dense_width, edge_rows, node_rows
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality.pieces import cut_piece

NETWORKS = 5
LAYERS = 3
WIDTH = 32
DEVIATION = 0.5
NEAREST = 5
# Classes whose median graph has more nodes than a picture shows are compared piece by piece.
WHOLE = 30
# A column in which real graphs do not differ would make every other graph infinitely far.
LEAST_DEVIATION = 1e-3
TRIES = 20


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
        counts = torch.tensor([int(graph.num_nodes or 0) for graph in graphs])
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


def standing(real: Tensor, others: Tensor, nearest: int = NEAREST) -> Tensor:
    """Share of real points that are at least as lonely as each of some others.

    Columns are divided by their deviation over the real points. A point is as lonely as the mean
    distance to its nearest real points; a real one does not count as its own neighbour.

    Example:
        >>> real = torch.tensor([[0.0], [1.0], [2.0], [4.0]])
        >>> standing(real, torch.tensor([[0.5], [6.0]]), nearest=1).tolist()
        [1.0, 0.25]
    """
    scale = real.std(0, unbiased=False).clamp_min(LEAST_DEVIATION)
    a, b = real / scale, others / scale
    among = torch.cdist(a, a, compute_mode="donot_use_mm_for_euclid_dist")
    among.fill_diagonal_(torch.inf)
    k = min(nearest, real.size(0) - 1)
    own = among.topk(k, largest=False).values.mean(1)
    toward = torch.cdist(b, a, compute_mode="donot_use_mm_for_euclid_dist")
    far = toward.topk(k, largest=False).values.mean(1)
    # What is the same graph in another order differs by rounding alone.
    return (own.unsqueeze(0) >= far.unsqueeze(1) - 1e-9).double().mean(1)


def places_of(
    real: Sequence[Data],
    graphs: Sequence[Data],
    spec: GraphSpec,
    networks: int = NETWORKS,
    nearest: int = NEAREST,
) -> list[float]:
    """Place of each graph among real graphs: the mean of `standing` over several GINs."""
    if not graphs:
        return []
    found = []
    for seed in range(networks):
        gin = RandomGIN(spec, seed)
        found.append(standing(gin.embed(real), gin.embed(graphs), nearest))
    return [float(value) for value in torch.stack(found).mean(0)]


@dataclass
class Judge:
    """Places graphs among real ones of a class; whole, or piece by piece where those are large.

    Of ``most`` real graphs, spread evenly over those given; the median of nodes is that of all.
    """

    real: Sequence[Data]
    spec: GraphSpec
    networks: int = NETWORKS
    most: int = 500
    seed: int = 0
    median_nodes: float = field(init=False)
    _pieces: dict[int, list[Data]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if len(self.real) < 2:
            raise DataError(
                f"a place needs two real graphs of the class at least (got {len(self.real)})"
            )
        # The median of the class, not of those kept.
        self.median_nodes = float(np.median([int(graph.num_nodes or 0) for graph in self.real]))
        step = max(1.0, len(self.real) / self.most)
        kept = [int(i * step) for i in range(min(len(self.real), self.most))]
        self.real = [self.real[i] for i in kept]

    @property
    def whole(self) -> bool:
        """Whether graphs are compared with whole real graphs."""
        return self.median_nodes <= WHOLE

    def places(self, graphs: Sequence[Data]) -> list[float | None]:
        """The place of each graph; None where no two real graphs have pieces of its size."""
        if self.whole:
            return list(self.places_whole(graphs))
        sizes = [int(graph.num_nodes or 0) for graph in graphs]
        found: list[float | None] = [None] * len(graphs)
        for size in sorted(set(sizes)):
            mine = [i for i, n in enumerate(sizes) if n == size]
            pieces = self.pieces(size)
            if size < 1 or len(pieces) < 2:
                continue
            some = places_of(pieces, [graphs[i] for i in mine], self.spec, self.networks)
            for i, value in zip(mine, some, strict=True):
                found[i] = value
        return found

    def places_whole(self, graphs: Sequence[Data]) -> list[float]:
        """The place of each graph among whole real graphs, however large those are."""
        return places_of(self.real, graphs, self.spec, self.networks)

    def pieces(self, size: int) -> list[Data]:
        """A connected piece of each real graph with this many nodes, cut breadth first."""
        if size not in self._pieces:
            rng = np.random.default_rng([self.seed, size])
            cut = (self._piece(graph, size, rng) for graph in self.real)
            self._pieces[size] = [piece for piece in cut if piece is not None]
        return self._pieces[size]

    def _piece(self, graph: Data, size: int, rng: np.random.Generator) -> Data | None:
        if int(graph.num_nodes or 0) < size:
            return None
        for _ in range(TRIES):  # A random node may lie in a part that is too small.
            piece = cut_piece(graph, size, rng)
            if int(piece.num_nodes or 0) == size:
                return piece
        return None


@lru_cache(maxsize=256)
def judge_of(model: str, target: int) -> Judge:
    """What places graphs among the real ones of a class of a model."""
    found = subject(model)
    return Judge(found.real(target), found.spec)
