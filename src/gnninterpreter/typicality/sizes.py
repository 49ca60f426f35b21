"""How small a piece of a real graph may be and still be like others of its size.

Of four nodes cut out of a graph with a red cycle, hardly any are the cycle: what makes the class is
an exception among pieces of that size, however often larger ones hold it. So pieces that the model
is certain of are held against pieces of as many nodes that were cut anywhere, and what is smaller
than the first size at which they are no exception is not typical.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.batches import compact
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality.bank import NEIGHBOURS, Frame, nearest, roomy
from gnninterpreter.typicality.descriptors import describe
from gnninterpreter.typicality.pieces import cut_piece, to_dense

# Pieces that are cut for each size, and how few leave nothing to compare with.
PIECES, FEWEST_PIECES = 150, 20
# Share of pieces that must be at least as strange as the median one that the model is certain of.
NO_EXCEPTION = 0.1


def least_nodes(
    graphs: Sequence[Data], certain: DenseGraphs, frame: Frame, fewest: int, seed: int = 0
) -> int:
    """Fewest nodes with which pieces that the model is certain of are like other pieces.

    Args:
        graphs: Real graphs of the class.
        certain: Pieces of them that the model is certain of.
        frame: How descriptions of graphs are compared.
        fewest: Where to begin, and what is returned where no size up to half of the largest will
            do.
        seed: Seed of cutting pieces.
    """
    rng = np.random.default_rng(seed)
    sizes = certain.num_nodes.round().long()
    for size in range(fewest, certain.num_candidates // 2 + 1):
        rows = (sizes == size).nonzero().squeeze(1)
        pieces = _pieces(graphs, size, rng) if rows.numel() else []
        if len(pieces) < FEWEST_PIECES:
            continue
        real = frame(describe(to_dense(pieces, certain.spec, size)).graphs)
        apart, _ = nearest(real, real, NEIGHBOURS + 1)
        own = apart[:, 1:].mean(1)
        far = nearest(frame(describe(compact(certain[rows])).graphs), real, NEIGHBOURS)[0].mean(1)
        share = (far.unsqueeze(1) <= roomy(own)).double().mean(1)
        if float(share.median()) >= NO_EXCEPTION:
            return size
    return fewest


def _pieces(graphs: Sequence[Data], size: int, rng: np.random.Generator) -> list[Data]:
    """Connected pieces of one size, each from another graph, cut anywhere."""
    large = [graph for graph in graphs if int(graph.num_nodes or 0) >= size]
    chosen = rng.permutation(len(large))[:PIECES].tolist()
    cut = [cut_piece(large[i], size, rng) for i in chosen]
    return [piece for piece in cut if piece.num_nodes == size]
