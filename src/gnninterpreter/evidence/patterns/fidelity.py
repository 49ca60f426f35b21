"""How much of what the model does patterns account for, on graphs not used to find them.

Real graphs of one part give the patterns and the rules (or points) over "holds this pattern". Those
of another part are then sorted by them, and by the model. The share on which both say the same is
the fidelity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnninterpreter.arguments import whole_number
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.choices import free_blocks
from gnninterpreter.evidence.patterns.core import with_names
from gnninterpreter.evidence.patterns.frequent import Pattern, gather_patterns, presence
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.points import fit_points
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.rules import learn_rules
from gnninterpreter.spec import GraphSpec

FORMS = ("rules", "points")
MOST_PATTERNS = 1000
LIFT = 2.0
COST = 0.5
MOST_CORES = 30


@dataclass(frozen=True)
class ClassAccount:
    """How well one class is accounted for, on the held-out graphs.

    Args:
        target: The class.
        graphs: How many held-out graphs the model assigns to it.
        cores: The patterns of the class: each at least ``LIFT`` times as frequent in it as in the
            others, taken while they add graphs.
        coverage: Share of the graphs of the class that hold at least one of them.
        elsewhere: The same of the other graphs.
        agreed: Share of them that the patterns assign to it as well.
    """

    target: int
    graphs: int
    cores: tuple[Pattern, ...]
    coverage: float
    elsewhere: float
    agreed: float


@dataclass(frozen=True)
class Fidelity:
    """How often patterns say what the model says.

    Args:
        value: Share of the held-out graphs.
        larger_class: What always naming the larger class reaches.
        form: ``"rules"`` or ``"points"``.
        patterns: The patterns used, in their order.
        words: One sentence for each rule, or for the points of each pattern.
        classes: How well each class is accounted for.
        curve: Held-out share after each number of patterns; for looking, nothing is chosen by it.
        graphs: How many graphs were held out.
        notes: What could not be judged.
    """

    value: float
    larger_class: float
    form: str
    patterns: tuple[Pattern, ...]
    words: tuple[str, ...]
    classes: tuple[ClassAccount, ...]
    curve: tuple[float, ...]
    graphs: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the shares are shares."""
        for name in ("value", "larger_class"):
            if not 0 <= getattr(self, name) <= 1:
                raise DataError(f"{name} must lie between 0 and 1 (got {getattr(self, name)})")

    def __str__(self) -> str:
        some = f"{len(self.patterns)} patterns say"
        if len(self.patterns) == 1:
            some = "one pattern says"
        return (
            f"{some} what the model says on {self.value:.1%} of "
            f"{self.graphs:,} graphs (always the larger class: {self.larger_class:.1%})"
        )


def fidelity_of(
    real: RealGraphs,
    held_out: RealGraphs,
    *,
    form: str = "rules",
    most: int = 40,
    patterns: Sequence[Pattern] | None = None,
    seeds: int = 200,
    search: CoreSearch | None = None,
) -> Fidelity:
    """Measure how far patterns account for a model.

    Args:
        real: Graphs to find patterns in and to learn rules from.
        held_out: Graphs to compare on; none of them may be among the others.
        form: ``"rules"`` for a list of if and else, ``"points"`` where evidence adds up.
        most: Most patterns.
        patterns: What to choose from; gathered from the graphs if omitted.
        seeds: How many graphs of each class are shrunk to gather them.
        search: How large they may be.

    Raises:
        DataError: If the form is unknown or no pattern can be found.
    """
    if not isinstance(form, str) or form not in FORMS:
        raise DataError(f"form must be 'rules' or 'points' (got {form!r})")
    most = whole_number("most", most, 1, MOST_PATTERNS)
    pool = list(gather_patterns(real, seeds, search=search) if patterns is None else patterns)
    if not pool:
        raise DataError("no pattern occurs in enough graphs; pass more graphs or larger patterns")
    held, undecided = presence([pattern.typed for pattern in pool], real.index)
    spec, classes = real.classifier.spec, real.classifier.spec.num_classes
    if form == "rules":
        learned = learn_rules(held, real.assigned, classes, most)
        steps = [type(learned)(learned.rules[:n], learned.default)
                 for n in range(1, len(learned.rules) + 1)]  # fmt: skip
        columns = [rule.pattern for rule in learned.rules]
        words = [
            f"{'else ' if n else ''}if it holds {in_words(pool[rule.pattern], spec)}: "
            f"{spec.class_names[rule.target]} ({rule.agreed} of {rule.decided})"
            for n, rule in enumerate(learned.rules)
        ] + [f"else: {spec.class_names[learned.default]}"]
        models: list[object] = [*steps] or [learned]
    else:
        cards = fit_points(held, real.assigned, classes, most)
        models = [*cards]
        card = cards[-1]
        columns = list(card.patterns)
        words = [
            f"{row.max():+.1f} points for {spec.class_names[int(row.argmax())]} if it holds "
            f"{in_words(pool[column], spec)}"
            for column, row in zip(columns, card.points, strict=True)
        ]
    there = np.zeros((len(held_out), len(pool)), dtype=bool)
    own = [_characteristic(held, real.assigned == target) for target in range(classes)]
    needed = sorted({*columns, *(column for chosen in own for column in chosen)})
    there[:, needed], more = presence([pool[c].typed for c in needed], held_out.index)
    said = [model.predict(there) for model in models]  # type: ignore[attr-defined]
    curve = tuple(float((each == held_out.assigned).mean()) for each in said)
    notes = []
    if undecided + more:
        asked = len(pool) * len(real) + len(needed) * len(held_out)
        notes.append(f"not decided for {undecided + more:,} of {asked:,} pattern and graph")
    counts = np.bincount(held_out.assigned, minlength=classes)
    return Fidelity(
        value=curve[-1],
        larger_class=float(counts.max() / len(held_out)),
        form=form,
        patterns=tuple(pool[column] for column in columns),
        words=tuple(words),
        classes=tuple(
            _account(target, pool, chosen, there, said[-1], held_out.assigned)
            for target, chosen in enumerate(own)
        ),
        curve=curve,
        graphs=len(held_out),
        notes=tuple(notes),
    )


