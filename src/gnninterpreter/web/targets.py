"""What can be explained from the live page, and how `explain` is asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gnninterpreter.objective.target import BoundaryTarget, Target, ValueTarget
from gnninterpreter.spec import GraphSpec

__all__ = ["askable"]


def askable(spec: GraphSpec, known: Sequence[Target]) -> dict[str, Any]:
    """By name, what `explain` takes as ``targets``.

    Args:
        spec: Names the classes or labels, each of which can be explained.
        known: What the run has explained, values and boundaries among it.
    """
    found: dict[str, Any] = {}
    if not any(isinstance(target, ValueTarget) for target in known):
        found = {name: index for index, name in enumerate(spec.class_names)}
    for target in known:
        if isinstance(target, ValueTarget):
            found[target.name] = [target.aim]
        elif isinstance(target, BoundaryTarget):
            found[target.name] = [target.names]
    return found
