"""One class explained once by one method, as figures, and files of such rows."""

from __future__ import annotations

from dataclasses import dataclass

from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.bench import Bench

ABLATIONS = ("unopened", "unspread", "unshrunk", "bar-0", "bar-25")
METHODS = ("ours", "certain", "paper", "random", "xgnn", "real", *ABLATIONS)
COSTS = dict.fromkeys(ABLATIONS, 20.0) | {
    "ours": 20.0, "certain": 10.0, "paper": 60.0, "xgnn": 60.0,
}  # fmt: skip


@dataclass(frozen=True)
class RealismConfig:
    """One class of one model, to be explained by one method from one seed.

    Args:
        model: Name of a model: bundled, of the zoo, or a reference to one's own.
        target: Name of the class.
        seed: The seed.
        method: ``"ours"``, ``"certain"`` (the search without typicality), ``"paper"``,
            ``"random"``, ``"xgnn"``, ``"real"`` (real graphs that were left out) or one of
            `ABLATIONS`, our search with one ingredient left out.
        restarts: Restarts of a search; baselines have none.

    Raises:
        SpecError: If there is no such method.
    """

    model: str
    target: str
    seed: int
    method: str = "ours"
    restarts: int = 8

    def __post_init__(self) -> None:
        """Check the method."""
        if self.method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)} (got {self.method!r})")


@dataclass(frozen=True, kw_only=True)
class RealismRow(RealismConfig):
    """What one explanation came to beside real graphs; None stands for not measured.

    Args:
        rule_best: Whether the rule of the data set agrees with the best graph.
        rule_core: The same of the core.
        rule_modes: Share of the modes it agrees with.
        rule_samples: Share of the samples it agrees with.
        place_best: Place of the best graph under random GINs.
        place_samples: Share of 50 samples with a place of 0.1 at least.
        compared_with: What places are among: ``"whole graphs"`` or ``"pieces"`` of as many nodes.
        place_best_whole: Place of the best graph among whole real graphs in either case.
        place_samples_whole: Share of the samples with such a place of 0.1 at least.
        certain_samples: Share of them that reach the bar of certainty.
        good_samples: Share of them that do both.
        distinct50: Distinct graphs among them.
        mean_probability: Mean class probability.
        certain_bar: What counts as certain: 0.99, or less where the model is never that sure.
        feasible: Whether the best graph is in one piece and within the limits.
        nodes: Its nodes.
        edges: Its edges.
        real_median_nodes: Median of the class.
        copy: Whether it is one of the real graphs.
        copy_samples: Share of the samples that are.
        valid: Whether it is a possible molecule.
        valid_samples: Share of the samples that are.
        validation_score: GIN-Graph's validation score of the best graph.
        seconds: Time it took.
        verdict: The verdict in a word or two.
        bits: Entropy of the distributions, a mean over restarts; None in older files.
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
