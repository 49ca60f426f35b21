"""How far a graph could be one of its class: by its embedding, or by structure and features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from gnninterpreter.errors import SpecError
from gnninterpreter.objective.base import Iterate, Proposals, Term
from gnninterpreter.typicality import BAR

# What being less like the class than is asked for counts for at all: as much as all edges together,
# so that no edge is saved at its expense.
UNLIKE = 0.1


@dataclass(frozen=True)
class Likeness(Term):
    r"""The loss :math:`-\cos(\psi, \bar\psi_c)` of equation 1; nothing where none is known.

    Differs from the paper on discrete graphs: being more like the class than the lowest tenth of
    its own graphs is not rewarded further.
    """

    name: ClassVar[str] = "embedding similarity"
    smooth: ClassVar[bool] = True

    def soft(self, iterate: Iterate) -> Tensor | None:
        """Return [R, K]."""
        alike = iterate.aim.likeness(iterate.scores.embedding)
        return None if alike is None else -alike

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """How far below the lowest tenth, [B].

        In units of how far the class itself spreads, so that 0.02 counts where graphs are alike to
        0.99 and does not where they are alike to 0.5.
        """
        if proposals.alike is None:
            return None
        least = proposals.aim.least_similarity
        behind = (least - proposals.similarity).clamp_min(0) / (1 - least + 1e-3)
        return behind.log1p() + UNLIKE * behind.gt(0)

    def met(self, proposals: Proposals) -> Tensor | None:
        """None: whether a graph could be one of its class is for typicality to say."""
        return None

    def guide(self, proposals: Proposals) -> Tensor | None:
        """How far from the class mean, [B]: graphs on the way look more and more like it."""
        return None if proposals.alike is None else 1 - proposals.similarity


@dataclass(frozen=True)
class Typical(Term):
    """How far a graph is from being as typical of its class as ``bar`` percent of the real graphs.

    Not in the paper, which looks for what a model is certain of and finds its blind spots. Nothing
    where no real graphs are known.
    """

    bar: float = BAR

    name: ClassVar[str] = "typicality"
    costly: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.bar <= 100:
            raise SpecError(f"bar must be between 0 and 100 (got {self.bar!r})")

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """What is missing to the bar, [B]."""
        return proposals.untypical(self.bar)
