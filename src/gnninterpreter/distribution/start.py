"""Where the search begins: the first values of the latent tensors."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from gnninterpreter.distribution.distribution import GraphDistribution
from gnninterpreter.distribution.features import latent_of
from gnninterpreter.distribution.streams import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.encoding import split_blocks

# Least size of the logits of a distribution that is centred on a graph.
LEAST = 1.0
# Of one that leans towards a graph: probability of its edges and categories, and how logits differ.
LEANING, SPREAD = 0.88, 0.3


def uniform_start(
    spec: GraphSpec, num_candidates: int, streams: Streams, dtype: torch.dtype = torch.float32
) -> GraphDistribution:
    """The paper's start: edge probabilities uniform in (0, 1), categories on the simplex."""
    pairs = GraphDistribution.num_pairs(spec, num_candidates)
    return _begun(spec, num_candidates, streams.logistic(pairs, dtype=dtype), streams)


def around_density(
    spec: GraphSpec,
    num_candidates: int,
    density: Tensor,
    streams: Streams,
    spread: float = 1.0,
    dtype: torch.dtype = torch.float32,
) -> GraphDistribution:
    """Edge probabilities around a density of its own for each restart, [R]."""
    pairs = GraphDistribution.num_pairs(spec, num_candidates)
    centre = torch.logit(density.to(dtype)).unsqueeze(1)
    logits = centre + spread * streams.normal(pairs, dtype=dtype)
    return _begun(spec, num_candidates, logits, streams)


def from_graphs(graphs: DenseGraphs, certainty: float = 0.999) -> GraphDistribution:
    """Distributions that have all but collapsed to the given discrete graphs, one for each."""
    spec, n = graphs.spec, graphs.num_candidates
    like = GraphDistribution.num_pairs(spec, n)
    blank = GraphDistribution(spec, n, graphs.weight.new_zeros(len(graphs), like), ())
    size = math.log(certainty / (1 - certainty))
    weight = (2 * blank.to_pairs(graphs.weight) - 1) * size
    edges: tuple[Tensor, ...] = ()
    if graphs.edges is not None:
        edges = _certain(spec.edges, blank.to_pairs(graphs.edges), size)
    return GraphDistribution(spec, n, weight, _certain(spec.nodes, graphs.nodes, size), edges)


def around_graphs(graphs: DenseGraphs, streams: Streams) -> GraphDistribution:
    """Distributions that lean towards the given graphs and have not decided on anything yet."""
    leaning = from_graphs(graphs, LEANING)
    noise = streams.normal(leaning.edge_logits.size(1), dtype=leaning.edge_logits.dtype)
    return leaning.with_latents([leaning.edge_logits + SPREAD * noise, *leaning.latents()[1:]])


def centred(
    learned: GraphDistribution, graphs: DenseGraphs, factor: Tensor | float = 1.0
) -> GraphDistribution:
    """Distributions whose modes are the given graphs, near what was learned.

    Every logit is put on the graph's side with at least some size, times the factor of its restart.
    """
    certain = from_graphs(graphs)
    # Made where it is needed: to send a number to a GPU would wait for it.
    scale = learned.edge_logits.new_ones(learned.restarts) * factor
    side = certain.edge_logits.sign()
    latents = [side * (learned.edge_logits * side).clamp_min(LEAST) * scale.view(-1, 1)]
    blocks = [*learned.spec.nodes, *learned.spec.edges]
    for block, old, new in zip(blocks, learned.latents()[1:], certain.latents()[1:], strict=True):
        if isinstance(block, Categorical):
            chosen = new > 0
            ahead = old.masked_fill(chosen, -torch.inf).amax(-1, keepdim=True)
            if block.size > 1:
                old = torch.where(chosen, torch.maximum(old, ahead + LEAST), old)
            latents.append(old * scale.view(-1, 1, 1))
        else:
            latents.append(new)
    return learned.with_latents(latents)


def _begun(spec: GraphSpec, size: int, logits: Tensor, streams: Streams) -> GraphDistribution:
    """Edge logits with features drawn beside them."""
    dtype = logits.dtype

    def features(blocks: tuple[Block, ...], members: int) -> tuple[Tensor, ...]:
        latents = []
        for block in blocks:
            if isinstance(block, Categorical):
                # Normalised exponentials are Dirichlet(1): uniform on the simplex.
                shares = -streams.uniform(members, block.size, dtype=dtype).log()
                latents.append(shares.log() - shares.sum(-1, keepdim=True).log())
            else:
                latents.append(streams.logistic(members, block.dim, dtype=dtype))
        return tuple(latents)

    nodes = features(spec.nodes, size)
    return GraphDistribution(spec, size, logits, nodes, features(spec.edges, logits.size(1)))


def _certain(blocks: tuple[Block, ...], values: Tensor, size: float) -> tuple[Tensor, ...]:
    latents = []
    for block, part in zip(blocks, split_blocks(values, blocks), strict=True):
        if isinstance(block, Categorical):
            latents.append(part * (size + math.log(max(block.size - 1, 1))))
        else:
            latents.append(latent_of(block, part))
    return tuple(latents)
