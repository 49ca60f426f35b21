"""From what a user asks for to targets: names, indices, values, pairs of classes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from gnninterpreter.errors import TargetError
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.models.task import Task
from gnninterpreter.objective.boundary import BoundaryTarget
from gnninterpreter.objective.target import ClassTarget, LabelTarget, Target
from gnninterpreter.objective.value import ValueTarget
from gnninterpreter.spec import GraphSpec

# A value that counts as very low or very high: beyond this many percent of predicted ones.
FAR = 5
# A number counts as met within this share of the spread of predicted values.
NEAR = 0.1
# Where no data says how far values spread.
ASSUMED_SPREAD = 1.0


def targets_of(
    asked: Any, spec: GraphSpec, task: Task, statistics: ClassStatistics | None
) -> list[Target]:
    """Return the targets that a user asks for, each once.

    Classes or labels by name or index, a pair of classes (their boundary, also as ``"a | b"``),
    ``"max"``, ``"min"`` or a number for a regression; one of these or a list of them. None is every
    class of which there are graphs, every label, or both ends of every value.
    """
    if asked is None:
        asked = _everything(spec, task, statistics)
    elif isinstance(asked, (str, int, float)) or _is_pair(asked) or not _is_listed(asked):
        asked = [asked]
    wanted = list(asked)
    if not wanted:
        raise TargetError("targets is empty; name at least one, or leave it out for all")
    found = [_target(one, spec, task, statistics) for one in wanted]
    return list({target.name: target for target in found}.values())


def _is_listed(asked: Any) -> bool:
    return isinstance(asked, Sequence) or (
        hasattr(asked, "__iter__") and int(getattr(asked, "ndim", 1)) > 0
    )


def _is_pair(asked: Any) -> bool:
    return isinstance(asked, tuple) and len(asked) == 2


def _everything(spec: GraphSpec, task: Task, statistics: ClassStatistics | None) -> list[Any]:
    if task is Task.REGRESSION:
        ends = ("min", "max")
        if spec.num_classes == 1:
            return list(ends)
        return [f"{name} {end}" for name in spec.class_names for end in ends]
    return [
        c
        for c in range(spec.num_classes)
        if statistics is None or statistics.profile(c) is not None
    ]


def _target(asked: Any, spec: GraphSpec, task: Task, statistics: ClassStatistics | None) -> Target:
    if isinstance(asked, Target):
        last = max(asked.index, getattr(asked, "other", 0))
        if last >= spec.num_classes:
            raise TargetError(
                f"target {asked.name!r:.60} asks for output {last}; the model has "
                f"{spec.num_classes}, counted from 0"
            )
        return asked
    if task is Task.REGRESSION:
        return _value(asked, spec, statistics)
    if isinstance(asked, str) and asked not in spec.class_names and asked.count("|") == 1:
        asked = tuple(part.strip() for part in asked.split("|"))
    if _is_pair(asked):
        if not task.exclusive:
            raise TargetError(
                f"a pair asks for the boundary between two classes, and the model is {task} "
                f"(got {asked!r})"
            )
        a, b = (spec.class_index(one) for one in asked)
        names = (spec.class_names[a], spec.class_names[b])
        return BoundaryTarget(a, f"{names[0]} | {names[1]}", b, names)
    index = spec.class_index(asked)
    name = spec.class_names[index]
    if task is Task.MULTILABEL:
        return LabelTarget(index, name)
    if statistics is not None and statistics.profile(index) is None:
        raise TargetError(
            f"the data has no graph of class {name!r}, so nothing is known of its size or "
            "embedding; add some, or pass spec= without a dataset"
        )
    return ClassTarget(index, name)


def _value(asked: Any, spec: GraphSpec, statistics: ClassStatistics | None) -> ValueTarget:
    index, aim = _output_and_aim(asked, spec)
    prefix = "" if spec.num_classes == 1 else f"{spec.class_names[index]} "
    low, high, spread = 0.0, 0.0, ASSUMED_SPREAD
    scale: tuple[float, ...] = ()
    if statistics is not None and statistics.value_quantiles.numel():
        quantiles = statistics.value_quantiles[index].double()
        low, high = float(quantiles[FAR]), float(quantiles[-1 - FAR])
        spread = float(quantiles.std()) or ASSUMED_SPREAD
        scale = tuple(float(f"{value:.6g}") for value in quantiles.tolist())
    name = f"{prefix}{aim}" if isinstance(aim, str) else f"{prefix}{aim:g}"
    reach, unit = (high if aim == "max" else low), spread
    if not isinstance(aim, str):
        reach, unit = aim, NEAR * spread
    return ValueTarget(index, name, aim, reach, unit, spec.class_names[index], scale)


def _output_and_aim(asked: Any, spec: GraphSpec) -> tuple[int, str | float]:
    words = f"a regression is asked for 'max', 'min' or a number (got {asked!r})"
    if isinstance(asked, str):
        text = asked.strip()
        for index, name in enumerate(spec.class_names):
            if text.startswith(f"{name} "):
                return index, _aim(text.removeprefix(f"{name} "), words)
        if spec.num_classes > 1:
            names = ", ".join(spec.class_names)
            raise TargetError(
                f"name the output, as in '{spec.class_names[0]} max'; there are {names}"
            )
        return 0, _aim(text, words)
    if _is_pair(asked):
        return spec.class_index(asked[0]), _aim(asked[1], words)
    return 0, _aim(asked, words)


def _aim(value: Any, words: str) -> str | float:
    if value in ("max", "min"):
        return str(value)
    if isinstance(value, bool):
        raise TargetError(words)
    try:
        number = float(value) if isinstance(value, str) else float(operator.pos(value))
    except (TypeError, ValueError):
        raise TargetError(words) from None
    if not math.isfinite(number):
        raise TargetError(words)
    return number
