"""The verdict on one explanation: may it be read as what the model believes, and why (not).

The first question that fails decides, the gravest first: was there a graph, does the model give it
to the class, does the ground truth agree, is it more than a random graph, do other restarts agree,
is it one graph within its limits, is it like the class's own graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

__all__ = ["Finding", "Verdict", "verdict_on"]

REACHED = 0.9
OUTLYING_PERCENTILE = 10.0
AGREEING_SHARE = 0.5


class Finding(str, Enum):
    """What a verdict comes to."""

    TRUSTWORTHY = "trustworthy"
    UNCHECKED = "certain, but not compared with data"
    UNSPECIFIC = "no better than random graphs"
    UNSTABLE = "unstable over restarts"
    UNSOUND = "not in one piece within the size limit"
    OUT_OF_DISTRIBUTION = "out of distribution"
    CONTRADICTION = "contradicts the ground truth"
    NOT_REACHED = "class not reached"
    NOTHING_FOUND = "nothing found"

    def __str__(self) -> str:
        return self.value

    @property
    def level(self) -> str:
        """How grave it is: ``"good"``, ``"caution"`` or ``"bad"``."""
        if self is Finding.TRUSTWORTHY:
            return "good"
        return "caution" if self in _CAUTIONS else "bad"


_CAUTIONS = (
    Finding.UNCHECKED,
    Finding.UNSPECIFIC,
    Finding.UNSTABLE,
    Finding.UNSOUND,
    Finding.OUT_OF_DISTRIBUTION,
)


@dataclass(frozen=True)
class Verdict:
    """A finding and the sentence that gives the reason for it."""

    finding: Finding
    reason: str


def verdict_on(
    explanation: Explanation, truth: str | None = None, random_mean: float | None = None
) -> Verdict:
    """Judge an explanation by its own numbers.

    Args:
        explanation: What to judge.
        truth: Class that the ground truth assigns to the most probable graph, where it is known.
        random_mean: Mean probability of random graphs of the same size, where it is known.
    """
    probability = explanation.probability
    if explanation.num_edges == 0:
        return Verdict(Finding.NOTHING_FOUND, "The most probable graph has no edges.")
    sure = f"The model gives samples a probability of {_share(probability.mean)} on average"
    if probability.mean < REACHED:
        return Verdict(Finding.NOT_REACHED, f"{sure}; this is not what the class looks like to it.")
    if truth is not None and truth != explanation.name:
        return Verdict(
            Finding.CONTRADICTION,
            f"The model is certain of \u201c{explanation.name}\u201d, but by the rule of the data "
            f"set the graph is \u201c{truth}\u201d.",
        )
    if random_mean is not None and random_mean >= REACHED:
        return Verdict(
            Finding.UNSPECIFIC,
            f"{sure}, but it gives random graphs of this size {_share(random_mean)}: the class is "
            "what it says of most graphs, and this one is nothing special.",
        )
    count = len(explanation.restarts)
    reached = sum(restart.mean_probability >= REACHED for restart in explanation.restarts)
    if reached < AGREEING_SHARE * count:
        return Verdict(
            Finding.UNSTABLE, f"{sure}, but only {reached} of {count} restarts reached the class."
        )
    if not explanation.restarts[explanation.choice].feasible:
        return Verdict(
            Finding.UNSOUND,
            f"{sure}, but the graph is in pieces, too small or over its size limit.",
        )
    percentile = explanation.similarity_percentile
    if percentile is None:
        return Verdict(
            Finding.UNCHECKED,
            f"{sure} and {reached} of {count} restarts agree; without data or class statistics "
            "nothing says whether real graphs look like this to it.",
        )
    if percentile < OUTLYING_PERCENTILE:
        return Verdict(
            Finding.OUT_OF_DISTRIBUTION,
            f"{sure}, but in its embedding the graph is farther from the class mean than "
            f"{100 - percentile:.0f}% of the real graphs are.",
        )
    unasked = " Whether it is right, no ground truth was asked." if truth is None else ""
    return Verdict(
        Finding.TRUSTWORTHY,
        f"{sure}; {reached} of {count} restarts reached the class; in its embedding the graph is "
        f"closer to the class mean than {percentile:.0f}% of the real graphs are.{unasked}",
    )


def _share(value: float) -> str:
    """A probability that never rounds up to certainty."""
    return "over 0.999" if value >= 0.9995 else f"{value:.3f}"
