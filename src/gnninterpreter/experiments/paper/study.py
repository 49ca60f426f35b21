"""What every study shares: its settings, and the values of units, computed only once.

A study is a module with ``units``, which names the work it needs, and ``study``, a function from a
`Workshop` to an `Outcome`. `gnninterpreter.experiments.paper.run` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from gnninterpreter.experiments.paper import units
from gnninterpreter.experiments.paper.compute import CACHE
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.tables import Table
from gnninterpreter.models import Bundle, GraphClassifier

__all__ = ["Figure", "Outcome", "Workshop"]


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


@dataclass
class Workshop:
    """Where studies find their models and the values of their units.

    Args:
        settings: How large they are.
        folder: Where results go; values are kept in ``cache`` there.
        say: Called with short lines on what is being done.
    """

    settings: Settings
    folder: Path
    say: Callable[[str], None] = lambda line: None
    _values: dict[units.Unit, Any] = field(default_factory=dict)

    def get(self, work: units.Unit) -> Any:
        """The value of a unit, computed where it is not stored."""
        if work not in self._values:
            store = units.Store(self.folder / CACHE)
            if not store.path(work).is_file():
                self.say(work.name)
            self._values[work] = store.fetch(work)
        return self._values[work]

    def bundle(self, dataset: str) -> Bundle:
        """The bundled classifier of a data set."""
        return units.bundle(dataset)

    def classifier(self, dataset: str) -> GraphClassifier:
        """The same, ready to score graphs."""
        return units.classifier(dataset)
