"""The answers about one class in plain words: prototype, core, shortcut, exemplar.

Page, notebook card and command line all say these sentences. A figure that nobody measured is
"not checked", never left out.
"""

from __future__ import annotations

import math
from typing import Any

from gnninterpreter.evidence.evidence import NO_REAL_GRAPHS, NOT_ASKED, Check
from gnninterpreter.evidence.thresholds import CLEARLY
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
    return None if check.passed is None else _number(check.value)


def typical_words(explanation: Explanation) -> str:
    """Whether the prototype could pass for a real graph."""
    check = explanation.evidence["typical"]
    if check.passed is None:
        return _unchecked(check, NOT_TYPICAL)
    percentile = _number(check.value)
    if percentile is None:
        return sentence(check.sentence)
    if check.passed:
        return f"Could pass for a real graph: more typical than {percentile:.0f}% of them."
    return f"Could not pass for a real graph: less typical than {100 - percentile:.0f}% of them."


def core_words(core: Any, explanation: Explanation) -> str:
    """How often real graphs hold a core, and what it does to the model."""
    if core is None:
        check = explanation.evidence["core covers"]
        if check.passed is None:
            return _unchecked(check, NO_CORE.format(members=explanation.target.members))
        return sentence(check.sentence)
    target = explanation.target
    said = (
        _open(core), _company(core, target), _taken_out(core, target), _put_in(core),
        _idle(core, target),
    )  # fmt: skip
    return " ".join(filter(None, said))


def counts_words(explanation: Explanation) -> str:
    """What counts say where they tell more than the core; empty where they do not."""
    check = explanation.evidence["counts"]
    return sentence(check.sentence) if check.passed else ""


def shortcut_words(shortcut: Any, target: Target) -> str:
    """How many real graphs look like a shortcut, and what the model gives it all the same."""
    given = figure(shortcut, "probability")
    written = shortcut.said if not target.probable else "" if given is None else f"{given:.3f}"
    gives = f"; the model gives it {written}" if written else ""
    matched, total = counts(shortcut)
    if matched is None:
        return f"Not checked how many real graphs contain this{gives}."
    of = "real graphs" if total is None else f"of {total:,} real graphs"
    contain = "contains" if total is None and matched == 1 else "contain"
    # A small piece may lie in many real graphs, and none be like it as a whole.
    part = " as a part" * (matched > 0)
    return f"{matched:,} {of} {_to(target)} {contain} this{part}{gives}."


def counts(core: Any) -> tuple[int | None, int | None]:
    """How many real graphs of the class hold it, and how many there are; None where not known."""
    matched, total = figure(core, "matched"), figure(core, "total")
    coverage = figure(core, "coverage")
    if total is None and matched and coverage:
        total = round(matched / coverage)
    return None if matched is None else int(matched), None if total is None else int(total)


def figure(holder: Any, name: str, part: str | None = None) -> float | None:
    """A figure of a core, or the part of one; None where it was not measured."""
    found = getattr(holder, name, None)
    return _number(found if part is None else getattr(found, part, None))


def sentence(words: str) -> str:
    """Words with a capital and a full stop."""
    return f"{words[:1].upper()}{words[1:]}" + "." * (words[-1:] != ".")


def _to(target: Target) -> str:
    return f"that the model gives {f'to {target.noun}' if target.probable else target.asked}"


def _open(core: Any) -> str:
    """Which nodes may be of any kind, and where numbers have to lie."""
    free, said = sum(core.open), []
    if free:
        which = "All nodes" if free == len(core.open) else f"{free} of its {len(core.open)} nodes"
        said.append(f"{which} may be of any kind.")
    if core.ranges:
        said.append(f"{sentence('; '.join(core.conditions))} All other numbers may be any.")
    return " ".join(said)


def _company(core: Any, target: Target) -> str:
    coverage, lift = figure(core, "coverage"), figure(core, "lift")
    if coverage is None:
        return "Not checked in how many real graphs it is."
    words = f"In {_percent(coverage)} of the graphs {_to(target).removeprefix('that ')}"
    if figure(core, "others") == 0 and coverage > 0:
        return f"{words}, and in none of the others."
    if lift is None:
        return f"{words}; not checked how often elsewhere."
    return f"{words}, {f'{lift:.1f}' if lift < 10 else f'{lift:,.0f}'} times as often as elsewhere."


def _taken_out(core: Any, target: Target) -> str:
    value = figure(core, "necessity", "value")
    if value is None:
        return "Not checked what happens without it."
    control = figure(core, "necessity", "control")
    # Nothing is 0.00, not -0.00.
    beside = "not checked" if control is None else f"{round(control, 2) + 0.0:.2f}"
    if control is not None and not target.probable:
        beside = target.changed(control)
    return f"Without it {target.changed(value)} (random piece: {beside})."


def _put_in(core: Any) -> str:
    value = figure(core, "sufficiency", "value")
    if value is None:
        return "Not checked what it does to other graphs."
    control = figure(core, "sufficiency", "control")
    beside = "not checked" if control is None else _percent(control)
    return f"Put into other graphs it turns {_percent(value)} of them (random piece: {beside})."


def _idle(core: Any, target: Target) -> str:
    """What both controls together come to, where the core beats neither."""
    for name, span in (("necessity", target.span), ("sufficiency", 1.0)):
        value, control = figure(core, name, "value"), figure(core, name, "control")
        if value is None or control is None or value > control + CLEARLY * span:
            return ""
    return f"Neither is clearly more than a random piece does: it goes with {target.noun}, no more."


def _unchecked(check: Check, otherwise: str) -> str:
    if check.sentence in (NOT_ASKED, NO_REAL_GRAPHS):
        return otherwise
    return f"Not checked: {sentence(check.sentence)}"


def _percent(share: float) -> str:
    """A share in percent that never rounds to all or none."""
    if 0 < share < 0.005:
        return "less than 1%"
    return f"{min(100 * share, 99.4) if share < 1 else 100:.0f}%"


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return float(value)
