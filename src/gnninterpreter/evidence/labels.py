"""Checks of what the model says of real graphs against their labels: does it know the class?

A skill is how far something is on the way from what guesses reach, b, to always, 1:
(p - b) / (1 - b).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.core import column_name
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import AGREEING_SHARE, FINDING, PROBABLE, SKILL
from gnninterpreter.graphs import table
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.examples import prepare
from gnninterpreter.objective import ValueTarget

NAME = "model is right"


def model_is_right(case: Case) -> Check:
    """Is the model right about graphs that it gives what was asked for, and does it find most?

    Guesses are right about as many of the graphs that get a class as there are of it, and find as
    many of those that have it as get it.
    """
    target = case.target
    if not case.asked:
        return Check(NAME, None, "there is no data to hold what the model says against")
    if (hidden := _hidden(case)) is not None:
        return hidden
    rows = [(row, _truth(case, graph)) for row, (graph, _) in enumerate(case.asked)]
    known = [(row, truth) for row, truth in rows if truth is not None]
    if not known:
        return Check(NAME, None, "no label of the data says whether the model is right")
    where = [row for row, _ in known]
    mine = torch.tensor([case.asked[row][1] for row in where])
    true = torch.tensor([truth for _, truth in known])
    if isinstance(target, ValueTarget) and isinstance(target.aim, str) and mine.any():
        return _values_are_right(case, target, where, mine)
    share = float(true.double().mean())
    if not mine.any():
        sentence = f"the model gives {target.noun} to none of {len(known):,} real graphs"
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
    if _skill(found, given) < FINDING:
        sentence = (
            f"the model misses most of its graphs: it gives {target.noun} to "
            f"{'only ' * bool(found)}{percent(found)} of the real graphs that have it by their "
            f"label, and to {percent(given)} of all"
        )
        return Check("finds its graphs", False, sentence, found, given)
    if found < PROBABLE:
        sentence += f"; of those that have it {percent(found)} are given it"
    return Check(NAME, True, sentence, right, share)


def _hidden(case: Case) -> Check | None:
    """Whether the model goes by what answers leave out, such as the handedness of molecules.

    What real graphs have in derived columns is computed anew as in answers. Where that changes what
    the model says of them, nothing that is said of answers holds for the data.
    """
    spec = case.explanation.spec
    if case.classifier is None or not spec.derived or spec.attributes:
        return None
    given = case.target.assigned(case.classifier.score_data(case.drawn, as_given=True)).tolist()
    turned = [graph for (graph, shown), one in zip(case.asked, given, strict=True) if one != shown]
    share = len(turned) / len(given)
    if share <= 1 - PROBABLE:
        return None
    sentence = (
        f"the model goes by what explanations leave out: it says something else of "
        f"{percent(share)} of the real graphs where {_differing(turned, case.classifier)} is as "
        "explanations have it, which compute it from the rest of a graph"
    )
    return Check("nothing left out", False, sentence, share, 1 - PROBABLE, grave=True)


def _differing(graphs: Sequence[Data], classifier: GraphClassifier) -> str:
    """Names of the columns in which most of some graphs are not what answers would be."""
    spec, found = classifier.spec, Counter[str]()
    for graph in graphs:
        given, shown = (prepare([graph], classifier, as_given=one) for one in (True, False))
        for key, blocks in (("x", spec.nodes), ("edge_attr", spec.edges)):
            if blocks and given.get(key) is not None:
                other = (table(given[key]) != table(shown[key])).any(dim=0).nonzero().flatten()
                found.update({column_name(blocks, column) for column in other.tolist()})
    often = [name for name, count in found.items() if count >= AGREEING_SHARE * len(graphs)]
    return " or ".join(sorted(often)) or "what is computed"


def _values_are_right(case: Case, target: ValueTarget, where: list[int], mine: Tensor) -> Check:
    """The same of an end of a scale, by rank: no label may lie where a model's own ends lie.

    Ranks at the end can be right by a few graphs; values have to go along with labels, too.
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
        return _often_wrong(sentence, right, share)
    explained = _explained(values, labels)
    if explained < SKILL:
        sentence = f"{percent(explained)} of how labels differ goes along with its values (r2)"
        return _often_wrong(sentence, explained, SKILL)
    return Check(NAME, True, sentence, right, share)


def _often_wrong(sentence: str, right: float, share: float) -> Check:
    if right >= PROBABLE:
        # As of a class that most graphs have: it is seldom wrong, and so is a guess.
        sentence = f"the model is hardly better than a guess: {sentence}"
        return Check("better than a guess", False, sentence, right, share)
    sentence = f"the model is often wrong: {'only ' * bool(right)}{sentence}"
    return Check(NAME, False, sentence, right, share)


def _skill(share: float, guessed: float) -> float:
    return (share - guessed) / (1 - guessed) if guessed < 1 else 1.0


def _explained(values: Tensor, labels: Tensor) -> float:
    """Squared correlation, whatever units values come in; 1 where all labels are the same."""
    centred = values - values.mean(), labels - labels.mean()
    spread = (centred[0] ** 2).sum() * (centred[1] ** 2).sum()
    together = (centred[0] * centred[1]).sum()
    if not float(spread):
        return float(not float((centred[1] ** 2).sum()))
    return float(together**2 / spread) if float(together) > 0 else 0.0


def _truth(case: Case, graph: Data) -> bool | None:
    label, names = graph.get("y"), case.explanation.spec.class_names
    if not torch.is_tensor(label) or not case.target.truth(label, names):
        return None
    return case.target.true_of(label)
