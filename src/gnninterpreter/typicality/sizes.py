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
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.descriptors import describe
from gnninterpreter.typicality.measuring import NEIGHBOURS, Frame, nearest, roomy
from gnninterpreter.typicality.pieces import cut_piece, to_dense
from gnninterpreter.typicality.references import Certain

# Pieces that are cut for each size, and how few leave nothing to compare with.
PIECES, FEWEST_PIECES = 150, 20
# Share of pieces that must be at least as strange as the median one that the model is certain of.
NO_EXCEPTION = 0.1
# Share of pieces that the model must be certain of for their size to show a class.
SHOWN = 0.1
# Pairs of nodes that are held at once.
MOST_PAIRS = 2**23


def least_nodes(
    graphs: Sequence[Data], certain: DenseGraphs, frame: Frame, fewest: int, seed: int = 0
) -> int:
    """Fewest nodes with which pieces that the model is certain of are like other pieces."""
    rng = np.random.default_rng(seed)
    sizes = certain.num_nodes.round().long()
    for size in range(fewest, certain.num_candidates // 2 + 1):
        rows = (sizes == size).nonzero().squeeze(1)
        pieces = _pieces(graphs, size, rng) if rows.numel() else []
        if len(pieces) < FEWEST_PIECES:
            continue
        real = frame(describe(to_dense(pieces, certain.spec, size)).graphs)
        own = nearest(real, real, NEIGHBOURS + 1)[:, 1:].mean(1)
        far = nearest(frame(describe(compact(certain[rows])).graphs), real, NEIGHBOURS).mean(1)
        share = (far.unsqueeze(1) <= roomy(own)).double().mean(1)
        if float(share.median()) >= NO_EXCEPTION:
            return size
    return fewest


def showing_nodes(
    graphs: Sequence[Data], spec: GraphSpec, fewest: int, most: int, certain: Certain, seed: int = 0
) -> int:
    """Nodes that pieces of real graphs need for the model to be certain of some of them.

    Args:
        graphs: Real graphs of the class.
        spec: What their features mean.
        fewest: Where to begin; from there on twice as many are tried each time.
        most: Where to end.
        certain: Asks the model.
        seed: Seed of cutting pieces.
    """
    rng = np.random.default_rng(seed)
    most = min(most, max(node_count(graph) for graph in graphs))
    while fewest < most:
        pieces = [piece for piece in _pieces(graphs, fewest, rng) if piece.edge_index.numel()]
        # Some at a time, which bounds memory.
        step = max(1, MOST_PAIRS // fewest**2)
        parts = [pieces[start : start + step] for start in range(0, len(pieces), step)]
        sure = sum(int(certain(to_dense(part, spec)).sum()) for part in parts)
        if sure >= SHOWN * len(pieces) > 0:
            break
        fewest = min(2 * fewest, most)
    return fewest


def _pieces(graphs: Sequence[Data], size: int, rng: np.random.Generator) -> list[Data]:
    """Connected pieces of one size, each from another graph, cut anywhere."""
    large = [graph for graph in graphs if node_count(graph) >= size]
    chosen = rng.permutation(len(large))[:PIECES].tolist()
    cut = [cut_piece(large[i], size, rng) for i in chosen]
    return [piece for piece in cut if piece.num_nodes == size]
