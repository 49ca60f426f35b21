"""Checks of what the graphs of a class have in common: one kind, a count, or nothing at all.

A class that nothing simple tells from the others may be one that the model has learned by heart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy

import torch
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.answers import LEFT_OVER
from gnninterpreter.evidence.patterns.core import Core, column_name
from gnninterpreter.evidence.patterns.saying import kind_words, link_words
from gnninterpreter.evidence.patterns.typed import node_kinds, typed_graphs, varying_columns
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import BY_HEART, CERTAIN, CLEARLY, COVERING
from gnninterpreter.graphs import edge_rows, node_rows, table
from gnninterpreter.models.scores import roc_auc
from gnninterpreter.spec import Categorical
from gnninterpreter.typicality.typicality import FEWEST_GRAPHS

# Graphs of a class that get a number of others, and numbers of one node that are said.
LENT, MOST_NAMED = 64, 4
MAKE_SURE = "make sure that this is what it is about, and no mark"


def one_kind(case: Case) -> Check:
    """Is there more to the class than one kind or number, which may be a mark?"""
    asked = case.asked
    if _fewer(asked) < FEWEST_GRAPHS:
        asked = case.many
    if _fewer(asked) < FEWEST_GRAPHS:
        said = "there is too little data to compare kinds of nodes in"
        return Check("more than one kind", None, said)
    mine = torch.tensor([one for _, one in asked])
    graphs, spec = [graph for graph, _ in asked], case.explanation.spec
    held = node_kinds(graphs, spec)
    found = _given_away(held, mine)
    if found is not None:
        kind, first, own, others = found
        said = f"node{kind_words(graphs[first], held[first].index(kind), spec)}"
        return Check("more than one kind", False, _mark(case, said, own, others), own, others)
    if any(isinstance(block, Categorical) for block in spec.edges):
        links = [one.edges for one in typed_graphs(graphs, spec)]
        found = _given_away([list(own.values()) for own in links], mine)
        if found is not None:
            kind, first, own, others = found
            ends = next(ends for ends, one in links[first].items() if one == kind)
            said = _mark(case, f"edge{link_words(graphs[first], ends, spec)}", own, others)
            return Check("more than one kind of edge", False, said, own, others)
    row = _one_row(case, graphs, mine)
    if row is not None:
        return row
    numbers = _one_number(case, graphs, mine)
    return numbers or Check(
        "more than one kind", True, "no kind of node alone tells which graphs these are"
    )


def _fewer(asked: Sequence[tuple[Data, bool]]) -> int:
    """How many graphs are of the class, or how many are not, whichever is less."""
    own = sum(mine for _, mine in asked)
    return min(own, len(asked) - own)


def _one_row(case: Case, graphs: Sequence[Data], mine: torch.Tensor) -> Check | None:
    """Whether nodes with the very same numbers give the class away, such as zeros that fill up."""
    columns = varying_columns(case.explanation.spec.nodes)
    if not columns:
        return None
    rows = [table(node_rows(graph)).cpu()[:, columns] for graph in graphs]
    values, number = torch.unique(torch.cat(rows), dim=0, return_inverse=True)
    held = [set(part.tolist()) for part in number.split([len(part) for part in rows])]
    times = Counter(one for own in held for one in own)
    # Most rows of numbers are in one graph alone.
    least = COVERING * min(int(mine.sum()), int((~mine).sum()))
    found = _given_away([[one for one in own if times[one] >= least] for own in held], mine)
    if found is None:
        return None
    kind, _, own, others = found
    named = [
        f"{column_name(case.explanation.spec.nodes, column)} = {value:.3g}"
        for column, value in zip(columns, values[kind].tolist(), strict=True)
    ]
    said = f"node with {', '.join(named[:MOST_NAMED])}{' and so on' * (len(named) > MOST_NAMED)}"
    if not values[kind].any():
        said = "node whose numbers are all 0"
    return Check("more than one kind", False, _mark(case, said, own, others), own, others)


def _given_away(
    held: Sequence[Sequence[int]], mine: torch.Tensor
) -> tuple[int, int, float, float] | None:
    """A kind that one side has and the other has not, a graph with it, and shares of both."""
    for kind in sorted(set().union(*held)):
        there = torch.tensor([kind in own for own in held])
        own, others = (float(there[part].double().mean()) for part in (mine, ~mine))
        # Its absence gives a class away as its presence does.
        if max(own, others) >= COVERING and min(own, others) <= 1 - CERTAIN:
            return kind, int(there.nonzero()[0]), own, others
    return None


def _mark(case: Case, what: str, own: float, others: float) -> str:
    a, kind = ("an", "edge") if what.startswith("edge") else ("a", "node")
    return (
        f"one kind of {kind} gives it away: {percent(own)} of the graphs {case.target.members} "
        f"hold {a} {what}, and {percent(others)} of the others; {MAKE_SURE}"
    )


def _one_number(case: Case, graphs: Sequence[Data], mine: torch.Tensor) -> Check | None:
    """Whether the class goes by the mean of one number, such as an offset of the device.

    Looked at where that mean tells graphs apart; then graphs of the class get numbers of the others
    in this one column, and the model shows whether it went by it.
    """
    spec = case.explanation.spec
    if case.classifier is None or int(mine.sum()) < FEWEST_GRAPHS:
        return None
    parts = {"x": (spec.nodes, ""), "edge_attr": (spec.edges, " of edges")}
    places = [(key, place) for key in parts for place in varying_columns(parts[key][0])]
    for key, place in places:
        rows = [_column(graph, key, place) for graph in graphs]
        # A graph without edges has none of their numbers: it is like one that has zeros.
        means = torch.stack([row.mean() for row in rows]).nan_to_num(nan=0.0)
        apart = roc_auc(means, mine)
        if max(apart, 1 - apart) < CERTAIN:
            continue
        pool = torch.cat([row for row, own in zip(rows, mine, strict=True) if not own])
        asked = [graph for graph, own in zip(graphs, mine, strict=True) if own][:LENT]
        generator = torch.Generator().manual_seed(abs(case.explanation.seed))
        if not len(pool):
            continue
        given = [_with_numbers(graph, key, place, pool, generator) for graph in asked]
        turned = ~case.target.assigned(case.classifier.score_data(given))
        share = float(turned.double().mean())
        if share >= COVERING:
            blocks, whose = parts[key]
            sentence = (
                f"one number gives it away: the mean of {column_name(blocks, place)}{whose} tells "
                f"the graphs {case.target.members} from the others, and {percent(share)} of them "
                f"turn with the numbers that others have there; {MAKE_SURE}"
            )
            return Check("more than one number", False, sentence, share, COVERING)
    return None


def _column(graph: Data, key: str, place: int) -> torch.Tensor:
    rows = node_rows(graph) if key == "x" else edge_rows(graph)
    return table(rows)[:, place].double().cpu()


def _with_numbers(
    graph: Data, key: str, column: int, pool: torch.Tensor, generator: torch.Generator
) -> Data:
    """A graph with numbers of other graphs in one column, both ways of an edge with the same."""
    made, values = copy(graph), node_rows(graph) if key == "x" else edge_rows(graph)
    rows = table(values).clone()
    drawn = pool[torch.randint(len(pool), (len(rows),), generator=generator)]
    if key == "edge_attr":
        ends = graph.edge_index.cpu().sort(dim=0).values
        drawn = drawn[ends.unique(dim=1, return_inverse=True)[1]]
    rows[:, column] = drawn.to(rows)
    made[key] = rows.view_as(values)
    return made


def counts(case: Case) -> Check:
    """Do counts of nodes, kinds, neighbours and rings tell what no piece does?"""
    account = case.answers.account
    if account is None:
        return Check("counts", None, "there are too few real graphs to count in")
    core = case.explanation.core
    known = 0.5 if core is None else _accuracy(core)
    wanted = max(COVERING, min(known + CLEARLY / 2, CERTAIN))
    passed = account.accuracy >= wanted and account.accuracy > known
    sentence = "no condition on counts tells more than the core"
    if core is None:
        sentence = "no condition on counts tells which graphs these are"
    if passed:
        sentence = (
            f"{percent(account.own)} of the graphs {case.target.members} have {account.words}, and "
            f"{percent(account.others)} of the others"
        )
    return Check("counts", passed, sentence, account.accuracy, known)


def not_by_heart(case: Case) -> Check:
    """Is there anything simple behind what the model says, or has it learned graphs by heart?"""
    name, account = "not by heart", case.answers.account
    if account is None:
        return Check(name, None, "there are too few real graphs to look for what they share")
    told = max(account.best, case.answers.told)
    passed = case.answers.left_over or told >= BY_HEART
    sentence = f"cores or counts tell real graphs apart as the model does, in {told:.0%}"
    if account.untrained == told:
        sentence = f"networks that nobody trained tell them as the model does, in {told:.0%}"
    if case.answers.left_over and not account.odd:
        sentence = LEFT_OVER
    elif not passed:
        sentence = (
            f"nothing simple tells the real graphs {case.target.members} from the others: cores, "
            f"counts and untrained networks do so in {told:.0%} of cases, guessing in 50%; the "
            "model may know them by heart, so see what it says of graphs that it was not trained on"
        )
    elif account.labels is not None and account.labels < account.guessing:
        # A model that has fitted half of the noise is as smooth as any, and easily told.
        sentence = (
            f"what the model says of real graphs can be told by counts or cores in {told:.0%} of "
            f"cases, their labels in {account.labels:.0%}, which guesses may do by chance: what it "
            "has right it may know by heart, so see what it says of graphs that it was not "
            "trained on"
        )
        return Check(name, False, sentence, account.labels, account.guessing)
    elif account.odd:
        sentence = (
            f"{percent(account.odd)} of the real graphs go against what tells most about "
            f"{case.target.noun}, counts and untrained networks cannot tell which, and the model "
            "is right about nearly all of them: it may know these by heart, so see what it says of "
            "graphs that it was not trained on"
        )
        return Check(name, False, sentence, account.odd)
    return Check(name, passed, sentence, told, BY_HEART)


def _accuracy(core: Core) -> float:
    """How often holding the core says what the model says, both sides counting the same."""
    if core.coverage is None or core.others is None or not core.rest:
        return 0.5
    return (core.coverage + 1 - core.others / core.rest) / 2
