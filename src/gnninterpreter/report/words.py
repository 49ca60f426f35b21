"""The answers about one class in plain words: prototype, core, shortcut, exemplar.

Page, notebook card and command line all say these sentences. A figure that nobody measured is
"not checked", never left out.
"""

from __future__ import annotations

import math

from gnninterpreter.evidence.evidence import HAS_NO_CORE, NO_REAL_GRAPHS, NOT_ASKED, Check
from gnninterpreter.evidence.patterns import Core
from gnninterpreter.evidence.thresholds import CLEARLY, OUTLYING_PERCENTILE
from gnninterpreter.explanation import Explanation
from gnninterpreter.objective import Target

NO_CORE = (
    "Not checked: what real graphs {members} have in common can only be told from real graphs. "
    "Pass them to explain(), or name them with --data."
)
NOT_TYPICAL = "Not checked whether it could pass for a real graph: there was none to compare with."


def typical_percentile(explanation: Explanation) -> float | None:
    """Share of real graphs that are less typical than the prototype, in percent, where known."""
    check = explanation.evidence["typical"]
    value = None if check.passed is None else check.value
    return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else None


def place_words(explanation: Explanation) -> str:
    """How typical the prototype is beside real graphs; nothing where that is not known."""
    percentile = typical_percentile(explanation)
    if percentile is None:
        return ""
    if percentile > 99.5:
        return "as typical as any"
    return f"more typical than {percentile:.0f}%"


def typical_words(explanation: Explanation) -> str:
    """Whether the prototype could pass for a real graph."""
    check = explanation.evidence["typical"]
    if check.passed is None:
        return _unchecked(check, NOT_TYPICAL)
    percentile = typical_percentile(explanation)
    if percentile is None:
        return sentence(check.sentence)
    if check.passed:
        return f"Could pass for a real graph: {place_words(explanation)} of them."
    why = f"less typical than {100 - percentile:.0f}% of them"
    if percentile >= OUTLYING_PERCENTILE:  # each part is usual, and something else is not
        why = check.sentence.removeprefix("untypical: ")
    return f"Could not pass for a real graph: {why}."


def core_words(core: Core | None, explanation: Explanation) -> str:
    """How often real graphs hold a core, and what it does to the model."""
    target = explanation.target
    if core is None:
        check = explanation.evidence["core covers"]
        if check.passed is None:
            return _unchecked(check, NO_CORE.format(members=target.members))
        return sentence(check.sentence)
    said = [_open(core), _association(core, target), _effects(core, target), _idle(core, target)]
    if core.held_by(explanation.best) is False:  # the two then tell of different things
        said.append("The prototype does not hold it.")
    return " ".join(filter(None, said))


def counts_words(explanation: Explanation) -> str:
    """What counts say where they tell more than the core; empty where they do not."""
    check = explanation.evidence["counts"]
    return sentence(check.sentence) if check.passed else ""


def shortcut_words(shortcut: Core, target: Target) -> str:
    """How many real graphs look like a shortcut, and what the model gives it all the same."""
    written = f"{shortcut.probability:.3f}" if target.probable else shortcut.said
    gives = f"; the model gives it {written}" if written else ""
    if shortcut.matched is None:
        return f"Not checked how many real graphs contain this{gives}."
    # A small piece may lie in many real graphs, and none be like it as a whole.
    part = " as a part" * (shortcut.matched > 0)
    of = f"{shortcut.matched:,} of {shortcut.total:,} real graphs {_to(target)}"
    return f"{of} contain this{part}{gives}."


def sentence(words: str) -> str:
    """Words with a capital and a full stop."""
    return f"{words[:1].upper()}{words[1:]}" + "." * (words[-1:] != ".")


def _to(target: Target) -> str:
    return f"that the model gives {f'to {target.noun}' if target.probable else target.asked}"


def _open(core: Core) -> str:
    """Which nodes may be of any kind, and where numbers have to lie."""
    free, said = sum(core.open), []
    if free:
        which = "All nodes" if free == len(core.open) else f"{free} of its {len(core.open)} nodes"
        said.append(f"{which} may be of any kind.")
    if core.freedoms:
        said.append(sentence(f"{'; '.join(core.freedoms)} will do"))
    if core.ranges:
        said.append(f"{sentence('; '.join(core.conditions))} All other numbers may be any.")
    return " ".join(said)


def _association(core: Core, target: Target) -> str:
    if core.coverage is None:
        return "Not checked in how many real graphs it is."
    words = f"In {_percent(core.coverage)} of the graphs {_to(target).removeprefix('that ')}"
    if core.others == 0 and core.coverage > 0:
        return f"{words}, and in none of the others."
    if core.lift is None:
        return f"{words}; not checked how often elsewhere."
    lift = f"{core.lift:.1f}" if core.lift < 10 else f"{core.lift:,.0f}"
    return f"{words}, {lift} times as often as elsewhere."


def _effects(core: Core, target: Target) -> str:
    """What taking it out of real graphs does, and putting it into others."""
    without = "Not checked what happens without it."
    within = "Not checked what it does to other graphs."
    if (out := core.necessity) is not None:
        beside = "not checked" if out.control is None else target.changed(out.control)
        if out.control is not None and target.probable:
            # Nothing is 0.00, not -0.00.
            beside = f"{round(out.control, 2) + 0.0:.2f}"
        without = f"Without it {target.changed(out.value)} (random piece: {beside})."
    if (put := core.sufficiency) is not None:
        beside = "not checked" if put.control is None else _percent(put.control)
        turned = f"it turns {_percent(put.value)} of them (random piece: {beside})"
        within = f"Put into other graphs {turned}."
    return f"{without} {within}"


def _idle(core: Core, target: Target) -> str:
    """What both controls together come to, where the core beats neither."""
    for effect, span in ((core.necessity, target.span), (core.sufficiency, 1.0)):
        if effect is None or effect.control is None:
            return ""
        if effect.value > effect.control + CLEARLY * span:
            return ""
    return f"Neither is clearly more than a random piece does: it goes with {target.noun}, no more."


def _unchecked(check: Check, otherwise: str) -> str:
    if check.sentence in (NOT_ASKED, NO_REAL_GRAPHS):
        return otherwise
    said = sentence(check.sentence)
    return said if check.sentence == HAS_NO_CORE else f"Not checked: {said}"


def _percent(share: float) -> str:
    """A share in percent that never rounds to all or none."""
    if 0 < share < 0.005:
        return "less than 1%"
    return f"{min(100 * share, 99.4) if share < 1 else 100:.0f}%"
