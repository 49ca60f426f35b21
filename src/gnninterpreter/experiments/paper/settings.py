"""How large the studies are: the quick version for a look, the full one for the record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from gnninterpreter.experiments.paper.published import CLASSES

DATASETS: tuple[str, ...] = tuple(CLASSES)
GAMES: tuple[str, ...] = ("mutag", "is_acyclic", "motif", "shape")
"""The data sets whose graphs XGNN can build, those that the paper gives it first."""


def cases() -> tuple[tuple[str, str], ...]:
    """Every class that the paper explains, with its data set."""
    return tuple((dataset, target) for dataset in DATASETS for target in CLASSES[dataset])


class Sized:
    """A number of the quick version and one of the full version."""

    def __init__(self, quick: int, full: int) -> None:
        self.numbers = (full, quick)

    def __get__(self, settings: Settings, owner: type) -> int:
        return self.numbers[settings.quick]


@dataclass(frozen=True)
class Settings:
    """How large the studies are: the small version or the full one, and the first of the seeds."""

    quick: bool = False
    seed: int = 0

    restarts: ClassVar = Sized(4, 8)  # of our own recipe; in the quick version half as many
    paper_runs: ClassVar = Sized(2, 10)  # searched as one batch; a run of it is one restart
    paper_iterations: ClassVar = Sized(100, 2000)  # at most: it runs "until convergence"
    xgnn_patience: ClassVar = Sized(6, 20)  # looks without progress after which it gives up
    timings: ClassVar = Sized(1, 3)  # of ours and XGNN in turn, for the ratio of their times
    samples: ClassVar = Sized(1000, 1000)  # graphs of a random baseline
    bases: ClassVar = Sized(500, 5000)  # graphs that motifs are attached to
    bias_graphs: ClassVar = Sized(200, 1000)  # of each set without evidence
    ablation_restarts: ClassVar = Sized(2, 2)

    @property
    def seeds(self) -> tuple[int, ...]:
        """Seeds of our own recipe."""
        return self._from(1 if self.quick else 10)

    @property
    def measured_seeds(self) -> tuple[int, ...]:
        """Those of them for which every metric is taken."""
        return self.seeds[:2]

    @property
    def games(self) -> tuple[str, ...]:
        """Data sets that XGNN is run on."""
        return GAMES[:2] if self.quick else GAMES

    def xgnn_seeds(self, dataset: str) -> tuple[int, ...]:
        """Seeds of XGNN; fewer where the paper gives no figure to compare with."""
        return self._from(10 if dataset in GAMES[:2] and not self.quick else 2)

    @property
    def ablated(self) -> tuple[tuple[str, str], ...]:
        """Classes whose terms are left out: one of each data set, or all."""
        return tuple((d, CLASSES[d][0]) for d in DATASETS) if self.quick else cases()

    @property
    def ablation_recipes(self) -> tuple[str, ...]:
        """Recipes whose terms are left out."""
        return ("paper", "gradient") if self.quick else ("paper", "gradient", "auto")

    def ablation_iterations(self, recipe: str) -> int | None:
        """Iterations of a search that lacks a term; None for those of the recipe."""
        if recipe == "auto":
            return None
        return 60 if self.quick else {"paper": 200, "gradient": 300}[recipe]

    def _from(self, count: int) -> tuple[int, ...]:
        return tuple(range(self.seed, self.seed + count))
