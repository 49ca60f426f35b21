"""A score card that says what the model says: every pattern a graph holds counts so many points.

The alternative to a rule list where evidence adds up: patterns are taken one after the other, each
time the one that explains most of what the card still gets wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gnninterpreter.errors import DataError

PENALTY = 1.0
ROUNDS = 8
LEAST = 5


@dataclass(frozen=True)
class ScoreCard:
    """Points of patterns for each class.

    Args:
        patterns: Columns of the patterns, in the order in which they were taken.
        points: Points of each for each class, [patterns, classes].
        start: Points that every graph has, [classes].
    """

    patterns: tuple[int, ...]
    points: np.ndarray
    start: np.ndarray

    def __post_init__(self) -> None:
        """Check the shapes."""
        if self.points.shape != (len(self.patterns), len(self.start)):
            raise DataError(
                f"points must have shape {(len(self.patterns), len(self.start))} "
                f"(got {self.points.shape})"
            )

    def predict(self, held: np.ndarray) -> np.ndarray:
        """Classes of graphs, [graphs]: that with the most points."""
        table = held[:, list(self.patterns)].astype(float)
        return np.asarray((table @ self.points + self.start).argmax(axis=1))


def fit_points(
    held: np.ndarray, assigned: np.ndarray, classes: int, most: int = 30
) -> list[ScoreCard]:
    """Learn score cards of 1, 2, ... patterns.

    Args:
        held: Which graphs hold which pattern, [graphs, patterns].
        assigned: What the model says of each graph.
        classes: How many classes there are.
        most: Most patterns.

    Raises:
        DataError: If there are no graphs.
    """
    if len(held) == 0:
        raise DataError("points need at least one graph to be learned from (got none)")
    wanted = np.eye(classes)[assigned]
    table = held.astype(float)
    mean = table.mean(axis=0)
    width = np.sqrt(np.maximum(mean * (1 - mean), 1e-4))
    open_ = (table.sum(axis=0) >= LEAST) & (mean < 1)
    missing = wanted - wanted.mean(axis=0)
    chosen: list[int] = []
    cards: list[ScoreCard] = []
    while len(chosen) < most and open_.any():
        pull = np.abs(table.T @ missing - np.outer(mean, missing.sum(axis=0))).max(axis=1) / width
        best = int(np.where(open_, pull, -1.0).argmax())
        open_[best] = False
        chosen.append(best)
        weights = np.stack([_logistic(table[:, chosen], column) for column in wanted.T], axis=1)
        cards.append(ScoreCard(tuple(chosen), weights[:-1], weights[-1]))
        score = table[:, chosen] @ weights[:-1] + weights[-1]
        missing = wanted - 1 / (1 + np.exp(-np.clip(score, -30, 30)))
    return cards


def _logistic(table: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Weights and, last, the intercept of a logistic regression, by Newton's method."""
    x = np.hstack([table, np.ones((len(table), 1))])
    ridge = np.diag([PENALTY] * table.shape[1] + [1e-3])
    weights = np.zeros(x.shape[1])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (p - wanted) + ridge @ weights
        curve = x.T @ (x * np.maximum(p * (1 - p), 1e-6)[:, None]) + ridge
        weights = weights - np.linalg.solve(curve, slope)
    return weights
