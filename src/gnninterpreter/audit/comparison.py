"""Look-alikes of one graph against random graphs of the same sizes: figures, and their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.audit.findings import MOSTLY, Severity, told

LARGEST_P = 0.02
# One or two hosts more than random graphs win are no finding, however few hosts there are; one or
# two look-alikes that pass by themselves are a small one.
LEAST = 3


@dataclass(frozen=True)
class Flips:
    """How often a part, joined by one edge to ``count`` hosts, makes the model say a class.

    It says so of ``says`` hosts, rightly or not. ``fooled`` are the joined graphs for which the
    rule does not (where there is none: all of them), with their class where that is known.
    """

    part: Data
    says: int
    count: int
    fooled: tuple[Data, ...]

    @property
    def rate(self) -> float:
        """Share of the hosts on which the model is fooled."""
        return len(self.fooled) / max(self.count, 1)


def matched_p_value(sets: Sequence[Sequence[int]]) -> float:
    """Probability of a sum as high as that of the first numbers, were they like the others.

    A permutation test on matched sets: if in each set any number could as well have been the first,
    the sum of one number drawn from each set is as high as this with the probability returned. It
    is exact, since the sums of all draws are counted.

    Example:
        >>> matched_p_value([[3, 0, 1, 2]])
        0.25
    """
    chance = np.ones(1)
    for counts in sets:
        chance = np.convolve(chance, np.bincount(counts) / len(counts))
    observed = sum(counts[0] for counts in sets)
    return float(min(chance[observed:].sum(), 1.0))


@dataclass(frozen=True)
class Comparison:
    """What the flips of look-alikes of one source come to.

    There are as many random graphs of the same size for each, the controls. ``alone`` where they
    were asked about as they are, rather than joined to others.
    """

    flips: Sequence[Flips]
    controls: Sequence[Sequence[Flips]]
    original: Flips
    what: str
    name: str
    alone: bool

    @property
    def ranked(self) -> list[Flips]:
        """The look-alikes, the strongest first."""
        return sorted(self.flips, key=lambda one: -one.rate)

    @property
    def fooling(self) -> int:
        """How many look-alikes pass more often than not."""
        return sum(one.rate >= MOSTLY for one in self.flips)

    @property
    def rate(self) -> float:
        """Mean rate of the look-alikes."""
        return mean_rate(self.flips)

    @property
    def chance(self) -> float:
        """Mean rate of the random graphs."""
        return mean_rate([one for matched in self.controls for one in matched])

    @property
    def p_value(self) -> float:
        """How probable so many flips are, were look-alikes like random graphs of their size."""
        counts = [
            [len(first.fooled), *(len(one.fooled) for one in rest)]
            for first, rest in zip(self.flips, self.controls, strict=True)
        ]
        return matched_p_value(counts)

    @property
    def severity(self) -> Severity | None:
        """By how much they pass more often than random graphs do; None where that may be chance."""
        excess = self.rate - self.chance
        if not self.alone and excess * self.original.count < LEAST - 1e-9:
            return None
        found = Severity.of_share(excess)
        if found is None or self.p_value > LARGEST_P:
            return None
        return found.at_most(Severity.LOW) if self.alone and len(self.flips) < LEAST else found

    @property
    def short(self) -> str:
        """What was asked and answered, in a short sentence."""
        passing = f"{self.fooling} of {len(self.flips)}"
        if not self.alone:
            passing += f" on most of {self.original.count} hosts, on {self.rate:.0%} on average"
        return (
            f"{self.what}: look-alikes that pass for \u201c{self.name}\u201d: {passing}; random "
            f"graphs: {self.chance:.0%}"
        )

    def sentence(self, made: dict[str, int], rule: str | None) -> str:
        """Say what was done and found, why it matters, and what to do."""
        listed = ", ".join(_counted(count, family) for family, count in made.items())
        return told("lookalike", found=self, listed=listed, rule=rule, mostly=MOSTLY)


def mean_rate(flips: Sequence[Flips]) -> float:
    """Mean share of the hosts on which the model is fooled."""
    return sum(one.rate for one in flips) / len(flips)


def _counted(count: int, family: str) -> str:
    """A number of look-alikes of a family, whose name begins with a plural."""
    if count == 1:
        family = family.replace("covers", "cover").replace("switches", "switch")
    return f"{count} {family}"
