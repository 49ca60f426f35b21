"""The class score: how sure the model is of the target class (paper, equation 1, first term)."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.objective.base import Iterate

__all__ = ["ClassLogProbability", "ClassScore"]


@dataclass(frozen=True)
class ClassScore:
    r"""The raw score before the softmax, :math:`-\phi_c`, as the paper has it.

    A raw score can grow without end while another class's grows faster; `ClassLogProbability` does
    not have that flaw.
    """

    name: str = "class score"
    per_sample: bool = True

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R, K]."""
        return -iterate.logits.gather(2, iterate.target_index).squeeze(2)


@dataclass(frozen=True)
class ClassLogProbability:
    r"""The log-probability of the class, :math:`-\log p_c`.

    Differs from the paper: it maximises the raw score. The log-probability saturates once the model
    is sure, which leaves room for the other terms, and its scale does not depend on the model's.
    """

    name: str = "class log-probability"
    per_sample: bool = True

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R, K]."""
        logs = iterate.logits.log_softmax(dim=2)
        return -logs.gather(2, iterate.target_index).squeeze(2)
