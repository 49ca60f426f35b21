"""Doing runs: those that are stored are not repeated, and a file holds those asked for."""

from __future__ import annotations

from typing import Any

from gnninterpreter.experiments.robustness.rows import BENCH, WANTED, RunConfig
from gnninterpreter.experiments.subjects import names_of, subject, targets_of

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
