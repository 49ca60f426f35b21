"""What real graphs add to one explanation: its cores, its shortcuts and the graphs that show it.

Reads the real graphs once for all targets, within a limit on graphs and on steps of matching, so
that a target costs seconds whatever the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.batches import compact
from gnninterpreter.errors import GNNInterpreterError, ModelError
from gnninterpreter.evidence.patterns.absence import falls_back, may_fall_back
from gnninterpreter.evidence.patterns.core import Core, storable
from gnninterpreter.evidence.patterns.cores import (
    Cores,
    count_in,
    find_cores,
    is_idle,
    told_by,
)
from gnninterpreter.evidence.patterns.counts import Account, account_for
from gnninterpreter.evidence.patterns.large import NODES, PIECES, pieces_of
from gnninterpreter.evidence.patterns.links import KnownLinks
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.real import InOrder, RealGraphs, chosen, in_order
from gnninterpreter.evidence.patterns.showing import Exemplar, find_exemplars
from gnninterpreter.evidence.thresholds import BY_HEART, CLEARLY
from gnninterpreter.graphs import DenseGraphs, dense_graphs
from gnninterpreter.isomorphism import distinct
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.models.task import Task
from gnninterpreter.objective.target import ClassTarget, Target
from gnninterpreter.spec import Categorical
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.encoding import block_widths

# Real graphs that are looked at, and those of them that will do for what is only mentioned.
MOST_GRAPHS, FEWER_GRAPHS = 1_500, 500
# Graphs of which the model is asked for labels, to find those with rare ones.
MOST_ASKED = 10_000
MOST_EXEMPLARS = 8
MOST_SHORTCUTS = 5
# Classes that are asked whether another is what is left of them.
MOST_OTHERS = 4
# Most steps of matching one pattern, on average over graphs.
LIMIT = 20
SEARCH = CoreSearch(seeds=24, sample=100, changed=48)
FEW = CoreSearch(seeds=8, count=2, sample=40, changed=8, singly=8, company=False)
# Real graphs beyond this many nodes are not cut down: each step asks about every node left.
LARGEST = 200
# How often the cores of a class must say what the model says: without cores that tell something
# nothing is left, and a class whose own tell less may itself be what is left.
LEAVING = 0.57
# Share of the graphs of a class that is what is left which one of its cores must lie in.
SELDOM = 0.1
LEFT_OVER = "it is what is left where the cores of other classes are missing"


@dataclass(frozen=True)
class Answers:
    """What real graphs say about one target.

    Args:
        cores: Pieces of real graphs that make the model certain; the first tells most.
        shortcuts: Certain graphs that are like nothing real.
        exemplars: Real graphs of the target, the core marked in them.
        notes: What could not be judged, in sentences.
        left_over: Whether the target is what is left where the cores of others are missing.
        account: What counts say about it; None where there are too few graphs.
        told: How often holding one of the cores says what the model says (see `Cores`), or none of
            those of other classes.
        lacked: Cores of other classes that a graph must not hold to be what is left.
        links: Edges that real graphs hold, by kind; None where there are none to look at.
    """

    cores: list[Core] = field(default_factory=list)
    shortcuts: list[Core] = field(default_factory=list)
    exemplars: list[Exemplar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    left_over: bool = False
    account: Account | None = None
    told: float = 0.5
    lacked: list[Core] = field(default_factory=list)
    links: KnownLinks | None = None


class RealAnswers:
    """Answers from real graphs for any target of a model.

    Args:
        classifier: The model.
        graphs: The data; None where it is not at hand. The real graphs that statistics keep then
            give cores and exemplars, but no shares.
        statistics: What is kept of real graphs.
        seed: Of every draw.
        asked: Targets that will all be asked about: what one needs of another is found with care.

    Attributes:
        real: The graphs that were looked at; None where there are none.
        fewer: Some of them, for shortcuts and for classes that were not asked for.
        measured: Whether shares of them mean something.
        lines: What they are, in short lines.
        notes: What could not be looked at, or was left out, in sentences.
        told: What checks have asked about real graphs that is the same for every target.
    """

    def __init__(
        self,
        classifier: GraphClassifier,
        graphs: Sequence[Data] | None,
        statistics: ClassStatistics | None,
        seed: int = 0,
        asked: Sequence[Target] = (),
    ) -> None:
        """Choose and score the graphs."""
        self.classifier, self.statistics, self.asked = classifier, statistics, tuple(asked)
        self.search = replace(SEARCH, seed=abs(seed))
        self.measured = graphs is not None
        self.lines: list[str] = []
        self.told: dict[str, Any] = {}
        self.notes: list[str] = []
        self.real: RealGraphs | None = None
        self.fewer: RealGraphs | None = None
        self._known: dict[Target, Cores] = {}
        self._fewer: dict[Target, Cores] = {}
        found = in_order(_kept(statistics) if graphs is None else graphs)
        fitting = found.where((found.nodes > 0) & (found.nodes <= LARGEST))
        large = found.where(found.nodes > LARGEST)
        parts: list[Data] = []
        if self.measured and len(large) > len(found) / 2:
            try:
                few = chosen(large, PIECES, abs(seed))
                parts = pieces_of(few, classifier, abs(seed))
            except GNNInterpreterError:  # it fails on pieces, so that there are none
                parts = []
        if parts:
            fitting = in_order(parts)
            self.notes.append(
                f"{len(large):,} of {len(found):,} real graphs have more than {LARGEST} nodes: "
                f"cores, counts and exemplars come from {len(parts):,} connected pieces of them "
                f"with at most {NODES}, and shares are of pieces, by what the model says of each"
            )
        elif len(fitting) < len(found):
            self.notes.append(
                f"{len(found) - len(fitting):,} of {len(found):,} real graphs have no node or more "
                f"than {LARGEST} and were not looked at for cores"
            )
        if not fitting:
            return
        if not self.measured:
            self.lines.append(
                f"cores and exemplars come from {len(fitting):,} real graphs, or pieces of them, "
                "kept beside the model; pass dataset= to have their coverage counted"
            )
        many = classifier.task is Task.MULTILABEL
        try:
            known = self._by_label(fitting, abs(seed)) if many else fitting
            few = chosen(known, MOST_GRAPHS, abs(seed))
            if len(few) < len(fitting):
                over = "values" if classifier.task is Task.REGRESSION else "classes"
                self.lines.append(
                    f"cores were looked for in {len(few):,} of {len(fitting):,} real graphs, drawn "
                    f"evenly over the {'labels that the model gives' if many else over}"
                )
            self.real = RealGraphs(classifier, few, LIMIT)
            # They come in random order.
            self.fewer = self.real.part(range(min(len(self.real), FEWER_GRAPHS)))
        except GNNInterpreterError as error:
            self.notes.append(f"cores were not looked for: {error}")

    def _by_label(self, graphs: InOrder, seed: int) -> InOrder:
        """Graphs that go by the rarest label the model gives them: most labels are rare."""
        if len(graphs) <= MOST_GRAPHS:
            return graphs
        rng = np.random.default_rng(seed)
        graphs = graphs.where(np.sort(rng.permutation(len(graphs))[:MOST_ASKED]))
        given = self.classifier.score_data(graphs[:]).logits.gt(0).cpu().numpy()
        often = np.where(given, given.sum(0), len(graphs) + 1)
        rarest = often.argmin(1).astype(object)
        rarest[~given.any(1)] = None
        return replace(graphs, labels=rarest)

    def about(
        self, target: Target, shortcuts: DenseGraphs | None = None, certain: float = 0.99
    ) -> Answers:
        """Find what real graphs say about a target.

        Args:
            target: What was asked for.
            shortcuts: Certain graphs that are unlike real ones.
            certain: Score that counts as certain.
        """
        notes = list(self.notes)
        found = self._shortcuts(target, shortcuts, certain)
        if self.real is None:
            return Answers(shortcuts=found, notes=notes)
        try:
            with self.classifier.frozen():
                cores = self._cores(target)
                account, known = None, cores.told
                left_over: list[str] = []
                lacked: list[Core] = []
                if self.measured:
                    account = account_for(
                        self.real, target, self.search.seed, cores.told, cores.core
                    )
                    told = max(cores.told, 1.0 if account is None else account.best)
                    # A core that changes nothing is not what the model goes by.
                    idle = cores.core is not None and is_idle(cores.core, target)
                    untold = idle or cores.told < LEAVING or told < BY_HEART
                    if untold and isinstance(target, ClassTarget):
                        left_over, lacked = self._left_over(target)
                        if told < BY_HEART and not left_over:
                            known = max(known, self._told_by_others(target))
                if left_over:
                    cores = _shared_by_some(cores)
                shown = find_exemplars(self.real, target, cores.cores, MOST_EXEMPLARS)
        except ModelError as error:
            reason = str(error.__cause__ or error).split("\n", 1)[0][:200]
            notes.append(f"no core: the model failed on pieces of real graphs ({reason})")
            return Answers(shortcuts=found, notes=notes)
        notes += [*cores.notes, *self._rare(target, cores.core), *left_over]
        return Answers(
            list(cores.cores),
            found,
            shown,
            notes,
            bool(left_over),
            account,
            known,
            lacked,
            self.links,
        )

    @cached_property
    def links(self) -> KnownLinks | None:
        """The edges that the graphs hold, by kind."""
        return None if self.real is None else KnownLinks.of(self.real.typed)

    def _cores(self, target: Target) -> Cores:
        assert self.real is not None
        if target not in self._known:
            try:
                found = find_cores(self.real, target, self.search, measured=self.measured)
            except ModelError:  # some take no graph without an edge
                search = replace(self.search, least=2)
                found = find_cores(self.real, target, search, measured=self.measured)
            self._known[target] = found
        return self._known[target]

    def _cores_elsewhere(self, target: Target) -> Cores:
        """The cores of another class, found with less care where it was not asked for."""
        assert self.fewer is not None
        if target in self._known or target in self.asked:
            return self._cores(target)
        if target not in self._fewer:
            search = replace(FEW, seed=self.search.seed)
            self._fewer[target] = find_cores(self.fewer, target, search, thorough=False)
        return self._fewer[target]

    def _told_by_others(self, target: ClassTarget) -> float:
        """How often holding no core of another class says that the model gives a graph this one."""
        assert self.real is not None
        names = self.classifier.spec.class_names
        if len(names) > MOST_OTHERS + 1:
            return 0.5
        others = [ClassTarget(i, name) for i, name in enumerate(names) if i != target.index]
        cores = [core for other in others for core in self._cores_elsewhere(other).cores]
        return told_by(self.real, cores, self.real.others(target), self.real.of(target))

    def _left_over(self, target: ClassTarget) -> tuple[list[str], list[Core]]:
        """Say of a class without a core for which others it is what is left, and their cores."""
        assert self.real is not None
        found: list[str] = []
        lacked: list[Core] = []
        for index, name in enumerate(self.classifier.spec.class_names[: MOST_OTHERS + 1]):
            other = ClassTarget(index, name)
            if index == target.index or not may_fall_back(self.real, target, other):
                continue
            cores = self._cores_elsewhere(other)
            if cores.told < LEAVING and len(self.classifier.spec.class_names) == 2:
                # A quick look at few graphs may miss them; with many classes care would take long.
                cores = self._cores(other)
            if cores.told < LEAVING:
                continue
            effect = falls_back(self.real, target, other, cores.cores, self.search.changed)
            if effect is not None and effect.clearly(CLEARLY):
                lacked += [core for core in cores.cores[:1] if core.makes]
                found.append(f"{effect.value:.0%} of those of {name!r}")
                if effect.control is not None:
                    found[-1] += f" ({effect.control:.0%} without as many other nodes)"
        said = f"{LEFT_OVER}: without their cores the model gives {target.name!r} to "
        return [f"{said}{', '.join(found)}"] if found else [], lacked

    def _rare(self, target: Target, core: Core | None) -> list[str]:
        """What to say of a core by a kind that hardly any real graph holds."""
        profile = target.profile(self.statistics)
        if (
            core is None
            or profile is None
            or profile.typicality is None
            or (core.open and all(core.open))
        ):
            return []
        graph = _as_read(dense_graphs([core.graph.cpu()], core.spec))
        for node, free in enumerate(core.open):  # what may be any kind is not what it goes by
            if free:
                graph.nodes[:, node] = graph.nodes[:, core.open.index(False)]
        starts = [0, *accumulate(block_widths(core.spec.nodes))]
        for node, blocks in enumerate(core.free):
            for block in blocks:
                graph.nodes[:, node, starts[block] : starts[block + 1]] = 0.0
        bank = profile.typicality.to("cpu").bank
        return [
            f"the core goes by {kind}, which only {held:,} of {every:,} real graphs "
            f"{target.members} hold: the model has learned it from a handful"
            for kind, (held, every) in bank.rare_kinds(graph).items()
        ]

    def _shortcuts(self, target: Target, graphs: DenseGraphs | None, certain: float) -> list[Core]:
        if graphs is None or not len(graphs):
            return []
        spec = self.classifier.spec
        small = compact(graphs)
        scores = self.classifier.score(small)
        given = target.given(scores).tolist()
        data = small.to_data_list()
        groups = sorted((group[0] for group in distinct(data, spec)), key=lambda i: _size(data[i]))
        found = []
        for i in groups[:MOST_SHORTCUTS]:
            graph = storable(data[i], spec, self.classifier.dtype)
            if graph is None:
                continue
            said = target.said(scores.outputs[i].tolist())
            core = Core(graph, spec, given[i], given[i] >= certain, said=said)
            if self.fewer is not None and self.measured:
                core = count_in(self.fewer, core, target)
            found.append(core)
        return sorted(found, key=lambda core: core.coverage or 0.0)


def _kept(statistics: ClassStatistics | None) -> list[Data]:
    """The real graphs that statistics keep, of all classes."""
    return [] if statistics is None else [graph for row in statistics.kept() for graph in row]


def _shared_by_some(cores: Cores) -> Cores:
    """The cores of a class that is what is left; none where hardly any of its graphs hold one.

    Such a piece only looks like one that speaks for another class, and says nothing of this one.
    """
    most = max((core.coverage or 0.0 for core in cores.cores), default=0.0)
    if not cores.cores or most >= SELDOM:
        return cores
    note = f"no core: no piece that tells anything lies in more than {most:.0%} of its graphs"
    return replace(cores, cores=(), notes=(note,))


def _as_read(graphs: DenseGraphs) -> DenseGraphs:
    """The same with nothing in the columns of kinds that the model does not read."""
    nodes, edges = (
        torch.cat([
            torch.full((width,), float(not isinstance(block, Categorical) or block.read))
            for block, width in zip(blocks, block_widths(blocks), strict=True)
        ] or [torch.ones(0)])
        for blocks in (graphs.spec.nodes, graphs.spec.edges)
    )  # fmt: skip
    known = None if graphs.edges is None else graphs.edges * edges
    return replace(graphs, nodes=graphs.nodes * nodes, edges=known)


def _size(graph: Data) -> tuple[int, int]:
    return node_count(graph), int(graph.num_edges)
