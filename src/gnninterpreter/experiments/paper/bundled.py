"""The models that the studies look at, loaded once for each process."""

from __future__ import annotations

from functools import lru_cache

from gnninterpreter.models import Bundle, GraphClassifier, load


@lru_cache(maxsize=8)
def bundle(dataset: str) -> Bundle:
    """The bundled classifier of a data set."""
    return load(dataset)


@lru_cache(maxsize=8)
def classifier(dataset: str) -> GraphClassifier:
    """The same, ready to score graphs."""
    return GraphClassifier(bundle(dataset).model, bundle(dataset).spec)
