"""Likeness to the class: cosine similarity to its mean embedding (paper, equation 1)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.objective.base import Iterate

__all__ = ["EmbeddingSimilarity"]


@dataclass(frozen=True)
class EmbeddingSimilarity:
    r"""The loss :math:`-\cos(\psi, \bar\psi_c)`; 0 where no class statistics are known."""

    name: str = "embedding similarity"
    per_sample: bool = True

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return [R, K]."""
        mean = iterate.goal.mean_embedding
        if mean is None:
            return iterate.logits.new_zeros(iterate.logits.shape[:2])
        return -torch.cosine_similarity(iterate.embedding, mean.unsqueeze(1), dim=2)
