"""What a search comes to: all restarts of one target, and how parts of them are put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Target
from gnninterpreter.search.ascent import MEAN_WEIGHT
from gnninterpreter.search.problem import Evaluation, Problem
from gnninterpreter.search.recipe import Limits
from gnninterpreter.search.state import History, Reason
from gnninterpreter.typicality import distinct_rows

# Above any cost: what may be no answer comes last.
INFEASIBLE = 1e5


@dataclass(frozen=True)
class SearchResult:
    """What R restarts came to.

    Args:
        target: What was asked for.
        distribution: The R learned distributions.
        evaluation: What the objective makes of the most probable graph of each.
        mean_score: Mean score over samples of each, [R], native model.
        reasons: Why each ended.
        iterations: Gradient iterations each took.
        history: What was seen along the way.
        limits: How large graphs may be.
        gradient: Which gradient was used.
        certain: Score that counts as certain.
        seconds: Time it took.
        phase_seconds: Time that each phase took.
        population: Different certain and typical graphs, where samples come from; None where they
            come from the distributions.
        shortcuts: Certain graphs that are unlike anything real; None where none was found.
    """

    target: Target
    distribution: GraphDistribution
    evaluation: Evaluation
    mean_score: Tensor
    reasons: list[Reason]
    iterations: list[int]
    history: History
    limits: Limits
    gradient: str
    certain: float
    seconds: float
    phase_seconds: Mapping[str, float]
    population: DenseGraphs | None = None
    shortcuts: DenseGraphs | None = None

    def to(self, device: torch.device | str) -> SearchResult:
        """The same on another device."""

        def there(part: Any) -> Any:
            return None if part is None else part.to(device)

        return replace(
            self,
            distribution=self.distribution.to(device),
            evaluation=self.evaluation.to(device),
            mean_score=self.mean_score.to(device),
            population=there(self.population),
            shortcuts=there(self.shortcuts),
        )

    def ranking(self) -> list[int]:
        """Restarts from best to worst: may it be an answer, mean over samples, cost."""
        shortfall = MEAN_WEIGHT * (self.certain - self.mean_score).clamp_min(0)
        shortfall = shortfall + INFEASIBLE * (~self.evaluation.feasible)
        order: list[int] = (self.evaluation.cost + shortfall).argsort().tolist()
        return order


def joined(parts: Sequence[SearchResult], problem: Problem) -> SearchResult:
    """What several parts of the restarts came to, as if all had been searched for at once."""
    first, rest = parts[0], parts[1:]

    def together(*values: Tensor) -> Tensor:
        return torch.cat(values)

    population = _together([part.population for part in parts])
    if population is not None and problem.aim.bank is not None:
        population = population[distinct_rows(population, problem.aim.bank)]
    return replace(
        first,
        distribution=first.distribution.each(together, *(part.distribution for part in rest)),
        evaluation=first.evaluation.each(together, *(part.evaluation for part in rest)),
        mean_score=torch.cat([part.mean_score for part in parts]),
        reasons=[reason for part in parts for reason in part.reasons],
        iterations=[count for part in parts for count in part.iterations],
        history=History.beside([(part.history, len(part.reasons)) for part in parts]),
        seconds=sum(part.seconds for part in parts),
        phase_seconds={
            name: sum(part.phase_seconds.get(name, 0.0) for part in parts)
            for part in parts
            for name in part.phase_seconds
        },
        population=population,
        shortcuts=_together([part.shortcuts for part in parts]),
    )


def _together(graphs: Sequence[DenseGraphs | None]) -> DenseGraphs | None:
    found = [some for some in graphs if some is not None]
    return DenseGraphs.cat(found) if found else None
