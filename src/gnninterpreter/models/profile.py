"""What real graphs of one target look like, in figures: size, likeness, certainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.equality import ByValue
from gnninterpreter.typicality import Typicality

QUANTILES = 101
TENTH = 10
CERTAIN = 0.99
# Being certain means more than this even of models that are rarely sure.
HARDLY = 0.05
# What another order of the same sums may change: a model can give all graphs one score.
ROUNDING = 1e-6
# Candidate nodes of classes whose graphs are tiny, and what a picture can show at the most.
LEAST_NODES, MOST_NODES = 5, 24


@dataclass(frozen=True, eq=False)
class Profile(ByValue):
    """What real graphs of one target look like.

    The mean embedding, [D], is None where graphs of several kinds are meant. Quantiles, [101], are
    of the similarity to it and of what the model gives the graphs, None where that is no
    probability.
    """

    count: int
    mean_nodes: float
    mean_edges: float
    mean_embedding: Tensor | None = None
    similarity_quantiles: Tensor | None = None
    score_quantiles: Tensor | None = None
    typicality: Typicality | None = None

    @property
    def certain(self) -> float:
        """Score that counts as certain: 0.99, or that of the top tenth of real graphs.

        The latter where the model is that sure of fewer than half of them: there a score of 0.99 is
        itself a sign of being unlike anything real. A model that says the class of no graph is not
        taken at its word.
        """
        top = max(HARDLY, float(self._scores[90]) - ROUNDING)
        return min(CERTAIN, top) if self.rarely_sure else CERTAIN

    @property
    def enough(self) -> float:
        """Score beyond which more is no gain: halfway to the most that can be expected."""
        most = float(self._scores[99]) if self.rarely_sure else 1.0
        return self.certain + max(most - self.certain, 0.0) / 2

    @property
    def rarely_sure(self) -> bool:
        """Whether the model gives fewer than half of the real graphs 0.99."""
        return float(self._scores[50]) < CERTAIN

    @property
    def _scores(self) -> Tensor:
        """Quantiles of the scores; of one that is always sure where they are not known."""
        known = self.score_quantiles
        return torch.ones(QUANTILES) if known is None or bool(known.isnan().any()) else known

    @property
    def most_nodes(self) -> int:
        """Most nodes of an explanation: as many as graphs that it is compared with may have."""
        usual = picture_nodes(self.mean_nodes)
        if self.typicality is None:
            return usual
        return max(usual, self.typicality.exemplars.graphs.num_candidates)

    @property
    def usual_edges(self) -> float:
        """The mean number of edges, or the most that is usual among graphs compared with."""
        if self.typicality is None:
            return self.mean_edges
        return max(self.mean_edges, float(self.typicality.bank.limits[3]))

    @property
    def least_similarity(self) -> float:
        """Similarity below which a graph counts as unlike the class: its lowest tenth."""
        if self.similarity_quantiles is None:
            return -1.0
        return float(self.similarity_quantiles[TENTH])

    def similarity_percentile(self, similarity: float) -> float | None:
        """Share of real graphs less similar to the class mean than this, in percent."""
        return percentile_of(self.similarity_quantiles, similarity)

    def score_percentile(self, score: float) -> float | None:
        """Share of real graphs that the model gives less than this, in percent."""
        return percentile_of(self.score_quantiles, score)


def percentile_of(quantiles: Tensor | None, value: float) -> float | None:
    """Share of what quantiles are of that is less, in percent; None where they are not known."""
    if quantiles is None or bool(torch.isnan(quantiles).any()):
        return None
    return 100.0 * float((quantiles < value).sum()) / QUANTILES


def picture_nodes(mean_nodes: float) -> int:
    """Most nodes of an explanation: the mean of its class, within what a picture can show."""
    return min(max(math.ceil(mean_nodes), LEAST_NODES), MOST_NODES)
