"""The game that XGNN plays: growing graphs edge by edge under rules, many at once.

A state is a batch of graphs on M rows, of which the first ``count`` are nodes. An action joins one
of them to another, or to a new node of one of T types; action ``(start, end)`` means a new node of
type ``end - M`` where ``end`` is M or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.arguments import whole_number
from gnninterpreter.chem.elements import MUTAG_VALENCIES
from gnninterpreter.equality import Alike
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, GraphSpec

NO_LIMIT = 1_000_000


@dataclass(frozen=True)
class State(Alike):
    """B growing graphs: adjacency [B, M, M], one-hot types [B, M, T], number of nodes [B]."""

    weight: Tensor
    types: Tensor
    count: Tensor

    @property
    def present(self) -> Tensor:
        """Which rows are nodes, [B, M]."""
        rows = torch.arange(self.types.size(1), device=self.count.device)
        return rows.unsqueeze(0) < self.count.unsqueeze(1)


@dataclass(frozen=True)
class Rules:
    """What graphs may be built: at most ``max_nodes``, ``limits`` edges of each type, [T]."""

    spec: GraphSpec
    max_nodes: int
    limits: tuple[int, ...]
    start: int = 0

    @classmethod
    def of(
        cls,
        spec: GraphSpec,
        max_nodes: int,
        valencies: Mapping[str, int] | None = None,
        start: str | int = 0,
    ) -> Rules:
        """Read the types off a spec; valencies by name, MUTAG's where the types are its atoms."""
        names = _types(spec)
        whole_number("max_nodes", max_nodes, 2)
        if valencies is None:
            valencies = MUTAG_VALENCIES if names == tuple(MUTAG_VALENCIES) else {}
        first = names.index(start) if start in names else start
        if not isinstance(first, int) or not 0 <= first < len(names):
            raise SpecError(f"start must be one of {', '.join(names)} (got {start!r})")
        limits = tuple(valencies.get(name, NO_LIMIT) for name in names)
        return cls(spec, max_nodes, limits, first)

    @property
    def num_types(self) -> int:
        """Number of node types T."""
        return len(self.limits)

    def begin(self, count: int, dtype: torch.dtype = torch.float32) -> State:
        """The first state: a single node of the start type, ``count`` times."""
        m, t = self.max_nodes, self.num_types
        types = torch.zeros(count, m, t, dtype=dtype)
        types[:, 0, self.start] = 1.0
        ones = torch.ones(count, dtype=torch.long)
        return State(torch.zeros(count, m, m, dtype=dtype), types, ones)

    def legal(self, state: State) -> Tensor:
        """Which actions break no rule, [B, M, M + T]: no loop or double edge, size, valency."""
        m = self.max_nodes
        limits = torch.tensor(self.limits, dtype=state.types.dtype)
        spare = (state.weight.sum(2) + 1 <= state.types @ limits) & state.present
        old = spare.unsqueeze(2) & spare.unsqueeze(1) & (state.weight < 0.5)
        old = old & ~torch.eye(m, dtype=torch.bool)
        room = (state.count < m).view(-1, 1, 1)
        new = (spare.unsqueeze(2) & room).expand(-1, -1, self.num_types)
        new = new & (limits >= 1)
        return torch.cat([old, new], dim=2)

    def apply(self, state: State, start: Tensor, end: Tensor) -> tuple[State, Tensor]:
        """Take an action in each graph, to a node or to M + type; also says which were legal."""
        m = self.max_nodes
        row = torch.arange(start.numel())
        ok = self.legal(state)[row, start, end]
        weight, types = state.weight.clone(), state.types.clone()
        grows = ok & (end >= m)
        target = torch.where(grows, state.count, end.clamp_max(m - 1))
        types[row[grows], target[grows], end[grows] - m] = 1.0
        weight[row[ok], start[ok], target[ok]] = 1.0
        weight[row[ok], target[ok], start[ok]] = 1.0
        return State(weight, types, state.count + grows.long()), ok

    def graphs(self, state: State) -> DenseGraphs:
        """The graphs as the model takes them."""
        block = self.spec.nodes[0]
        if isinstance(block, Categorical):
            return DenseGraphs(self.spec, state.weight, state.types)
        low = torch.tensor(block.low, dtype=state.types.dtype)
        return DenseGraphs(self.spec, state.weight, low.expand(*state.types.shape[:2], block.dim))


def _types(spec: GraphSpec) -> tuple[str, ...]:
    block = spec.nodes[0]
    if len(spec.nodes) == 1 and not spec.edges and not spec.directed:
        if isinstance(block, Categorical):
            return tuple(block.names)
        if block.constant:
            return ("node",)
    raise SpecError(
        "XGNN builds undirected graphs with one categorical node feature or none, and no edge "
        f"features (got {len(spec.nodes)} node and {len(spec.edges)} edge blocks, "
        f"{'directed' if spec.directed else 'undirected'}); use gnninterpreter.explain"
    )
