"""Memory: what was found out about discrete graphs, so that none is asked about twice in a search.

Searches come back to the same graphs again and again: samples of a sharp distribution, edits that
cannot be made, moves that lead to the same graph by other nodes. A graph is known by a key, which
is a number made of all its edges and features; where the model does not mind in which order nodes
come, the key does not either, but for nodes that a few rounds of refinement cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from gnninterpreter.distribution.streams import mix
from gnninterpreter.graphs import DenseGraphs

ROUNDS = 4
# Odd numbers that keep the parts of a key apart.
TARGET, SOURCE, NODE, OWN = 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D, 0x3C79AC492BA7B653, 0x1B873593
# Graphs that are remembered before memory is cleared.
MOST_GRAPHS = 200_000


def graph_keys(graphs: DenseGraphs, ordered: bool) -> Tensor:
    """A number for each of B discrete graphs, [B]: equal numbers mean equal graphs.

    Absent nodes and edges have no say. Two different graphs have the same number about once in
    10^19 pairs.

    Args:
        graphs: The graphs.
        ordered: Whether the order of nodes tells graphs apart. Without it the same graph in
            another order nearly always has the same number.
    """
    count, n = len(graphs), graphs.num_candidates
    edge = graphs.weight.gt(0.5)
    graph, end, start = edge.nonzero(as_tuple=True)
    target, source = graph * n + end, graph * n + start
    present = edge.any(2) if not graphs.spec.directed else edge.any(2) | edge.any(1)
    kind = _rows(graphs.nodes.flatten(0, 1))
    via = 0 if graphs.edges is None else _rows(graphs.edges[graph, end, start])
    if ordered:
        rank = (present.cumsum(1) - 1).flatten()
    else:
        colour = kind
        for _ in range(ROUNDS):
            told = torch.zeros_like(kind).index_add_(0, target, mix(colour[source] + via))
            if graphs.spec.directed:
                told.index_add_(0, source, mix(colour[target] * SOURCE + via))
            colour = mix(colour * OWN + told)
        last = torch.iinfo(colour.dtype).max
        order = colour.view(count, n).masked_fill(~present, last).argsort(dim=1, stable=True)
        rank = order.argsort(dim=1).flatten()
    joined = mix(rank[target] * TARGET + rank[source] * SOURCE + via)
    alone = mix(kind + rank * NODE).view(count, n) * present
    return alone.sum(1).index_add_(0, graph, joined)


def _rows(values: Tensor) -> Tensor:
    """A number for each row of features."""
    bits = values.double().contiguous().view(torch.long)
    column = torch.arange(1, values.size(1) + 1, device=values.device) * NODE
    return mix(mix(bits + column).sum(1))


class Memory:
    """Answers to questions about graphs, by the keys of the graphs."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._places: dict[str, dict[int, int]] = {}
        self._answers: dict[str, list[Tensor]] = {}

    def recall(
        self, question: str, keys: Tensor, ask: Callable[[Tensor], tuple[Tensor, ...]]
    ) -> tuple[Tensor, ...]:
        """Answer a question about B graphs, by tensors of B rows each.

        Args:
            question: Tells questions apart.
            keys: Keys of the graphs, [B].
            ask: Called with places among the B graphs, all different and none of them known;
                returns tensors with a row for each.
        """
        known = self._places.setdefault(question, {})
        if len(known) > MOST_GRAPHS:
            known.clear()
        unique, group = torch.unique(keys, return_inverse=True)
        listed = unique.tolist()
        new = [key for key in listed if key not in known]
        if new:
            place = torch.arange(keys.numel(), device=keys.device)
            first = torch.full_like(unique, keys.numel()).scatter_reduce_(0, group, place, "amin")
            mask = torch.tensor([key not in known for key in listed], device=keys.device)
            self._learn(question, new, ask(first[mask]))
        rows = torch.tensor([known[key] for key in listed], dtype=torch.long, device=keys.device)
        return tuple(part[rows[group]] for part in self._answers[question])

    def _learn(self, question: str, keys: list[int], answers: tuple[Tensor, ...]) -> None:
        known = self._places[question]
        stored = self._answers.setdefault(question, [part[:0] for part in answers])
        used, total = len(known), len(known) + len(keys)
        for i, part in enumerate(answers):
            if total > len(stored[i]):
                room = part.new_empty(2 * total, *part.shape[1:])
                room[:used] = stored[i][:used]
                stored[i] = room
            stored[i][used:total] = part
        known.update(zip(keys, range(used, total), strict=True))
