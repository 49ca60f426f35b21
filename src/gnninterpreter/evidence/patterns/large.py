"""Pieces that stand for graphs too large to be cut down, each step of which asks about every node.

What the model says of a piece need not be what it says of the graph, so that pieces go by what it
says of them. That is worth something where it says different things of them: a model that goes by
the whole says the same of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.task import Task
from gnninterpreter.typicality.pieces import cut_piece

# Most nodes of a piece, how many there are, and of how many at least another thing is said.
NODES, PIECES, FEWEST = 100, 400, 10


def pieces_of(graphs: Sequence[Data], classifier: GraphClassifier, seed: int = 0) -> list[Data]:
    """Connected pieces of large graphs; none where they say nothing.

    Args:
        graphs: The graphs, in random order.
        classifier: The model. Columns that follow from the graph would not fit its pieces, and
            values of a graph are not those of its pieces.
        seed: The same seed cuts the same.
    """
    if not graphs or classifier.spec.derived or classifier.task is Task.REGRESSION:
        return []
    rng = np.random.default_rng([seed, 4])
    cut = [cut_piece(graphs[number % len(graphs)], NODES, rng) for number in range(PIECES)]
    cut = [piece for piece in cut if piece.edge_index.numel()]
    if not cut:
        return []
    said = classifier.score_data(cut).logits
    if classifier.task.exclusive:
        said = torch.nn.functional.one_hot(said.argmax(dim=1))
    told = said.gt(0).sum(dim=0)
    return cut if bool(((told >= FEWEST) & (told <= len(cut) - FEWEST)).any()) else []
