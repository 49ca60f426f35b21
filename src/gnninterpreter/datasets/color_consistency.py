"""ColorConsistency: has every edge the mixed color of its two ends (paper, Algorithm 5)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.rome import BaseGraph, RomeDataset
from gnninterpreter.spec import Categorical, GraphSpec

NODE_COLORS = ("red", "green", "blue")
EDGE_COLORS = ("red", "green", "blue", "yellow", "cyan", "magenta")
CONSISTENT, INCONSISTENT = 0, 1

_SHADES = ("#D62728", "#2CA02C", "#1F77B4", "#E5C700", "#17BECF", "#E377C2")
# Additive mixing: red and green make yellow, green and blue cyan, red and blue magenta.
MIX = torch.tensor([[0, 3, 5], [3, 1, 4], [5, 4, 2]])


class ColorConsistency(RomeDataset):
    """Rome graphs with nodes in three colors, and edges in six that follow from them or not.

    In a consistent graph every edge has the color that those of its ends make. In an inconsistent
    one K random edges have another, K uniform between 1 and the number of edges less one (the paper
    only says that it is less than that number).
    """

    name = "color_consistency"
    spec = GraphSpec(
        nodes=(Categorical(3, NODE_COLORS, _SHADES[:3], name="color"),),
        edges=(Categorical(6, EDGE_COLORS, _SHADES, name="color"),),
        class_names=("consistent", "inconsistent"),
    )

    def decorate(self, base: BaseGraph, rng: np.random.Generator) -> Data:
        """Color the nodes, mix the edges' colors, and spoil some of them."""
        nodes = torch.from_numpy(rng.integers(len(NODE_COLORS), size=base.num_nodes))
        pairs = np.asarray(base.edges)
        edges = MIX[nodes[pairs[:, 0]], nodes[pairs[:, 1]]]
        label = int(rng.integers(2))
        if label == INCONSISTENT:
            count = int(rng.integers(1, len(pairs)))
            spoiled = rng.choice(len(pairs), count, replace=False)
            # Adding 1 to 5 and wrapping round reaches each other color equally often.
            shift = torch.from_numpy(rng.integers(1, len(EDGE_COLORS), size=count))
            edges[spoiled] = (edges[spoiled] + shift) % len(EDGE_COLORS)
        return undirected_graph(
            base.num_nodes,
            pairs,
            label,
            x=torch.eye(len(NODE_COLORS))[nodes],
            edge_attr=torch.eye(len(EDGE_COLORS))[edges],
        )

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return 0 if every edge has the color of its ends mixed, 1 otherwise."""
        return INCONSISTENT if bool(inconsistent_edges(graph).any()) else CONSISTENT


def inconsistent_edges(graph: Data) -> Tensor:
    """Tell for each column of ``edge_index`` whether its color is not that of its ends mixed."""
    colors = graph.x.argmax(1)
    start, end = colors[graph.edge_index]
    wrong: Tensor = graph.edge_attr.argmax(1) != MIX[start, end]
    return wrong
