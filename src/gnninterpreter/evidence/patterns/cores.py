"""The cores of a target: small graphs that make the model certain and that occur in real graphs.

Candidates come from `shrinking`. Of the certain ones the one comes first whose presence tells most
about whether the model assigns a real graph to the class, with what it needs among other nodes
(`growing`) and without those that add nothing (`trimming`); the next is the one that tells most
about the graphs the first ones leave open. A piece that neither tells anything nor makes a
difference, taken out or put in, is no core: a class may be what is left where nothing speaks for
another.

Where certain pieces tell little, `company` looks for what they share. One that is not enough by
itself comes first where it tells clearly more.

Some models are rarely certain. There, certain means what half of the real graphs of the class get,
and after the first core come also those that only make the model lean to the class.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.evidence.patterns.causes import random_pieces, sufficiency, taken_out
from gnninterpreter.evidence.patterns.choices import free_blocks
from gnninterpreter.evidence.patterns.company import in_company
from gnninterpreter.evidence.patterns.core import Core, storable
from gnninterpreter.evidence.patterns.growing import Growing
from gnninterpreter.evidence.patterns.pieces import (
    Candidate,
    CoreSearch,
    Telling,
    choose,
    gain,
    gather_pieces,
)
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.trimming import Trimming
from gnninterpreter.evidence.patterns.typed import as_bits, bits
from gnninterpreter.evidence.patterns.widening import widened
from gnninterpreter.evidence.thresholds import CLEARLY, LIFT
from gnninterpreter.models.profile import CERTAIN
from gnninterpreter.objective.target import Target
from gnninterpreter.typicality.pieces import cut

FEW, HOSTS = 10, 24
# Steps for each real graph, on average, that counting the graphs with a core may take.
COUNTED = 150
# How far the probability must fall without a core that other graphs hold as often.
NEEDED = 0.5
# Bits that a piece must tell about one graph to tell more than chance: 2 N ln 2 bits follow a
# chi-squared law.
CHANCE = 10.8 / (2 * math.log(2))
# Graphs of a class that must hold a core, and their share: what one or two hold, or next to none,
# is no pattern of the class, but these graphs.
HOLDERS, SELDOM = 3, 0.01
# Where fewer graphs of the class hold a core, that is said.
MOST = 0.5
# Share of the graphs of a class without a core that is worth a second look.
UNTOLD = 0.4
# Share of the graphs without a core that another one must lie in, and bits that a core tells which
# makes no difference by itself.
SHARED, IDLE = 0.3, 0.2


@dataclass(frozen=True)
class Cores:
    """The cores of one target.

    Args:
        target: What was asked for.
        bar: Probability that counted as certain.
        cores: In the order in which they were chosen; the first is *the* core.
        candidates: How many different pieces there were to choose from.
        told: How often holding one of them says at least what the model says, its graphs and the
            others counting the same; 0.5 is guessing.
        notes: What could not be judged, in sentences.
    """

    target: Target
    bar: float
    cores: tuple[Core, ...]
    candidates: int
    notes: tuple[str, ...] = ()
    told: float = 0.5

    @property
    def core(self) -> Core | None:
        """The first, or None where there is none."""
        return self.cores[0] if self.cores else None


def find_cores(
    real: RealGraphs,
    target: Target,
    search: CoreSearch | None = None,
    *,
    measured: bool = True,
    thorough: bool = True,
) -> Cores:
    """Find the cores of a target.

    Args:
        real: The real graphs.
        target: What was asked for.
        search: How to look.
        measured: Whether these graphs stand for all real ones, so that shares of them mean
            something; without it coverage and what follows from it stay None.
        thorough: Whether graphs that hold none of the cores found are looked at on their own, and
            graphs that are slow to match are counted, too.
    """
    search = search or CoreSearch()
    rng = np.random.default_rng([search.seed, target.index])
    own, bar, notes = real.of(target), real.bar(target), []
    if measured and own and len(own) < FEW:
        graphs = "graph is" if len(own) == 1 else "graphs are"
        notes.append(f"only {len(own)} real {graphs} {_given(target)}: shares say little")
    if measured and bar < CERTAIN:
        notes.append(
            f"fewer than half of the graphs {target.members} get .99 from the model, so a core has "
            f"to get {bar:.3f} alone, as half of them do"
        )
    given = real.given(target)
    certain = [i for i in own if given[i] >= bar]
    if not certain or bar <= 0:
        notes.append(f"no real graph is {_given(target)}, so it has no core")
        return Cores(target, bar, (), 0, tuple(notes))
    seeds = [certain[i] for i in rng.permutation(len(certain))[: search.seeds].tolist()]
    candidates = gather_pieces(real, seeds, target, bar, search)
    if not candidates:
        notes.append(
            f"no core: no connected piece of the real graphs {_given(target)} is enough for "
            f"{target.noun} by itself"
        )
        return Cores(target, bar, (), 0, tuple(notes))
    telling = Telling(real, target, search)
    elsewhere = _graphs(real, some(real.others(target), HOSTS, rng))
    trim = Trimming(real, telling, elsewhere, target, bar, search.least, search.seed)
    fit: Trimming | Growing | None = trim if measured else None
    shared = []
    if measured and search.company:
        fit = Growing(trim, search.largest)
        shared = in_company(real, candidates, target, bar, search, telling, fit.grown)
    candidates += widened(real, candidates, target, bar, search, telling) + shared
    cores = []
    for piece in choose(real, candidates, target, search, rng, fit):
        core = _core(real, piece, target)
        if core is not None and measured:
            core = _measure(real, core, target, search, rng)
        if core is not None and _telling(core, target):
            cores.append(count_in(real, core, target, COUNTED) if measured and thorough else core)
    left = _uncovered(real, cores, own)
    others = real.others(target)
    if measured and thorough and cores and len(left) >= max(FEW, UNTOLD * len(own)):
        # The others may have something else in common, which told little beside the first.
        rest = real.part([*left, *others])
        less = replace(
            search, seeds=(search.seeds + 2) // 3, count=2, sample=search.sample // 2, small=True
        )
        more = [one for one in find_cores(rest, target, less, thorough=False).cores if _shared(one)]
        cores += [count_in(real, core, target, COUNTED) for core in more]
        left = _uncovered(real, cores, own)
    # What was trimmed may tell more than what was chosen before it.
    cores.sort(key=_worth, reverse=True)
    if not cores:
        notes.append(
            f"no core: no piece of the real graphs {_given(target)} tells more or makes more "
            "of a difference than a random one"
        )
    elif is_idle(cores[0], target):
        notes.append(
            "the core goes along with the class: taken out of real graphs or put into others it "
            "changes no more than a random piece, so that the model goes by something else, or by "
            "many such pieces"
        )
    if measured and len(own) == len(real):
        notes.append(
            f"every real graph is {_given(target)}: lift and sufficiency of its cores were not "
            "judged"
        )
    covered = 1 - len(left) / len(own)
    if measured and cores and covered < MOST:
        notes.append(
            f"{covered:.0%} of the real graphs {_given(target)} hold one of the cores: what the "
            "model goes by in the others is no piece that many of them share"
        )
    undecided = sum(core.undecided or 0 for core in cores)
    if undecided:
        notes.append(
            f"whether real graphs hold a core was not decided for {undecided:,} of "
            f"{len(real) * len(cores):,} pairs of core and graph, since matching them is slow"
        )
    told = told_by(real, cores, own, others)
    return Cores(target, bar, tuple(cores), len(candidates), tuple(notes), told)


def told_by(
    real: RealGraphs, cores: Sequence[Core], own: Sequence[int], others: Sequence[int]
) -> float:
    """How often at least holding one of some cores tells graphs from others; see `Cores`."""
    without, spared = (
        len(_uncovered(real, cores, part)) / len(part) if part else 0.5 for part in (own, others)
    )
    return _at_least(1 - without, len(own), spared, len(others))


def count_in(real: RealGraphs, core: Core, target: Target, limit: int = 0) -> Core:
    """A core with the count of real graphs that hold it, its coverage and its lift.

    Graphs take more steps each than usual where a ``limit`` is given.
    """
    found = real.index.match(core.typed, limit=limit)
    mine = real.mine(target)
    open_ = list(found.undecided)
    total = int(mine.sum()) - int(mine[open_].sum())
    rest = len(real) - len(open_) - total
    matched = int(mine[list(found.where)].sum())
    others = len(found.where) - matched
    lift = ((matched + 0.5) / (total + 0.5)) / ((others + 0.5) / (rest + 0.5))
    return core.with_(
        coverage=matched / total if total else None,
        lift=lift if rest and total else None,
        matched=matched,
        total=total,
        others=others,
        rest=rest,
        undecided=len(found.undecided),
    )


def _uncovered(real: RealGraphs, cores: Sequence[Core], own: Sequence[int]) -> list[int]:
    """The graphs that hold none of the cores."""
    left = as_bits(own)
    for core in cores:
        for i in real.index.match(core.typed, left).where:
            left &= ~(1 << i)
    return list(bits(left))


def _at_least(covered: float, own: int, spared: float, others: int) -> float:
    """How often cores tell a class from the others, less two standard errors, not below guessing.

    They were chosen on the same graphs: of few, some piece with its ranges always tells some.
    """
    spread = sum(p * (1 - p) / n for p, n in ((covered, own), (spared, others)) if n)
    return max(0.5, (covered + spared) / 2 - math.sqrt(spread))


def _shared(core: Core) -> bool:
    """Whether many of the graphs that no core before it covers hold a core."""
    return (core.coverage or 0.0) >= SHARED and (core.lift or 0.0) >= LIFT


def _worth(core: Core) -> float:
    """Bits that a core tells about the class; the order stays where nothing was counted."""
    if core.coverage is None or core.others is None or not core.rest:
        return 0.0
    return float(gain(np.array(core.coverage), np.array(core.others / core.rest)))


def _telling(core: Core, target: Target) -> bool:
    """Whether a core tells something or makes a difference; so too where that was not measured."""
    total = core.total or 0
    if core.matched is not None and core.matched < max(min(HOLDERS, total), SELDOM * total):
        return False
    out = core.necessity
    if core.lift is None or core.lift < LIFT:
        # What most graphs hold is a core only where the model turns away without it.
        common = core.lift is None or core.lift >= 1
        far = common and (out is None or out.value >= NEEDED * target.span)
        return far and (core.lift is None or out is None or out.clearly(CLEARLY * target.span))
    count = (core.total or 0) + (core.rest or 0)
    return not is_idle(core, target) or _worth(core) >= max(IDLE, CHANCE / max(count, 1))


def is_idle(core: Core, target: Target) -> bool:
    """Whether a core makes no difference, neither taken out nor put in, where that was tried."""
    effects = [(core.necessity, CLEARLY * target.span), (core.sufficiency, CLEARLY)]
    known = [effect.clearly(by) for effect, by in effects if effect is not None]
    return bool(known) and not any(known)


def _core(real: RealGraphs, piece: Candidate, target: Target) -> Core | None:
    spec = real.classifier.spec
    graph = storable(piece.data, spec, real.classifier.dtype)
    if graph is None:
        return None
    said = target.said(real.classifier.score_data([graph]).outputs[0].tolist())
    return Core(
        graph,
        spec,
        piece.probability,
        piece.certain,
        said=said,
        open=piece.typed.open,
        free=free_blocks(piece.typed, spec.nodes),
        ranges=piece.typed.ranges,
    )


def _measure(
    real: RealGraphs, core: Core, target: Target, search: CoreSearch, rng: np.random.Generator
) -> Core:
    core, laid = count_in(real, core, target), real.laid(core.typed, target)
    holders = some(list(laid), search.changed, rng)
    pieces = [core.graph]
    if core.open or core.free or core.ranges:
        # Where kinds or numbers are open, every one of those found is put in.
        pieces += [cut(real.graphs[i], laid[i]) for i in holders]
    hosts = some(real.others(target), search.changed, rng)
    controls = random_pieces(real.graphs, real.typed, core.num_nodes, search.changed, rng)
    return core.with_(
        necessity=taken_out(real, {i: laid[i] for i in holders}, target, rng),
        sufficiency=sufficiency(
            real.classifier, pieces, _graphs(real, hosts), target, controls, search.seed
        ),
    )


def _given(target: Target) -> str:
    """Which graphs the model gives a target to, in words that follow "graphs are"."""
    return f"assigned to {target.name!r}" if target.probable else f"given {target.asked}"


def _graphs(real: RealGraphs, numbers: list[int]) -> list[Data]:
    return [real.graphs[i] for i in numbers]
