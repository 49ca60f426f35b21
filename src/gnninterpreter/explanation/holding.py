"""Prototype and samples that hold the core, where nearly all of the class do and no other graph.

Those of a class that is what is left hold no core of another.

A model is certain of other graphs, too, and a search that asks for certainty and typical parts may
end at these. What the class is about is then missing from them, however typical each part is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from gnninterpreter.batches import compact, widened
from gnninterpreter.distribution import from_graphs
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.matching import PatternIndex
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.evidence.thresholds import OUTLYING_PERCENTILE
from gnninterpreter.graphs import DenseGraphs, dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.profile import Profile
from gnninterpreter.objective import Aim, Proposals, violation
from gnninterpreter.search import SearchResult
from gnninterpreter.typicality import BAR

# Restarts that are asked whether they hold a core.
MOST_LOOKED_AT = 64


def holding(
    result: SearchResult, core: Core, classifier: GraphClassifier, profile: Profile | None
) -> SearchResult:
    """The same with samples that hold a core, and with a restart that does.

    Where none does, one of the samples takes the place of the last restart, or the core itself if
    it may be shown: the smallest of those that are as typical as a prototype has to be.
    """
    itself = dense_graphs([core.graph], core.spec, classifier.dtype)
    return _kept(result, lambda some: _holders(core, some), [itself], classifier, profile)


def lacking(
    result: SearchResult,
    cores: Sequence[Core],
    classifier: GraphClassifier,
    profile: Profile | None,
) -> SearchResult:
    """The same with samples, and a restart, that hold none of the cores of other classes."""

    def free(graphs: DenseGraphs) -> Tensor:
        rest = torch.ones(len(graphs), dtype=torch.bool)
        for core in cores:
            rest[_holders(core, graphs)] = False
        return rest.nonzero().flatten()

    return _kept(result, free, [], classifier, profile)


def _kept(
    result: SearchResult,
    wanted: Callable[[DenseGraphs], Tensor],
    found: list[DenseGraphs],
    classifier: GraphClassifier,
    profile: Profile | None,
) -> SearchResult:
    """Keep the samples that are ``wanted``, and see to it that a restart is, if need be by them."""
    population = result.population
    if population is not None:
        rows = wanted(population)
        if len(rows):
            population = population[rows]
            result = replace(result, population=population)
            found = [*found, population]
    looked_at = result.ranking()[:MOST_LOOKED_AT]
    modes = result.distribution.mode()[torch.tensor(looked_at)]
    held = modes[wanted(modes)]
    if len(held) and bool(_fine(result, held, classifier, profile)[0].any()):
        return result
    room = result.distribution.num_candidates
    small = [compact(some) for some in found]
    fitting = [widened(one, room) for one in small if one.num_candidates <= room]
    if not fitting:
        return result
    known = DenseGraphs.cat(fitting)
    fine, typical = _fine(result, known, classifier, profile)
    if not bool(fine.any()):
        return result
    order = 1e6 * ~fine + 1e3 * (typical < BAR) + known.num_edges
    best = known[order.argmin().view(1)]
    place = torch.tensor(looked_at[-1:])
    score = result.target.score(classifier.score(best)).to(result.mean_score)
    return replace(
        result,
        distribution=result.distribution.detach().merged(place, from_graphs(best)),
        mean_score=result.mean_score.index_copy(0, place, score),
    )


def _holders(core: Core, graphs: DenseGraphs) -> Tensor:
    """Numbers of the graphs that hold a core."""
    index = PatternIndex(typed_graphs(graphs.to_data_list(), core.spec))
    return torch.tensor(index.match(core.typed).where, dtype=torch.long)


def _fine(
    result: SearchResult, graphs: DenseGraphs, classifier: GraphClassifier, profile: Profile | None
) -> tuple[Tensor, Tensor]:
    """Whether graphs are certain, whole and typical, and their percentiles among real ones."""
    scores, limits = classifier.score(graphs), result.limits
    aim = Aim(result.target, limits.max_nodes, limits.max_edges)
    good = violation(Proposals(graphs, scores, aim)) <= 0
    good &= result.target.score(scores).nan_to_num(nan=0.0) >= result.certain
    typical = torch.full_like(good, 100.0, dtype=torch.double)
    if profile is not None and profile.typicality is not None:
        typical = profile.typicality.bank.percentile(compact(graphs)).to(typical)
    return good & (typical >= OUTLYING_PERCENTILE), typical
