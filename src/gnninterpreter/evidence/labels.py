"""Checks of what the model says of real graphs against their labels: does it know the class?

A skill is how far something is on the way from what guesses reach, b, to always, 1:
(p - b) / (1 - b).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.shown import left_out
from gnninterpreter.evidence.thresholds import AGREEING_SHARE, FAR_OUT, FINDING, PROBABLE, SKILL
from gnninterpreter.objective import ValueTarget

NAME = "model is right"
TINY = 1e-12
# Where fewer graphs have a class or get it, more are asked about: of a handful shares are chance.
RARE = 50


def model_is_right(case: Case) -> Check:
    """Is the model right about graphs that it gives what was asked for, and does it find most?

    Guesses are right about as many of the graphs that get a class as there are of it, and find as
    many of those that have it as get it.
    """
    target = case.target
    if not case.asked:
        return Check(NAME, None, "there is no data to hold what the model says against")
    if (hidden := left_out(case)) is not None:
        return hidden
    where, mine, true = _told(case, case.asked)
    if not where:
        return Check(NAME, None, "no label of the data says whether the model is right")
    if isinstance(target, ValueTarget) and isinstance(target.aim, str) and mine.any():
        return _values_are_right(case, target, where, mine)
    if min(int(mine.sum()), int(true.sum())) < RARE:
        where, mine, true = _told(case, case.many)
    share = float(true.double().mean())
    if not mine.any():
        sentence = f"the model gives {target.noun} to none of {len(where):,} real graphs"
        sentence += f", and {percent(share)} have it" if share else ""
        return Check(NAME, not true.any(), sentence, 0.0, share)
    if share == 1:
        return Check(NAME, None, "every real graph has it by its label", 1.0, share)
    right = float(true[mine].double().mean())
    sentence = (
        f"{percent(right)} of the real graphs that the model gives {target.noun} have it by their "
        f"label, and {percent(share)} of all"
    )
    if _skill(right, share) < SKILL:
        return _often_wrong(sentence, right, share)
    given, found = (float(part.double().mean()) for part in (mine, mine[true]))
    if found < AGREEING_SHARE and _skill(found, given) < FINDING:
        sentence = (
            f"the model misses most of its graphs: it gives {target.noun} to "
            f"{'only ' * bool(found)}{percent(found)} of the real graphs that have it by their "
            f"label, and to {percent(given)} of all"
        )
        return Check("finds its graphs", False, sentence, found, given)
    if found < PROBABLE:
        sentence += f"; of those that have it {percent(found)} are given it"
    return Check(NAME, True, sentence, right, share)


def _values_are_right(case: Case, target: ValueTarget, where: list[int], mine: Tensor) -> Check:
    """The same of an end of a scale, by rank: no label may lie where a model's own ends lie.

    Where labels at the end hardly differ, as counts of nothing with some noise, ranks say little:
    there labels may also be as far out as those farthest out are, on average. Ranks at the end can
    be right by a few graphs; values have to go along with labels, too.
    """
    labels = torch.stack([case.asked[row][0].y.reshape(-1)[target.index] for row in where]).double()
    values = case.said.outputs[where, target.index].double().cpu()
    ordered = labels if target.aim == "max" else -labels
    true = ordered >= ordered.topk(int(mine.sum())).values[-1]
    share, right = (float(part.double().mean()) for part in (true, true[mine]))
    sentence = (
        f"{percent(right)} of the real graphs that the model gives {target.noun} are as far out by "
        f"their label, and {percent(share)} of all"
    )
    if share < 1 and _skill(right, share) < SKILL:
        if (way := _way_out(ordered, true, mine)) < FAR_OUT:
            return _often_wrong(sentence, right, share)
        sentence = (
            f"by their labels the real graphs that the model gives {target.noun} are "
            f"{percent(way)} of the way from the mean to those farthest out"
        )
        right, share = way, FAR_OUT
    along = explained(values, labels)
    if along < SKILL:
        sentence = f"{percent(along)} of how labels differ goes along with its values (r2)"
        return _often_wrong(sentence, along, SKILL)
    return Check(NAME, True, sentence, right, share)


def _way_out(labels: Tensor, farthest: Tensor, mine: Tensor) -> float:
    """How far some graphs are on the way from the mean label to those that are farthest out."""
    usual, most = labels.mean(), labels[farthest].mean()
    return float((labels[mine].mean() - usual) / (most - usual).clamp_min(TINY))


def _often_wrong(sentence: str, right: float, share: float) -> Check:
    if right >= PROBABLE:
        # As of a class that most graphs have: it is seldom wrong, and so is a guess.
        sentence = f"the model is hardly better than a guess: {sentence}"
        return Check("better than a guess", False, sentence, right, share)
    sentence = f"the model is often wrong: {'only ' * bool(right)}{sentence}"
    return Check(NAME, False, sentence, right, share)


def _skill(share: float, guessed: float) -> float:
    return (share - guessed) / (1 - guessed) if guessed < 1 else 1.0


def explained(values: Tensor, labels: Tensor) -> float:
    """Squared correlation, whatever units values come in, and 0 of those that go the other way."""
    one, other = values - values.mean(), labels - labels.mean()
    together = float(
        (one * other).sum() / ((one**2).sum() * (other**2).sum()).sqrt().clamp_min(TINY)
    )
    return max(0.0, together) ** 2


def _told(case: Case, asked: Sequence[tuple[Data, bool]]) -> tuple[list[int], Tensor, Tensor]:
    """Places of the graphs whose label is known, whether each gets the class, and has it."""
    truths = [_truth(case, graph) for graph, _ in asked]
    where = [place for place, truth in enumerate(truths) if truth is not None]
    mine = torch.tensor([asked[place][1] for place in where], dtype=torch.bool)
    return where, mine, torch.tensor([truths[place] for place in where], dtype=torch.bool)


def _truth(case: Case, graph: Data) -> bool | None:
    label, names = graph.get("y"), case.explanation.spec.class_names
    if not torch.is_tensor(label) or not case.target.truth(label, names):
        return None
    return case.target.true_of(label)
