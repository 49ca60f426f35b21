"""The cores of a class: small graphs that make the model certain and that occur in real graphs.

Candidates come from shrinking (see `gnninterpreter.evidence.patterns.shrinking`). Of the certain ones the one
comes first whose presence tells most about whether the model assigns a real graph to the class; the
next is the one that tells most about the graphs the first ones leave open.

Some models are rarely certain. There, certain means what half of the real graphs of the class get,
and after the first core come also those that only make the model lean to the class.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.evidence.patterns.causes import Effect, necessity, random_pieces, sufficiency
from gnninterpreter.evidence.patterns.matching import find
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.pieces import Candidate, CoreSearch, choose, gather_pieces
from gnninterpreter.evidence.patterns.real import CERTAIN, RealGraphs, some
from gnninterpreter.evidence.patterns.typed import Typed

__all__ = ["Core", "Cores", "find_cores"]

FEW = 10


@dataclass(frozen=True)
class Core:
    """A small graph that makes the model certain and occurs in real graphs of the class.

    Args:
        graph: The core, cut out of a real graph.
        typed: The same, as kinds.
        target: The class.
        probability: What the model gives to the core by itself.
        certain: Whether that is as much as the bar of the class asks for.
        coverage: Share of the real graphs assigned to the class that hold it.
        lift: How many times more often than in the graphs assigned elsewhere (half a graph is
            added to both counts, so that it stays finite).
        matched: How many graphs of the class hold it.
        others: How many other graphs do.
        undecided: For how many graphs the limit was reached before it was known.
        necessity: Mean fall of the probability when it is taken out of graphs that hold it.
        sufficiency: Share of other graphs that the model gives to the class once it is joined.
    """

    graph: Data
    typed: Typed
    target: int
    probability: float
    certain: bool
    coverage: float
    lift: float
    matched: int
    others: int
    undecided: int
    necessity: Effect
    sufficiency: Effect

    def __post_init__(self) -> None:
        """Check that shares are shares."""
        for name in ("probability", "coverage"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise GNNInterpreterError(f"{name} must lie between 0 and 1 (got {value})")

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return len(self.typed)


@dataclass(frozen=True)
class Cores:
    """The cores of one class.

    Args:
        target: The class.
        bar: Probability that counted as certain.
        cores: In the order in which they were chosen; the first is *the* core.
        candidates: How many different pieces there were to choose from.
        notes: What could not be judged, in sentences.
    """

    target: int
    bar: float
    cores: tuple[Core, ...]
    candidates: int
    notes: tuple[str, ...] = ()

    @property
    def core(self) -> Core | None:
        """The first, or None where there is none."""
        return self.cores[0] if self.cores else None


def find_cores(real: RealGraphs, target: int, search: CoreSearch | None = None) -> Cores:
    """Find the cores of a class.

    Args:
        real: The real graphs.
        target: The class.
        search: How to look.
    """
    search = search or CoreSearch()
    rng = np.random.default_rng([search.seed, target])
    own, bar, notes = real.of(target), real.bar(target), []
    name = real.classifier.spec.class_names[target]
    if len(own) < FEW:
        notes.append(f"only {len(own)} real graphs are assigned to {name}: shares say little")
    if bar < CERTAIN:
        notes.append(
            f"the model gives .99 to less than half of the graphs of {name}; "
            f"certain means at least {bar:.3f} here, as half of them get"
        )
    certain = [i for i in own if real.probabilities[i, target] >= bar]
    if not certain:
        return Cores(target, bar, (), 0, (*notes, f"no real graph is assigned to {name}"))
    seeds = [certain[i] for i in rng.permutation(len(certain))[: search.seeds].tolist()]
    candidates = gather_pieces(real, seeds, target, bar, search)
    if not candidates:
        notes.append(f"no certain graph of {name} has a piece of at most {search.largest} nodes")
        return Cores(target, bar, (), 0, tuple(notes))
    chosen = choose(real, candidates, target, search, rng)
    cores = tuple(_measure(real, piece, target, search, rng) for piece in chosen)
    if len(own) == len(real):
        notes.append(f"every real graph is assigned to {name}: lift and sufficiency not judged")
    undecided = sum(core.undecided for core in cores)
    if undecided:
        notes.append(f"not decided for {undecided:,} of {len(real) * len(cores):,} core and graph")
    return Cores(target, bar, cores, len(candidates), tuple(notes))


def _measure(
    real: RealGraphs,
    candidate: Candidate,
    target: int,
    search: CoreSearch,
    rng: np.random.Generator,
) -> Core:
    found = real.index.match(candidate.typed)
    own = [i for i in found.where if real.assigned[i] == target]
    total = int((real.assigned == target).sum())
    rest = len(real) - total
    elsewhere = len(found.where) - len(own)
    lift = ((len(own) + 0.5) / (total + 0.5)) / ((elsewhere + 0.5) / (rest + 0.5))
    holders = some(own, search.changed, rng)
    places = []
    for number, graph in enumerate(holders):
        # It was found within the limit just now, so it is found again.
        laid = find(candidate.typed, real.typed[graph], real.index.limit)
        if laid is not None:
            places.append((number, sum(1 << node for node in laid)))
    typed = [real.typed[i] for i in holders]
    parts = Parts(real.classifier, [real.graphs[i] for i in holders])
    size = len(candidate.typed)
    hosts = some(np.flatnonzero(real.assigned != target).tolist(), search.changed, rng)
    controls = random_pieces(real.graphs, real.typed, size, search.changed, rng)
    return Core(
        graph=candidate.data,
        typed=candidate.typed,
        target=target,
        probability=candidate.probability,
        certain=candidate.certain,
        coverage=len(own) / max(total, 1),
        lift=lift if rest else math.nan,
        matched=len(own),
        others=elsewhere,
        undecided=len(found.undecided),
        necessity=necessity(parts, typed, places, target, rng),
        sufficiency=sufficiency(
            real.classifier, candidate.data, [real.graphs[i] for i in hosts], target, controls,
            search.seed,
        ),
    )  # fmt: skip
