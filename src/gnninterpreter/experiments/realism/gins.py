"""Where a graph stands among real ones under graph networks that nobody trained.

A measure for judging alone: nothing that searches may use it (Thompson et al., 2022, show that
untrained GINs see as much of generated graphs as trained ones).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.untrained import NETWORKS, RandomGIN
from gnninterpreter.experiments.subjects import subject
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.pieces import cut_piece

NEAREST = 5
# Classes whose median graph has more nodes than a picture shows are compared piece by piece.
WHOLE = 30
# A column in which real graphs do not differ would make every other graph infinitely far.
LEAST_DEVIATION = 1e-3
TRIES = 20


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
) -> list[float]:
    """Place of each graph among real graphs: the mean of `standing` over several GINs."""
    if not graphs:
        return []
    found = []
    for seed in range(networks):
        gin = RandomGIN(spec, seed)
        found.append(standing(gin.embed(real), gin.embed(graphs)))
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
        self.median_nodes = float(np.median([node_count(graph) for graph in self.real]))
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
        sizes = [node_count(graph) for graph in graphs]
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
        if node_count(graph) < size:
            return None
        for _ in range(TRIES):  # A random node may lie in a part that is too small.
            piece = cut_piece(graph, size, rng)
            if node_count(piece) == size:
                return piece
        return None


@lru_cache(maxsize=256)
def judge_of(model: str, target: int) -> Judge:
    """What places graphs among the real ones of a class of a model."""
    found = subject(model)
    return Judge(found.real(target), found.spec)
