"""How far look-alikes of one graph pass for a class: the figures, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass

from torch_geometric.data import Data

from gnninterpreter.audit.findings import Severity

__all__ = ["FlipRate", "Passing"]

HIGH, MEDIUM, LOW = 0.5, 0.2, 0.05
FOOLING = 0.5
# One or two hosts more than random graphs win are no finding, however few hosts there are; one or
# two look-alikes that pass by themselves are a small one.
LEAST = 3


@dataclass(frozen=True)
class FlipRate:
    """How often a part, joined by one edge, makes the model say a class that is not there.

    Args:
        part: What was joined.
        rate: Share of the hosts for which the model now says the class, and is wrong by the rule
            (where there is none: now says the class).
        says: Share for which it now says the class, rightly or not.
        count: Number of hosts.
        fooled: The joined graphs on which it is wrong, with their true class where known.
    """

    part: Data
    rate: float
    says: float
    count: int
    fooled: tuple[Data, ...]


@dataclass(frozen=True)
class Passing:
    """What the rates of one source come to.

    Args:
        rates: Of each look-alike, the highest first.
        controls: Of random graphs of the size of the strongest.
        control: The highest of them.
        original: That of the source itself.
        what: What the source is, in words.
        name: The class.
        alone: Whether they were asked about as they are, rather than joined to others.
    """

    rates: list[FlipRate]
    controls: list[FlipRate]
    control: FlipRate
    original: FlipRate
    what: str
    name: str
    alone: bool

    @property
    def fooling(self) -> int:
        """How many look-alikes pass more often than not."""
        return sum(one.rate >= FOOLING for one in self.rates)

    @property
    def rate(self) -> float:
        """Rate of the strongest; alone, the share that passes."""
        return self.fooling / len(self.rates) if self.alone else self.rates[0].rate

    @property
    def chance(self) -> float:
        """The same of random graphs."""
        if self.alone:
            return sum(one.rate >= FOOLING for one in self.controls) / len(self.controls)
        return self.control.rate

    @property
    def severity(self) -> Severity | None:
        """By how far they pass more often than random graphs do."""
        excess = self.rate - self.chance
        if not self.alone and excess * self.original.count < LEAST - 1e-9:
            return None
        levels = ((HIGH, Severity.HIGH), (MEDIUM, Severity.MEDIUM), (LOW, Severity.LOW))
        found = next((level for least, level in levels if excess >= least), None)
        few = self.alone and len(self.rates) < LEAST
        return found.at_most(Severity.LOW) if found is not None and few else found

    @property
    def short(self) -> str:
        """What was asked and answered, in a short sentence."""
        told = f"{self.fooling} of {len(self.rates)}"
        if not self.alone:
            told += f" on most of {self.original.count} hosts, the strongest on {self.rate:.0%}"
        return (
            f"{self.what}: look-alikes that pass for \u201c{self.name}\u201d: {told}; random "
            f"graphs: {self.chance:.0%}"
        )

    def sentence(self, made: dict[str, int], ruled: bool) -> str:
        """Say what was done and found, why it matters, and what to do.

        Args:
            made: Number of look-alikes of each family.
            ruled: Whether a rule says that they are not of the class.
        """
        total = len(self.rates)
        listed = ", ".join(_counted(count, family) for family, count in made.items())
        text = (
            f"{total} {'graph was' if total == 1 else 'graphs were'} made whose nodes see the same "
            f"neighbours as in {self.what} ({listed})"
        )
        text += "; by the rule none of them is one. " if ruled else ". "
        if self.alone:
            text += (
                f"The model takes {self.fooling} of them for \u201c{self.name}\u201d, against "
                f"{self.chance:.0%} of random graphs of their size."
            )
        else:
            text += (
                f"Each was joined by one edge to {self.original.count} graphs of other classes. "
                f"With the strongest the model says \u201c{self.name}\u201d of {self.rate:.0%}; "
                f"{self.fooling} of {total} win at least half. For comparison: random graphs of "
                f"that size win {self.chance:.0%} at most, {self.what} itself "
                f"{self.original.says:.0%}."
            )
        if self.rate >= FOOLING:
            text += " So the model goes by what nodes see around them, not by the pattern."
        else:
            text += " So what nodes see around them is enough, now and then, to mislead it."
        if ruled:
            return (
                text
                + " Train with these graphs, which come with the audit, or check for the pattern."
            )
        return text + " There is no rule to say which of them is right: look at the pictures."


def _counted(count: int, family: str) -> str:
    """A number of look-alikes of a family, whose name begins with a plural."""
    if count == 1:
        family = family.replace("covers", "cover").replace("switches", "switch")
    return f"{count} {family}"
