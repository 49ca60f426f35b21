"""What every study shares: its settings, and the values of computations, each computed once.

A study is a module with ``computations``, which names the work it needs, and ``study``, a function
from a `StudyContext` to an `Outcome`. `gnninterpreter.experiments.paper.run` does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gnninterpreter.experiments.paper import bundled
from gnninterpreter.experiments.paper.settings import Settings
from gnninterpreter.experiments.paper.tables import Table
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.models import Bundle, GraphClassifier

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Outcome:
    """What a study comes to: tables, and figures by the names of their files."""

    tables: Sequence[Table]
    figures: Mapping[str, Figure] = field(default_factory=dict)


@dataclass(frozen=True)
class StudyContext:
    """Where studies find their models and the values of their computations."""

    settings: Settings
    store: Store
    _values: dict[Computation, Any] = field(default_factory=dict)

    def get(self, work: Computation) -> Any:
        """The value of a computation, computed where it is not stored."""
        if work not in self._values:
            self._values[work] = self.store.fetch(work)
        return self._values[work]

    def bundle(self, dataset: str) -> Bundle:
        """The bundled classifier of a data set."""
        return bundled.bundle(dataset)

    def classifier(self, dataset: str) -> GraphClassifier:
        """The same, ready to score graphs."""
        return bundled.classifier(dataset)
