"""A stored run and the model behind it brought together again, checked to belong together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from gnninterpreter.errors import ModelError
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier

TOLERANCE = 0.02


def live_classifier(
    result: ExplanationSet,
    model: nn.Module | Bundle | GraphClassifier,
    dataset: Any = None,
    *,
    forward: Callable[..., Any] | None = None,
) -> GraphClassifier:
    """Connect the model that a run explains.

    Args:
        result: The run.
        model: The model.
        dataset: Graphs to try it on; random ones when omitted.
        forward: How to call it, where its signature does not say.

    Raises:
        ModelError: If the model gives an explanation graph of the run other probabilities than the
            run holds: another model, or other weights.
    """
    if isinstance(model, Bundle):
        model = model.model
    if isinstance(model, GraphClassifier):
        classifier = model
    else:
        examples = None if dataset is None else list(dataset)
        classifier = GraphClassifier(model, result.spec, forward=forward, examples=examples)
    for explanation in result.values():
        if explanation.num_edges == 0:
            continue
        target = explanation.target
        given = classifier.score_data([explanation.best]).outputs[0].double().cpu()
        stored = torch.tensor(explanation.class_probabilities, dtype=torch.double)
        if not float((given - stored).abs().max()) <= TOLERANCE * target.span:
            raise ModelError(
                "this is not the model that the run explains: it says "
                f"{target.said(given.tolist())} of the graph of {explanation.name!r}, and the run "
                f"{explanation.said}; name the right model, or explain this one"
            )
    return classifier
