"""Small changes to discrete graphs, all numbered, so that many can be ranked and made at once.

The moves on a graph with N candidate nodes, in this order: flip one of the M candidate edges; set a
node's category to one of F; set an edge's category to one of D; take one of the N nodes out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective.valence import meant
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.encoding import dense_width


@dataclass(frozen=True)
class MoveSpace:
    """All moves on graphs of one shape."""

    spec: GraphSpec
    num_candidates: int
    device: torch.device

    @cached_property
    def sizes(self) -> tuple[int, int, int, int]:
        """Number of edge flips, node changes, edge changes and removals."""
        pairs, n = GraphDistribution.num_pairs(self.spec, self.num_candidates), self.num_candidates
        node_columns = dense_width(self.spec.nodes)
        edge_columns = dense_width(self.spec.edges)
        return pairs, n * node_columns, pairs * edge_columns, n

    @property
    def total(self) -> int:
        """Number of moves."""
        return sum(self.sizes)

    @property
    def _ends(self) -> tuple[Tensor, Tensor]:
        """Target and source of each candidate edge."""
        return pair_ends(self.num_candidates, self.spec.directed, self.device)

    def possible(self, graphs: DenseGraphs) -> Tensor:
        """Which moves change a graph in a way that matters, [B, moves].

        An edge between two absent nodes, a feature of an absent node or edge, and a category that
        is already set are not worth a try, except that an empty graph may begin with any edge.
        Neither are continuous features, which the gradient sets, and categories that chemistry
        knows no use for.
        """
        target, source = self._ends
        weight = graphs.weight[:, target, source].gt(0.5)
        present = present_nodes(graphs)
        empty = ~present.any(dim=1, keepdim=True)
        flips = present[:, target] | present[:, source] | empty
        nodes = present.unsqueeze(2) & self._same_nodes.categorical & graphs.nodes.lt(0.5)
        parts = [flips, nodes.flatten(1)]
        if graphs.edges is not None:
            now = graphs.edges[:, target, source]
            free = self._same_edges.categorical & now.lt(0.5)
            parts.append((weight.unsqueeze(2) & free).flatten(1))
        return torch.cat([*parts, present], dim=1)

    def one_more(self, graphs: DenseGraphs) -> Tensor:
        """Moves that touch no absent node but the first, [B, moves]: absent ones are all alike."""
        target, source = self._ends
        absent = ~present_nodes(graphs)
        near = ~absent | (absent & absent.cumsum(1).eq(1))
        rest = torch.ones(self.total - target.numel(), dtype=torch.bool, device=near.device)
        return torch.cat([near[:, target] & near[:, source], rest.expand(len(graphs), -1)], dim=1)

    def predicted(
        self,
        graphs: DenseGraphs,
        weight_gradient: Tensor,
        node_gradient: Tensor,
        edge_gradient: Tensor | None = None,
    ) -> Tensor:
        """First-order guess of the change of a loss by each move, [B, moves]."""
        target, source = self._ends
        both = weight_gradient if self.spec.directed else weight_gradient + weight_gradient.mT
        weight = graphs.weight[:, target, source]
        flips = (1 - 2 * weight) * both[:, target, source]
        parts = [flips, self._same_nodes.changes(graphs.nodes, node_gradient).flatten(1)]
        if graphs.edges is not None and edge_gradient is not None:
            whole = edge_gradient
            if not self.spec.directed:
                whole = whole + whole.transpose(1, 2)
            now = graphs.edges[:, target, source]
            changes = self._same_edges.changes(now, whole[:, target, source])
            parts.append(changes.flatten(1))
        parts_of_cost = graphs.weight * weight_gradient
        removal = -(parts_of_cost.sum(dim=1) + parts_of_cost.sum(dim=2))
        return torch.cat([*parts, removal], dim=1)

    def apply(self, graphs: DenseGraphs, moves: Tensor) -> DenseGraphs:
        """Make one move on each of B graphs; ``moves`` holds their numbers, [B]; -1 makes none."""
        pairs, node_changes, edge_changes, removals = self.sizes
        weight, nodes = graphs.weight.clone(), graphs.nodes.clone()
        edges = None if graphs.edges is None else graphs.edges.clone()
        target, source = self._ends
        rows = torch.arange(len(graphs), device=moves.device)

        # All rows take every step, most of them without effect: to ask which rows have an effect
        # would wait for the device.
        def chosen(first: int, count: int) -> tuple[Tensor, Tensor]:
            does = (moves >= first) & (moves < first + count)
            return does, (moves - first).clamp(0, count - 1)

        does, pair = chosen(0, pairs)
        i, j = target[pair], source[pair]
        now = weight[rows, i, j]
        weight[rows, i, j] = torch.where(does, 1 - now, now)
        if not self.spec.directed:
            weight[rows, j, i] = weight[rows, i, j]
        if node_changes:
            does, change = chosen(pairs, node_changes)
            node = change // nodes.size(2)
            nodes[rows, node] = self._same_nodes.put(
                nodes[rows, node], change % nodes.size(2), does
            )
        if edges is not None and edge_changes:
            does, change = chosen(pairs + node_changes, edge_changes)
            pair = change // edges.size(3)
            i, j = target[pair], source[pair]
            changed = self._same_edges.put(edges[rows, i, j], change % edges.size(3), does)
            edges[rows, i, j] = changed
            if not self.spec.directed:
                edges[rows, j, i] = torch.where(does.unsqueeze(1), changed, edges[rows, j, i])
        does, node = chosen(self.total - removals, removals)
        kept = (~does).to(weight).unsqueeze(1)
        weight[rows, node] *= kept
        weight[rows, :, node] *= kept
        return DenseGraphs(graphs.spec, weight, nodes, edges)

    @cached_property
    def _same_nodes(self) -> _Columns:
        return _Columns.of(self.spec.nodes, meant(self.spec)[0], self.device)

    @cached_property
    def _same_edges(self) -> _Columns:
        return _Columns.of(self.spec.edges, meant(self.spec)[1], self.device)


def picked(possible: Tensor, chance: Tensor) -> tuple[Tensor, Tensor]:
    """One of the marked places of each row, all equally likely, and whether there is any."""
    count = possible.sum(dim=1)
    which = (chance * count).floor().clamp_max(count - 1)
    place = (possible.cumsum(dim=1) > which.unsqueeze(1)).int().argmax(dim=1)
    return place, count > 0


@dataclass(frozen=True)
class _Columns:
    """Which columns are categories to choose, [F], and which two belong to one block, [F, F]."""

    categorical: Tensor
    same: Tensor

    @classmethod
    def of(cls, blocks: tuple[Block, ...], chosen: Tensor, device: torch.device) -> _Columns:
        owner = _block_of_column(blocks, device)
        same = (owner.unsqueeze(0) == owner.unsqueeze(1)) & (owner >= 0).unsqueeze(0)
        return cls((owner >= 0) & chosen.to(device), same)

    def changes(self, values: Tensor, gradient: Tensor) -> Tensor:
        """Gradient at each category less that at the category now set in its block."""
        return gradient - (values * gradient) @ self.same.to(values.dtype)

    def put(self, values: Tensor, column: Tensor, does: Tensor) -> Tensor:
        """Rows of features with one category set, the others of its block cleared, if at all."""
        one = torch.nn.functional.one_hot(column, values.size(-1)).to(values)
        return torch.where(self.same[column] & does.unsqueeze(1), one, values)


def _block_of_column(blocks: tuple[Block, ...], device: torch.device) -> Tensor:
    """Which block each dense column belongs to; -1 for continuous ones."""
    owners: list[int] = []
    for b, block in enumerate(blocks):
        if isinstance(block, Categorical):
            owners += [b] * block.size
        else:
            owners += [-1] * block.dim
    return torch.tensor(owners, dtype=torch.long, device=device)
