"""Shape: which of four families of graphs is under the noise, if any (paper, Algorithm 4).

The nodes carry no features, so that a classifier has the structure alone to go by.
"""

from __future__ import annotations

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.base import DrawnDataset, undirected_graph
from gnninterpreter.spec import GraphSpec

Edges = list[tuple[int, int]]
"""Each edge once, the smaller end first."""

CLASS_NAMES = ("others", "lollipop", "wheel", "grid", "star")
MAX_NOISE = 0.2
NEW_NODE_PROBABILITY = 0.5


class Shape(DrawnDataset):
    """Lollipops, wheels, grids, stars and random graphs, each with up to 20% noisy edges.

    The number of noisy edges is a share U[0, 0.2] of the number of edges. A noisy edge starts at a
    random node and ends at a new node half of the time, at a random other node otherwise; one that
    is there already adds nothing. The paper leaves these details out; they give its published
    means, 30.17 nodes and 71.86 edges.

    Example:
        >>> dataset = Shape(num_graphs=100)  # doctest: +SKIP
        >>> dataset.class_names[dataset.oracle(dataset[0])]  # doctest: +SKIP
        'wheel'
    """

    name = "shape"
    spec = GraphSpec(class_names=CLASS_NAMES)
    default_graphs = 8000

    def draw(self, index: int, rng: np.random.Generator) -> Data:
        """Draw a graph of a random class and add noise."""
        label = int(rng.integers(len(CLASS_NAMES)))
        num_nodes, edges = _draw_family(label, rng)
        return undirected_graph(*_add_noise(num_nodes, edges, rng), label)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return the family nearest by structure; see `gnninterpreter.datasets.families`."""
        from gnninterpreter.datasets.families import nearest_family

        return CLASS_NAMES.index(nearest_family(graph).name)


def lollipop(head: int, tail: int) -> tuple[int, Edges]:
    """Return a clique of ``head`` nodes with a path of ``tail`` more hanging from it."""
    clique = [(i, j) for i in range(head) for j in range(i + 1, head)]
    path = [(i, i + 1) for i in range(head - 1, head + tail - 1)]
    return head + tail, clique + path


def wheel(rim: int) -> tuple[int, Edges]:
    """Return a cycle of ``rim`` nodes, 1 to ``rim``, all joined to node 0."""
    spokes = [(0, i) for i in range(1, rim + 1)]
    return rim + 1, [*spokes, *((i, i + 1) for i in range(1, rim)), (1, rim)]


def grid(width: int, height: int) -> tuple[int, Edges]:
    """Return a ``width`` by ``height`` grid; node (i, j) is number i * height + j."""
    down = [(i * height + j, (i + 1) * height + j) for i in range(width - 1) for j in range(height)]
    across = [(i * height + j, i * height + j + 1) for i in range(width) for j in range(height - 1)]
    return width * height, down + across


def star(leaves: int) -> tuple[int, Edges]:
    """Return node 0 joined to ``leaves`` others."""
    return leaves + 1, [(0, i) for i in range(1, leaves + 1)]


def _draw_family(label: int, rng: np.random.Generator) -> tuple[int, Edges]:
    """Draw one graph of a class, with the paper's ranges (both ends included)."""
    name = CLASS_NAMES[label]
    if name == "lollipop":
        return lollipop(int(rng.integers(4, 17)), int(rng.integers(4, 17)))
    if name == "wheel":
        return wheel(int(rng.integers(4, 65)))
    if name == "grid":
        return grid(int(rng.integers(2, 9)), int(rng.integers(2, 9)))
    if name == "star":
        return star(int(rng.integers(4, 65)))
    num_nodes, probability = int(rng.integers(8, 33)), rng.uniform(0.2, 1.0)
    rows, columns = np.triu_indices(num_nodes, k=1)
    kept = rng.random(len(rows)) < probability
    return num_nodes, list(zip(rows[kept].tolist(), columns[kept].tolist(), strict=True))


def _add_noise(num_nodes: int, edges: Edges, rng: np.random.Generator) -> tuple[int, Edges]:
    present = set(edges)
    noisy = list(edges)
    for _ in range(int(rng.uniform(0.0, MAX_NOISE) * len(edges))):
        start = int(rng.integers(num_nodes))
        if rng.random() < NEW_NODE_PROBABILITY:
            end = num_nodes
            num_nodes += 1
        else:
            end = int(rng.integers(num_nodes - 1))
            end += end >= start
        edge = (min(start, end), max(start, end))
        if edge not in present:
            present.add(edge)
            noisy.append(edge)
    return num_nodes, noisy
