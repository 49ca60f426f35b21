"""Whether graphs obey the rules of their domain: valencies, ground truth, connectedness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from torch_geometric.data import Data
from torch_geometric.utils import to_networkx

from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.spec.encoding import codes


@dataclass(frozen=True)
class Validity:
    """Shares of graphs that hold together, obey valencies and are of their class, by rule."""

    connected: float
    valencies: float | None
    oracle: float | None


def obeys_valencies(graph: Data, spec: GraphSpec, valencies: Mapping[str, int]) -> bool:
    """Whether no node has more edges than its category allows."""
    block = spec.nodes[0]
    if not isinstance(block, Categorical):
        return True
    kinds = codes(graph.x, spec.nodes)[0]
    degree = graph.edge_index[0].bincount(minlength=graph.x.size(0)).tolist()
    limits = [valencies.get(block.names[kind]) for kind in kinds.tolist()]
    return all(limit is None or d <= limit for d, limit in zip(degree, limits, strict=True))


def validity(
    graphs: Sequence[Data],
    spec: GraphSpec,
    target: int,
    *,
    valencies: Mapping[str, int] | None = None,
    oracle: Callable[[Data], int] | None = None,
) -> Validity:
    """Count how many graphs obey each rule."""
    count = len(graphs)
    legal = agreed = None
    if valencies is not None:
        legal = sum(obeys_valencies(graph, spec, valencies) for graph in graphs) / count
    if oracle is not None:
        agreed = sum(g.num_edges > 0 and oracle(g) == target for g in graphs) / count
    drawn = (nx.Graph(to_networkx(graph)) for graph in graphs)
    whole = [bool(one) and nx.is_connected(one) for one in drawn]
    return Validity(connected=sum(whole) / count, valencies=legal, oracle=agreed)
