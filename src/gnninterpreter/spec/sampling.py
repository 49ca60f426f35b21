"""A data set of any size, read once in bounded memory: a sample of its graphs, and exact counts.

Comes before everything else in the flow. Classes share the sample evenly, so that all graphs of a
rare class are kept, and ranges of features are those of all graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np
import torch
from torch_geometric.data import Data

# Graphs that are kept; a data set of no more than that is kept as a whole.
MOST_KEPT = 50_000
# Graphs that are read before they are counted, and more than that are put aside now and then.
CHUNK = 2_000
# With more different labels than this they are numbers, and graphs are drawn whatever they say.
MOST_LABELS = 100
FIELDS = ("x", "edge_attr", "edge_type")

Label = int | None


class Sample:
    """What is kept of a data set.

    ``totals`` has for each label the number of graphs, and the sums of their nodes, of their edges,
    of edges a node, and of the squares of these; an undirected edge counts twice.
    """

    def __init__(self) -> None:
        self.read = 0
        self.totals: dict[Label, np.ndarray] = {}
        self._rng, self._labelled = np.random.default_rng(0), True
        # Graphs with their number and a random rank; of each label those of lowest rank stay.
        self._held: list[tuple[float, int, Label, Data]] = []
        self._bars: dict[Label, float] = {}
        self._extreme: dict[tuple[str, int, int], tuple[float, int, Data]] = {}

    @classmethod
    def of(cls, graphs: Iterable[Data], progress: Callable[[int], object] | None = None) -> Sample:
        """Read graphs to the end; of many, progress is told now and then how many there were."""
        found, rest = cls(), iter(graphs)
        while chunk := list(islice(rest, CHUNK)):
            found._take(chunk)
            if progress is not None and found.read > CHUNK:
                progress(found.read)
        return found

    @property
    def graphs(self) -> list[Data]:
        """The graphs that were kept, in the order in which they came."""
        self._put_aside()
        held = {number: graph for _, number, _, graph in self._held}
        held |= {number: graph for _, number, graph in self._extreme.values()}
        return [held[number] for number in sorted(held)]

    def _take(self, chunk: list[Data]) -> None:
        labels = [_label(graph) if self._labelled else None for graph in chunk]
        if len({*labels, *self.totals}) > MOST_LABELS:
            self._forget_labels()
            labels = [None] * len(chunk)
        edges = np.array([graph.edge_index.size(1) for graph in chunk], dtype=float)
        nodes = np.array([node_count(graph) for graph in chunk], dtype=float)
        share = edges / np.maximum(nodes, 1)
        rows = np.stack([np.ones_like(nodes), nodes, edges, share, share**2], axis=1)
        groups = np.array([-1 if label is None else label for label in labels])
        for label in set(labels):
            mine = rows[groups == (-1 if label is None else label)].sum(0)
            self.totals[label] = self.totals.get(label, 0) + mine
        self._widen(chunk)
        ranks = self._rng.random(len(chunk)).tolist()
        for number, (rank, label, graph) in enumerate(zip(ranks, labels, chunk, strict=True)):
            if rank < self._bars.get(label, 1.0):
                self._held.append((rank, self.read + number, label, graph))
        self.read += len(chunk)
        if len(self._held) > MOST_KEPT + CHUNK:
            self._put_aside()

    def _forget_labels(self) -> None:
        """From now on all graphs are alike."""
        self._labelled = False
        self.totals = {None: sum(self.totals.values(), np.zeros(5))}
        self._bars = {None: min(self._bars.values(), default=1.0)}
        self._held = [(rank, number, None, graph) for rank, number, _, graph in self._held]

    def _put_aside(self) -> None:
        """Keep as many graphs of each label as of any other; small ones leave room to others."""
        if len(self._held) <= MOST_KEPT:
            return
        groups: dict[Label, list[tuple[float, int, Label, Data]]] = {}
        for one in self._held:
            groups.setdefault(one[2], []).append(one)
        self._held = []
        for place, members in enumerate(sorted(groups.values(), key=len)):
            room = (MOST_KEPT - len(self._held)) // (len(groups) - place)
            if len(members) > room:
                members.sort(key=lambda one: one[0])
                self._bars[members[0][2]] = members[room][0]
            self._held += members[:room]

    def _widen(self, chunk: list[Data]) -> None:
        """Keep graphs with the least and the largest values so far, for spans of features."""
        for key in FIELDS:
            some = [(i, graph[key]) for i, graph in enumerate(chunk) if graph.get(key) is not None]
            some = [(i, value) for i, value in some if value.numel()]
            if not some or len({value.shape[1:] for _, value in some}) > 1:
                continue
            whole = torch.cat([value for _, value in some]).double()  # bytes have no negative
            owner = torch.tensor([i for i, _ in some])
            owner = owner.repeat_interleave(torch.tensor([len(value) for _, value in some]))
            for side, (value, place) in enumerate((whole.min(0), (-whole).min(0))):
                owners = owner[place.flatten().cpu()].tolist()
                columns = zip(value.flatten().tolist(), owners, strict=True)
                for column, (bound, i) in enumerate(columns):
                    where = (key, side, column)
                    if where not in self._extreme or bound < self._extreme[where][0]:
                        self._extreme[where] = (bound, self.read + i, chunk[i])


def _label(graph: Data) -> Label:
    y = graph.get("y")
    if not torch.is_tensor(y) or y.numel() != 1:
        return None
    value = y.item()
    return int(value) if value == value and value >= 0 and value % 1 == 0 else None


def node_count(graph: Data) -> int:
    """Number of nodes, many times faster than PyG tells it where nodes have features."""
    x = graph.get("x")
    return len(x) if torch.is_tensor(x) else int(graph.num_nodes or 0)
