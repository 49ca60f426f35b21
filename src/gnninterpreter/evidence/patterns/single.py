"""One prediction seen through its class: which cores a graph holds, and what it is without them.

The class view says what the model needs to see; this says where it sees it in a graph of yours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain import Explanation as PyGExplanation

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.causes import Effect, random_piece
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.matching import occurrences
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.typed import Typed, as_bits, typed_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import Target
from gnninterpreter.spec.data import node_count

MOST_PLACES = 16
LIMIT = 20_000
# Random pieces that are taken out instead, for comparison.
CONTROLS = 12


@dataclass(frozen=True)
class FoundCore:
    """A core of a class that a graph holds.

    Args:
        target: Name of the class, label or value that the core belongs to.
        number: Which of its cores, counted from 0.
        core: The core.
        places: The nodes it lies on in each of its places, the one that is needed most first.
        fall: How far the score of its target falls without that place, beside random connected
            pieces of the same size; None where nothing would be left.
        fall_of_all: How far it falls without any of the places; None where nothing would be left.
    """

    target: str
    number: int
    core: Core
    places: tuple[tuple[int, ...], ...]
    fall: Effect | None
    fall_of_all: float | None

    @property
    def nodes(self) -> tuple[int, ...]:
        """The nodes it covers, all places together."""
        return tuple(sorted({node for place in self.places for node in place}))

    def to_json(self) -> dict[str, Any]:
        """The finding as plain JSON values."""
        return {
            "target": self.target,
            "core": self.number,
            "places": [list(place) for place in self.places],
            "fall": None if self.fall is None else vars(self.fall),
            "fall_of_all": self.fall_of_all,
        }

    def __str__(self) -> str:
        where = f"core {self.number + 1} of {self.target!r} on nodes {sorted(self.places[0])}"
        more = f" and {len(self.places) - 1} more places" if len(self.places) > 1 else ""
        if self.fall is None:
            return f"{where}{more}: nothing is left without it"
        every = "" if self.fall_of_all is None or not more else f", {self.fall_of_all:.2f} for all"
        control = "" if self.fall.control is None else f" (random piece {self.fall.control:.2f})"
        return f"{where}{more}: without it the score falls by {self.fall.value:.2f}{control}{every}"


@dataclass(frozen=True, eq=False)
class GraphExplanation:
    """What the class view says about one graph.

    Args:
        graph: The graph.
        scores: What the model gives it for each explained target, between 0 and 1.
        assigned: Names of the targets that the model assigns it to.
        found: The cores it holds: those of its own targets first, the largest fall first.
        notes: What could not be said, in sentences.
    """

    graph: Data
    scores: Mapping[str, float]
    assigned: tuple[str, ...]
    found: list[FoundCore] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def node_mask(self) -> Tensor:
        """How far the score falls without the core on each node, [nodes, 1]; 0 where there is none.

        Only cores of the targets that the graph is assigned to count.
        """
        mask = torch.zeros(node_count(self.graph), 1)
        for one in self.found:
            if one.target in self.assigned and one.fall is not None:
                nodes = list(one.places[0])
                mask[nodes] = mask[nodes].clamp_min(max(one.fall.value, 0.0))
        return mask

    def to_pyg(self) -> PyGExplanation:
        """The same as PyG's own explanation of one prediction, for its metrics and drawings."""
        values = {k: v for k, v in self.graph.to_dict().items() if k != "node_mask"}
        return PyGExplanation(node_mask=self.node_mask, **values)

    def to_json(self) -> dict[str, Any]:
        """The explanation as plain JSON values."""
        return {
            "scores": dict(self.scores),
            "assigned": list(self.assigned),
            "found": [one.to_json() for one in self.found],
            "notes": self.notes,
        }

    def __repr__(self) -> str:
        given = ", ".join(f"{name} {score:.3f}" for name, score in self.scores.items())
        rows = [f"GraphExplanation({given})", *(f"  {one}" for one in self.found)]
        return "\n".join([*rows, *(f"  {note}" for note in self.notes)])


def explain_graph(
    classifier: GraphClassifier,
    graph: Data,
    cores: Sequence[tuple[Target, Sequence[Core]]],
    seed: int = 0,
) -> GraphExplanation:
    """Look for cores in a graph and take them out.

    Args:
        classifier: The model.
        graph: The graph.
        cores: Targets with their cores.
        seed: Of the random pieces that are taken out for comparison.

    Raises:
        DataError: If the graph has no nodes, or the model no finite answer for it.
    """
    if not graph.num_nodes:
        raise DataError("data must have at least one node (got a graph without any)")
    given = classifier.score_data([graph])
    scores = {t.name: float(t.score(given)) for t, _ in cores}
    if not all(math.isfinite(score) for score in scores.values()):
        raise DataError("the model has no finite answer for this graph; look at its features")
    assigned = tuple(t.name for t, _ in cores if bool(t.assigned(given)))
    notes = [
        f"{target.name!r} has no cores, so nothing can be said about it here"
        for target, known in cores
        if not known and target.name in assigned
    ]
    typed = typed_graphs([graph], classifier.spec)[0]
    parts = Parts(classifier, [graph])
    found = [
        one
        for target, known in cores
        for number, core in enumerate(known)
        if (one := _find(core, number, target, typed, parts, np.random.default_rng(abs(seed))))
    ]
    found.sort(key=lambda one: (one.target not in assigned, -(one.fall.value if one.fall else 1)))
    if not found and any(known for _, known in cores):
        notes.append("it holds none of the cores (kinds of nodes count): other grounds count here")
    return GraphExplanation(graph, scores, assigned, found, notes)


def _find(
    core: Core,
    number: int,
    target: Target,
    typed: Typed,
    parts: Parts,
    rng: np.random.Generator,
) -> FoundCore | None:
    places = occurrences(core.typed, typed, MOST_PLACES, LIMIT)
    if not places:
        return None
    whole = typed.whole
    sets = [as_bits(place) for place in places]
    drawn = [random_piece(typed, len(places[0]), rng) for _ in range(CONTROLS)]
    every = whole & ~reduce(or_, sets)
    left = [whole & ~nodes for nodes in (*sets, *filter(None, drawn))]
    asked = [whole, *left, every]
    if not left[0]:
        return FoundCore(target.name, number, core, (places[0],), None, None)
    scores = parts.score([(0, nodes or whole) for nodes in asked], target)
    falls = (scores[0] - scores).tolist()[1:]
    order = sorted(range(len(places)), key=lambda i: -falls[i])
    others = falls[len(places) : -1]
    control = sum(others) / len(others) if others else None
    return FoundCore(
        target.name,
        number,
        core,
        tuple(places[i] for i in order),
        Effect(falls[order[0]], control, 1),
        falls[-1] if every else None,
    )
