"""Peers: other models of the same task, which are asked whether they believe in an explanation."""

from __future__ import annotations

from typing import Any

from torch import nn

from gnninterpreter.arguments import several
from gnninterpreter.errors import GNNInterpreterError, ModelError
from gnninterpreter.models.bundle import Bundle, load
from gnninterpreter.models.classifier import GraphClassifier


def peers_of(peers: Any, classifier: GraphClassifier) -> tuple[GraphClassifier, ...]:
    """Other models, each of which must say the same kind of thing about the same graphs."""
    single = isinstance(peers, (str, nn.Module, Bundle))
    found = []
    for place, given in enumerate((peers,) if single else several("peers", peers, "models")):
        peer = load(given) if isinstance(given, str) else given
        if not isinstance(peer, (nn.Module, Bundle)):
            raise ModelError(
                f"peers must be models of the same task (got {type(peer).__name__} at place "
                f"{place})"
            )
        try:
            other = GraphClassifier(peer, classifier.spec, task=str(classifier.task))
        except GNNInterpreterError as error:
            raise ModelError(
                f"peers must take the same graphs as the model, and the one at place {place} does "
                f"not: {error}"
            ) from error
        if other.spec.num_classes != classifier.spec.num_classes:
            raise ModelError(
                f"peers must have the {classifier.spec.num_classes} classes of the model (got "
                f"{other.spec.num_classes} at place {place})"
            )
        found.append(other)
    return tuple(found)
