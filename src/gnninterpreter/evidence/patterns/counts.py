"""What counts say about a class: sizes, kinds, neighbours, rings and numbers, beside the cores.

A core is a connected piece, which cannot say "at least three", "none" or "a ring of six". Here real
graphs become a table of counts; the one or two conditions on them are found that tell most about
what the model says, on half of the graphs, and measured on the other half.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.base import taken
from gnninterpreter.evidence.patterns.choices import kinds_of
from gnninterpreter.evidence.patterns.core import Core, column_name
from gnninterpreter.evidence.patterns.exceptions import unexplained
from gnninterpreter.evidence.patterns.pieces import gain
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.saying import features_of, link_words, named_words
from gnninterpreter.evidence.patterns.typed import Typed, varying_columns
from gnninterpreter.evidence.thresholds import BY_HEART, GUESSED
from gnninterpreter.evidence.untrained import NETWORKS, RandomGIN
from gnninterpreter.models.scores import roc_auc
from gnninterpreter.objective.target import Target
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality.environments import LARGEST, smallest_cycles

# Graphs of the class, and of the others, that are counted; fewest of each, and most nodes.
SAMPLE, FEWEST, MOST_NODES = 200, 20, 150
# Bounds that are tried for one count, most neighbours that are counted, and most kinds.
BOUNDS, DEGREES, KINDS = 40, range(3, 9), 40
# Bits that a second condition must add, and that a column must tell more than one before it.
ADDED, MORE = 0.08, 0.01
RIDGE, FOLDS = 30.0, 5
# A column that varies less is the same for all.
STILL = 1e-6
# Graphs whose rings are counted at once.
TOGETHER = 32

Counted = Iterator[tuple["Column", Sequence[float]]]


@dataclass(frozen=True)
class Column:
    """One count of a graph, and how its bounds are said.

    Args:
        least: In words that it is at least so much, with ``{}`` for the bound.
        most: The same for at most.
        one: What "at least 1" is called; the general words if empty.
        none: The same for "at most 0".
    """

    least: str
    most: str
    one: str = ""
    none: str = ""

    def said(self, bound: float, least: bool) -> str:
        """A condition in words."""
        if self.one and (bound <= 1 if least else bound < 1):
            return self.one if least else self.none
        if self.one and bound == 1:
            return f"at most one {self.none.removeprefix('no ')}"
        return (self.least if least else self.most).format(f"{bound:.3g}")


@dataclass(frozen=True)
class Account:
    """Conditions on counts that tell which graphs the model gives a target to.

    Args:
        words: The conditions, in words that follow "have".
        own: Share of the graphs of the target that meet them, none of which chose them.
        others: The same of the other graphs.
        together: How well all counts together order graphs that they were not fitted to: the chance
            that a graph of the target comes before another, 0.5 where they tell nothing.
        untrained: The same by what networks make of graphs that nobody trained; 0.5 where they
            were not asked.
        labels: How well counts, or else such networks, tell the labels instead of what the model
            says; None where these are not known.
        guessing: How well guesses may tell so many labels, by chance.
        odd: Share of the graphs that go against what tells most, for no reason that is known,
            though the model is right about them; see `unexplained`.
    """

    words: str
    own: float
    others: float
    together: float
    untrained: float = 0.5
    labels: float | None = None
    guessing: float = GUESSED
    odd: float = 0.0

    @property
    def accuracy(self) -> float:
        """How often they say what the model says, both sides counting the same."""
        return (self.own + 1 - self.others) / 2

    @property
    def best(self) -> float:
        """How well anything tells: the conditions, all counts together, untrained networks."""
        return max(self.accuracy, self.together, self.untrained)


def account_for(
    real: RealGraphs,
    target: Target,
    seed: int = 0,
    told: float = 0.5,
    core: Core | None = None,
) -> Account | None:
    """The conditions that tell most; None where too few graphs stand on one of the sides.

    Untrained networks are asked where neither counts nor what was ``told`` before tell enough, and
    about the exceptions to the conditions or to the first ``core``, whichever tells more.
    """
    rng = np.random.default_rng([seed, target.index, 5])
    small = np.array([len(one) <= MOST_NODES for one in real.typed])
    mine = real.mine(target)
    sides = [np.flatnonzero(small & side).tolist() for side in (mine, ~mine)]
    drawn = [rng.permutation(some(side, SAMPLE, rng)) for side in sides]
    if min(map(len, drawn)) < FEWEST:
        return None
    numbers = np.concatenate(drawn)
    values, columns = counted(real, numbers.tolist())
    own = np.arange(len(numbers)) < len(drawn[0])
    fit = np.arange(len(numbers)) % 2 == 0
    words, held = _learned(values, columns, own, fit)
    ours, theirs = (float(held[side & ~fit].mean()) for side in (own, ~own))
    graphs = list(taken(real.graphs, numbers.tolist()))
    labelled, true = _labels(graphs, target, real.classifier.spec)
    by_label = _together(values[labelled], true, np.random.default_rng(seed))
    found = Account(words, ours, theirs, _together(values, own, rng))
    told = max(found.best, told)
    sides_of = int(true.sum()), int((~true).sum())
    known, guessing = min(sides_of) >= FEWEST, _guessing(*sides_of)

    @cache
    def seen() -> np.ndarray:
        """What untrained networks make of the graphs."""
        networks = (RandomGIN(real.classifier.spec, number) for number in range(NETWORKS))
        found = np.concatenate([network.embed(graphs).numpy() for network in networks], axis=1)
        return found[:, found.std(axis=0) > STILL]

    if told < BY_HEART or (known and by_label < guessing):
        # Counts cannot say "such a node beside such a node" where nodes are numbers, and more.
        if told < BY_HEART:
            found = replace(found, untrained=_together(seen(), own, rng))
        also = _together(seen()[labelled], true, np.random.default_rng(seed))
        by_label = max(by_label, also)
    if known:
        right = np.full(len(own), np.nan)
        right[labelled] = own[labelled] == true
        rules = [held]
        if core is not None:
            rules.append(np.isin(numbers, real.index.match(core.typed).where))
        rule = max(rules, key=lambda one: one[own].mean() - one[~own].mean())
        fold = np.random.default_rng([seed, target.index, 6])
        odd = unexplained(
            own, rule, right, (lambda: values, seen), lambda t, o: _together(t, o, fold)
        )
        found = replace(found, labels=by_label, guessing=guessing, odd=odd)
    return found


def _guessing(own: int, others: int) -> float:
    """Area under the curve that guesses have by chance: two standard errors (Mann and Whitney)."""
    error = math.sqrt((own + others + 1) / (12 * max(1, own * others)))
    return min(0.5 + 2 * error, GUESSED)


def _labels(
    graphs: Sequence[Data], target: Target, spec: GraphSpec
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the graphs whose label says whether they are of the target, and what it says."""
    said = []
    for number, graph in enumerate(graphs if target.probable else ()):
        label = graph.get("y")
        if torch.is_tensor(label) and target.truth(label, spec.class_names):
            said.append((number, target.true_of(label)))
    numbers, true = zip(*said, strict=True) if said else ((), ())
    return np.array(numbers, dtype=int), np.array(true, dtype=bool)


