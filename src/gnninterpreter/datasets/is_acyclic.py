"""Is_Acyclic: cycle-bearing graphs against trees, without features.

The XGNN authors' generator was never published. This is a reconstruction from the eight families
they name, with sizes and weights that give the published means (28.46 nodes, 30.04 edges).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.base import DrawnDataset, undirected_graph
from gnninterpreter.datasets.families import count_cycles
from gnninterpreter.datasets.shape import Edges, grid, star, wheel
from gnninterpreter.spec import GraphSpec

CYCLIC, ACYCLIC = 0, 1
FAMILY_WEIGHTS = (0.51, 0.163, 0.163, 0.164)  # cycle, wheel, circular ladder, grid


class IsAcyclic(DrawnDataset):
    """Cycles, wheels, circular ladders and grids against stars, paths and trees.

    Beware of the shortcut: no cyclic family has a leaf and every tree has one, so that a classifier
    may have learned "has a leaf" instead of "has no cycle". ``hard=True`` takes it away by hanging
    a random tree on half of the cyclic graphs.
    """

    name = "is_acyclic"
    spec = GraphSpec(class_names=("cyclic", "acyclic"))
    default_graphs = 2000
    fewest_graphs = 2

    def __init__(self, *args: Any, hard: bool = False, **options: Any) -> None:
        self.hard = hard
        super().__init__(*args, **options)

    def parameters(self) -> Mapping[str, Any]:
        """Return the number of graphs and whether the shortcut is blocked."""
        return {**super().parameters(), "hard": self.hard}

    def draw(self, index: int, rng: np.random.Generator) -> Data:
        """Draw a cyclic and an acyclic graph in turn."""
        label = index % 2
        num_nodes, edges = _draw_cyclic(rng) if label == CYCLIC else _draw_tree(rng)
        if self.hard and label == CYCLIC and rng.random() < 0.5:
            num_nodes, edges = _hang_tree(num_nodes, edges, rng)
        return undirected_graph(num_nodes, edges, label)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return 1 for a graph without a cycle, 0 otherwise."""
        return CYCLIC if count_cycles(graph) else ACYCLIC


def cycle(num_nodes: int) -> tuple[int, Edges]:
    """Return a cycle."""
    return num_nodes, [*((i, i + 1) for i in range(num_nodes - 1)), (0, num_nodes - 1)]


def circular_ladder(rungs: int) -> tuple[int, Edges]:
    """Return two cycles of ``rungs`` nodes whose nodes are joined one to one."""
    inner = cycle(rungs)[1]
    outer = [(i + rungs, j + rungs) for i, j in inner]
    return 2 * rungs, inner + outer + [(i, i + rungs) for i in range(rungs)]


def full_tree(num_nodes: int, children: int) -> tuple[int, Edges]:
    """Return a tree filled level by level, ``children`` to a node while they last."""
    return num_nodes, [((i - 1) // children, i) for i in range(1, num_nodes)]


def _draw_cyclic(rng: np.random.Generator) -> tuple[int, Edges]:
    family = int(rng.choice(4, p=FAMILY_WEIGHTS))
    if family == 0:
        return cycle(int(rng.integers(3, 60)))
    if family == 1:
        return wheel(int(rng.integers(4, 21)) - 1)
    if family == 2:
        return circular_ladder(int(rng.integers(3, 13)))
    return grid(int(rng.integers(2, 7)), int(rng.integers(2, 7)))


def _draw_tree(rng: np.random.Generator) -> tuple[int, Edges]:
    family, num_nodes = int(rng.integers(4)), int(rng.integers(3, 66))
    if family == 0:
        return star(num_nodes - 1)
    if family == 1:
        return full_tree(num_nodes, children=1)  # a path
    return full_tree(num_nodes, children=2 if family == 2 else int(rng.integers(3, 7)))


def _hang_tree(num_nodes: int, edges: Edges, rng: np.random.Generator) -> tuple[int, Edges]:
    """Add a random tree: each new node joins a random one that is there."""
    size = int(rng.integers(1, 11))
    first = int(rng.integers(num_nodes))
    branch = [first, *range(num_nodes, num_nodes + size)]
    grown = [(branch[int(rng.integers(i))], branch[i]) for i in range(1, size + 1)]
    return num_nodes + size, edges + grown
