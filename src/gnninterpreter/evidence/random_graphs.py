"""Graphs that mean nothing: what a classifier says of these is the floor of every comparison.

Gabriel graphs are the paper's random baseline; G(n, 1/n) is that of its published code.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import uniform_features
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.derived import completed
from gnninterpreter.spec.encoding import encode

Edge = tuple[int, int]

KINDS = ("gabriel", "gilbert")


def gabriel_edges(points: np.ndarray[Any, Any]) -> list[Edge]:
    """Join two points if no third lies strictly inside the disc that has them as its diameter.

    Point w is inside the disc over u and v where the angle at w is obtuse:
    ``|uw|^2 + |vw|^2 < |uv|^2``. Points are [n, 2]; each edge comes once, the smaller end first, in
    increasing order.

    Example:
        >>> gabriel_edges(np.array([[0.0, 0.0], [1.0, 0.1], [2.0, 0.0]]))
        [(0, 1), (1, 2)]
    """
    places = np.asarray(points, dtype=np.float64)
    squared = ((places[:, None] - places[None]) ** 2).sum(-1)
    edges = []
    for u, away in enumerate(squared):
        # inside[v, w]; the ends themselves have equality and do not count.
        inside = away + squared < away[:, None] - 1e-12
        edges += [(u, int(v)) for v in np.flatnonzero(~inside.any(1)) if v > u]
    return edges


def gilbert_edges(num_nodes: int, rng: np.random.Generator) -> list[Edge]:
    """Join each pair of n nodes independently with probability 1/n."""
    joined = np.triu(rng.random((num_nodes, num_nodes)) < 1.0 / max(num_nodes, 1), 1)
    return [(int(u), int(v)) for u, v in np.argwhere(joined)]


def random_baseline(
    spec: GraphSpec,
    count: int,
    num_nodes: int | Sequence[int],
    seed: int = 0,
    kind: str = "gabriel",
) -> list[Data]:
    """Draw graphs with uniform random features, of a size or of the sizes in turn.

    Differs from the paper: it does not say how features are drawn; here every category is equally
    likely and every number uniform between its bounds. ``"gabriel"`` graphs are of points uniform
    in the unit square, always connected; ``"gilbert"`` is G(n, 1/n), mostly in pieces, in which
    nodes without edges stay.

    Raises:
        SpecError: If there is no such kind.
    """
    if kind not in KINDS:
        raise SpecError(f"kind must be one of {', '.join(KINDS)} (got {kind!r})")
    sizes = [num_nodes] if isinstance(num_nodes, int) else list(num_nodes)
    rng = np.random.default_rng(seed)
    generator = torch.Generator().manual_seed(seed)
    graphs = []
    for index in range(count):
        n = sizes[index % len(sizes)]
        edges = gabriel_edges(rng.random((n, 2))) if kind == "gabriel" else gilbert_edges(n, rng)
        graphs.append(random_features(spec, n, edges, generator))
    return graphs


def random_features(
    spec: GraphSpec, num_nodes: int, edges: Sequence[Edge], generator: torch.Generator
) -> Data:
    """Give a structure, each edge listed once, uniform features; both directions have the same."""
    forth = torch.tensor(list(edges), dtype=torch.long).reshape(-1, 2).t()
    index = forth if spec.directed else torch.cat([forth, forth.flip(0)], dim=1)
    x = encode(uniform_features(spec.nodes, (num_nodes,), generator), spec.nodes)
    data = Data(x=x.squeeze(-1) if spec.metadata.get("x") == "flat" else x, edge_index=index)
    if spec.edges:
        attr = encode(uniform_features(spec.edges, (forth.size(1),), generator), spec.edges)
        attr = attr if spec.directed else torch.cat([attr, attr])
        data.edge_attr = attr.squeeze(-1) if spec.metadata.get("edge_attr") == "flat" else attr
    data.num_nodes = num_nodes
    return completed(data, spec)


def random_of_size(spec: GraphSpec, num_nodes: int, num_edges: int, seed: int = 0) -> Data:
    """A connected random graph of a given size: what an explanation of that size is held against.

    A random tree, to which random further edges are added, up to ``num_edges`` of them as far as
    there are pairs; features are uniform.
    """
    rng = np.random.default_rng(seed)
    edges = [(int(rng.integers(node)), node) for node in range(1, num_nodes)]
    rest = [(u, v) for v in range(num_nodes) for u in range(v) if (u, v) not in edges]
    more = max(0, min(num_edges - len(edges), len(rest)))
    edges += [rest[i] for i in rng.permutation(len(rest))[:more]]
    return random_features(spec, num_nodes, edges, torch.Generator().manual_seed(seed))
