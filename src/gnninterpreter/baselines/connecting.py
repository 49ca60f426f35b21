"""What a baseline accepts as a model: a module with its spec, a bundle, or a classifier."""

from __future__ import annotations

from torch import nn

from gnninterpreter.errors import SpecError
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

__all__ = ["connect"]


def connect(
    model: nn.Module | Bundle | GraphClassifier,
    spec: GraphSpec | None,
    statistics: ClassStatistics | None,
) -> tuple[GraphClassifier, ClassStatistics | None]:
    """Return the classifier and what is known of its classes.

    Raises:
        SpecError: If the model is a plain module and there is no spec.
    """
    if isinstance(model, GraphClassifier):
        return model, statistics
    if isinstance(model, Bundle):
        return GraphClassifier(model.model, spec or model.spec), statistics or model.statistics
    if spec is None:
        raise SpecError("spec is needed to know what graphs the model takes (got None)")
    return GraphClassifier(model, spec), statistics