def counted(real: RealGraphs, numbers: Sequence[int]) -> tuple[np.ndarray, list[Column]]:
    """The counts of some graphs, [graphs, columns]; those that are the same for all are out."""
    typed = [real.typed[i] for i in numbers]
    found = [*_kinds(real, numbers), *_links(real, numbers), *_rings(typed), *_degrees(typed)]
    found += _numbers(real, typed)
    found.append((Column("at least {} nodes", "at most {} nodes"), [len(one) for one in typed]))
    edges = Column("at least {} edges", "at most {} edges")
    found.append((edges, [len(one.edges) for one in typed]))
    kept = [(column, row) for column, row in found if min(row) < max(row)]
    return np.array([row for _, row in kept], dtype=float).T, [column for column, _ in kept]


def _learned(
    values: np.ndarray, columns: Sequence[Column], own: np.ndarray, fit: np.ndarray
) -> tuple[str, np.ndarray]:
    """One or two conditions, in words, and which graphs meet them."""
    tried = [
        (column.said(bound, least), (row >= bound) if least else (row <= bound))
        for column, row in zip(columns, values.T, strict=True)
        for least in (True, False)
        for bound in _bounds(row[fit], least)
    ]
    if not tried:
        return "", np.zeros(len(own), dtype=bool)
    table = np.array([held for _, held in tried])

    def best(rows: np.ndarray) -> tuple[int, float]:
        told = gain(rows[:, fit & own].mean(axis=1), rows[:, fit & ~own].mean(axis=1))
        # Of those that tell about the same the first.
        place = int(np.flatnonzero(told >= told.max() - MORE)[0])
        return place, float(told[place])

    first, bits = best(table)
    words, held = tried[first]
    both, either = best(table & held), best(table | held)
    joint, rows = (" and ", table & held) if both[1] >= either[1] else (" or ", table | held)
    second, more = max(both, either, key=lambda one: one[1])
    if more >= bits + ADDED:
        return joined(words, joint, tried[second][0]), rows[second]
    return words, held


