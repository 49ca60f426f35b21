"""One class explained once, and files of such runs, none of which is repeated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gnninterpreter.experiments.bench import Bench
from gnninterpreter.experiments.subjects import names_of, subject, targets_of

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
depends_on = BENCH.depends_on


def configs_of(models: str, seeds: int, restarts: int = 8, recipe: str = "auto") -> list[RunConfig]:
    """Every class of some models from seeds 0 on."""
    return [
        RunConfig(name, target, seed, restarts, recipe)
        for name in names_of(models)
        for target in targets_of(name, recipe)
        for seed in range(seeds)
    ]


def explain_once(model: str, target: str, seed: int, restarts: int, recipe: str) -> dict[str, Any]:
    """Explain one class once and say what it came to, as JSON values."""
    from gnninterpreter.api import explain

    asked: dict[str, Any] = {"seed": seed, "restarts": restarts, "recipe": recipe}
    found = subject(model)
    explanation = explain(found.model, targets=[target], progress=False, **asked, **found.options)[
        target
    ]
    restart, oracle = explanation.restarts[explanation.choice], found.oracle
    row = {
        "model": model,
        "target": target,
        **asked,
        "mean": explanation.probability.mean,
        "std": explanation.probability.std,
        "samples": explanation.probability.n,
        "mode_probability": explanation.mode_probability,
        "nodes": explanation.num_nodes,
        "edges": explanation.num_edges,
        "max_nodes": explanation.max_nodes,
        "max_edges": explanation.max_edges,
        "feasible": restart.feasible,
        "similarity": explanation.similarity,
        "percentile": explanation.similarity_percentile,
        "oracle": oracle and found.spec.class_names[oracle(explanation.best)],
        "entropy": explanation.entropy,
        "good_restarts": sum(r.mean_probability >= WANTED for r in explanation.restarts),
        "iterations": restart.iterations,
        "seconds": explanation.seconds,
        "reason": explanation.reason,
    }
    return {"row": row}
