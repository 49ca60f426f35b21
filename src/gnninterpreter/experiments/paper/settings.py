"""How large the studies are: the quick version for a look, the full one for the record."""

from __future__ import annotations

from dataclasses import dataclass

from gnninterpreter.experiments.paper.published import CLASSES

DATASETS: tuple[str, ...] = tuple(CLASSES)
GAMES: tuple[str, ...] = ("mutag", "is_acyclic", "motif", "shape")
"""The data sets whose graphs XGNN can build, those that the paper gives it first."""


def cases() -> tuple[tuple[str, str], ...]:
    """Every class that the paper explains, with its data set."""
    return tuple((dataset, target) for dataset in DATASETS for target in CLASSES[dataset])


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
        """Seeds of our own recipe."""
        return self._from(1 if self.quick else 10)

    @property
    def measured_seeds(self) -> tuple[int, ...]:
        """Those of them for which every metric is taken."""
        return self.seeds[:2]

    @property
    def restarts(self) -> int:
        """Restarts of our own recipe; in the quick version half as many as usual."""
        return 4 if self.quick else 8

    @property
    def paper_runs(self) -> int:
        """Runs of the paper's recipe, searched as one batch; a run of it is one restart."""
        return 2 if self.quick else 10

    @property
    def paper_iterations(self) -> int:
        """Most iterations of the paper's recipe, which runs "until convergence"."""
        return 100 if self.quick else 2000

    @property
    def games(self) -> tuple[str, ...]:
        """Data sets that XGNN is run on."""
        return GAMES[:2] if self.quick else GAMES

    def xgnn_seeds(self, dataset: str) -> tuple[int, ...]:
        """Seeds of XGNN; fewer where the paper gives no figure to compare with."""
        published = dataset in GAMES[:2]
        if self.quick:
            return self._from(2)
        return self._from(10 if published else 2)

    @property
    def xgnn_patience(self) -> int:
        """Looks without progress after which XGNN gives up."""
        return 6 if self.quick else 20

    @property
    def timings(self) -> int:
        """Times that ours and XGNN are run in turn, for the ratio of their times."""
        return 1 if self.quick else 3

    @property
    def samples(self) -> int:
        """Graphs of a random baseline."""
        return 1000

    @property
    def bases(self) -> int:
        """Base graphs that motifs are attached to."""
        return 500 if self.quick else 5000

    @property
    def bias_graphs(self) -> int:
        """Graphs of each set without evidence."""
        return 200 if self.quick else 1000

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

    @property
    def ablation_restarts(self) -> int:
        """Restarts of it."""
        return 2

    def _from(self, count: int) -> tuple[int, ...]:
        return tuple(range(self.seed, self.seed + count))