def joined(first: str, joint: str, second: str) -> str:
    """Two conditions in words; at least and at most as many of the same is exactly so many."""
    for one, other in ((first, second), (second, first)):
        least, most = one.split(" ", 3), other.split(" ", 3)
        exact = joint == " and " and (least[:2], most[:2]) == (["at", "least"], ["at", "most"])
        if exact and least[2:] == most[2:]:
            return " ".join(["exactly", *least[2:]])
        single = other.removeprefix("at most one ")
        if joint == " and " and single != other and one in (f"a {single}", f"an {single}"):
            return f"exactly one {single}"
    return first + joint + second


def _together(values: np.ndarray, own: np.ndarray, rng: np.random.Generator) -> float:
    """Area under the curve of a ridge regression on all columns, each fold by the others."""
    if not values.size or own.all() or not own.any():
        return 0.5
    table = (values - values.mean(axis=0)) / values.std(axis=0).clip(STILL)
    ridge, wanted = RIDGE * np.eye(table.shape[1]), own - own.mean()
    fold, said = rng.permutation(len(own)) % FOLDS, np.zeros(len(own))
    for part in range(FOLDS):
        known = table[fold != part]
        weights = np.linalg.solve(known.T @ known + ridge, known.T @ wanted[fold != part])
        said[fold == part] = table[fold == part] @ weights
    return roc_auc(torch.from_numpy(said), torch.from_numpy(own))


