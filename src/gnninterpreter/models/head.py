"""What a model makes of an embedding: its last part, from the embedding to its outputs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.task import Scores

CHUNK = 512
TOLERANCE = 1e-3


@torch.no_grad()
def scores_of_embeddings(classifier: GraphClassifier, rows: Tensor) -> Scores | None:
    """Outputs for other embeddings, [B, D]; None where they depend on more than the embedding."""
    if classifier.point.module == "":
        own = classifier.has_own_embedding
        return None if own else Scores(rows, rows, classifier.task)
    true = classifier.score(classifier.drawn(2, 5, density=0.6))
    swapped = _replaced(classifier, true.embedding.flip(0))
    scale = true.logits.abs().max().clamp_min(1.0)
    if not float((swapped.logits - true.logits.flip(0)).abs().max() / scale) < TOLERANCE:
        return None
    step = CHUNK if classifier.batched else 1
    return Scores.cat(
        [_replaced(classifier, rows[i : i + step]) for i in range(0, len(rows), step)]
    )


def _replaced(classifier: GraphClassifier, rows: Tensor) -> Scores:
    graphs = classifier.drawn(1, 5, density=0.6)
    batch = graphs[torch.zeros(len(rows), dtype=torch.long)].to_batch()
    point, rows = classifier.point, rows.to(classifier.dtype).to(classifier.device)

    def change(args: tuple[Any, ...], *output: Any) -> Any:
        return rows if output else (rows, *args[1:])

    with classifier.frozen(), point.changed(classifier.model, change):
        found = classifier.call(batch)
    return Scores(found.logits, rows, classifier.task)
