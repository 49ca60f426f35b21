"""The objective: how good a graph is as an answer, said once and used by everything.

It is an ordered list of weighted terms: certain, then whole, then like its class, then small. The
gradient, walks, local search, calibration, stopping, keeping and ranking all ask it. The order is
in the weights: the least step of an earlier term outweighs all of a later one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.arguments import real_number
from gnninterpreter.errors import SpecError
from gnninterpreter.objective.base import Iterate, Proposals, Term
from gnninterpreter.objective.schedules import Constant, Schedule
from gnninterpreter.recording import recording

MOST_WEIGHT = 1e12

# Cost of a graph that was left out, above that of any other.
UNASKED = 1e4


@dataclass(frozen=True)
class Weighted:
    """A term and how much it counts.

    Args:
        term: The term.
        soft: Weight of its soft reading at each iteration; a number is constant.
        discrete: Weight of its discrete reading.
        guide: Weight of its guide for walks; that of the discrete reading when omitted.
    """

    term: Term
    soft: Schedule | float = 1.0
    discrete: float = 1.0
    guide: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.term, Term):
            raise SpecError(
                "a term must be a subclass of gnninterpreter.objective.Term "
                f"(got {type(self.term).__name__})"
            )
        if not callable(self.soft):
            weight = real_number("soft weight of a term", self.soft, -MOST_WEIGHT, MOST_WEIGHT)
            object.__setattr__(self, "soft", Constant(weight))
        for name in ("discrete", "guide"):
            value = getattr(self, name)
            if value is not None:
                real_number(f"{name} weight of a term", value, 0, MOST_WEIGHT)

    def soft_weight(self, iteration: int, iterations: int) -> float:
        """Weight of the soft reading at an iteration."""
        assert not isinstance(self.soft, float)
        return self.soft(iteration, iterations)


@dataclass(frozen=True)
class Objective:
    """Weighted terms, the most important first.

    Example:
        >>> from gnninterpreter.objective import Certainty, Size
        >>> objective = Objective((Weighted(Certainty(), discrete=200.0), Weighted(Size())))
        >>> objective.slack
        1.0
    """

    terms: tuple[Weighted, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        for weighted in self.terms:
            if not isinstance(weighted, Weighted):
                raise SpecError(f"terms must be Weighted terms (got {weighted!r:.60})")
        names = [weighted.term.name for weighted in self.terms]
        if not names:
            raise SpecError("terms is empty; an objective needs at least one, such as Certainty()")
        if len(set(names)) != len(names):
            raise SpecError(f"terms must have different names (got {', '.join(names)})")

    @property
    def slack(self) -> float:
        """Cost that mere preferences may have together: below it nothing required is missing."""
        return sum(w.discrete for w in self.terms if not w.term.required)

    def without(self, name: str) -> Objective:
        """The same without one of its terms."""
        return Objective(tuple(w for w in self.terms if w.term.name != name))

    def losses(self, iterate: Iterate, iteration: int, iterations: int) -> dict[str, Tensor]:
        """Weighted soft readings by name, each [R, K] or [R]."""
        found = {}
        for weighted in self.terms:
            weight = weighted.soft_weight(iteration, iterations)
            value = weighted.term.soft(iterate) if weight != 0.0 else None
            if value is not None:
                found[weighted.term.name] = weight * value
        if not any(value.dim() == 2 for value in found.values()):
            raise SpecError(
                "no term looks at the model's scores, so the gradient has nothing to follow; "
                "add Certainty() or RawScore()"
            )
        return found

    def cost(
        self, proposals: Proposals, smooth: bool = False, bound: Tensor | None = None
    ) -> Tensor:
        """Weighted sum of the discrete readings, [B]; ``smooth``: of terms with a slope alone.

        Above ``bound``, [B], a graph is of no interest: terms that take long are not asked about
        it, and it costs a great deal.
        """
        terms = [w for w in self.terms if w.discrete and (w.term.smooth or not smooth)]
        late = [w for w in terms if w.term.costly]
        total = _costs(proposals, [w for w in terms if not w.term.costly])
        if not late or bound is None or recording():
            return total + _costs(proposals, late)
        rows = (total <= bound).nonzero().squeeze(1)
        rest = torch.full_like(total, UNASKED)
        if rows.numel():
            rest[rows] = _costs(proposals.select(rows), late)
        return total + rest

    def met(self, proposals: Proposals) -> Tensor:
        """Which graphs leave nothing required to be desired, [B]."""
        return self._all(proposals, [w.term.met for w in self.terms if w.discrete])

    def energy(self, proposals: Proposals, emphasis: Mapping[str, Tensor] | None = None) -> Tensor:
        """Weighted sum of the guides, [B], that walks lower; ``emphasis`` are factors by term."""
        found = []
        for weighted in self.terms:
            weight = weighted.discrete if weighted.guide is None else weighted.guide
            value = weighted.term.guide(proposals) if weight else None
            if value is not None and emphasis and weighted.term.name in emphasis:
                value = emphasis[weighted.term.name] * value
            found.append((weight, value))
        return _total(proposals, found)

    def feasible(self, proposals: Proposals) -> Tensor:
        """Which graphs every term allows, [B]."""
        return self._all(proposals, [w.term.feasible for w in self.terms])

    def _all(
        self, proposals: Proposals, asked: list[Callable[[Proposals], Tensor | None]]
    ) -> Tensor:
        allowed = torch.ones_like(proposals.edges, dtype=torch.bool)
        for ask in asked:
            mask = ask(proposals)
            if mask is not None:
                allowed = allowed & mask
        return allowed


def _costs(proposals: Proposals, terms: list[Weighted]) -> Tensor:
    return _total(proposals, [(w.discrete, proposals.cost_of(w.term)) for w in terms])


def _total(proposals: Proposals, parts: list[tuple[float, Tensor | None]]) -> Tensor:
    total = torch.zeros_like(proposals.log_score)
    for weight, value in parts:
        if value is not None:
            total = total + weight * value
    return total