def _bounds(row: np.ndarray, least: bool) -> np.ndarray:
    known = np.unique(row)
    known = known[1:] if least else known[:-1]
    return known[:: max(1, len(known) // BOUNDS)]


def _tally(rows: Sequence[Sequence[int]]) -> tuple[list[int], list[tuple[int, int]], np.ndarray]:
    """The different numbers in rows, the row and place of each first one, and counts by row."""
    sizes = [len(row) for row in rows]
    flat = np.fromiter(chain.from_iterable(rows), np.int64, sum(sizes))
    owner = np.repeat(np.arange(len(rows)), sizes)
    values, first, which = np.unique(flat, return_index=True, return_inverse=True)
    table = np.bincount(owner * len(values) + which, minlength=len(rows) * len(values))
    place = first - (np.cumsum(sizes) - sizes)[owner[first]]
    firsts = list(zip(owner[first].tolist(), place.tolist(), strict=True))
    return values.tolist(), firsts, table.reshape(len(rows), -1)


def _kinds(real: RealGraphs, numbers: Sequence[int]) -> Counted:
    """Nodes of each kind, and edges between two kinds; by each feature alone first."""
    typed, spec = [real.typed[number] for number in numbers], real.classifier.spec
    kinds, firsts, _ = _tally([kinds_of(one) for one in typed])
    named = []
    for row, node in firsts:
        features = features_of(real.graphs[numbers[row]], node, spec)
        named.append({key: value for key, value in features.items() if isinstance(value, str)})
    keys = {key for features in named for key in features}
    for single in sorted(keys) if len(keys) > 1 else ():
        words = [named_words({single: own.get(single)}) for own in named]
        yield from _kinds_by(dict(zip(kinds, words, strict=True)), typed)
    yield from _kinds_by(dict(zip(kinds, map(named_words, named), strict=True)), typed)


def _kinds_by(words: Mapping[int, str], typed: Sequence[Typed]) -> Counted:
    """The same for kinds that go by their words."""
    names = sorted(set(words.values()))
    if len(names) == 1:
        return
    place_of, count = {kind: names.index(name) for kind, name in words.items()}, len(names)
    held = [[place_of[kind] for kind in kinds_of(one)] for one in typed]
    places, _, table = _tally(held)
    for column in _usual(table):
        name = names[places[column]]
        yield _several(f"node{name}", f"nodes{name}"), table[:, column].tolist()
    between = " from a node{} to one{}" if typed[0].directed else " between a node{} and one{}"
    joined = []
    for one, own in zip(typed, held, strict=True):
        ends = [(own[i], own[j]) for i, j in one.edges]
        ends = ends if one.directed else [(min(pair), max(pair)) for pair in ends]
        joined.append([count * a + b for a, b in ends])
    places, _, table = _tally(joined)
    for column in _usual(table):
        both = between.format(*(names[end] for end in divmod(places[column], count)))
        yield _several(f"edge{both}", f"edges{both}"), table[:, column].tolist()


def _usual(table: np.ndarray) -> list[int]:
    """The columns of what there is most of, in their order."""
    return sorted(np.argsort(-table.sum(axis=0), kind="stable")[:KINDS].tolist())


def _links(real: RealGraphs, numbers: Sequence[int]) -> Counted:
    """Edges of each kind."""
    edges = [real.typed[number].edges for number in numbers]
    _, firsts, table = _tally([list(own.values()) for own in edges])
    for (row, place), counts in zip(firsts, table.T.tolist(), strict=True):
        ends = list(edges[row])[place]
        words = link_words(real.graphs[numbers[row]], ends, real.classifier.spec)
        if words:
            yield _several(f"edge{words}", f"edges{words}"), counts


def _several(one: str, many: str) -> Column:
    a = "an" if one[0] in "aeiou" else "a"
    return Column(f"at least {{}} {many}", f"at most {{}} {many}", f"{a} {one}", f"no {one}")


def _rings(typed: Sequence[Typed]) -> Counted:
    """Pieces, independent rings, rings of each length and where they meet; of undirected graphs."""
    if typed[0].directed:
        return
    pieces = [len(one.pieces()) for one in typed]
    yield _several("separate piece", "separate pieces"), pieces
    every = [len(t.edges) - len(t) + count for t, count in zip(typed, pieces, strict=True)]
    yield _several("ring", "rings"), every
    lengths, shared = np.zeros((len(typed), LARGEST + 1)), np.zeros(len(typed))
    # Some at a time, those of like size together.
    order = sorted(np.flatnonzero(every).tolist(), key=lambda place: len(typed[place]))
    for first in range(0, len(order), TOGETHER):
        part = order[first : first + TOGETHER]
        largest = len(typed[part[-1]])
        edge = torch.zeros(len(part), largest, largest, dtype=torch.bool)
        ends = [(row, i, j) for row, place in enumerate(part) for i, j in typed[place].edges]
        row, i, j = torch.tensor(ends).t()
        edge[row, i, j] = edge[row, j, i] = True
        for place, sizes in zip(part, smallest_cycles(edge)[0].long(), strict=True):
            lengths[place] = np.bincount(sizes.flatten().numpy(), minlength=LARGEST + 1)
            shared[place] = int((sizes.gt(0).sum(1) > 2).sum())
    yield _several("node that rings share", "nodes that rings share"), shared.tolist()
    for length in range(3, LARGEST + 1):
        rings = np.ceil(lengths[:, length] / (2 * length)).tolist()
        yield _several(f"ring of {length} nodes", f"rings of {length} nodes"), rings


def _degrees(typed: Sequence[Typed]) -> Counted:
    known, _, table = _tally([[mask.bit_count() for mask in one.near] for one in typed])
    for least in DEGREES:
        words = f"with at least {least} neighbours"
        counts = table[:, np.array(known) >= least].sum(axis=1)
        yield _several(f"node {words}", f"nodes {words}"), counts.tolist()


def _numbers(real: RealGraphs, typed: Sequence[Typed]) -> Counted:
    """The largest and the smallest of each number of nodes and of edges."""
    spec = real.classifier.spec
    for noun, blocks, rows in (
        ("node", spec.nodes, [list(one.values) for one in typed]),
        ("edge", spec.edges, [list(one.edge_values.values()) for one in typed]),
    ):
        if not all(rows):
            continue
        for place, column in enumerate(varying_columns(blocks)):
            name = column_name(blocks, column)
            a = "an" if noun == "edge" else "a"
            high = Column(
                f"{a} {noun} with {name} of at least {{}}", f"no {noun} with {name} above {{}}"
            )
            low = Column(
                f"no {noun} with {name} below {{}}", f"{a} {noun} with {name} of at most {{}}"
            )
            each = [[row[place] for row in own] for own in rows]
            yield high, [max(own) for own in each]
            yield low, [min(own) for own in each]
