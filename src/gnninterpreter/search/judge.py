"""The judge: how good discrete graphs are as explanations, in one number.

The same judgement keeps the best state of the gradient search, guides the local search and chooses
among restarts. It is lexicographic in spirit: class probability first, up to near certainty; then a
graph that holds together within the size limit; then likeness to the class; then fewer edges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.objective import Goal
from gnninterpreter.relax import RelaxedModel

__all__ = ["Judge", "Judgement"]

CERTAIN = math.log(0.9999)
FEWEST_NODES = 3

# What being over a limit at all counts for, in units of its excess: by less than one edge, too, a
# graph over its limit is no result.
OVER_LIMIT = 0.05
# The same for being less like the class than is asked for: as much as all edges together count, so
# that no edge is saved at its expense.
UNLIKE = 0.1

PROBABILITY_WEIGHT = 200.0
STRUCTURE_WEIGHT = 20.0
SIMILARITY_WEIGHT = 2.0
SIZE_WEIGHT = 0.2


@dataclass(frozen=True)
class Judgement:
    """What was found about B discrete graphs; every field has shape [B]."""

    cost: Tensor
    probability: Tensor
    similarity: Tensor
    edges: Tensor
    nodes: Tensor
    sound: Tensor
    """Whether the graph is connected, has three nodes or more and keeps to the size limit."""
    structure: Tensor
    """How far from that it is; 0 where it is sound."""


class Judge:
    """Scores discrete graphs against a goal.

    Args:
        classifier: The native model.
        relaxed: The relaxed one where the probe has passed. On discrete graphs it says the same,
            and is asked where that is faster: by products of matrices, or on a GPU, which would
            wait for a native batch to be put together. None always asks the native one.
    """

    def __init__(self, classifier: GraphClassifier, relaxed: RelaxedModel | None) -> None:
        """Ask a model."""
        self.classifier = classifier
        self.relaxed = relaxed
        self.asks_native = relaxed is None or (
            classifier.device.type == "cpu" and not relaxed.products_only
        )

    @torch.no_grad()
    def __call__(self, graphs: DenseGraphs, goal: Goal) -> Judgement:
        """Judge B graphs, each against its own goal (fields of shape [B])."""
        scores = self._score(graphs)
        logs, similarity, cost = _soft_parts(scores, goal)
        edges, nodes = graphs.num_edges, graphs.num_nodes
        excess = (edges / goal.max_edges - 1).clamp_min(0) + (nodes / goal.max_nodes - 1).clamp_min(
            0
        )
        reached, present = graphs.main_component()
        loose = (present & ~reached).sum(dim=1)
        small = (FEWEST_NODES - nodes).clamp_min(0)
        # A constant for being over a limit or in pieces at all, and something for how far.
        structure = excess + OVER_LIMIT * excess.gt(0) + 0.2 * loose.gt(0) + 0.05 * loose + small
        cost = cost + STRUCTURE_WEIGHT * structure + SIZE_WEIGHT * edges / goal.max_edges
        sound = (loose == 0) & (excess <= 0) & (small <= 0)
        return Judgement(cost, logs.exp(), similarity, edges, nodes, sound, structure)

    def soft_cost(self, graphs: DenseGraphs, goal: Goal) -> Tensor:
        """The differentiable part of the cost, from the relaxed model; [B]."""
        assert self.relaxed is not None
        return _soft_parts(self.relaxed(graphs), goal)[2]

    def _score(self, graphs: DenseGraphs) -> Scores:
        if self.relaxed is None or self.asks_native:
            return self.classifier.score(graphs)
        scores = self.relaxed(graphs)
        # The native model cannot be asked about a graph without edges, so there is no score either.
        nothing = graphs.empty.unsqueeze(1)
        return Scores(
            scores.logits.masked_fill(nothing, torch.nan),
            scores.embedding.masked_fill(nothing, torch.nan),
        )


def _soft_parts(scores: Scores, goal: Goal) -> tuple[Tensor, Tensor, Tensor]:
    """Log-probability, similarity, and what they cost; [B] each."""
    logs = scores.log_probabilities.gather(1, goal.target.unsqueeze(1)).squeeze(1)
    logs = logs.nan_to_num(nan=-100.0).clamp_min(-100.0)
    similarity = torch.ones_like(logs)
    if goal.mean_embedding is not None:
        similarity = torch.cosine_similarity(scores.embedding, goal.mean_embedding)
        similarity = similarity.nan_to_num(nan=-1.0)
    # In units of how far the class itself spreads, so that 0.02 counts where graphs are alike to
    # 0.99 and does not where they are alike to 0.5.
    behind = (goal.similarity - similarity).clamp_min(0) / (1 - goal.similarity + 1e-3)
    unlike = behind.log1p() + UNLIKE * behind.gt(0)
    cost = PROBABILITY_WEIGHT * (CERTAIN - logs).clamp_min(0) + SIMILARITY_WEIGHT * unlike
    return logs, similarity, cost
