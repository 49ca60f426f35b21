"""Real graphs that show a class best, with the core marked: what people learn most from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import fields_of
from gnninterpreter.equality import ByValue
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.core import Core, storable
from gnninterpreter.evidence.patterns.matching import occurrences
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import as_bits
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.objective.target import Target
from gnninterpreter.schema import listed, number, record, text, truth, whole
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count

PLACES = 16
# What a label may say of the target, best first.
LABELS = (True, None, False)


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
        smiles: The SMILES that came with it, if any: it knows bonds that the features may not.
    """

    number: int
    graph: Data
    spec: GraphSpec
    probability: float
    mask: tuple[bool, ...]
    core: int
    said: str = ""
    truth: str = ""
    smiles: str = ""

    def __post_init__(self) -> None:
        """Check that there is a mark for each node."""
        if len(self.mask) != node_count(self.graph):
            raise DataError(
                f"mask must have one entry for each of the {self.graph.num_nodes} nodes "
                f"(got {len(self.mask)})"
            )

    @property
    def data(self) -> Data:
        """The graph, with ``core_mask`` for the nodes of its core and what is said of it.

        ``core`` is the number of that core, or -1.
        """
        marked = self.graph.clone()
        marked.core, marked.smiles = self.core, self.smiles
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

    def check(value: Any, where: str) -> Exemplar:
        # Runs of version 0.1 have none.
        later = {"smiles": text} if isinstance(value, dict) and "smiles" in value else {}
        found: Exemplar = record(
            lambda **values: Exemplar(spec=spec, **values),
            number=whole(),
            graph=lambda value, where: graph_from_json(value, spec, dtype=dtype),
            probability=number(0, 1),
            mask=lambda value, where: tuple(listed(truth)(value, where)),
            core=whole(-1),
            said=text,
            truth=text,
            **later,
        )(value, where)
        return found

    return check


def find_exemplars(
    real: RealGraphs, target: Target, cores: Sequence[Core], count: int = 5
) -> list[Exemplar]:
    """Choose real graphs that show a target well and differ from each other.

    All are graphs that the model assigns to it. Best is one whose label says the same, that holds
    the first core, that the model is certain of, in one piece where most are, and no larger than
    half of them. Where there are too few, those with another core are taken, then larger
    ones, those in pieces, uncertain ones, those without a core, and last those whose label says
    nothing or something else.

    Args:
        real: The real graphs.
        target: What they show.
        cores: Its cores, the first one first.
        count: How many at most.
    """
    if count < 1:
        raise DataError(f"count must be at least 1 (got {count})")
    own = real.of(target)
    if not own:
        return []
    given, held = real.given(target), _held(real, own, cores)
    spec, outputs = real.classifier.spec, real.scores.outputs.double().cpu().tolist()
    found: list[Exemplar] = []
    for i in _ranked(real, target, given, held):
        kept = storable(real.graphs[i], spec, real.classifier.dtype)
        if kept is not None:
            core = held[i]
            nodes = _place(real, i, cores[core], target) if core >= 0 else ()
            mask = tuple(node in nodes for node in range(len(real.typed[i])))
            truth = target.truth(real.graphs[i].get("y"), spec.class_names)
            smiles, said = real.graphs[i].get("smiles"), target.said(outputs[i])
            named = smiles if isinstance(smiles, str) else ""
            found.append(Exemplar(i, kept, spec, float(given[i]), mask, core, said, truth, named))
        if len(found) == count:
            break
    return found


def _held(real: RealGraphs, own: Sequence[int], cores: Sequence[Core]) -> dict[int, int]:
    """Of each graph the number of the first core that it holds, or -1."""
    held = dict.fromkeys(own, -1)
    for place, core in enumerate(cores):
        among = as_bits(i for i in own if held[i] < 0)
        held.update(dict.fromkeys(real.index.match(core.typed, among).where, place))
    return held


def _place(real: RealGraphs, i: int, core: Core, target: Target) -> tuple[int, ...]:
    """Where a core lies in a graph: of several places the one without which most is lost."""
    places = occurrences(core.typed, real.typed[i], PLACES)
    left = [real.typed[i].whole & ~as_bits(place) for place in places]
    if len(places) < 2:
        return places[0] if places else ()
    kept = Parts(real.classifier, [real.graphs[i]]).amount([(0, nodes) for nodes in left], target)
    return places[int(kept.argmin())]


def _ranked(
    real: RealGraphs, target: Target, given: np.ndarray, held: Mapping[int, int]
) -> Iterator[int]:
    """The graphs, those that show the target best first, each unlike the ones before it."""
    own = list(held)
    whole = {i: real.typed[i].connected() for i in own}
    mostly_whole = 2 * sum(whole.values()) > len(own)
    usual = np.median([len(real.typed[i]) for i in own])
    bar, labels = real.bar(target), fields_of(real.graphs, "y")
    tiers: dict[tuple[int, ...], list[int]] = {}
    for i in own:
        faults = (
            LABELS.index(_shows(real, target, labels[i])),
            int(held[i] < 0),
            int(given[i] < bar),
            int(mostly_whole and not whole[i]),
            int(len(real.typed[i]) > usual),
            held[i],
        )
        tiers.setdefault(faults, []).append(i)
    scale = real.embedding[own].std(axis=0)
    points = real.embedding / np.where(scale > 1e-12, scale, 1.0)
    chosen: list[int] = []
    seen: set[object] = set()
    for _, pool in sorted(tiers.items()):
        for i in _spread(points, pool, chosen):
            # The same graph twice would say nothing new.
            look = (real.typed[i].key, *np.round(real.embedding[i], 4).tolist())
            if look not in seen:
                seen.add(look)
                chosen.append(i)
                yield i


def _shows(real: RealGraphs, target: Target, label: Any) -> bool | None:
    """Whether the label of a graph says the target; None where it says nothing about it."""
    if not target.truth(label, real.classifier.spec.class_names):
        return None
    return target.true_of(torch.as_tensor(label))


def _spread(points: np.ndarray, pool: Sequence[int], chosen: Sequence[int]) -> Iterator[int]:
    """One after the other the graph that brings most of the pool near to one that was chosen."""
    apart = _apart(points[pool], points[pool])
    nearest = np.full(len(pool), np.inf)
    if chosen:
        nearest = _apart(points[pool], points[list(chosen)]).min(axis=1)
    left = np.zeros(len(pool))
    for _ in pool:
        best = int((np.minimum(apart, nearest).sum(axis=1) + left).argmin())
        left[best] = np.inf
        nearest = np.minimum(nearest, apart[best])
        yield pool[best]


def _apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    squared = (one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T
    return np.asarray(np.sqrt(np.maximum(squared, 0.0)))


def _device(graph: Data) -> torch.device:
    found: torch.device = graph.edge_index.device
    return found
