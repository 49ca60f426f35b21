"""One class explained once by one method, as figures, and files of such rows."""

from __future__ import annotations

from dataclasses import dataclass

from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.bench import Bench

ABLATIONS = ("unopened", "unspread", "unshrunk", "bar-0", "bar-25")
# Place under random GINs from which on a graph is like real ones.
PLACED = 0.1
METHODS = ("ours", "certain", "paper", "random", "xgnn", "real", *ABLATIONS)
COSTS = dict.fromkeys(ABLATIONS, 20.0) | {
    "ours": 20.0, "certain": 10.0, "paper": 60.0, "xgnn": 60.0,
}  # fmt: skip


@dataclass(frozen=True)
class RealismConfig:
    """One class of one model, to be explained by one method from one seed.

    The model is bundled, of the zoo, or a reference to one's own. ``"certain"`` is the search
    without typicality, ``"real"`` real graphs that were left out, and `ABLATIONS` our search with
    one ingredient left out.
    """

    model: str
    target: str
    seed: int
    method: str = "ours"
    restarts: int = 8

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)} (got {self.method!r})")


@dataclass(frozen=True, kw_only=True)
class RealismRow(RealismConfig):
    """What one explanation came to beside real graphs; None stands for not measured.

    ``rule_`` figures: whether, or for which share, the rule of the data set agrees; ``place_best``:
    place of the best graph under random GINs, among what it is ``compared_with`` (whole graphs, or
    pieces of as many nodes) and among whole graphs in either case; ``place_samples``: share of 50
    samples with a place of 0.1 at least; ``certain_samples``: share that reach the bar of certainty
    (0.99, or less where the model is never that sure); ``good_samples``: share that do both;
    ``copy``: whether it is one of the real graphs; ``validation_score``: GIN-Graph's; ``bits``:
    entropy, a mean over restarts, None in older files.
    """

    rule_best: bool | None
    rule_core: bool | None
    rule_modes: float | None
    rule_samples: float | None
    place_best: float | None
    place_samples: float | None
    compared_with: str
    place_best_whole: float
    place_samples_whole: float
    certain_samples: float
    good_samples: float | None
    distinct50: int
    mean_probability: float
    certain_bar: float
    feasible: bool
    nodes: int
    edges: int
    real_median_nodes: float
    copy: bool
    copy_samples: float
    valid: bool | None
    valid_samples: float | None
    validation_score: float | None
    seconds: float
    verdict: str
    bits: float | None = None

    @property
    def certain(self) -> bool:
        """Whether it is certain and feasible."""
        return self.feasible and self.mean_probability >= self.certain_bar

    def __str__(self) -> str:
        place = "-" if self.place_best is None else f"{self.place_best:.2f}"
        return (
            f"{self.method} / {self.model} / {self.target} / seed {self.seed}: "
            f"p {self.mean_probability:.4f}, rule {self.rule_best}, place {place}, "
            f"{self.distinct50} distinct, {self.nodes} nodes, {self.seconds:.1f} s"
        )


BENCH = Bench("realism", RealismRow, "measure_once", schema=2, costs=COSTS)
