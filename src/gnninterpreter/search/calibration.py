"""Calibration: closed where a change would cost the target, open where the model does not care.

Every single change of the graph that was found is evaluated, and each edge and category becomes as
certain as the harm of changing it asks for, but not less certain than the search has learned. Where
real graphs are known, a change harms if the graph is then no longer certain and typical, and how
far the others can be opened together is learned by gradient (`opening`). Samples then show whether
changes that are harmless one by one are harmless together; where they are not, all logits grow by
steps until they are. A few samples refuse quickly, and only what they let pass is tried with many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_settings
from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import GraphDistribution, Narrowing, Streams, centred, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.mixing import mix, shift_right
from gnninterpreter.search.callbacks import Monitor
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.search.opening import opened, verified
from gnninterpreter.search.problem import Problem
from gnninterpreter.search.state import State
from gnninterpreter.spec import Categorical
from gnninterpreter.spec.encoding import dense_width, split_blocks

FACTORS = (1.0, 1.5, 2.0, 3.0, 4.5, 7.0, 10.0, 15.0)
# Attempts at the most: every step of the ladder, quickly and thoroughly.
ATTEMPTS = 2 * len(FACTORS)
# Probability that all changes together may cost.
TOLERANCE = 1e-4
# Samples of the quick attempt and of the thorough one, at the most; and how many pairs of nodes
# they may have together, which bounds the time for large graphs.
QUICK, THOROUGH = (750, 150_000), (3000, 400_000)
FEWEST = 300
# Pairs of nodes that all single changes of a graph may have together, likewise, or cells of nodes
# and their kinds where these are more; and how many changes are tried at the least. The others stay
# closed.
MOST_TRIED, FEWEST_TRIED = 2**22, 400
# Certainty that nothing changes on nodes that are far from the graph.
SHUT = 1 - 1e-9


@dataclass(frozen=True)
class Calibrate:
    """Make each distribution as certain as its target needs, and not more.

    ``opening`` gradient steps learn how far each can be opened, where real graphs are known and the
    model can be relaxed.
    """

    opening: int = 8
    name: str = "calibrate"

    narrows: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_settings(self, opening=1)

    def __call__(self, problem: Problem, state: State, streams: Streams, monitor: Monitor) -> State:
        """Calibrate the distributions around their graphs."""

        def tell(number: int, distribution: GraphDistribution) -> bool:
            return monitor.distributions(self.name, number, ATTEMPTS, distribution)

        distribution, _ = calibrated(
            problem, state.distribution, state.graphs, streams, tell=tell, opening=self.opening
        )
        return state.with_(distribution=distribution)


def calibrated(
    problem: Problem,
    learned: GraphDistribution,
    graphs: DenseGraphs,
    streams: Streams,
    tell: Callable[[int, GraphDistribution], bool] | None = None,
    opening: int = 1,
) -> tuple[GraphDistribution, Tensor]:
    """Return distributions whose modes are the given graphs and whose samples are as good as they.

    Also the mean score over samples of each, or the share that is good where real graphs are known,
    [R]. Samples are a few and then many, fewer for larger graphs.
    """
    if problem.aim.bank is not None:
        return _opened(problem, learned, graphs, streams, tell, opening)
    space = MoveSpace(graphs.spec, graphs.num_candidates, graphs.weight.device)
    limits = _least_logits(harms(problem, graphs, space), space)
    wanted = problem.evaluate(graphs).score - 2 * TOLERANCE
    ladder = torch.tensor(FACTORS, dtype=wanted.dtype, device=wanted.device)
    place = torch.zeros(len(graphs), dtype=torch.long, device=wanted.device)
    reached = torch.zeros_like(wanted)
    for stage, count in enumerate(_sample_counts(graphs)):
        unsure = torch.arange(len(graphs), device=wanted.device)
        for attempt in range(len(FACTORS)):
            tried = _closed(centred(learned, graphs, ladder[place]), graphs, limits, space)
            number = stage * len(FACTORS) + attempt
            if tell is not None and tell(number, tried):
                return tried, reached
            # Only those in doubt are drawn from, by streams that do not depend on who else is.
            mean = problem.select(unsure).mean_score(
                tried.select(unsure), count, streams.fork(number).select(unsure)
            )
            reached[unsure] = mean
            short = (mean < wanted[unsure]) & (place[unsure] < len(FACTORS) - 1)
            unsure = unsure[short]
            place[unsure] += 1
            if not unsure.numel():
                break
    return _closed(centred(learned, graphs, ladder[place]), graphs, limits, space), reached


def _opened(
    problem: Problem,
    learned: GraphDistribution,
    graphs: DenseGraphs,
    streams: Streams,
    tell: Callable[[int, GraphDistribution], bool] | None,
    opening: int,
) -> tuple[GraphDistribution, Tensor]:
    """The same where real graphs are known, on the nodes that there are and one more."""
    shut = from_graphs(graphs, SHUT)
    some = Narrowing.needed(present_nodes(graphs), spare=1)
    graphs, learned = some.graphs(graphs), some.narrowed(learned)
    space = MoveSpace(graphs.spec, graphs.num_candidates, graphs.weight.device)
    harm = harms(problem, graphs, space)
    limits = _least_logits(harm, space)

    def closed(some: GraphDistribution, rows: Tensor) -> GraphDistribution:
        return _closed(centred(some, graphs[rows]), graphs[rows], limits[rows], space)

    def told(number: int, tried: GraphDistribution) -> bool:
        return tell is not None and tell(number, some.widened(tried, shut))

    if problem.relaxed is not None:
        free = _free(learned, harm, space)
        learned = opened(problem, graphs, free, streams.fork(ATTEMPTS), opening)
    found, reached = verified(problem, learned, closed, FEWEST, streams, told)
    return some.widened(found, shut), reached


def _sample_counts(graphs: DenseGraphs) -> list[int]:
    # Samples are drawn on all candidate nodes, however few the graphs have.
    pairs = max(int(graphs.num_nodes.max()), graphs.num_candidates // 4) ** 2
    return [min(most, max(FEWEST, budget // pairs)) for most, budget in (QUICK, THOROUGH)]


def harms(problem: Problem, graphs: DenseGraphs, space: MoveSpace) -> Tensor:
    """What every single move would cost in score, [R, moves].

    A move that leaves the graph infeasible or untypical costs everything, and so does one that
    means nothing, such as an edge between two absent nodes. Where real graphs are known, others
    cost nothing or everything: the graph is still good or not. Absent nodes are then all alike, and
    one of them may be added. So it is for large graphs, and for kinds by the hundred, of which some
    moves are tried, of edges that they have more than of others; the rest are taken to cost
    everything.
    """
    known = problem.aim.bank is not None
    possible = space.possible(graphs)
    nodes, kinds = int(present_nodes(graphs).sum(1).max()) + 1, dense_width(graphs.spec.nodes)
    most = max(FEWEST_TRIED, MOST_TRIED // (nodes * max(nodes, kinds)))
    large = int(possible.sum(1).max()) > most
    if known or large:
        possible = possible & space.one_more(graphs)
    if large:
        possible = possible & _tried(graphs, possible, space, most, kinds > nodes)
    before = problem.evaluate(graphs).score
    cost = torch.ones_like(possible, dtype=before.dtype)
    owners, moves = possible.nonzero(as_tuple=True)
    each = problem.at_once(problem.chunk(graphs.num_candidates), graphs.num_candidates)
    for start in range(0, owners.numel(), each):
        some = slice(start, start + each)
        changed, own = space.apply(graphs[owners[some]], moves[some]), problem.select(owners[some])
        if known:
            cost[owners[some], moves[some]] = (~own.good(changed)).to(cost)
            continue
        found = own.propose(changed)
        lost = (before[owners[some]] - found.log_score.exp()).clamp_min(0)
        cost[owners[some], moves[some]] = torch.where(problem.presentable(found), lost, 1.0)
    return cost


def _tried(
    graphs: DenseGraphs, possible: Tensor, space: MoveSpace, most: int, wide: bool
) -> Tensor:
    """At most so many of the possible moves of each graph, at random, always the same ones."""
    number = torch.arange(space.total, device=possible.device)
    order = shift_right(mix(number), 11).double() / 2**53
    if wide:  # other kinds are half of what is tried, and leave room for edges
        flips, changes = space.sizes[:2]
        kind = (number >= flips) & (number < flips + changes)
        possible = possible & ~(kind & (order > most / (2 * changes)))
    rank = order.repeat(len(graphs), 1)
    # There are many more pairs than edges, and hardly one of them would be an edge.
    rank[:, : space.sizes[0]] += from_graphs(graphs).edge_logits.gt(0) / 2
    rank = rank.masked_fill(~possible, -1.0)
    kept = rank.topk(most, dim=1).indices
    return torch.zeros_like(possible).scatter(1, kept, True) & possible


def _free(like: GraphDistribution, harm: Tensor, space: MoveSpace) -> list[Tensor]:
    """Which latents may be opened: those against a move that harms nothing."""
    flips, node_changes, edge_changes, _ = torch.split(harm.lt(0.5), list(space.sizes), dim=1)
    masks = [flips]
    parts = [(like.spec.nodes, node_changes, space.num_candidates)]
    parts.append((like.spec.edges, edge_changes, space.sizes[0]))
    for blocks, changes, rows in parts:
        if blocks:
            # All columns may be derived, and nothing be left to choose.
            wide = changes.view(changes.size(0), rows, dense_width(blocks))
            masks.extend(split_blocks(wide, blocks))
    return masks


def _least_logits(harm: Tensor, space: MoveSpace) -> Tensor:
    """How large the logit against each move must be for all to cost no more than allowed."""
    each = TOLERANCE / max(space.total, 1)
    chance = 0.5 * each / (harm + each)
    return ((1 - chance) / chance).log()


def _closed(
    distribution: GraphDistribution, graphs: DenseGraphs, limits: Tensor, space: MoveSpace
) -> GraphDistribution:
    """The same distributions with every logit against a move at least as large as its limit."""
    flips, node_changes, edge_changes, _ = torch.split(limits, list(space.sizes), dim=1)
    side = from_graphs(graphs).edge_logits.sign()
    latents = [side * torch.maximum(distribution.edge_logits * side, flips)]
    parts = [(distribution.spec.nodes, distribution.node_logits, node_changes)]
    parts.append((distribution.spec.edges, distribution.edge_feature_logits, edge_changes))
    for blocks, logits, changes in parts:
        if not blocks:
            continue
        least = changes.view(*logits[0].shape[:2], dense_width(blocks))
        start = 0
        for block, values in zip(blocks, logits, strict=True):
            width = values.size(-1)
            if isinstance(block, Categorical):
                top, now = values.max(dim=-1, keepdim=True)
                here = torch.zeros_like(values, dtype=torch.bool).scatter(-1, now, True)
                bound = top - least[..., start : start + width]
                values = torch.where(here, values, torch.minimum(values, bound))
            latents.append(values)
            start += width
    return distribution.with_latents(latents)
