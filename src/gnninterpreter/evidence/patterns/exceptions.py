"""Graphs that go against what tells a class best: is there a reason, or are they known by heart?

A network with room enough follows a rule where it can and learns the others one by one, as wrong
labels have to be. Then the rule tells most of what the model says, the model is right about all of
the exceptions, and nothing tells which graphs these are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from gnninterpreter.evidence.thresholds import GUESSED, PROBABLE

# Fewest exceptions, and of one side among the graphs that the rule calls the same.
FEWEST, FEW = 20, 5
# The same as a share of the graphs: a rule has a few exceptions in any model.
LEAST = 0.1


def unexplained(
    own: np.ndarray,
    rule: np.ndarray,
    right: np.ndarray,
    tables: Sequence[Callable[[], np.ndarray]],
    told: Callable[[np.ndarray, np.ndarray], float],
) -> float:
    """Share of graphs that are exceptions to a rule and may be known by heart; 0 with a reason.

    Args:
        own: Whether the model gives each graph the class.
        rule: Whether the rule says so.
        right: What a label says of the model: 1 that it is right, 0 that it is wrong, NaN nothing.
        tables: What each graph is like, the cheapest description first.
        told: How well a table tells the graphs of one side from the others, 0.5 as guesses do.
    """
    against = own != rule
    if against.sum() < max(FEWEST, LEAST * len(own)):
        return 0.0
    known = right[against & ~np.isnan(right)]
    if len(known) < FEWEST or known.mean() < PROBABLE:
        return 0.0
    parts = [part for part in (rule, ~rule) if min(own[part].sum(), (~own[part]).sum()) >= FEW]
    pairs = np.array([float(own[part].sum() * (~own[part]).sum()) for part in parts])
    if not parts:
        return 0.0
    errors = [(part.sum() + 1) / (12 * count) for part, count in zip(parts, pairs, strict=True)]
    shares = pairs / pairs.sum()
    bar = min(0.5 + 2 * math.sqrt(float((shares**2 * errors).sum())), GUESSED)
    for table in tables:
        values = table()
        each = [told(values[part], own[part]) for part in parts]
        if float((shares * each).sum()) >= bar:
            return 0.0
    return float(against.mean())
