"""Real graphs that show a class best, with the core marked: what people learn most from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.cores import Core
from gnninterpreter.evidence.patterns.matching import find
from gnninterpreter.evidence.patterns.real import RealGraphs

__all__ = ["Exemplar", "find_exemplars"]


@dataclass(frozen=True)
class Exemplar:
    """A real graph of the class.

    Args:
        number: Its number among the real graphs.
        graph: The graph.
        probability: What the model gives it.
        mask: Which of its nodes the core lies on; none if it holds no core.
        core: Number of that core, or -1.
    """

    number: int
    graph: Data
    probability: float
    mask: tuple[bool, ...]
    core: int

    def __post_init__(self) -> None:
        """Check that there is a mark for each node."""
        if len(self.mask) != int(self.graph.num_nodes or 0):
            raise DataError(
                f"mask must have one entry for each of the {self.graph.num_nodes} nodes "
                f"(got {len(self.mask)})"
            )


def find_exemplars(
    real: RealGraphs, target: int, cores: Sequence[Core], count: int = 5
) -> list[Exemplar]:
    """Choose real graphs that are certain, hold a core and differ from each other.

    The first is the one nearest to the middle of the certain ones, each next one the farthest from
    those chosen, by the model's own embedding.

    Args:
        real: The real graphs.
        target: The class.
        cores: Graphs that hold the first are preferred, then those that hold a later one.
        count: How many at most.
    """
    if count < 1:
        raise DataError(f"count must be at least 1 (got {count})")
    own = np.array(real.of(target), dtype=int)
    if own.size == 0:
        return []
    sure = own[real.probabilities[own, target] >= np.median(real.probabilities[own, target])]
    places: dict[int, tuple[int, tuple[int, ...]]] = {}
    pool: list[int] = []
    for number, core in enumerate(cores):
        among = sum(1 << int(i) for i in sure if int(i) not in places)
        for graph in real.index.match(core.typed, among).where:
            # It was found within the limit just now, so it is found again.
            laid = find(core.typed, real.typed[graph], real.index.limit)
            places[graph] = (number, laid or ())
        pool = sorted(places)
        if len(pool) >= count:
            break
    if not pool:
        pool = [int(i) for i in sure]
    chosen = _spread(real.embedding[pool], min(count, len(pool)))
    return [_marked(real, pool[i], target, places.get(pool[i], (-1, ()))) for i in chosen]


def _spread(points: np.ndarray, count: int) -> list[int]:
    scale = points.std(axis=0)
    points = (points - points.mean(axis=0)) / np.where(scale > 1e-12, scale, 1.0)
    chosen = [int((points**2).sum(axis=1).argmin())]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < count:
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return chosen


def _marked(
    real: RealGraphs, number: int, target: int, place: tuple[int, tuple[int, ...]]
) -> Exemplar:
    core, nodes = place
    return Exemplar(
        number=number,
        graph=real.graphs[number],
        probability=float(real.probabilities[number, target]),
        mask=tuple(node in nodes for node in range(len(real.typed[number]))),
        core=core,
    )
