"""What the model says of parts of real graphs, thousands at a time.

Shrinking and taking pieces out ask about the same graphs with some nodes missing. The graphs are
laid side by side once; each part is then cut out by index, without building a graph in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.datasets.base import fields_of, sizes_of
from gnninterpreter.models.classifier import CACHED_NODES, GraphClassifier, Scores
from gnninterpreter.objective.target import ClassTarget, Target
from gnninterpreter.spec.derived import fill
from gnninterpreter.spec.encoding import as_read

# Nodes that are asked about at once on a GPU.
CHUNK_NODES = 40_000


class Parts:
    """Graphs to ask about in parts.

    Args:
        classifier: The model.
        graphs: The graphs, each with at least one node.
    """

    def __init__(self, classifier: GraphClassifier, graphs: Sequence[Data]) -> None:
        """Lay the graphs side by side."""
        self.classifier = classifier
        self.sizes = np.array(sizes_of(graphs), dtype=np.int64)
        self._most = int(self.sizes.max(initial=1))
        self._first = torch.from_numpy(np.concatenate([[0], np.cumsum(self.sizes)]))
        links = [link.cpu() for link in fields_of(graphs, "edge_index") if link is not None]
        counts = [link.size(1) for link in links]
        self._edges = torch.cat(links, dim=1) if links else torch.zeros(2, 0, dtype=torch.long)
        self._counts = torch.tensor(counts, dtype=torch.long)
        self._edge_first = torch.cat([torch.zeros(1, dtype=torch.long), self._counts.cumsum(0)])
        self._nodes = _columns(graphs, ("x", "pos"), classifier.dtype)
        if "x" not in self._nodes:
            ones = torch.ones(int(self.sizes.sum()), 1, dtype=classifier.dtype)
            self._nodes["x"] = ones
        self._links = _columns(graphs, ("edge_attr", "edge_type", "edge_weight"), classifier.dtype)
        for columns, name in ((self._nodes, "x"), (self._links, "edge_attr")):
            if name in columns:
                columns[name] = as_read(columns[name], classifier.spec, classifier.dtype)
        attr = self._links.get("edge_attr")
        if attr is not None and not attr.is_floating_point() and attr.numel() == attr.size(0):
            self._links["edge_type"] = attr.view(-1)

    @torch.no_grad()
    def logits(self, asked: Sequence[tuple[int, int]]) -> Tensor:
        """Logits of parts, [K, C], on the CPU.

        Args:
            asked: Number of the graph and its nodes as bits, at least one of them.

        Raises:
            ModelError: If the model fails on one of them.
        """
        owner = torch.tensor([number for number, _ in asked], dtype=torch.long)
        masks = torch.from_numpy(_masks([nodes for _, nodes in asked], self._most))
        found = []
        with self.classifier.frozen(), self.classifier.explaining_errors():
            for start, end in self._chunks(masks):
                batch = self._batch(owner[start:end], masks[start:end])
                found.append(self.classifier.call(batch.to(self.classifier.device)).logits.cpu())
        if not found:
            return torch.zeros(0, self.classifier.spec.num_classes)
        return torch.cat(found)

    def scores(self, asked: Sequence[tuple[int, int]]) -> Scores:
        """What the model says of parts, [K], without their embeddings."""
        logits = self.logits(asked).double()
        return Scores(logits, logits, self.classifier.task)

    def score(self, asked: Sequence[tuple[int, int]], target: Target) -> Tensor:
        """How far parts are what was asked for, [K], between 0 and 1."""
        return target.given(self.scores(asked))

    def amount(self, asked: Sequence[tuple[int, int]], target: Target) -> Tensor:
        """What changes of parts are measured in, [K]: probabilities, or values."""
        return target.amount(self.scores(asked)).nan_to_num(nan=0.0)

    def margin(self, asked: Sequence[tuple[int, int]], target: Target) -> Tensor:
        """Log-odds of the target, [K]; see `margin`."""
        return margin(self.scores(asked), target)

    def _chunks(self, masks: Tensor) -> list[tuple[int, int]]:
        if not self.classifier.batched:
            return [(k, k + 1) for k in range(len(masks))]
        most = CACHED_NODES if self.classifier.device.type == "cpu" else CHUNK_NODES
        group = (masks.sum(dim=1).cumsum(0) // most).tolist()
        cuts = [0] + [k for k in range(1, len(group)) if group[k] != group[k - 1]] + [len(group)]
        return [(a, b) for a, b in pairwise(cuts) if a < b]

    def _batch(self, owner: Tensor, masks: Tensor) -> Batch:
        # Every part has its row of places; one place after the other, looking up takes least.
        there, first = masks.flatten(), masks.size(1) * torch.arange(len(owner))
        sizes, counts = masks.sum(dim=1), self._counts[owner]
        held, ends = there.nonzero().squeeze(1), counts.cumsum(0)
        nodes = held + (self._first[owner] - first).repeat_interleave(sizes)
        begin = (self._edge_first[owner] - ends + counts).repeat_interleave(counts)
        rows, shift = torch.arange(len(begin)) + begin, first.repeat_interleave(counts)
        source, target = (end.index_select(0, rows).add_(shift) for end in self._edges)
        kept = there.index_select(0, source) & there.index_select(0, target)
        keep, place = kept.nonzero().squeeze(1), there.cumsum(0) - 1
        links = [place.index_select(0, end.index_select(0, keep)) for end in (source, target)]
        batch = Batch(edge_index=torch.stack(links))
        for name, values in self._nodes.items():
            batch[name] = values.index_select(0, nodes)
        for name, values in self._links.items():
            batch[name] = values.index_select(0, rows.index_select(0, keep))
        batch.batch = torch.arange(len(owner)).repeat_interleave(sizes)
        batch.ptr = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
        batch._num_graphs = len(owner)
        return fill(batch, self.classifier.spec)


def margin(scores: Scores, target: Target) -> Tensor:
    """Log-odds of a target, [K]: log p - log (1 - p), which still orders what p rounds to 1."""
    logits, index = scores.logits.double(), target.index
    if isinstance(target, ClassTarget):
        others = torch.cat([logits[:, :index], logits[:, index + 1 :]], dim=1)
        return logits[:, index] - others.logsumexp(dim=1)
    log = target.log_score(Scores(logits, logits, scores.task)).clamp_max(-1e-16)
    return log - torch.log(-torch.expm1(log))


def _columns(graphs: Sequence[Data], names: Sequence[str], dtype: torch.dtype) -> dict[str, Tensor]:
    found = {}
    for name in names:
        values = [value.cpu() for value in fields_of(graphs, name) if value is not None]
        if values and len(values) == len(graphs):
            joined = torch.cat(values)
            found[name] = joined.to(dtype) if joined.is_floating_point() else joined
    return found


def _masks(sets: Sequence[int], width: int) -> np.ndarray:
    size = (width + 7) // 8
    raw = b"".join(nodes.to_bytes(size, "little") for nodes in sets)
    table = np.frombuffer(raw, dtype=np.uint8).reshape(len(sets), size)
    return np.unpackbits(table, axis=1, count=width, bitorder="little").astype(bool)
