"""The figures every method is compared by: class probability over samples, seeds and failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from gnninterpreter.errors import DataError
from gnninterpreter.explanation import Explanation, Probability
from gnninterpreter.models.classifier import GraphClassifier

REACHED, MISSED = 0.9, 0.1


@dataclass(frozen=True)
class SeedSummary:
    """Several runs of one method on one class.

    ``std`` is over all samples of all runs, ``between`` over the means of the runs; a run has
    reached the class with a mean of at least 0.9, and missed it below 0.1.
    """

    mean: float
    std: float
    between: float
    reached: float
    missed: float
    seconds: float
    runs: int


def class_probability(
    explanation: Explanation, classifier: GraphClassifier, samples: int = 1000, seed: int = 0
) -> Probability:
    """Native class probability over fresh discrete samples; an empty graph counts as 0."""
    drawn = explanation.sample_dense(samples, seed)
    found = classifier.probability(drawn, explanation.target.index).double()
    return Probability(float(found.mean()), float(found.std(unbiased=False)), samples)


def summarize(
    means: Sequence[float], deviations: Sequence[float], seconds: Sequence[float]
) -> SeedSummary:
    """Put several runs together: the mean, the standard deviation and the time of each.

    One that found nothing counts with what its samples got.
    """
    if not means:
        raise DataError("there are no runs to summarize")
    found = torch.tensor(means, dtype=torch.double)
    spread = torch.tensor(deviations, dtype=torch.double)
    # Law of total variance: within runs and between their means.
    variance = (spread**2).mean() + found.var(unbiased=False)
    return SeedSummary(
        mean=float(found.mean()),
        std=float(variance.sqrt()),
        between=float(found.std(unbiased=False)),
        reached=float((found >= REACHED).double().mean()),
        missed=float((found < MISSED).double().mean()),
        seconds=sum(seconds) / len(seconds),
        runs=len(means),
    )