def in_words(pattern: Pattern, spec: GraphSpec) -> str:
    """Name the nodes and edges of a pattern in a line."""
    graph = with_names(
        pattern.graph, spec, pattern.typed.open, free_blocks(pattern.typed, spec.nodes)
    )
    names = {
        node: " ".join(str(v) for v in values.values() if isinstance(v, str)) or "node"
        for node, values in graph.nodes(data=True)
    }
    labels = {
        node: f"({name}){node + 1}" if " " in name else f"{name}{node + 1}"
        for node, name in names.items()
    }
    arrow = "->" if spec.directed else "-"
    edges = []
    for i, j, values in graph.edges(data=True):
        kind = " ".join(str(v) for v in values.values() if isinstance(v, str))
        edges.append(f"{labels[i]}{arrow}{labels[j]}" + (f" {kind}" if kind else ""))
    return "[" + (", ".join(edges) or ", ".join(labels.values())) + "]"


def _characteristic(held: np.ndarray, mine: np.ndarray) -> list[int]:
    """Patterns frequent in a class and rare elsewhere, until they cover no more graphs."""
    own, others = held[mine], held[~mine]
    if not len(own):
        return []
    share = (own.sum(axis=0) + 0.5) / (len(own) + 0.5)
    elsewhere = (others.sum(axis=0) + 0.5) / (len(others) + 0.5)
    good = share >= LIFT * elsewhere
    left, spared = np.ones(len(own), dtype=bool), np.ones(len(others), dtype=bool)
    chosen: list[int] = []
    while len(chosen) < MOST_CORES:
        gained = own[left].sum(axis=0) / len(own)
        lost = others[spared].sum(axis=0) / max(len(others), 1)
        worth = np.where(good, gained - COST * lost, -1.0)
        best = int(worth.argmax()) if worth.size else 0
        if not worth.size or worth[best] <= 1 / len(own):
            break
        chosen.append(best)
        left &= ~own[:, best]
        spared &= ~others[:, best]
    return chosen


def _account(
    target: int,
    pool: Sequence[Pattern],
    chosen: Sequence[int],
    there: np.ndarray,
    said: np.ndarray,
    assigned: np.ndarray,
) -> ClassAccount:
    any_ = np.asarray(there[:, list(chosen)].any(axis=1))
    mine = assigned == target
    return ClassAccount(
        target=target,
        graphs=int(mine.sum()),
        cores=tuple(pool[column] for column in chosen),
        coverage=float(any_[mine].mean()) if mine.any() else float("nan"),
        elsewhere=float(any_[~mine].mean()) if (~mine).any() else float("nan"),
        agreed=float((said[mine] == target).mean()) if mine.any() else float("nan"),
    )
