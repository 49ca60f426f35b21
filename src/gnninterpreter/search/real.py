"""Where searches begin: real graphs of each target, on as many nodes as the graphs of a search."""

from __future__ import annotations

from collections.abc import Callable

from gnninterpreter.batches import compact, present_nodes, widened
from gnninterpreter.distribution import Streams
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.search.problem import Problem
from gnninterpreter.typicality import Exemplars


def fitting(problem: Problem) -> list[Exemplars] | None:
    """Real graphs of each target that are within its limit; None unless all have some."""
    found = []
    for aim in problem.aim.aims:
        known = aim.typicality
        if known is None:
            return None
        sizes = present_nodes(known.exemplars.graphs).sum(1)
        keep = (sizes <= aim.max_nodes).nonzero().squeeze(1)
        if not keep.numel():
            return None
        found.append(known.exemplars.select(keep))
    return found


def begun(
    real: list[Exemplars],
    problem: Problem,
    streams: Streams,
    draw: Callable[[Exemplars, Streams], DenseGraphs],
    like: DenseGraphs,
) -> DenseGraphs:
    """Real graphs that are drawn for each stream, those of its own target."""
    each = zip(real, problem.aim.spans, strict=True)
    owners = [(one, own) for one, rows in each if len(own := streams.select(rows))]
    return DenseGraphs.cat([placed(draw(one, own), like) for one, own in owners])


def placed(graphs: DenseGraphs, like: DenseGraphs) -> DenseGraphs:
    """Graphs on as many candidate nodes as others, where and in the type that these are."""
    n = like.num_candidates
    small = compact(graphs) if graphs.num_candidates > n else graphs
    return widened(small, n).to(like.weight.dtype).to(like.weight.device)
