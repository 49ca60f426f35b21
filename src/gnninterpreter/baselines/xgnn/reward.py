"""XGNN's reward of one action, in the paper's form and in that of its reference code."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.errors import SpecError

FORMS = ("paper", "reference")
STEP_BONUS, INVALID, INVALID_ROLLOUT = 0.1, -1.0, -0.1


@dataclass(frozen=True)
class Reward:
    """What one action is worth.

    With ``f(G) = p_c(G) - 1/l`` for l classes, the paper's form is
    ``f(G') + rollout_weight * mean f(rollouts of G') - rule_weight * [rule broken]``.
    The reference code's form is ``0.1 + f(G') + 2 * mean f(rollouts)`` for a legal action, in which
    a rollout that breaks a rule counts as -0.1, and -1 for any other.

    Args:
        num_classes: Number of classes l.
        form: ``"paper"`` or ``"reference"``.
        rollout_weight: Weight of the rollouts in the paper's form, lambda 1.
        rule_weight: Weight of a broken rule in it, lambda 2.
    """

    num_classes: int
    form: str = "paper"
    rollout_weight: float = 1.0
    rule_weight: float = 2.0

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SpecError(f"reward must be one of {', '.join(FORMS)} (got {self.form!r})")

    def __call__(
        self, probability: Tensor, rollouts: Tensor, legal: Tensor, broken: Tensor
    ) -> Tensor:
        """Return the reward of each action, [B].

        From the class probability after it, [B], and at the end of each rollout from there, [B, R];
        whether it broke no rule, [B]; and which rollouts ended by breaking one, [B, R].
        """
        chance = 1.0 / self.num_classes
        now, later = probability - chance, rollouts - chance
        if self.form == "paper":
            value = now + self.rollout_weight * later.mean(1)
            return value - self.rule_weight * (~legal).to(value)
        later = later.masked_fill(broken, INVALID_ROLLOUT)
        value = STEP_BONUS + now + 2.0 * later.mean(1)
        return value.masked_fill(~legal, INVALID)
