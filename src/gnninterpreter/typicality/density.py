"""Density: typical graphs have about as many edges for each node as the class has on average.

A graph of the right nodes in the wrong numbers is told by it: a row of squares is no usual grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

import torch
from torch_geometric.data import Data

from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.bank import DENSITY, QUANTILES, TypicalityBank

# Where the median graph has more nodes than this, answers are smaller than most real graphs, and
# have other numbers of edges per node for that alone.
MOST_SHOWN = 30
# Half of what is spread normally lies within so many deviations of the mean, of what is spread
# evenly more than a third. With fewer, graphs are of several kinds, and the mean is like none.
NEAR, FEW = 0.6745, 1 / 3
# A model that is certain of fewer is rarely sure.
RARELY = 0.5


def with_density(
    bank: TypicalityBank, graphs: Sequence[Data], spec: GraphSpec, sure: float
) -> TypicalityBank:
    """A bank to which graphs are strange, too, that have far more or fewer edges per node.

    The bank as it is where that says nothing: most graphs are too large to be shown, few are near
    the mean, or the model is certain of few (``sure``), which need not be like the class on the
    whole.
    """
    if sure < RARELY or median(map(node_count, graphs)) > MOST_SHOWN:
        return bank
    edges = (graph.edge_index.size(1) / spec.ways for graph in graphs)
    per_node = torch.tensor([e / max(node_count(g), 1) for e, g in zip(edges, graphs, strict=True)])
    mean = per_node.mean()
    apart = (per_node - mean).abs()
    if float((apart <= NEAR * per_node.std(unbiased=False)).double().mean()) < FEW:
        return bank
    levels = apart.quantile(torch.linspace(0, 1, QUANTILES).to(apart))
    return replace(bank, quantiles=bank.with_levels(DENSITY, levels), density=mean)
