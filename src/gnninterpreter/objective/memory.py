"""Memory: what was found out about discrete graphs, so that none is asked about twice in a search.

Searches come back to the same graphs again and again: samples of a sharp distribution, edits that
cannot be made, moves that lead to the same graph by other nodes. A graph is known by a key, which
is a number made of all its edges and features; where the model does not mind in which order nodes
come, the key does not either, but for nodes that a few rounds of refinement cannot tell apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.mixing import mix
from gnninterpreter.spec import Block, Categorical
from gnninterpreter.spec.encoding import split_blocks

ROUNDS = 4
# Odd numbers that keep the parts of a key apart.
TARGET, SOURCE, NODE, OWN = 0x2545F4914F6CDD1D, 0x5851F42D4C957F2D, 0x3C79AC492BA7B653, 0x1B873593
# Graphs that are remembered before memory is cleared.
MOST_GRAPHS = 200_000


def graph_keys(graphs: DenseGraphs, ordered: bool) -> Tensor:
    """A number for each of B discrete graphs, [B]: equal numbers mean equal graphs.

    Absent nodes and edges have no say. Two different graphs have the same number about once in
    10^19 pairs. Unless ``ordered``, the same graph in another order nearly always has the same
    number.
    """
    count, n = len(graphs), graphs.num_candidates
    edge = graphs.weight.gt(0.5)
    graph, end, start = edge.nonzero(as_tuple=True)
    target, source = graph * n + end, graph * n + start
    present = edge.any(2) if not graphs.spec.directed else edge.any(2) | edge.any(1)
    kind = _rows(graphs.nodes.flatten(0, 1), graphs.spec.nodes)
    via: Tensor | int = 0
    if graphs.edges is not None:
        via = _rows(graphs.edges[graph, end, start], graphs.spec.edges)
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


def _rows(values: Tensor, blocks: Sequence[Block]) -> Tensor:
    """A number for each row of features."""
    parts = []
    for block, part in zip(blocks, split_blocks(values, blocks), strict=True):
        if isinstance(block, Categorical):
            # Which one it is, in one product: there may be hundreds to choose from.
            number = torch.arange(1, block.size + 1, dtype=part.dtype, device=part.device)
            part = (part @ number).round().unsqueeze(1)
        parts.append(part.double())
    known = torch.cat(parts, dim=1) if parts else values.double()
    column = torch.arange(1, known.size(1) + 1, device=values.device) * NODE
    return mix(mix(known.view(torch.long) + column).sum(1))


class Memory:
    """Answers to questions about graphs, by the keys of the graphs; all of it where these are."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def recall(
        self, question: str, keys: Tensor, ask: Callable[[Tensor], tuple[Tensor, ...]]
    ) -> tuple[Tensor, ...]:
        """Answer a question about B graphs with keys [B], by tensors of B rows each.

        ``ask`` is called with places among them in order, all different and none of them known.
        """
        known = self._known.get(question)
        if known is None or len(known.keys) > MOST_GRAPHS:
            known = self._known[question] = _Known(keys)
        unique, group = torch.unique(keys, return_inverse=True)
        new = known.lacks(unique).nonzero().squeeze(1)
        if new.numel():
            place = torch.arange(keys.numel(), device=keys.device)
            first = torch.full_like(unique, keys.numel()).scatter_reduce_(0, group, place, "amin")
            places, order = first[new].sort()
            known.learn(unique[new], order.argsort(), ask(places))
        rows = known.rows[torch.searchsorted(known.keys, unique)[group]]
        return tuple(part[rows] for part in known.answers)


class _Known:
    """Answers to one question: keys in order, the rows of their answers, and these as they came."""

    def __init__(self, like: Tensor) -> None:
        self.keys, self.rows = like[:0], like[:0]
        self.answers: list[Tensor] = []

    def lacks(self, keys: Tensor) -> Tensor:
        """Which of some keys are not known."""
        if not self.keys.numel():
            return torch.ones_like(keys, dtype=torch.bool)
        place = torch.searchsorted(self.keys, keys).clamp_max_(self.keys.numel() - 1)
        return self.keys[place] != keys

    def learn(self, keys: Tensor, rows: Tensor, answers: tuple[Tensor, ...]) -> None:
        """Remember answers to keys that are not known and in order, and in which row each is."""
        used, more = self.keys.numel(), keys.numel()
        if not self.answers:
            self.answers = [part[:0] for part in answers]
        for i, part in enumerate(answers):
            if used + more > len(self.answers[i]):
                room = part.new_empty(2 * (used + more), *part.shape[1:])
                room[:used] = self.answers[i][:used]
                self.answers[i] = room
            self.answers[i][used : used + more] = part
        # Two ordered lists become one: each key moves on by as many of the others as are before it.
        count = torch.arange(used + more, device=keys.device)
        old = count[:used] + torch.searchsorted(keys, self.keys)
        new = count[:more] + torch.searchsorted(self.keys, keys)
        merged = torch.empty_like(count), torch.empty_like(count)
        for whole, before, after in zip(
            merged, (self.keys, self.rows), (keys, used + rows), strict=True
        ):
            whole[old], whole[new] = before, after
        self.keys, self.rows = merged
