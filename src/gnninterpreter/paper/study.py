"""What every study shares: its settings, bundled models, explanations that are found only once.

A study is a function from a `Workshop` to an `Outcome`. `gnninterpreter.paper.run` does the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from gnninterpreter import api
from gnninterpreter.baselines import SampledExplanation
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.models import Bundle, GraphClassifier, load
from gnninterpreter.optim import Recipe
from gnninterpreter.paper.published import CLASSES
from gnninterpreter.paper.tables import Table

__all__ = ["DATASETS", "Figure", "Outcome", "Settings", "Workshop"]

DATASETS: tuple[str, ...] = tuple(CLASSES)


class Figure(Protocol):
    """Anything that can be drawn as SVG and as PNG."""

    @property
    def name(self) -> str:
        """Name of its files."""

    def svg(self) -> str:
        """Return an SVG document."""

    def png(self, path: Path) -> bool:
        """Write a PNG; False where that needs a package that is missing."""


@dataclass(frozen=True)
class Outcome:
    """What a study comes to."""

    tables: Sequence[Table]
    figures: Sequence[Figure] = ()


@dataclass(frozen=True)
class Settings:
    """How large the studies are.

    Args:
        quick: Whether to do the small version.
        seed: First of the seeds.
    """

    quick: bool = False
    seed: int = 0

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of repeated runs."""
        return tuple(range(self.seed, self.seed + (1 if self.quick else 10)))

    @property
    def restarts(self) -> int:
        """Restarts of our own recipe."""
        return 8

    @property
    def samples(self) -> int:
        """Graphs of a random baseline."""
        return 1000

    @property
    def bases(self) -> int:
        """Base graphs that motifs are attached to."""
        return 500 if self.quick else 5000

    def paper_recipe(self, dataset: str, target: str) -> Recipe:
        """The paper's recipe; in the quick version it is cut short."""
        if self.quick:
            return Recipe.paper(dataset, target, iterations=150)
        return Recipe.paper(dataset, target)

    @property
    def paper_restarts(self) -> int:
        """Restarts of the paper's recipe, which has none: one run is one restart."""
        return 2 if self.quick else 8


@dataclass
class Workshop:
    """Where studies find their models and explanations.

    Args:
        settings: How large they are.
        folder: Where results go; explanations that were found are kept in ``runs`` there.
        say: Called with short lines on what is being done.
        kept: What baselines found, for studies that come later.
    """

    settings: Settings
    folder: Path
    say: Callable[[str], None] = lambda line: None
    kept: dict[str, list[SampledExplanation]] = field(default_factory=dict)
    _found: dict[str, ExplanationSet] = field(default_factory=dict)

    def bundle(self, dataset: str) -> Bundle:
        """The bundled classifier of a data set."""
        return _bundle(dataset)

    def classifier(self, dataset: str) -> GraphClassifier:
        """The same, ready to score graphs."""
        return _classifier(dataset)

    def explained(
        self, dataset: str, recipe: str = "auto", seed: int | None = None
    ) -> ExplanationSet:
        """Explanations of the classes of a data set, read back where a run of it is stored.

        Args:
            dataset: Name of the data set.
            recipe: ``"auto"`` or ``"paper"``.
            seed: Seed; that of the settings when omitted.
        """
        number = self.settings.seed if seed is None else seed
        quick = "-quick" if self.settings.quick and recipe == "paper" else ""
        key = f"{dataset}-{recipe}-seed{number}{quick}"
        if key not in self._found:
            self._found[key] = self._stored(key) or self._explain(dataset, recipe, number, key)
        return self._found[key]

    def _stored(self, key: str) -> ExplanationSet | None:
        folder = self.folder / "runs" / key
        try:
            stored = json.loads((folder / "weights.json").read_text(encoding="utf-8"))
            if stored != self.weights(key.split("-")[0]):
                return None
            return api.load(folder)
        except (OSError, ValueError, GNNInterpreterError):
            return None

    def _explain(self, dataset: str, recipe: str, seed: int, key: str) -> ExplanationSet:
        bundle, parts = self.bundle(dataset), {}
        for target in CLASSES[dataset]:
            self.say(f"{dataset}, {target}: {recipe} recipe, seed {seed}")
            ours = recipe == "auto"
            chosen = Recipe.auto() if ours else self.settings.paper_recipe(dataset, target)
            restarts = self.settings.restarts if ours else self.settings.paper_restarts
            one = api.explain(
                bundle, targets=target, recipe=chosen, seed=seed, restarts=restarts, progress=False
            )
            parts.update(one.explanations)
        found = ExplanationSet(one.spec, parts, one.model_name, one.inferred, one.metadata)
        folder = self.folder / "runs" / key
        found.save(folder, overwrite=True)
        document = json.dumps(self.weights(dataset))
        (folder / "weights.json").write_text(document, encoding="utf-8")
        return found

    def weights(self, dataset: str) -> dict[str, Any]:
        """What tells one version of a bundled model from another."""
        total = sum(
            float(p.detach().double().abs().sum()) for p in _bundle(dataset).model.parameters()
        )
        return {"dataset": dataset, "weights": f"{total:.9g}"}


@lru_cache(maxsize=8)
def _bundle(dataset: str) -> Bundle:
    return load(dataset)


@lru_cache(maxsize=8)
def _classifier(dataset: str) -> GraphClassifier:
    bundle = _bundle(dataset)
    return GraphClassifier(bundle.model, bundle.spec)
