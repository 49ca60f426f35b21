"""What a model makes of an embedding: its last part, from the embedding to its outputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.task import Scores

CHUNK = 512
TOLERANCE = 1e-3


@torch.no_grad()
def scores_of_embeddings(classifier: GraphClassifier, rows: Tensor) -> Scores | None:
    """Run the model on small graphs with their embeddings replaced by others, [B, D].

    None where its outputs depend on more than the embedding.
    """
    if classifier.point.module == "":
        own = classifier.has_own_embedding
        return None if own else Scores(rows, rows, classifier.task)
    generator = torch.Generator().manual_seed(0)
    pair = random_graphs(classifier.spec, 2, 5, generator, 0.6, classifier.dtype)
    true = classifier.score(pair)
    swapped = _replaced(classifier, true.embedding.flip(0))
    scale = true.logits.abs().max().clamp_min(1.0)
    if not float((swapped.logits - true.logits.flip(0)).abs().max() / scale) < TOLERANCE:
        return None
    step = CHUNK if classifier.batched else 1
    return Scores.cat(
        [_replaced(classifier, rows[i : i + step]) for i in range(0, len(rows), step)]
    )


def _replaced(classifier: GraphClassifier, rows: Tensor) -> Scores:
    generator = torch.Generator().manual_seed(0)
    graphs = random_graphs(classifier.spec, 1, 5, generator, 0.6, classifier.dtype)
    batch = graphs[torch.zeros(len(rows), dtype=torch.long)].to_batch().to(classifier.device)
    point, calls = classifier.point, [0]
    rows = rows.to(classifier.dtype).to(classifier.device)

    def change(*values: Any) -> Any:
        calls[0] += 1
        if calls[0] - 1 != point.call:
            return None
        return (rows, *values[1][1:]) if point.side == "input" else rows

    with classifier.frozen() as model:
        module = model.get_submodule(point.module)
        watch = (
            module.register_forward_pre_hook
            if point.side == "input"
            else module.register_forward_hook
        )
        handle = watch(change)
        try:
            found = classifier.call(batch)
        finally:
            handle.remove()
    return Scores(found.logits, rows, classifier.task)
