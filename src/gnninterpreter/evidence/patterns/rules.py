"""A short list of rules that says what the model says: if it holds this, then that class, else ...

Each rule is taken for what it tells about the graphs that no rule before it decides. How pure rules
must be and how long the list gets is chosen by cross-validation on the same graphs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gnninterpreter.errors import DataError

PURITIES = (0.6, 0.7, 0.8, 0.85, 0.9)
FOLDS = 3
# Fewest graphs that a rule decides.
LEAST = 5


@dataclass(frozen=True)
class PatternRule:
    """If a graph that no earlier rule decides holds the pattern, it is of the class.

    Args:
        pattern: Column of the pattern.
        target: The class.
        decided: How many graphs it decided when it was learned.
        agreed: How many of those the model assigns to the class.
    """

    pattern: int
    target: int
    decided: int
    agreed: int

    def __post_init__(self) -> None:
        """Check the counts."""
        if not 0 <= self.agreed <= self.decided:
            raise DataError(f"agreed must lie between 0 and {self.decided} (got {self.agreed})")


@dataclass(frozen=True)
class RuleList:
    """Rules in their order, and the class of what none decides."""

    rules: tuple[PatternRule, ...]
    default: int

    def predict(self, held: np.ndarray) -> np.ndarray:
        """Classes of graphs, [graphs].

        Args:
            held: Which graphs hold which pattern, [graphs, patterns].
        """
        said = np.full(len(held), self.default)
        for rule in reversed(self.rules):
            said[held[:, rule.pattern]] = rule.target
        return said


def learn_rules(
    held: np.ndarray, assigned: np.ndarray, classes: int, most: int = 40, seed: int = 0
) -> RuleList:
    """Learn a rule list, its purity and its length chosen by cross-validation.

    Args:
        held: Which graphs hold which pattern, [graphs, patterns].
        assigned: What the model says of each graph.
        classes: How many classes there are.
        most: Most rules.
        seed: Of the folds.

    Raises:
        DataError: If there are no graphs.
    """
    if len(held) == 0:
        raise DataError("rules need at least one graph to be learned from (got none)")
    fold = np.random.default_rng(seed).permutation(len(held)) % FOLDS
    right = np.zeros((len(PURITIES), most + 1))
    for row, purity in enumerate(PURITIES):
        for part in range(FOLDS):
            fit, check = fold != part, fold == part
            if not fit.any() or not check.any():
                continue
            learned = fit_rules(held[fit], assigned[fit], classes, most, purity)
            right[row] += _curve(learned, held[check], assigned[check], most)
    # Of those within a thousandth of the best, the shortest.
    good = right >= right.max() - 0.001 * len(held)
    length = int(np.flatnonzero(good.any(axis=0))[0])
    purity = PURITIES[int(right[:, length].argmax())]
    return fit_rules(held, assigned, classes, length, purity)[-1]


def fit_rules(
    held: np.ndarray,
    assigned: np.ndarray,
    classes: int,
    most: int,
    purity: float,
) -> list[RuleList]:
    """Learn rules one after the other; the lists after 0, 1, 2, ... rules.

    Args:
        held: Which graphs hold which pattern, [graphs, patterns].
        assigned: What the model says of each graph.
        classes: How many classes there are.
        most: Most rules.
        purity: Share of the graphs a rule decides that must be of its class.
    """
    is_class = np.eye(classes)[assigned]
    table = held.astype(np.float32)
    inside = table.T @ is_class
    left = np.ones(len(held), dtype=bool)
    total = is_class.sum(axis=0)
    rules: list[PatternRule] = []
    lists = [RuleList((), int(total.argmax()))]
    while len(rules) < most:
        size = inside.sum(axis=1)
        outside = total - inside
        told = _spread(total[None])[0] - _spread(inside) - _spread(outside)
        pure = inside.max(axis=1) >= purity * np.maximum(size, 1)
        told = np.where(pure & (size >= min(LEAST, max(1, left.sum()))), told, 0.0)
        best = int(told.argmax()) if told.size else 0
        if not told.size or told[best] <= 1e-9:
            break
        target = int(inside[best].argmax())
        rules.append(
            PatternRule(best, target, round(float(size[best])), round(float(inside[best, target])))
        )
        decided = left & held[:, best]
        left &= ~decided
        inside = inside - table[decided].T @ is_class[decided]
        total = is_class[left].sum(axis=0)
        default = int(total.argmax()) if left.any() else lists[-1].default
        lists.append(RuleList(tuple(rules), default))
    return lists


def _curve(
    lists: Sequence[RuleList], held: np.ndarray, assigned: np.ndarray, most: int
) -> np.ndarray:
    """How many graphs the list gets right after each number of rules."""
    right = [float((each.predict(held) == assigned).sum()) for each in lists]
    return np.array(right + [right[-1]] * (most + 1 - len(right)))


def _spread(counts: np.ndarray) -> np.ndarray:
    """Bits needed to name the classes of graphs with these counts, [rows]."""
    size = counts.sum(axis=-1, keepdims=True)
    share = counts / np.maximum(size, 1e-12)
    return np.asarray(-(counts * np.log2(np.maximum(share, 1e-12))).sum(axis=-1))
