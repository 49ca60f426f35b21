"""What can be explained from the live page, and how `explain` is asked for it."""

from __future__ import annotations

from collections.abc import Sequence

from gnninterpreter.objective import Target, ValueTarget
from gnninterpreter.spec import GraphSpec


def askable(spec: GraphSpec, known: Sequence[Target]) -> dict[str, Target | int]:
    """By name, what `explain` takes as a target."""
    found: dict[str, Target | int] = {}
    # A regression has outputs instead of classes.
    if not any(isinstance(target, ValueTarget) for target in known):
        found = {name: index for index, name in enumerate(spec.class_names)}
    return found | {target.name: target for target in known}
