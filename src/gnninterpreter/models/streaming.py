"""Statistics of more graphs than memory holds: exact means over all, the rest from a sample.

Graphs are read once, some at a time, and let go again but for an even sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.models.task import Task
from gnninterpreter.spec.data import node_count

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

# Graphs that are kept; a data set of no more than that is measured as a whole.
MOST_KEPT = 50_000
CHUNK = 2_000

Rows = Callable[["GraphClassifier", Sequence[Data], Tensor], tuple[Tensor, Tensor, Tensor]]
"""Which graphs each row of the statistics is about, and whether the model agrees."""


def streamed(
    classifier: GraphClassifier,
    kept: list[Data],
    rest: Iterator[Data],
    rows: Rows,
    progress: Callable[[int], None] | None = None,
) -> dict[str, Tensor]:
    """Read the rest of a data set; ``kept``, its first graphs, becomes an even sample of all.

    Returns:
        Figures of `ClassStatistics` that are exact; none for a regression, whose rows are tenths of
        all graphs.
    """
    rng, most, seen = np.random.default_rng(0), len(kept), 0
    total: Tensor | None = None
    for chunk in _chunks(kept.copy(), rest):
        if classifier.task is not Task.REGRESSION:
            found = _sums(classifier, chunk, rows)
            total = found if total is None else total + found
        places = rng.integers(0, np.arange(seen, seen + len(chunk)) + 1)
        for number, place in enumerate(places.tolist()):
            if seen + number >= most > place:
                kept[place] = chunk[number]
        seen += len(chunk)
        if progress is not None:
            progress(seen)
    return {} if total is None else _figures(total)


def _chunks(first: Iterable[Data], rest: Iterator[Data]) -> Iterator[list[Data]]:
    for graphs in (iter(first), rest):
        while chunk := list(islice(graphs, CHUNK)):
            yield chunk


def _sums(classifier: GraphClassifier, graphs: Sequence[Data], rows: Rows) -> Tensor:
    """Sums over the graphs of each row: 1, nodes, edges, their ratio, its square, hits, rows."""
    scores = classifier.score_data(list(graphs))
    members, _, hits = rows(classifier, graphs, scores.logits.double().cpu())
    nodes = torch.tensor([node_count(graph) for graph in graphs], dtype=torch.double)
    edges = torch.tensor([graph.edge_index.size(1) for graph in graphs], dtype=torch.double)
    edges = edges / (1 if classifier.spec.directed else 2)
    share = edges / nodes.clamp_min(1)
    columns = torch.stack([torch.ones_like(nodes), nodes, edges, share, share**2], dim=1)
    mine = members.double()
    right = (mine * hits).sum(1, keepdim=True)
    return torch.cat([mine @ columns, right, mine @ scores.embedding.double().cpu()], dim=1)


def _figures(total: Tensor) -> dict[str, Tensor]:
    count = total[:, :1]
    nodes, edges, share, square, right = (total[:, 1:6] / count.clamp_min(1)).unbind(1)
    return {
        "count": count.squeeze(1).float(),
        "mean_nodes": nodes.float(),
        "mean_edges": edges.float(),
        "edges_per_node": share.float(),
        "edges_per_node_std": (square - share**2).clamp_min(0).sqrt().float(),
        "accuracy": right.float(),
        "mean_embedding": (total[:, 6:] / count.clamp_min(1)).float(),
    }
