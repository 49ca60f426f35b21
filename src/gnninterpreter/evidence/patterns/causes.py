"""Whether a core is a cause: what happens when it is taken out, and when it is put in.

Company is not cause: what occurs in most graphs of a class may do nothing. Both tests change real
graphs and stand beside a control that changes them as much at random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.base import taken
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.evidence.joining import side_by_side
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import Typed, as_bits, bits
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import Target
from gnninterpreter.spec.derived import completed_each
from gnninterpreter.typicality.pieces import cut


@dataclass(frozen=True)
class Effect:
    """What a change does, beside a change of the same size at random.

    Args:
        value: With the core.
        control: With random nodes instead; None where there were none to be had.
        graphs: How many graphs were changed.
    """

    value: float
    control: float | None
    graphs: int

    def __post_init__(self) -> None:
        """Check the count."""
        if self.graphs < 0:
            raise GNNInterpreterError(f"graphs must not be negative (got {self.graphs})")

    def clearly(self, by: float) -> bool:
        """Whether the core does this much more than random nodes."""
        return self.value >= (self.control or 0.0) + by

    def __str__(self) -> str:
        control = "no control" if self.control is None else f"control {self.control:.2f}"
        return f"{self.value:.2f} ({control}, {self.graphs} graphs)"


def necessity(
    parts: Parts,
    graphs: Sequence[Typed],
    places: Sequence[tuple[int, int]],
    target: Target,
    rng: np.random.Generator,
) -> Effect | None:
    """Mean fall of the probability, or value, when a core is taken out of graphs that hold it.

    Args:
        parts: The graphs as the model reads them.
        graphs: The same, as kinds.
        places: Number of a graph and the nodes there on which the core lies, as bits.
        target: What is asked for.
        rng: Draws the nodes of the control: as many, connected, from the same graph.

    Returns:
        The effect; None where no graph could be changed.
    """
    asked: list[tuple[int, int]] = []
    for number, nodes in places:
        whole = graphs[number].whole
        drawn = random_piece(graphs[number], nodes.bit_count(), rng)
        if nodes != whole and drawn:
            asked += [(number, whole), (number, whole & ~nodes), (number, whole & ~drawn)]
    if not asked:
        return None
    p = parts.amount(asked, target).view(-1, 3).mean(dim=0).tolist()
    return Effect(p[0] - p[1], p[0] - p[2], len(asked) // 3)


def taken_out(
    real: RealGraphs, laid: Mapping[int, Sequence[int]], target: Target, rng: np.random.Generator
) -> Effect | None:
    """The same for real graphs by their numbers, each with the nodes on which a pattern lies."""
    places = [(n, as_bits(nodes)) for n, nodes in enumerate(laid.values())]
    parts = Parts(real.classifier, taken(real.graphs, list(laid)))
    return necessity(parts, [real.typed[i] for i in laid], places, target, rng)


def sufficiency(
    classifier: GraphClassifier,
    cores: Sequence[Data],
    hosts: Sequence[Data],
    target: Target,
    controls: Sequence[Data],
    seed: int = 0,
) -> Effect | None:
    """Share of graphs of other classes that the model gives to the class once the core is joined.

    Args:
        classifier: The model.
        cores: The core as found in some graphs, taken in turn; one is joined to each host by an
            edge between random nodes.
        hosts: Graphs that the model assigns to other classes.
        target: What is asked for.
        controls: Pieces of real graphs as large as the core, taken in turn.
        seed: The same seed joins at the same places.

    Returns:
        The effect; None where there are no other graphs.
    """
    if not hosts:
        return None
    spec = classifier.spec
    count = len(hosts)
    joined = side_by_side(spec, hosts, cores[0], seed) if len(cores) == 1 else []
    for pieces in (cores if len(cores) > 1 else (), controls):
        for number, host in enumerate(hosts if pieces else ()):
            joined += side_by_side(spec, [host], pieces[number % len(pieces)], seed + number)
    won = target.assigned(classifier.score_data(completed_each(joined, spec))).double()
    control = float(won[count:].mean()) if controls else None
    return Effect(float(won[:count].mean()), control, count)


def random_piece(graph: Typed, size: int, rng: np.random.Generator) -> int:
    """Connected nodes (as bits) grown from a random one; 0 where that part has too few."""
    if not 0 < size <= len(graph):
        return 0
    nodes = newest = 1 << int(rng.integers(len(graph)))
    front = 0
    while nodes.bit_count() < size:
        front = (front | graph.around(newest)) & ~nodes
        if not front:
            return 0
        choices = list(bits(front))
        newest = 1 << choices[int(rng.integers(len(choices)))]
        nodes |= newest
    return nodes


def random_others(graph: Typed, nodes: int, rng: np.random.Generator) -> int:
    """As many nodes (as bits) beside some, connected as far as they are; 0 where there are fewer.

    In a small graph a random piece nearly always has some of these nodes, too, and taking it out is
    no control: any damage to what is looked at counts.
    """
    free = ((1 << len(graph)) - 1) & ~nodes
    size = nodes.bit_count()
    if not 0 < size <= free.bit_count():
        return 0
    found = near = 0
    while found.bit_count() < size:
        choices = list(bits(near & free & ~found or free & ~found))
        node = choices[int(rng.integers(len(choices)))]
        found, near = found | 1 << node, near | graph.near[node]
    return found


def random_pieces(
    graphs: Sequence[Data],
    typed: Sequence[Typed],
    size: int,
    count: int,
    rng: np.random.Generator,
) -> list[Data]:
    """Connected pieces of random real graphs; fewer than asked for where few are large enough."""
    found: list[Data] = []
    for number in rng.permutation(len(graphs)).tolist() * 2:
        if len(found) == count:
            break
        nodes = random_piece(typed[number], size, rng)
        if nodes:
            found.append(cut(graphs[number], list(bits(nodes))))
    return found
