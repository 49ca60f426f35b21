"""Distributions on as few candidate nodes as they need: most candidates never get an edge.

What is drawn for a node or pair does not depend on how many candidates there are, and a restart's
own nodes come first, so that a restart draws the same whatever the others need.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.batches import on_nodes
from gnninterpreter.distribution.distribution import GraphDistribution
from gnninterpreter.distribution.pairs import pair_ends, pair_places
from gnninterpreter.graphs import DenseGraphs

# An edge less probable than this is never drawn.
NEVER = 1e-7


@dataclass(frozen=True)
class Narrowing:
    """Some of the candidate nodes of each of R distributions, [R, n], needed ones first."""

    order: Tensor

    @classmethod
    def needed(cls, present: Tensor, spare: int = 0) -> Narrowing:
        """Keep as many as the largest needs, [R, N], and ``spare`` more where there are any."""
        most = min(max(int(present.sum(1).max()) + spare, 3), present.size(1))
        return cls(present.int().argsort(dim=1, descending=True, stable=True)[:, :most])

    @classmethod
    def of(cls, distribution: GraphDistribution) -> Narrowing:
        """Keep what has an edge now and then."""
        chance = distribution.to_dense(distribution.edge_probability.detach())
        return cls.needed((chance > NEVER).any(2) | (chance > NEVER).any(1))

    def _pairs(self, directed: bool, candidates: int) -> Tensor:
        """Place of each pair that is kept among all pairs, [R, m]."""
        i, j = pair_ends(self.order.size(1), directed, self.order.device)
        places = pair_places(candidates, directed, self.order.device)
        return places[self.order[:, i], self.order[:, j]]

    def narrowed(self, distribution: GraphDistribution) -> GraphDistribution:
        """The same distributions on the candidates that are kept."""
        spec = distribution.spec
        pairs = self._pairs(spec.directed, distribution.num_candidates)
        rows = torch.arange(len(pairs), device=pairs.device).unsqueeze(1)
        return GraphDistribution(
            spec,
            self.order.size(1),
            distribution.edge_logits[rows, pairs],
            tuple(logits[rows, self.order] for logits in distribution.node_logits),
            tuple(logits[rows, pairs] for logits in distribution.edge_feature_logits),
        )

    def widened(self, narrow: GraphDistribution, like: GraphDistribution) -> GraphDistribution:
        """The same distributions on all candidates; others as another has them."""
        pairs = self._pairs(narrow.spec.directed, like.num_candidates)
        rows = torch.arange(len(pairs), device=pairs.device).unsqueeze(1)
        blocks = len(narrow.spec.nodes)
        places = [pairs, *[self.order] * blocks, *[pairs] * len(narrow.spec.edges)]
        latents = [
            old.index_put((rows, place), new)
            for old, new, place in zip(like.latents(), narrow.latents(), places, strict=True)
        ]
        return like.with_latents(latents)

    def graphs(self, graphs: DenseGraphs) -> DenseGraphs:
        """The same graphs on the candidates that are kept."""
        return on_nodes(graphs, self.order)
