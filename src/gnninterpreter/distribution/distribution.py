"""The explanation itself: a probability distribution over graphs (paper, section 4.2, equation 2).

Edges are independent Bernoulli variables, categories independent Categorical ones, continuous
features plain numbers. Every latent tensor carries a leading restart dimension: R explainers are
one batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.distribution import features
from gnninterpreter.distribution.features import Places
from gnninterpreter.distribution.pairs import draw_places, pair_ends
from gnninterpreter.distribution.streams import Streams
from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.encoding import block_widths, split_blocks


@dataclass(eq=False)
class GraphDistribution(Alike, ByValue):
    """R distributions over graphs on the same N candidate nodes.

    Args:
        spec: What the features mean.
        num_candidates: Number of candidate nodes N.
        edge_logits: Omega of the paper, [R, M]; M is N(N-1)/2, or N(N-1) for directed graphs.
        node_logits: Xi, one tensor [R, N, k] for each node block. For a continuous block the latent
            numbers, squeezed into the block's bounds by a sigmoid.
        edge_feature_logits: H, one tensor [R, M, k] for each edge block.
    """

    spec: GraphSpec
    num_candidates: int
    edge_logits: Tensor
    node_logits: tuple[Tensor, ...]
    edge_feature_logits: tuple[Tensor, ...] = ()

    def __post_init__(self) -> None:
        if self.num_candidates < 2:
            raise SpecError(f"max_nodes must be at least 2 (got {self.num_candidates})")
        expected = self.num_pairs(self.spec, self.num_candidates)
        if self.edge_logits.dim() != 2 or self.edge_logits.size(1) != expected:
            raise SpecError(
                f"edge_logits must have shape [R, {expected}] (got {list(self.edge_logits.shape)})"
            )

    @staticmethod
    def num_pairs(spec: GraphSpec, num_candidates: int) -> int:
        """Number of candidate edges M."""
        ordered = num_candidates * (num_candidates - 1)
        return ordered if spec.directed else ordered // 2

    @staticmethod
    def latent_widths(blocks: Sequence[Block]) -> list[int]:
        """Number of latent columns of each block."""
        return block_widths(blocks)

    @property
    def restarts(self) -> int:
        """Number of distributions R."""
        return self.edge_logits.size(0)

    def latents(self) -> list[Tensor]:
        """All latent tensors, edges first."""
        return [self.edge_logits, *self.node_logits, *self.edge_feature_logits]

    def with_latents(self, latents: Sequence[Tensor]) -> GraphDistribution:
        """Return the same distribution with other latent tensors, in the order of `latents`."""
        blocks = len(self.spec.nodes)
        return GraphDistribution(
            self.spec,
            self.num_candidates,
            latents[0],
            tuple(latents[1 : 1 + blocks]),
            tuple(latents[1 + blocks :]),
        )

    def each(self, change: Callable[..., Tensor], *others: GraphDistribution) -> GraphDistribution:
        """Change all latent tensors alike, with those of other distributions."""
        every = (one.latents() for one in (self, *others))
        return self.with_latents([change(*alike) for alike in zip(*every, strict=True)])

    def detach(self) -> GraphDistribution:
        """Return a copy that shares nothing with this one."""
        return self.each(lambda latent: latent.detach().clone())

    @property
    def edge_probability(self) -> Tensor:
        """Theta = sigmoid(Omega), [R, M]."""
        return self.edge_logits.sigmoid()

    @property
    def expected_edges(self) -> Tensor:
        """Expected number of edges, [R]."""
        return self.edge_probability.sum(dim=1)

    def entropy(self) -> Tensor:
        """Entropy in bits, [R], of the edges and of the features they touch.

        0 for a distribution that has collapsed to one graph; an edge with probability one half, or
        a present node with an even choice between two categories, adds 1.
        """
        theta = self.edge_probability
        bits = _bernoulli_bits(self.edge_logits).sum(dim=1)
        # Sums of logarithms: the slope of a product looks for zeros, and waits for a GPU.
        missing = self.to_dense(torch.nn.functional.logsigmoid(-self.edge_logits))
        absence = missing.sum(dim=2)
        if self.spec.directed:
            absence = absence + missing.sum(dim=1)
        presence = 1 - absence.exp()
        for blocks, latents, there in (
            (self.spec.nodes, self.node_logits, presence),
            (self.spec.edges, self.edge_feature_logits, theta),
        ):
            for block, logits in zip(blocks, latents, strict=True):
                if isinstance(block, Categorical):
                    bits = bits + (features.categorical_bits(logits) * there).sum(dim=1)
        return bits

    def relaxed(self, samples: int, temperature: float, streams: Streams) -> DenseGraphs:
        """Draw R * K Concrete samples (equation 5), those of one restart beside each other."""
        dtype, pairs = self.edge_logits.dtype, self.edge_logits.size(1)
        noise = streams.logistic(samples, pairs, dtype=dtype, places=self._places(samples)[1](1))
        weight = ((self.edge_logits.unsqueeze(1) + noise) / temperature).sigmoid()

        def values(block: Block, logits: Tensor, places: Places) -> Tensor:
            return features.relaxed_values(block, logits, samples, temperature, streams, places)

        return self._assemble(weight, values, samples)

    def discrete(self, samples: int, streams: Streams, jitter: float = 0.0) -> DenseGraphs:
        """Draw Bernoulli / Categorical graphs: R * n, those of one restart beside each other.

        Jitter is noise on the latents of continuous features, for the score-function gradient,
        which needs them to vary.
        """
        with torch.no_grad():
            places = self._places(samples)[1](1)
            u = streams.uniform(samples, self.edge_logits.size(1), places=places)
            weight = (u < self.edge_probability.unsqueeze(1)).to(self.edge_logits.dtype)

            def values(block: Block, logits: Tensor, places: Places) -> Tensor:
                return features.drawn_values(block, logits, samples, streams, places, jitter)

            return self._assemble(weight, values, samples)

    def mode(self) -> DenseGraphs:
        """Return the most probable graph of each restart: R discrete graphs."""
        with torch.no_grad():
            weight = self.edge_logits.gt(0).to(self.edge_logits.dtype).unsqueeze(1)
            return self._assemble(
                weight,
                lambda block, logits, _: features.most_probable_values(block, logits).unsqueeze(1),
            )

    def log_probability(self, graphs: DenseGraphs, jitter: float = 0.0) -> Tensor:
        """Log-probability of discrete graphs under their restart, differentiable, [R, K].

        Without the jitter that they were drawn with continuous features have no density.
        """
        shape = (self.restarts, len(graphs) // self.restarts)
        present = self.to_pairs(graphs.weight).view(*shape, -1)
        total = (present * self.edge_logits.unsqueeze(1)).sum(-1)
        total = total - torch.nn.functional.softplus(self.edge_logits).sum(-1, keepdim=True)
        parts = [(self.spec.nodes, self.node_logits, graphs.nodes)]
        if graphs.edges is not None:
            parts.append((self.spec.edges, self.edge_feature_logits, self.to_pairs(graphs.edges)))
        for blocks, latents, values in parts:
            columns = split_blocks(values.view(*shape, *values.shape[1:]), blocks)
            for block, latent, value in zip(blocks, latents, columns, strict=True):
                if isinstance(block, Categorical):
                    terms = value * latent.log_softmax(-1).unsqueeze(1)
                elif jitter and not block.constant:
                    distance = features.latent_of(block, value) - latent.unsqueeze(1)
                    if block.whole:  # what was rounded has no density
                        whole = features.whole_columns(block.whole, distance.device)
                        distance = distance.masked_fill(whole, 0.0)
                    terms = -0.5 * (distance / jitter).square()
                else:
                    continue
                total = total + terms.sum(dim=(-1, -2))
        return total

    def _places(self, samples: int) -> tuple[Places, Places]:
        """Which numbers are drawn for nodes and for pairs: not others on more candidates."""
        n, directed, device = self.num_candidates, self.spec.directed, self.edge_logits.device
        return (
            lambda width: draw_places(n, None, samples, width, device),
            lambda width: draw_places(n, directed, samples, width, device),
        )

    def _assemble(
        self, weight: Tensor, values: Callable[[Block, Tensor, Places], Tensor], samples: int = 1
    ) -> DenseGraphs:
        """Put weights and values of blocks, [R, K, M or N, ...], together into dense graphs."""
        spec, (of_nodes, of_pairs) = self.spec, self._places(samples)
        square = self.to_dense(weight.flatten(0, 1))
        nodes, pairs = (
            [values(*one, places).flatten(0, 1) for one in zip(blocks, latents, strict=True)]
            for blocks, latents, places in (
                (spec.nodes, self.node_logits, of_nodes),
                (spec.edges, self.edge_feature_logits, of_pairs),
            )
        )
        edges = self.to_dense(torch.cat(pairs, dim=-1)) if pairs else None
        return DenseGraphs(spec, square, torch.cat(nodes, dim=-1), edges)

    def to_dense(self, pairs: Tensor) -> Tensor:
        """Values of candidate edges [B, M, ...] as matrices [B, N, N, ...], as an adjacency has."""
        n = self.num_candidates
        row, column = pair_ends(n, self.spec.directed, pairs.device)
        # Copied into zeros and mirrored: its backward pass only gathers, where that of an index
        # into both halves would scatter.
        flat = pairs.new_zeros(pairs.size(0), n * n, *pairs.shape[2:])
        square = flat.index_copy(1, row * n + column, pairs)
        square = square.view(pairs.size(0), n, n, *pairs.shape[2:])
        return square if self.spec.directed else square + square.transpose(1, 2)

    def to_pairs(self, square: Tensor) -> Tensor:
        """The inverse: matrices [B, N, N, ...] as values of the candidate edges [B, M, ...]."""
        row, column = pair_ends(self.num_candidates, self.spec.directed, square.device)
        return square[:, row, column]


def _bernoulli_bits(logits: Tensor) -> Tensor:
    # From the logits, since the slope of p log p is infinite where p rounds to 0.
    distance = logits.abs()
    nats = torch.nn.functional.softplus(-distance) + distance * (-distance).sigmoid()
    return nats / math.log(2)
