"""What a run says about itself: the lines at its start, and the settings that are kept with it."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from typing import Any

import torch
import torch_geometric

from gnninterpreter._version import __version__
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import ProbeReport, RelaxedModel
from gnninterpreter.search import Recipe
from gnninterpreter.spec import Derived

MOST_NAMED = 6


def describe(
    classifier: GraphClassifier, report: ProbeReport, relaxed: RelaxedModel | None
) -> list[str]:
    """What was found out about a model, in short lines that are printed when a run begins."""
    spec = classifier.spec
    nodes, edges = _blocks((*spec.nodes, *spec.attributes)), _blocks(spec.edges)
    names = ", ".join(spec.class_names[:MOST_NAMED]) + ", ..." * (spec.num_classes > MOST_NAMED)
    outputs = f"{spec.num_classes} {classifier.task.noun} ({names})"
    lines = [f"{outputs}; node features: {nodes}; edge features: {edges}"]
    if relaxed is not None:
        lines.append(
            f"relaxation exact on discrete graphs (largest error {report.logits_error:.0e})"
        )
    elif report.passed:
        lines.append("score-function gradient, as asked for")
    else:
        lines.append(
            f"cannot be relaxed: {report.reason}; using the score-function gradient "
            "(slower, equally valid)"
        )
    return lines


def _blocks(blocks: Sequence[Any]) -> str:
    """The features of nodes or edges: what is chosen, then what follows from the graph."""
    free = [_block(block) for block in blocks if not isinstance(block, Derived)]
    follow = [
        block.name + (f" ({block.width} columns)" if block.width > 1 else "")
        for block in blocks
        if isinstance(block, Derived)
    ]
    computed = [f"computed from the graph: {', '.join(follow)}"] if follow else []
    return ", ".join(free + computed) or "none"


def _block(block: Any) -> str:
    kind = type(block).__name__.lower()
    if kind == "categorical":
        return f"{block.name} ({block.size} categories)"
    many = "one number" if block.dim == 1 else f"{block.dim} numbers"
    return "constant" if block.constant else many


def versions() -> dict[str, str]:
    """What a run was made with, for its metadata."""
    return {
        "gnninterpreter": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }


def metadata_of(
    recipes: Sequence[Recipe],
    seed: int,
    restarts: int,
    report: ProbeReport,
    classifier: GraphClassifier,
) -> dict[str, Any]:
    """Versions and settings that a run keeps, so that it can be repeated."""
    told = [recipe.to_json() for recipe in recipes]
    return {
        "versions": versions(),
        "seed": seed,
        "restarts": restarts,
        "recipe": recipes[0].name,
        "recipes": [one for i, one in enumerate(told) if one not in told[:i]],
        "task": str(classifier.task),
        "device": str(classifier.device),
        "probe": {
            "passed": report.passed,
            "logits_error": report.logits_error if math.isfinite(report.logits_error) else None,
            "reason": report.reason,
        },
    }
