"""What an objective term is: a number for each restart, to be made small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor

from gnninterpreter.distribution import GraphDistribution

__all__ = ["Goal", "Iterate", "Term"]


@dataclass(frozen=True)
class Goal:
    """What each of R restarts is after.

    Args:
        target: Class to reach, [R].
        mean_embedding: Mean embedding of that class, [R, D]; None where no statistics are known.
        max_edges: Most edges an explanation may have (the paper's budget B), [R].
        max_nodes: Most nodes it may have, [R].
        similarity: Similarity to the class mean below which a graph counts as out of distribution,
            [R]: the lowest tenth of the class's own graphs lies below it.
    """

    target: Tensor
    mean_embedding: Tensor | None
    max_edges: Tensor
    max_nodes: Tensor
    similarity: Tensor

    def select(self, index: Tensor) -> Goal:
        """Return the goals of some restarts."""
        mean = None if self.mean_embedding is None else self.mean_embedding[index]
        return Goal(
            self.target[index],
            mean,
            self.max_edges[index],
            self.max_nodes[index],
            self.similarity[index],
        )


@dataclass(frozen=True)
class Iterate:
    """All that a term may look at in one iteration.

    Args:
        distribution: The R distributions.
        logits: Class scores of the K samples of each restart, [R, K, C].
        embedding: Their embeddings, [R, K, D].
        goal: What the restarts are after.
    """

    distribution: GraphDistribution
    logits: Tensor
    embedding: Tensor
    goal: Goal

    @property
    def target_index(self) -> Tensor:
        """The target as an index into the class dimension of ``logits``, [R, K, 1]."""
        return self.goal.target.view(-1, 1, 1).expand(-1, self.logits.size(1), 1)


class Term(Protocol):
    """One term of the objective.

    Terms are losses: the loop makes their weighted sum small. ``per_sample`` terms return [R, K]
    and are averaged over the samples (equation 6); the others look at the distribution and return
    [R].
    """

    @property
    def name(self) -> str:
        """Name in histories and reports."""

    @property
    def per_sample(self) -> bool:
        """Whether there is a loss for each sample."""

    def __call__(self, iterate: Iterate) -> Tensor:
        """Return the loss of each restart, or of each sample of each restart."""
