"""Recipes: everything that decides how a search runs, in one frozen value.

`Recipe.auto` is the default and the same for every class of every model. `Recipe.paper` is the
paper to the letter, so that both can be compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import (
    Budget,
    ClassLogProbability,
    ClassScore,
    Connectivity,
    EmbeddingSimilarity,
    Entropy,
    LatentNorm,
    RelativeBudget,
    Term,
)
from gnninterpreter.search.schedules import Constant, Ramp, Schedule, WarmUp
from gnninterpreter.spec import GraphSpec

__all__ = ["PAPER_WEIGHTS", "Recipe", "Sizes", "WeightedTerm"]

# Candidate nodes where neither the user nor the data says how large graphs are.
DEFAULT_NODES = 20
# A picture with more nodes explains nothing, whatever the size of the data.
MOST_NODES = 24
FEWEST_NODES = 5

# Table "regularization weights" of the paper: L1, L2, budget, connectivity for each class.
PAPER_WEIGHTS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "mutag": {"mutagen": (10, 5, 20, 1), "nonmutagen": (5, 2, 10, 2)},
    "cyclicity": {
        "red cyclic": (10, 5, 10000, 100),
        "green cyclic": (10, 5, 2000, 50),
        "acyclic": (10, 2, 5000, 50),
    },
    "motif": {
        "house": (1, 1, 5000, 0),
        "house-x": (5, 2, 2000, 0),
        "complete-4": (10, 5, 10000, 1),
        "complete-5": (10, 5, 10000, 5),
    },
    "shape": {
        "lollipop": (5, 5, 1, 5),
        "wheel": (10, 5, 10, 0),
        "grid": (1, 1, 2, 0),
        "star": (10, 2, 200, 0),
    },
    "is_acyclic": {"cyclic": (0, 0, 500, 0), "acyclic": (1, 5, 500, 5)},
    "color_consistency": {"consistent": (1, 1, 50, 1), "inconsistent": (0, 0, 50, 1)},
}

# The paper names neither the number of candidate nodes nor the budget. These are the values of its
# public code where that has any, and of the most similar data set elsewhere.
PAPER_SIZES: dict[str, tuple[int, float]] = {
    "mutag": (20, 20.0),
    "cyclicity": (20, 20.0),
    "motif": (30, 25.0),
    "shape": (25, 25.0),
    "is_acyclic": (25, 25.0),
    "color_consistency": (25, 25.0),
}


@dataclass(frozen=True)
class WeightedTerm:
    """A term of the objective and how much it counts at each iteration."""

    term: Term
    weight: Schedule


@dataclass(frozen=True)
class Sizes:
    """How large explanations may be: candidate nodes, and limits on nodes and edges."""

    candidates: int
    max_nodes: int
    max_edges: float


@dataclass(frozen=True)
class Recipe:
    """How a search runs.

    Args:
        name: What to call it in reports.
        terms: The objective.
        iterations: Length of the gradient search at the most.
        samples: Concrete samples K of each restart in each iteration.
        temperature: Temperature tau of the Concrete distribution.

    Keyword Args:
        optimizer: ``"adam"`` or ``"sgd"``.
        learning_rate: Its step size.
        start: ``"anneal"`` begins around graphs found by random walks, ``"density"`` near the size
            limit, ``"uniform"`` as the paper does.
        walkers: Walkers of each restart, where walks come first.
        walk_steps: Most steps of a walker.
        walk_nodes: Most nodes of the graphs they walk over.
        check_every: Iterations between two looks at discrete graphs, which keep the best state.
        stop_probability: A restart has converged when the class probability of its mode and the
            mean over its samples reach this, within the size limit.
        patience: Looks without any progress after which a restart ends.
        refine: Whether the most probable graph is improved by discrete local search in the end.
        settle: Whether the distribution is then made as certain as the class probability needs.
        max_nodes: Number of candidate nodes, instead of what the statistics suggest.
        max_edges: Limit on edges, likewise.
    """

    name: str
    terms: tuple[WeightedTerm, ...]
    iterations: int = 120
    samples: int = 10
    temperature: Schedule = field(default_factory=lambda: Constant(0.2))
    optimizer: str = "adam"
    learning_rate: float = 0.1
    start: str = "anneal"
    walkers: int = 16
    walk_steps: int = 200
    walk_nodes: int = 10
    check_every: int = 20
    stop_probability: float = 0.99
    patience: int = 1_000_000
    refine: bool = True
    settle: bool = True
    max_nodes: int | None = None
    max_edges: float | None = None

    def __post_init__(self) -> None:
        """Check every rule once, here."""
        if not any(weighted.term.per_sample for weighted in self.terms):
            raise SpecError(
                "terms must hold one that looks at the model's scores, such as ClassScore "
                f"(got {[weighted.term.name for weighted in self.terms]})"
            )
        if self.optimizer not in ("adam", "sgd"):
            raise SpecError(f"optimizer must be 'adam' or 'sgd' (got {self.optimizer!r})")
        if self.start not in ("anneal", "density", "uniform"):
            raise SpecError(f"start must be 'anneal', 'density' or 'uniform' (got {self.start!r})")
        for name in ("iterations", "samples", "check_every"):
            if getattr(self, name) < 1:
                raise SpecError(f"{name} must be at least 1 (got {getattr(self, name)})")
        if not self.learning_rate > 0:
            raise SpecError(f"learning_rate must be positive (got {self.learning_rate})")
        if self.max_nodes is not None and self.max_nodes < 2:
            raise SpecError(f"max_nodes must be at least 2 (got {self.max_nodes})")
        if self.max_edges is not None and self.max_edges < 1:
            raise SpecError(f"max_edges must be at least 1 (got {self.max_edges})")

    @classmethod
    def auto(cls, **overrides: Any) -> Recipe:
        """The recipe that needs no tuning: every number is read from the model and the class.

        Args:
            **overrides: Fields to set by hand.
        """
        recipe = cls(
            name="auto",
            terms=(
                WeightedTerm(ClassLogProbability(), Constant(1.0)),
                WeightedTerm(EmbeddingSimilarity(), Constant(5.0)),
                WeightedTerm(RelativeBudget(), Ramp(0.0, 10.0, 0.0, 0.5)),
                WeightedTerm(Entropy(), Ramp(0.0, 2.0, 0.4, 1.0)),
            ),
        )
        return replace(recipe, **overrides)

    @classmethod
    def paper(cls, dataset: str, target: str, **overrides: Any) -> Recipe:
        """The paper's settings for a class of one of its data sets, to the letter.

        SGD with step size 1, K = 10, temperature 0.2, mu = 1 (10 for MUTAG), the weights of its
        table and the budget warmed up over 500 iterations. It says "until convergence" and names no
        number of iterations, candidate nodes or budget; these are arguments here.

        Args:
            dataset: Name of the data set.
            target: Name of the class.
            **overrides: Fields to set by hand.

        Raises:
            TargetError: If the paper gives no weights for that class.
        """
        weights = PAPER_WEIGHTS.get(dataset, {}).get(target.lower().replace("_", " "))
        if weights is None:
            known = "; ".join(f"{name}: {', '.join(rows)}" for name, rows in PAPER_WEIGHTS.items())
            raise TargetError(
                f"the paper gives no weights for class {target!r} of {dataset!r}; it has {known}"
            )
        l1, l2, budget, connectivity = weights
        candidates, edges = PAPER_SIZES[dataset]
        recipe = cls(
            name="paper",
            terms=(
                WeightedTerm(ClassScore(), Constant(1.0)),
                WeightedTerm(EmbeddingSimilarity(), Constant(10.0 if dataset == "mutag" else 1.0)),
                WeightedTerm(LatentNorm(1), Constant(l1)),
                WeightedTerm(LatentNorm(2), Constant(l2)),
                WeightedTerm(Budget(), WarmUp(budget, steps=500)),
                WeightedTerm(Connectivity(), Constant(connectivity)),
            ),
            iterations=2000,
            samples=10,
            temperature=Constant(0.2),
            optimizer="sgd",
            learning_rate=1.0,
            start="uniform",
            stop_probability=0.9,
            refine=False,
            settle=False,
            max_nodes=candidates,
            max_edges=edges,
        )
        return replace(recipe, **overrides)

    def sizes(self, spec: GraphSpec, statistics: ClassStatistics | None, target: int) -> Sizes:
        """Return how large explanations of a class may be.

        The limits are the means of the class, bounded by what a picture can show.
        """
        nodes, edges = self.max_nodes or spec.max_nodes, self.max_edges
        if statistics is not None and float(statistics.count[target]) > 0:
            if nodes is None:
                mean_nodes = math.ceil(float(statistics.mean_nodes[target]))
                nodes = min(max(mean_nodes, FEWEST_NODES), MOST_NODES)
            if edges is None:
                edges = max(float(statistics.mean_edges[target]), 3.0)
        nodes = DEFAULT_NODES if nodes is None else nodes
        pairs = nodes * (nodes - 1) / (1 if spec.directed else 2)
        edges = min(2.0 * nodes if edges is None else edges, pairs)
        return Sizes(candidates=nodes, max_nodes=nodes, max_edges=edges)
