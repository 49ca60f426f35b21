"""Recipes: everything that decides how a search runs, in one frozen value.

A recipe is an objective and the phases that pursue it. `Recipe.auto` is the default and the same
for every class of every model. `Recipe.paper` is the paper to the letter, so that both can be
compared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from gnninterpreter.arguments import check_positive, check_settings, one_of
from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.models.profile import Profile
from gnninterpreter.objective import (
    Budget,
    Certainty,
    Connectivity,
    Constant,
    Entropy,
    LatentNorm,
    Likeness,
    Objective,
    Ramp,
    RawScore,
    Size,
    Term,
    Typical,
    Valence,
    WarmUp,
    Weighted,
    Wholeness,
)
from gnninterpreter.search.anneal import Anneal
from gnninterpreter.search.ascent import Ascent
from gnninterpreter.search.calibration import Calibrate
from gnninterpreter.search.iterated import IteratedSearch
from gnninterpreter.search.local import LocalSearch
from gnninterpreter.search.paper_settings import PAPER_SIZES, PAPER_WEIGHTS
from gnninterpreter.search.serialization import from_plain, to_plain
from gnninterpreter.search.shortcuts import FindShortcuts
from gnninterpreter.search.shrink import Shrink
from gnninterpreter.search.spread import Spread
from gnninterpreter.search.state import Phase
from gnninterpreter.spec import GraphSpec

# Candidate nodes where neither the user nor the data says how large graphs are.
DEFAULT_NODES = 20


@dataclass(frozen=True)
class Limits:
    """How many nodes and edges explanations may have."""

    max_nodes: int
    max_edges: float


@dataclass(frozen=True)
class Recipe:
    """How a search runs.

    Args:
        name: What to call it in reports.
        terms: The terms of the objective, the most important first.
        phases: What is done, in this order.
        start: Where distributions begin: ``"density"`` near the size limit, ``"uniform"`` as the
            paper does.
        stop_score: Score at which a restart has reached its target: of its most probable graph,
            and as a mean over its samples. A model that gives few real graphs as much is asked for
            less; see `Profile.certain`.
        max_nodes: Number of candidate nodes, instead of what the statistics suggest.
        max_edges: Limit on edges, likewise.

    Example:
        >>> Recipe.auto(iterations=40).phase("gradient").iterations
        40
        >>> [phase.name for phase in Recipe.auto().without("gradient").phases]
        ['shrink', 'anneal', 'local search', 'iterated search', 'calibrate', 'spread', 'shortcuts']
    """

    name: str
    terms: tuple[Weighted, ...]
    phases: tuple[Phase, ...]
    start: str = "density"
    stop_score: float = 0.99
    max_nodes: int | None = None
    max_edges: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", Objective(tuple(self.terms)).terms)
        object.__setattr__(self, "phases", tuple(self.phases))
        for phase in self.phases:
            if not callable(phase) or not isinstance(getattr(phase, "name", None), str):
                raise SpecError(
                    "a phase must be callable with (problem, state, streams, monitor) and have a "
                    f"name (got {phase!r})"
                )
        names = [phase.name for phase in self.phases]
        if len(set(names)) != len(names):
            raise SpecError(f"phases must have different names (got {', '.join(names)})")
        one_of("start", self.start, ("density", "uniform"))
        check_positive(self.stop_score, "stop_score", most=1.0)
        if self.max_nodes is not None:
            check_settings(self, max_nodes=2)
        if self.max_edges is not None:
            check_positive(self.max_edges, "max_edges")
            if self.max_edges < 1:
                raise SpecError(f"max_edges must be at least 1 (got {self.max_edges})")

    @property
    def objective(self) -> Objective:
        """How good graphs are."""
        return Objective(self.terms)

    @property
    def typical(self) -> bool:
        """Whether graphs are asked to be like real ones."""
        return any(weighted.term.name == Typical.name for weighted in self.terms)

    def phase(self, name: str) -> Any:
        """Look a phase up by its name."""
        for phase in self.phases:
            if isinstance(name, str) and phase.name == name:
                return phase
        known = ", ".join(phase.name for phase in self.phases) or "none"
        raise SpecError(f"the recipe has no phase {name!r}; it has {known}")

    def without(self, *names: str) -> Recipe:
        """The same recipe with some phases left out."""
        gone = {self.phase(name).name for name in names}
        return replace(self, phases=tuple(p for p in self.phases if p.name not in gone))

    def adding(self, *terms: Term | Weighted) -> Recipe:
        """The same recipe with more terms, which count after the others."""
        more = tuple(t if isinstance(t, Weighted) else Weighted(t) for t in terms)
        return replace(self, terms=(*self.terms, *more))

    def with_phase(self, name: str, **settings: Any) -> Recipe:
        """The same recipe with other settings of one phase."""
        phase = self.phase(name)
        unknown = set(settings) - _settings(phase)
        if unknown:
            raise SpecError(
                f"phase {name!r} has no setting {', '.join(sorted(unknown))}; "
                f"it has {', '.join(sorted(_settings(phase))) or 'none'}"
            )
        changed = replace(phase, **settings)
        return replace(self, phases=tuple(changed if p is phase else p for p in self.phases))

    def with_(self, **settings: Any) -> Recipe:
        """The same recipe with other settings: its own, or of the one phase that has them."""
        own = {field.name for field in fields(self)}
        recipe = replace(self, **{k: v for k, v in settings.items() if k in own})
        for name, value in settings.items():
            if name in own:
                continue
            owners = [p for p in recipe.phases if name in _settings(p)]
            if len(owners) != 1:
                known = sorted({*own, *(s for p in recipe.phases for s in _settings(p))})
                if owners:
                    phases = ", ".join(repr(phase.name) for phase in owners)
                    raise SpecError(
                        f"{name!r} is a setting of several phases, {phases}; "
                        f"use with_phase(name, {name}=...)"
                    )
                raise SpecError(
                    f"{name!r} is no setting of a recipe; the settings are {', '.join(known)}"
                )
            recipe = recipe.with_phase(owners[0].name, **{name: value})
        return recipe

    @classmethod
    def auto(cls, **settings: Any) -> Recipe:
        """The recipe that needs no tuning, with settings changed as in `with_`."""
        recipe = cls(
            name="auto",
            terms=(
                # What is no molecule is no answer, however certain the model is of it.
                Weighted(Valence(), soft=Ramp(0.0, 2.0, 0.0, 0.5), discrete=2000.0, guide=3.0),
                Weighted(Certainty(), soft=1.0, discrete=200.0, guide=2.0),
                Weighted(Wholeness(), soft=Ramp(0.0, 10.0, 0.0, 0.5), discrete=20.0, guide=3.0),
                Weighted(Typical(), discrete=10.0, guide=10.0),
                Weighted(Likeness(), soft=5.0, discrete=2.0, guide=10.0),
                Weighted(Size(), discrete=0.2, guide=0.01),
                Weighted(Entropy(), soft=Ramp(0.0, 2.0, 0.4, 1.0)),
            ),
            phases=(
                Shrink(),
                Anneal(),
                # As many restarts arrive with one sample an iteration as with ten.
                Ascent(samples=1, spares=True, settled=2),
                LocalSearch(),
                IteratedSearch(),
                Calibrate(),
                Spread(),
                FindShortcuts(),
            ),
        )
        return recipe.with_(**settings)

    @classmethod
    def certain(cls, **settings: Any) -> Recipe:
        """What the model is certain of, like anything real or not: `auto` without typicality."""
        recipe = cls.auto().without("shrink", "spread", "shortcuts")
        terms = recipe.objective.without(Typical.name).terms
        return replace(recipe, name="certain", terms=terms).with_(**settings)

    @classmethod
    def paper(cls, dataset: str, target: str, **settings: Any) -> Recipe:
        """The paper's settings for a class of one of its data sets, to the letter.

        SGD with step size 1, K = 10, temperature 0.2, mu = 1 (10 for MUTAG), the weights of its
        table and the budget warmed up over 500 iterations; the last iterate is the result. It says
        "until convergence" and names no number of iterations, candidate nodes or budget; these are
        settings here.

        Args:
            dataset: Name of the data set.
            target: Name of the class.
            **settings: Settings to change, as in `with_`.

        Raises:
            TargetError: If the paper gives no weights for that class.
        """
        folded = dataset.strip().lower().replace("-", "_").replace(" ", "_")
        rows = PAPER_WEIGHTS.get(folded, {})
        weights = rows.get(target.strip().lower().replace("_", " "))
        if weights is None:
            known = "; ".join(f"{name}: {', '.join(rows)}" for name, rows in PAPER_WEIGHTS.items())
            raise TargetError(
                f"the paper gives no weights for class {target!r} of {dataset!r}; it has {known}"
            )
        l1, l2, budget, connectivity = weights
        candidates, edges = PAPER_SIZES[folded]
        recipe = cls(
            name="paper",
            terms=(
                Weighted(RawScore(), soft=1.0),
                Weighted(Likeness(), soft=10.0 if folded == "mutag" else 1.0),
                Weighted(LatentNorm(1), soft=l1),
                Weighted(LatentNorm(2), soft=l2),
                Weighted(Budget(), soft=WarmUp(budget, steps=500)),
                Weighted(Connectivity(), soft=connectivity),
            ),
            phases=(
                Ascent(
                    iterations=2000,
                    samples=10,
                    temperature=Constant(0.2),
                    optimizer="sgd",
                    learning_rate=1.0,
                    keep="last",
                ),
            ),
            start="uniform",
            stop_score=0.9,
            max_nodes=candidates,
            max_edges=edges,
        )
        return recipe.with_(**settings)

    def limits(self, spec: GraphSpec, profile: Profile | None) -> Limits:
        """Return how large explanations of a target may be.

        The limits are the means of its real graphs, bounded by what a picture can show; dense ones
        may have as many edges as is usual among real graphs of that size.
        """
        nodes, edges = self.max_nodes or spec.max_nodes, self.max_edges
        if profile is not None:
            if nodes is None:
                nodes = profile.most_nodes
            if edges is None:
                edges = max(profile.usual_edges, 3.0)
        nodes = DEFAULT_NODES if nodes is None else nodes
        pairs = nodes * (nodes - 1) / spec.ways
        edges = min(2.0 * nodes if edges is None else edges, pairs)
        return Limits(max_nodes=nodes, max_edges=edges)

    def call(self) -> str:
        """The Python expression that makes it again, as short as it can be."""
        for name, base in (("auto", Recipe.auto()), ("certain", Recipe.certain())):
            if self == base:
                return repr(name)
            changed = _changes(base, self)
            try:
                same = base.with_(**changed) == self
            except SpecError:
                continue
            if same:
                given = ", ".join(f"{key}={value!r}" for key, value in changed.items())
                return f"gi.Recipe.{name}({given})"
        return "gi.Recipe.from_json(result.metadata['recipes'][0])"

    def to_json(self) -> dict[str, Any]:
        """Return the whole recipe as plain JSON values."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Recipe:
        """Read what `to_json` wrote."""
        recipe = from_plain(values)
        if not isinstance(recipe, cls):
            raise SpecError(f"this is no recipe (got {type(recipe).__name__})")
        return recipe


def _changes(base: Recipe, other: Recipe) -> dict[str, Any]:
    """Settings in which a recipe differs from another that has the same phases."""
    own = ("start", "stop_score", "max_nodes", "max_edges")
    found = {k: getattr(other, k) for k in own if getattr(other, k) != getattr(base, k)}
    for mine, its in zip(base.phases, other.phases, strict=False):
        for name in sorted(_settings(mine) & _settings(its)):
            if getattr(mine, name) != getattr(its, name):
                found[name] = getattr(its, name)
    return found


def _settings(phase: Phase) -> set[str]:
    try:
        return {field.name for field in fields(phase)} - {"name"}  # type: ignore[arg-type]
    except TypeError:
        return set()
