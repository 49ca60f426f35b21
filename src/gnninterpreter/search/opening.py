"""Opening: the distribution with the most entropy whose samples stay certain and typical.

Learned by gradient, for all restarts at once. What no single change may touch is closed. The rest
begins nearly closed and is opened by the gradient of the entropy, against that of what samples lack
of being certain, whole and typical, read through the relaxed model. How much a lack counts rises
for a restart while too many of its samples lack something, and falls while few do. Samples are
discrete, and their slopes those of Concrete ones: a soft graph is typical of nothing. In the end
the model is asked about many samples, and what the bad ones have in common is closed again.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution, Streams, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Proposals
from gnninterpreter.recording import recording
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.repeating import Repeated, numbers
from gnninterpreter.spec import Block, Categorical
from gnninterpreter.spec.encoding import split_blocks

SAMPLES = 16
TEMPERATURE = 0.5
LEARNING_RATE = 0.7
# Logit against a change that is free, to begin with, and against one that is not: random numbers
# have too few bits to draw it ever, however many candidate nodes other restarts need.
NEARLY, CLOSED = 1.5, 17.0
# Share of samples that may lack something while learning, and how fast lacking gets dearer.
ALLOWED, DEARER = 0.02, 0.5
# What lacking counts for to begin with, in bits.
WORTH = 4.0
# Random numbers that are drawn at once in the end.
MOST_DRAWN = 2**29
# Share of samples that must be good in the end, rounds of asking, and how far a change is closed in
# a round if all samples that make it are bad, and in any case.
GOOD_SHARE, ROUNDS, BLAME, ANYHOW = 0.985, 10, 2.0, 0.1


def opened(
    problem: Problem, graphs: DenseGraphs, free: list[Tensor], streams: Streams, steps: int
) -> GraphDistribution:
    """Learn how far distributions around graphs can be opened.

    Args:
        problem: Says what graphs lack; one with a relaxed model.
        graphs: The mode of each of R distributions.
        free: Which latents may be opened, in the order and shapes of `GraphDistribution.latents`.
        streams: Source of randomness.
        steps: Gradient steps.
    """
    begun = _begun(graphs, free)
    learning = _Learning(problem, begun, free, streams)
    size = SAMPLES * numbers(graphs)
    Repeated(learning.step, begun.edge_logits.device, steps, size)(steps)
    return begun.with_latents([latent.detach() for latent in learning.latents])


class _Learning:
    """Distributions on their way; a step changes its tensors in place, so that it can be recorded.

    Args:
        problem: Says what graphs lack.
        begun: Where they begin.
        free: Which latents may change.
        streams: Source of randomness.
    """

    def __init__(
        self,
        problem: Problem,
        begun: GraphDistribution,
        free: list[Tensor],
        streams: Streams,
    ) -> None:
        self.problem, self.begun, self.free = problem, begun, free
        self.streams = streams.fork(0)
        self.latents = [latent.clone().requires_grad_() for latent in begun.latents()]
        on_gpu = self.latents[0].is_cuda
        self.optimizer = torch.optim.Adam(self.latents, lr=LEARNING_RATE, capturable=on_gpu)
        self.worth = torch.full_like(self.latents[0][:, 0], WORTH).detach()

    def step(self) -> None:
        """One step of the optimiser, then of what lacking counts for."""
        self.streams.advance()
        current = self.begun.with_latents(self.latents)
        drawn = _drawn(current, self.streams)
        lacking, bad = self._lacking(drawn)
        loss = (self.worth * lacking.log1p().view(-1, SAMPLES).mean(1)).sum()
        loss = loss - current.entropy().sum()
        gradients = torch.autograd.grad(loss, self.latents, allow_unused=True)
        for latent, gradient, mask in zip(self.latents, gradients, self.free, strict=True):
            found = torch.zeros_like(latent) if gradient is None else gradient.nan_to_num(0.0)
            latent.grad = found * mask
        self.optimizer.step()
        failing = bad.to(self.worth).view(-1, SAMPLES).mean(1)
        self.worth.mul_((DEARER * (failing - ALLOWED)).exp())

    def _lacking(self, drawn: DenseGraphs) -> tuple[Tensor, Tensor]:
        """What each sample lacks, and whether it lacks anything, [R * K]."""
        problem = self.problem
        assert problem.relaxed is not None
        if problem.memory is None or recording():
            asked = Proposals(drawn, problem.soft_scores(drawn), problem.aim)
            # First what has a slope: the rest asks the same without one.
            found = problem.lacking(asked)
            bad = ~problem.passes(asked)
            return torch.where(bad, found, 0.0), bad
        # What lacks nothing has no slope, and is known from memory: only the others go through the
        # relaxed model.
        bad = ~problem.good(drawn.detach())
        rows = bad.nonzero().squeeze(1)
        found = torch.zeros_like(drawn.weight[:, 0, 0])
        if rows.numel():
            # On all candidates: a node that a sample lacks has a slope too, and how many would be
            # left out depends on the other restarts.
            short = drawn[rows]
            aim = problem.aim.rows(len(drawn)).select(rows)
            some = problem.lacking(Proposals(short, problem.soft_scores(short), aim))
            found = found.index_put((rows,), some)
        return found, bad


def verified(
    problem: Problem,
    learned: GraphDistribution,
    closed: Callable[[GraphDistribution, Tensor], GraphDistribution],
    samples: int,
    streams: Streams,
    tell: Callable[[int, GraphDistribution], bool],
) -> tuple[GraphDistribution, Tensor]:
    """Close what bad samples have in common, until few are bad.

    Args:
        problem: Says which graphs are good.
        learned: The R distributions.
        closed: Puts some of them, given with their numbers, on the side of their graphs, closed
            where every change harms.
        samples: Samples of each that are asked about in a round.
        streams: Source of randomness.
        tell: Called with the number of each round and what it tries; True ends them.

    Returns:
        The distributions, and the share of good samples of each, [R].
    """
    rows = torch.arange(learned.restarts, device=learned.edge_logits.device)
    tried = closed(learned, rows)
    reached = torch.zeros_like(tried.edge_logits[:, 0])
    # Some restarts at a time, which bounds memory.
    each = max(1, MOST_DRAWN // (samples * sum(part[0].numel() for part in tried.latents())))
    for number in range(ROUNDS):
        if tell(number, tried):
            break
        # Those that are good already are asked no more.
        some, own = tried.select(rows), streams.fork(number).select(rows)
        parts = []
        for part in torch.split(torch.arange(rows.numel(), device=rows.device), each):
            of = some.select(part)
            drawn = of.discrete(samples, own.select(part))
            problem.meanwhile(True)
            good = problem.select(rows[part]).good(drawn).view(-1, samples)
            problem.meanwhile(False)
            reached[rows[part]] = good.to(reached).mean(1)
            parts.append(_blamed(of, drawn, ~good))
        short = (reached[rows] < GOOD_SHARE).nonzero().squeeze(1)
        if not short.numel():
            break
        rows, blamed = rows[short], [torch.cat(latents) for latents in zip(*parts, strict=True)]
        some = closed(some.with_latents(blamed).select(short), rows)
        tried = tried.with_latents(
            [
                old.index_copy(0, rows, new)
                for old, new in zip(tried.latents(), some.latents(), strict=True)
            ]
        )
    return tried, reached


def _blamed(tried: GraphDistribution, drawn: DenseGraphs, bad: Tensor) -> list[Tensor]:
    """Latents, those against changes that bad samples make raised."""
    shape = (tried.restarts, -1)
    values = [tried.to_pairs(drawn.weight).gt(0.5)]
    values += [part.gt(0.5) for part in split_blocks(drawn.nodes, tried.spec.nodes)]
    if drawn.edges is not None:
        values += [
            part.gt(0.5) for part in split_blocks(tried.to_pairs(drawn.edges), tried.spec.edges)
        ]
    blocks = [None, *tried.spec.nodes, *tried.spec.edges]
    latents = []
    for block, latent, value in zip(blocks, tried.latents(), values, strict=True):
        if block is not None and not isinstance(block, Categorical):
            latents.append(latent)
            continue
        flat = value.view(*shape, *value.shape[1:]).flatten(2)
        logits = latent.flatten(1)
        now = logits.gt(0) if block is None else _chosen(latent).flatten(1)
        changed = (flat != now.unsqueeze(1)).to(latent)
        blame = (changed * bad.unsqueeze(2)).sum(1) / changed.sum(1).clamp_min(1)
        more = BLAME * blame + ANYHOW
        latents.append((logits + torch.where(now, more, -more)).view_as(latent))
    return latents


def _chosen(logits: Tensor) -> Tensor:
    top = logits.argmax(-1, keepdim=True)
    return torch.zeros_like(logits, dtype=torch.bool).scatter(-1, top, True)


def _begun(graphs: DenseGraphs, free: list[Tensor]) -> GraphDistribution:
    """Distributions around graphs: nearly closed where they may be opened, closed elsewhere."""
    certain = from_graphs(graphs)
    blocks = [None, *graphs.spec.nodes, *graphs.spec.edges]
    latents = []
    for block, mask, sides in zip(blocks, free, certain.latents(), strict=True):
        size = torch.where(mask, NEARLY, CLOSED).to(sides)
        if block is None:
            latents.append(sides.sign() * size)
        elif isinstance(block, Categorical):
            latents.append(torch.where(sides > 0, 0.0, -size))
        else:
            latents.append(sides)
    return certain.with_latents(latents)


def _drawn(current: GraphDistribution, streams: Streams) -> DenseGraphs:
    """Discrete samples with the slopes of Concrete ones."""
    soft = current.relaxed(SAMPLES, TEMPERATURE, streams)

    def hard(values: Tensor, sharp: Tensor) -> Tensor:
        # In this order the sum is exactly 0 or 1.
        return sharp + (values - values.detach())

    def categories(values: Tensor, blocks: tuple[Block, ...]) -> Tensor:
        parts = [
            hard(part, _chosen(part).to(part)) if isinstance(block, Categorical) else part
            for part, block in zip(split_blocks(values, blocks), blocks, strict=True)
        ]
        return torch.cat(parts, dim=-1)

    spec = current.spec
    weight = hard(soft.weight, soft.weight.detach().gt(0.5).to(soft.weight))
    edges = None if soft.edges is None else categories(soft.edges, spec.edges)
    return DenseGraphs(spec, weight, categories(soft.nodes, spec.nodes), edges)
