"""One class explained once, and files of such runs."""

from __future__ import annotations

from dataclasses import dataclass

from gnninterpreter.experiments.bench import Bench

WANTED = 0.99


@dataclass(frozen=True)
class RunConfig:
    """One class of one model, to be explained from one seed."""

    model: str
    target: str
    seed: int
    restarts: int = 8
    recipe: str = "auto"


@dataclass(frozen=True, kw_only=True)
class Run(RunConfig):
    """What one explanation came to.

    Mean and deviation are of the native model over discrete samples; probability and size are of
    the most probable graph. Feasible: connected, of three nodes or more and within the limits.
    ``percentile``: share of the class's real graphs that are less similar, in percent; ``oracle``:
    what the ground truth says; ``entropy`` in bits.
    """

    mean: float
    std: float
    samples: int
    mode_probability: float
    nodes: int
    edges: int
    max_nodes: int
    max_edges: float
    feasible: bool
    similarity: float | None
    percentile: float | None
    oracle: str | None
    entropy: float
    good_restarts: int
    iterations: int
    seconds: float
    reason: str

    @property
    def missed(self) -> bool:
        """Whether the run fell short: in probability, in one piece, or in size."""
        return self.mean < WANTED or not self.feasible

    def __str__(self) -> str:
        return (
            f"{self.model} / {self.target} / seed {self.seed}: {self.mean:.4f} "
            f"{'missed' if self.missed else 'ok'} ({self.nodes} nodes, {self.edges} edges, "
            f"{self.seconds:.1f} s)"
        )


BENCH = Bench("robustness", Run, "explain_once", schema=3)
