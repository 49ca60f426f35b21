"""One search as a problem: a model, what is asked of it, and how good graphs are as answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.batches import compact
from gnninterpreter.distribution import GraphDistribution, Narrowing, Streams
from gnninterpreter.equality import Alike
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.objective import Aim, Aims, Memory, Objective, Proposals, Typical, graph_keys
from gnninterpreter.recording import fixed_shapes, recording
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search.repeating import Aside

# Graphs that are scored in one call, and pairs of nodes that they may have together, which bounds
# memory: on a CPU and on a GPU.
CHUNK, WIDE_CHUNK = (4096, 2**23), (65536, 2**28)
# How many times as many are looked up at once: samples are mostly the same few graphs. On a GPU as
# many as have so many numbers in their edges, if that is more: each part has it wait.
REPEATS, MOST_LOOKED_UP = 4, 2**28
# Percentile among real graphs that samples must have; less than of a prototype, so that they vary.
SAMPLE_BAR = 25.0
# What real graphs that fill up the samples must have: less still passes for none of the class.
REAL_BAR = 10.0
# How far samples must be from certain to what a prototype is sought with: a little, for rounding.
# With all of it a model that is rarely that sure would allow no other graph.
SAMPLE_MARGIN = 0.2
# Share of its cost that a restart must have lost to have got anywhere.
GAIN = 0.01


@dataclass(frozen=True)
class Evaluation(Alike):
    """What was found about B discrete graphs; every field has shape [B].

    Args:
        cost: What the objective makes of each; less is better.
        score: How far each is what was asked for, between 0 and 1.
        similarity: Likeness of its embedding to the mean of the class.
        edges: Number of edges.
        nodes: Number of nodes.
        feasible: Whether every term of the objective allows it.
        met: Whether it leaves nothing to be desired but to be smaller.
    """

    cost: Tensor
    score: Tensor
    similarity: Tensor
    edges: Tensor
    nodes: Tensor
    feasible: Tensor
    met: Tensor


@dataclass(frozen=True)
class Problem:
    """What a search has to solve, and the one place that says how good a graph is.

    On discrete graphs the relaxed model says the same as the native one, and is asked where that is
    faster: by products of matrices, or on a GPU, which would wait for a native batch to be put
    together. Without a memory every graph is asked about again; a relaxed model does not mind the
    order of nodes, since the probe has shown it nodes in between that are not there. Graphs it is
    asked about are as many of each restart that the ``aim`` is of, those of one beside each other;
    of some restarts, `select` is asked. What is to be done ``aside`` gets its turns while a GPU is
    busy.
    """

    classifier: GraphClassifier
    relaxed: RelaxedModel | None
    objective: Objective
    aim: Aim | Aims
    memory: Memory | None = None
    aside: Aside[Any] | None = None

    def select(self, rows: Tensor | slice) -> Problem:
        """The same of some of the restarts, which are in order."""
        aim = self.aim.select(rows)
        return self if aim is self.aim else replace(self, aim=aim)

    def meanwhile(self, asked: bool) -> None:
        """Give what is done aside its turn: while a GPU is busy, or when it has just answered."""
        if self.aside is not None:
            self.aside.turn(asked)

    def rows_of_each(self, graphs: DenseGraphs) -> list[Tensor]:
        """Which of some graphs are those of each target."""
        rows = torch.arange(len(graphs), device=graphs.weight.device)
        return [rows[own] for own in self.aim.rows(len(graphs)).spans]

    def chunk(self, nodes: int) -> int:
        """Most graphs on so many candidate nodes to score in one call."""
        most, pairs = CHUNK if self.classifier.device.type == "cpu" else WIDE_CHUNK
        return max(1, min(most, pairs // nodes**2))

    def at_once(self, usual: int, nodes: int) -> int:
        """Most graphs to look up in one call; ``usual`` on a CPU and without a memory."""
        if self.classifier.device.type == "cpu" or self.memory is None or recording():
            return usual
        each = nodes * nodes * (1 + self.classifier.spec.edge_width)
        return max(usual, MOST_LOOKED_UP // each)

    @cached_property
    def asks_native(self) -> bool:
        """Whether the native model is the faster one to ask about discrete graphs."""
        # Only the native reading knows which derived features do not exist.
        return (
            self.relaxed is None
            or bool(self.classifier.spec.derived)
            or (self.classifier.device.type == "cpu" and not self.relaxed.products_only)
        )

    def scores(self, graphs: DenseGraphs) -> Scores:
        """What the model says of discrete graphs; NaN for one that cannot be asked about."""
        if self.relaxed is None or self.asks_native:
            return self.classifier.score(graphs)
        scores = self.soft_scores(graphs)
        # The native model cannot be asked about a graph without edges, so there is no score either.
        nothing = graphs.empty.unsqueeze(1)
        return Scores(
            scores.logits.masked_fill(nothing, torch.nan),
            scores.embedding.masked_fill(nothing, torch.nan),
            scores.task,
        )

    def soft_scores(self, graphs: DenseGraphs) -> Scores:
        """What the relaxed model says of graphs, with a gradient."""
        assert self.relaxed is not None
        if recording():  # what goes wrong there is tried again as it is
            return self.relaxed(graphs)
        with self.classifier.explaining_errors():
            return self.relaxed(graphs)

    @torch.no_grad()
    def propose(self, graphs: DenseGraphs, new: bool = False) -> Proposals:
        """Score discrete graphs, on as few candidate nodes as they need.

        ``new``: most will not have been seen before, as on a walk, and looking them up takes longer
        than products of matrices do.
        """
        found = self._proposals(graphs, new)
        return replace(found, answers=found.scores)

    def _proposals(self, graphs: DenseGraphs, new: bool) -> Proposals:
        """The same, but the model is not asked before anyone wants to know."""
        if self.memory is None or recording() or (new and not self.asks_native):
            small = graphs if recording() else compact(graphs)
            return Proposals(small, self._asked, self.aim)
        small = compact(graphs)
        keys = graph_keys(small, ordered=self.relaxed is None)
        return Proposals(small, self._asked, self.aim, keys, self.memory)

    @torch.no_grad()
    def _asked(self, graphs: DenseGraphs, keys: Tensor | None) -> Scores:
        """What the model says of graphs, which the memory may know."""
        if self.memory is None or keys is None:
            return self.scores(graphs)

        def new(places: Tensor) -> tuple[Tensor, ...]:
            parts = torch.split(places, self.chunk(graphs.num_candidates))
            found = Scores.cat([self.scores(graphs[part]) for part in parts])
            return found.logits, found.embedding

        logits, embedding = self.memory.recall("scores", keys, new)
        return Scores(logits, embedding, self.classifier.task)

    @torch.no_grad()
    def cost(self, graphs: DenseGraphs) -> Tensor:
        """What the objective makes of B discrete graphs, and nothing else, [B]."""
        return self.objective.cost(self.propose(graphs))

    @torch.no_grad()
    def evaluate(self, graphs: DenseGraphs | Proposals) -> Evaluation:
        """Evaluate B discrete graphs."""
        found = graphs if isinstance(graphs, Proposals) else self.propose(graphs)
        return Evaluation(
            cost=self.objective.cost(found),
            score=found.log_score.exp(),
            similarity=found.similarity,
            edges=found.edges,
            nodes=found.nodes,
            feasible=self.objective.feasible(found),
            met=self.objective.met(found),
        )

    def lacking(self, found: Proposals) -> Tensor:
        """What graphs lack of what may be shown as a sample, [B]; has a slope for soft ones."""
        total = torch.zeros_like(found.log_score)
        for weighted in self.objective.terms:
            term = weighted.term
            if isinstance(term, Typical):
                cost = found.untypical(SAMPLE_BAR)
            else:
                asked = weighted.discrete > 0 and term.required and term.met(found) is not None
                cost = found.cost_of(term) if asked else None
            if cost is not None:
                total = total + weighted.discrete * cost
        return total

    @torch.no_grad()
    def good(self, graphs: DenseGraphs, new: bool = False, bar: float = SAMPLE_BAR) -> Tensor:
        """Whether graphs are certain, whole and at ``bar`` typical enough for a sample, [B]."""
        # What is remembered is asked about once, so that more of them are looked at together.
        part = self.chunk(graphs.num_candidates)
        part *= 1 if self.memory is None or recording() else REPEATS
        most = self.at_once(part, graphs.num_candidates)
        if len(graphs) > most:
            parts = range(0, len(graphs), most)
            whole = replace(self, aim=self.aim.rows(len(graphs)))
            some = [slice(at, at + most) for at in parts]
            return torch.cat([whole.select(rows).good(graphs[rows], new, bar) for rows in some])
        found = self._proposals(graphs, new)
        if self.memory is None or found.keys is None:
            return self.passes(found, bar)

        # Asked about together, and once; a GPU judges all that is new, as many as it can score.
        on_cpu = self.classifier.device.type == "cpu"
        size = part if on_cpu else self.chunk(graphs.num_candidates)

        def ask(new: Tensor) -> tuple[Tensor]:
            judged = [self._judged(found.select(some), bar) for some in torch.split(new, size)]
            return (torch.cat(judged),)

        return self.memory.recall(f"good {bar}", found.aim.marked(found.keys), ask)[0]

    def _judged(self, found: Proposals, bar: float) -> Tensor:
        """The same of graphs that are not known."""
        if self.asks_native or self.classifier.device.type == "cpu":
            return self.passes(found, bar)
        # A GPU judges them all sooner than it is told which need no judging.
        with fixed_shapes():
            return self.passes(replace(found, keys=None), bar)

    @torch.no_grad()
    def passes(self, found: Proposals, bar: float = SAMPLE_BAR) -> Tensor:
        """The same of graphs that were asked about, or are asked about where the rest is good."""
        good = self.presentable(found, bar)
        if recording():
            return good & _sure(found)
        # Most edits of a graph are not typical, and the model takes as long as typicality does.
        rows = good.nonzero().squeeze(1)
        if not rows.numel():
            return good
        return good.index_put((rows,), _sure(found.select(rows)))

    @torch.no_grad()
    def presentable(self, found: Proposals, bar: float = SAMPLE_BAR) -> Tensor:
        """Whether graphs may be shown as samples: feasible, and typical enough, [B]."""
        fine = self.objective.feasible(found)
        if recording():
            typical = found.typical(bar)
            return fine if typical is None else fine & typical
        rows = fine.nonzero().squeeze(1)
        if not rows.numel():
            return fine
        typical = found.select(rows).typical(bar)
        return fine if typical is None else fine.index_put((rows,), typical)

    def slope(self, graphs: DenseGraphs) -> Tensor:
        """The part of the cost that can be differentiated, [B], from the relaxed model."""
        asked = Proposals(graphs, self.soft_scores(graphs), self.aim)
        return self.objective.cost(asked, smooth=True)

    def mean_score(self, distribution: GraphDistribution, samples: int, streams: Streams) -> Tensor:
        """Mean score over discrete samples of each of R distributions, [R]."""
        distribution = Narrowing.of(distribution).narrowed(distribution)
        # Some restarts at a time, which bounds memory; each draws from a stream of its own.
        usual = self.chunk(distribution.num_candidates)
        most = self.at_once(usual, distribution.num_candidates)
        each, means = max(1, most // samples), []
        for start in range(0, distribution.restarts, each):
            rows = torch.arange(distribution.restarts, device=streams.keys.device)
            rows = rows[start : start + each]
            drawn = distribution.select(rows).discrete(samples, streams.select(rows))
            found = self.select(rows).propose(drawn)
            means.append(found.log_score.exp().view(-1, samples).mean(dim=1))
        return torch.cat(means)


def _sure(found: Proposals) -> Tensor:
    """Whether the model is as sure of graphs as it has to be of samples, [B]."""
    aim = found.aim
    return found.log_score.exp() >= aim.certain + SAMPLE_MARGIN * (aim.enough - aim.certain)


def gained(cost: Tensor, before: Tensor) -> Tensor:
    """Whether costs have fallen by so much that a search has got somewhere."""
    return cost < torch.minimum((1 - GAIN) * before, (1 + GAIN) * before)
