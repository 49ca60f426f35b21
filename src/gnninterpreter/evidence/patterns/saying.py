"""Kinds of nodes and edges in words, as sentences about classes say them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.graphs import to_networkx
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality.pieces import cut


def link_words(graph: Data, ends: tuple[int, int], spec: GraphSpec) -> str:
    """The kind of an edge, in words that follow "edge"."""
    named = to_networkx(cut(graph, ends), spec, read_only=True)
    return named_words(next(iter(named.edges.values()), {}))


def kind_words(graph: Data, node: int, spec: GraphSpec) -> str:
    """The kind of a node, in words that follow "node"."""
    return named_words(features_of(graph, node, spec))


def features_of(graph: Data, node: int, spec: GraphSpec) -> Mapping[str, Any]:
    """What the model reads of a node, by name."""
    found: Mapping[str, Any] = to_networkx(cut(graph, [node]), spec, read_only=True).nodes[0]
    return found


def named_words(features: Mapping[str, Any]) -> str:
    """Features that are kinds, in words that follow a noun; empty without any."""
    # "feature 0 3" could be one number or two.
    named = [
        f"{key}{' =' if key[-1].isdigit() else ''} {value}"
        for key, value in features.items()
        if isinstance(value, str)
    ]
    return f" of {' and '.join(named)}" if named else ""
