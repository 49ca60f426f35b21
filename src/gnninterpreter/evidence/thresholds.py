"""The thresholds by which everything in the package judges; nobody else has any of their own."""

from __future__ import annotations

from gnninterpreter.objective.target import CERTAIN

__all__ = [
    "AGREEING_SHARE",
    "CERTAIN",
    "DISTINCT_SHARE",
    "EXACT_RULE",
    "OUTLYING_PERCENTILE",
    "PROBABLE",
    "RANDOM_GRAPHS",
    "RANDOM_SHARE",
]

PROBABLE = 0.9
"""A mean score below this does not reach the target; one below `CERTAIN` is not certain."""
OUTLYING_PERCENTILE = 10.0
"""Below this percentile of the real graphs an explanation is unlike them."""
AGREEING_SHARE = 0.5
"""At least this share of the restarts has to reach the target."""
DISTINCT_SHARE = 0.75
"""Restarts disagree where more graphs than this share of them are distinct."""
RANDOM_GRAPHS = 200
"""How many random graphs an explanation is held against."""
RANDOM_SHARE = 0.9
"""Random graphs do as well where they get at least this share of the explanation's score."""
EXACT_RULE = 0.99
"""A rule that agrees with a smaller share of the labels is one of thumb."""
