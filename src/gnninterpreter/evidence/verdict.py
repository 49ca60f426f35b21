"""The verdict on one explanation: may it be read as what the model believes, and why (not).

The one place where the question is answered; report, notebook, command line, audit and live page
all show this.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from gnninterpreter.evidence.evidence import TOLD, Check, Evidence

TRUSTWORTHY = "trustworthy"
UNCOMPARED = "certain, but not compared with data"
INCOMPLETE = "certain, but not checked in full"
UNSTABLE = "unstable over restarts"

# For each check, the gravest first: the word where it failed, and the word where it was not made;
# None where an explanation can be trusted without it.
WORDS: dict[str, tuple[str, str | None]] = {
    "something found": ("nothing found", "not checked"),
    "nothing left out": ("goes by what explanations leave out", None),
    "target reached": ("not reached", "not checked"),
    "rule of the data set": ("contradicts the rule", None),
    "random graphs": ("no better than random graphs", INCOMPLETE),
    "left over": ("what is left without the other classes", None),
    "size and density": ("goes by size and density", None),
    "certain": ("not certain", INCOMPLETE),
    "as asked for": ("not quite as asked for", None),
    "samples certain": ("not certain", None),
    "samples as asked for": ("not quite as asked for", None),
    "model is right": ("the model is often wrong here", None),
    "better than a guess": ("hardly better than a guess", None),
    "finds its graphs": ("the model misses most of its graphs", None),
    "more than one kind": ("goes by one kind of node", None),
    "more than one kind of edge": ("goes by one kind of edge", None),
    "more than one number": ("goes by one number", None),
    "not by heart": ("may know its graphs by heart", None),
    "restarts reach it": (UNSTABLE, INCOMPLETE),
    "feasible": ("not in one piece within the size limit", INCOMPLETE),
    "typical": ("untypical of real graphs", UNCOMPARED),
    "holds the core": ("certain for another reason than its core", None),
    "lacks other cores": ("certain, though it holds the core of another class", None),
    "familiar": ("strange inside the model", None),
    "likeness": ("out of distribution", UNCOMPARED),
    "peers agree": ("other models disagree", None),
    "restarts agree": (UNSTABLE, INCOMPLETE),
    "rule of thumb": ("contradicts the rule of thumb", None),
    "audit": ("weaknesses found by the audit", None),
    "certainty among real graphs": ("out of distribution", None),
    "value among real graphs": ("not quite as asked for", None),
}

# Asked in place of others: of what is no probability, of a boundary, which lies away from every
# class, and where random graphs do as well for a reason of their own.
INSTEAD = {
    "certain": ("as asked for",),
    "likeness": ("margin",),
    "random graphs": ("size and density", "left over"),
}


@dataclass(frozen=True)
class Verdict:
    """What the evidence comes to.

    Args:
        word: The verdict in a word or two.
        level: How grave it is: ``"good"``, ``"caution"`` or ``"bad"``.
        reasons: In plain sentences what failed, or passed where nothing failed, and was not
            checked.
    """

    word: str
    level: str
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.word

    def to_json(self) -> dict[str, Any]:
        """The verdict as plain JSON values."""
        return {**asdict(self), "reasons": list(self.reasons)}


def verdict_on(evidence: Evidence) -> Verdict:
    """Judge an explanation by its evidence; the gravest failure gives the word.

    It is trustworthy only where every check that matters was made and none failed.
    """
    failed = sorted((c for c in evidence.with_state(False) if c.name not in TOLD), key=_gravity)
    reasons = [f"{check.sentence[:1].upper()}{check.sentence[1:]}." for check in failed]
    passed = len([check for check in evidence.with_state(True) if check.name not in TOLD])
    # Where something failed, what passed is no reason; which checks there are, the evidence says.
    if passed and not failed:
        reasons.append(f"Passed {passed} checks." if passed > 1 else "Passed one check.")
    unmade = [check.name for check in evidence.with_state(None) if check.name not in TOLD]
    if unmade:
        reasons.append(f"Not checked: {', '.join(unmade)}.")
    if failed:
        word = WORDS.get(failed[0].name, (f"failed: {failed[0].name}", None))[0]
        return Verdict(word, "bad" if failed[0].grave else "caution", tuple(reasons))
    asked = {check.name for check in evidence}
    for name, (_, unchecked) in WORDS.items():
        spared = name not in asked and not asked.isdisjoint(INSTEAD.get(name, ()))
        if unchecked is not None and evidence[name].passed is None and not spared:
            return Verdict(unchecked, "caution", tuple(reasons))
    return Verdict(TRUSTWORTHY, "good", tuple(reasons))


def _gravity(check: Check) -> tuple[bool, int]:
    order = list(WORDS)
    return not check.grave, order.index(check.name) if check.name in order else len(order)
