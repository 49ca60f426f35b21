"""How alike explanations of one class are: over seeds, restarts or samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import networkx as nx
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import to_networkx
from gnninterpreter.isomorphism import distinct
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import GraphSpec

ROUNDS = 3


@dataclass(frozen=True)
class Diversity:
    """Explanations of one class compared in pairs: by cosine, by WL kernel distance in [0, 1]."""

    cosine: float
    distinct: float
    distance: float


def diversity(classifier: GraphClassifier, graphs: Sequence[Data]) -> Diversity:
    """Compare explanation graphs with each other."""
    embedding = classifier.score_data(list(graphs)).embedding
    labelled = [_labelled(graph, classifier.spec) for graph in graphs]
    pairs = [wl_distance(one, other) for one, other in combinations(labelled, 2)]
    return Diversity(
        cosine=pairwise_cosine(embedding),
        distinct=len(distinct(graphs, classifier.spec)) / len(graphs),
        distance=sum(pairs) / len(pairs) if pairs else 0.0,
    )


def pairwise_cosine(embedding: Tensor) -> float:
    """Mean cosine between two different rows, [R, D]; 1 for a single one."""
    count = embedding.size(0)
    if count < 2:
        return 1.0
    unit = torch.nn.functional.normalize(embedding.double(), dim=1)
    gram = unit @ unit.t()
    return float((gram.sum() - gram.diagonal().sum()) / (count * (count - 1)))


def wl_distance(one: nx.Graph, other: nx.Graph) -> float:
    """Kernel distance ``sqrt(1 - k)`` with the normalised Weisfeiler-Lehman kernel k."""
    a, b = _features(one), _features(other)
    norms = (_inner(a, a) * _inner(b, b)) ** 0.5
    return max(0.0, 1.0 - _inner(a, b) / norms) ** 0.5 if norms else 0.0


def _features(graph: nx.Graph) -> Counter[str]:
    hashes = nx.weisfeiler_lehman_subgraph_hashes(
        graph, node_attr="label", edge_attr="label", iterations=ROUNDS, include_initial_labels=True
    )
    return Counter(f"{depth}:{key}" for keys in hashes.values() for depth, key in enumerate(keys))


def _inner(a: Counter[str], b: Counter[str]) -> float:
    return float(sum(a[key] * b[key] for key in a.keys() & b.keys()))


def _labelled(graph: Data, spec: GraphSpec) -> nx.Graph:
    drawn = to_networkx(graph, spec)
    for *_, attributes in (*drawn.nodes(data=True), *drawn.edges(data=True)):
        values = {k: round(v, 2) if isinstance(v, float) else v for k, v in attributes.items()}
        attributes["label"] = repr(sorted(values.items()))
    return drawn
