"""Real graphs that show a class best, with the core marked: what people learn most from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.equality import ByValue
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.core import Core, storable
from gnninterpreter.evidence.patterns.matching import find
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.objective.target import Target
from gnninterpreter.schema import listed, number, record, text, truth, whole
from gnninterpreter.spec import GraphSpec


@dataclass(frozen=True, eq=False)
class Exemplar(ByValue):
    """A real graph of the class.

    Args:
        number: Its number among the real graphs that were looked at.
        graph: The graph.
        spec: What its features mean.
        probability: How far the model gives it what was asked for.
        mask: Which of its nodes the core lies on; none if it holds no core.
        core: Number of that core, or -1.
        said: What the model says of it, in words.
        truth: What its label says, in words.
    """

    number: int
    graph: Data
    spec: GraphSpec
    probability: float
    mask: tuple[bool, ...]
    core: int
    said: str = ""
    truth: str = ""

    def __post_init__(self) -> None:
        """Check that there is a mark for each node."""
        if len(self.mask) != int(self.graph.num_nodes or 0):
            raise DataError(
                f"mask must have one entry for each of the {self.graph.num_nodes} nodes "
                f"(got {len(self.mask)})"
            )

    @property
    def data(self) -> Data:
        """The graph, with ``core_mask`` for the nodes of the core and what is said of it."""
        marked = self.graph.clone()
        marked.probability, marked.said, marked.truth = self.probability, self.said, self.truth
        marked.core_mask = torch.tensor(self.mask, dtype=torch.bool, device=_device(marked))
        return marked

    def to(self, device: torch.device | str) -> Exemplar:
        """The same with its graph on another device."""
        return replace(self, graph=self.graph.clone().to(device))

    def to_json(self) -> dict[str, Any]:
        """The exemplar as plain JSON values."""
        values = {n: v for n, v in vars(self).items() if n not in ("graph", "spec")}
        return {"graph": graph_to_json(self.graph, self.spec), **values, "mask": list(self.mask)}


def exemplar_check(
    spec: GraphSpec, dtype: torch.dtype = torch.float32
) -> Callable[[Any, str], Exemplar]:
    """A check that reads what `Exemplar.to_json` wrote; see `gnninterpreter.schema`."""
    return record(
        lambda **values: Exemplar(spec=spec, **values),
        number=whole(),
        graph=lambda value, where: graph_from_json(value, spec, dtype=dtype),
        probability=number(0, 1),
        mask=lambda value, where: tuple(listed(truth)(value, where)),
        core=whole(-1),
        said=text,
        truth=text,
    )


def find_exemplars(
    real: RealGraphs, target: Target, cores: Sequence[Core], count: int = 5
) -> list[Exemplar]:
    """Choose real graphs that are certain, hold a core and differ from each other.

    The first is the one nearest to the middle of the certain ones, each next one the farthest from
    those chosen, by the model's own embedding.

    Args:
        real: The real graphs.
        target: What they show.
        cores: Graphs that hold the first are preferred, then those that hold a later one.
        count: How many at most.
    """
    if count < 1:
        raise DataError(f"count must be at least 1 (got {count})")
    own = np.array(real.of(target), dtype=int)
    if own.size == 0:
        return []
    given = real.given(target)
    sure = own[given[own] >= np.median(given[own])]
    places: dict[int, tuple[int, tuple[int, ...]]] = {}
    pool: list[int] = []
    spec = real.classifier.spec
    for place, pattern in enumerate(typed_graphs([core.graph for core in cores], spec)):
        among = sum(1 << int(i) for i in sure if int(i) not in places)
        for graph in real.index.match(pattern, among).where:
            # It was found within the limit just now, so it is found again.
            laid = find(pattern, real.typed[graph], real.limit)
            places[graph] = (place, laid or ())
        pool = sorted(places)
        if len(pool) >= count:
            break
    if not pool:
        pool = [int(i) for i in sure]
    found: list[Exemplar] = []
    outputs = real.scores.outputs.double().cpu().tolist()
    # A few more than asked for, since some may be too large to keep.
    for i in _spread(real.embedding[pool], min(2 * count, len(pool))):
        core, nodes = places.get(pool[i], (-1, ()))
        kept = storable(real.graphs[pool[i]], spec, real.classifier.dtype)
        if kept is not None and len(found) < count:
            mask = tuple(node in nodes for node in range(len(real.typed[pool[i]])))
            said = target.said(outputs[pool[i]])
            truth = target.truth(real.graphs[pool[i]].get("y"), spec.class_names)
            score = float(given[pool[i]])
            found.append(Exemplar(pool[i], kept, spec, score, mask, core, said, truth))
    return found


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


def _device(graph: Data) -> torch.device:
    found: torch.device = graph.edge_index.device
    return found
