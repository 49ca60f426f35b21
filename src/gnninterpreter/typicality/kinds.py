"""Kinds that hardly any real graph of a class holds, which therefore are not typical of it.

A kind is one category of a block of nodes or edges. What counts is how many graphs hold it: fifty
nodes of a kind in one graph say as little as one node does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs, edge_rows, node_rows
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.encoding import decode

# Fewer graphs are a handful and say nothing of what is usual, unless the class is so small that
# they are a part of it worth naming; in a large class even more of them can be next to none.
HANDFUL, PART, NEXT_TO_NONE = 10, 0.05, 0.01
# Where so many graphs hold one rare kind or another, that is what graphs of the class are like.
MOST_ODD = 0.5
NODES, EDGES = "node kinds", "edge kinds"


@dataclass(frozen=True)
class Kinds:
    """Which kinds real graphs of a class hold, for each table of kinds.

    ``held`` begins with the number of graphs, [1 + kinds]; ``odd`` graphs hold a ``rare`` kind.
    """

    held: dict[str, Tensor]
    rare: dict[str, Tensor]
    odd: Tensor

    @classmethod
    def of(cls, graphs: Sequence[Data], spec: GraphSpec) -> Kinds:
        """Count them; columns of numbers are no kinds, and count as held by all graphs."""
        held, rare, odd = {}, {}, torch.zeros(len(graphs), dtype=torch.bool)
        every = torch.tensor(float(len(graphs)))
        few = torch.maximum(NEXT_TO_NONE * every, (PART * every).clamp_max(HANDFUL))
        for table, blocks in ((NODES, spec.nodes), (EDGES, spec.edges)):
            if not categories(blocks) or not graphs:
                continue
            numbers = torch.tensor([name is None for name in kind_names(blocks)])
            rows = [(node_rows if table is NODES else edge_rows)(graph) for graph in graphs]
            there = decode(torch.cat(rows), blocks, torch.float32).gt(0.5)
            owner = torch.arange(len(rows)).repeat_interleave(torch.tensor([len(r) for r in rows]))
            holds = torch.zeros(len(rows), there.size(1)).index_add_(0, owner, there.float()) > 0
            count = (holds | numbers).sum(0)
            held[table] = torch.cat([every.unsqueeze(0), count])
            rare[table] = count < few
            odd |= (holds & rare[table]).any(1)
        if bool(odd.double().mean() >= MOST_ODD):
            rare = {table: count[1:] == 0 for table, count in held.items()}
            odd = torch.zeros_like(odd)
        return cls(held, rare, odd)


def count_kinds(graphs: DenseGraphs, presence: Tensor) -> dict[str, Tensor]:
    """How many nodes and edges of each kind there are, [B, dense columns] for each table."""
    tables = {}
    if categories(graphs.spec.nodes):
        tables[NODES] = torch.einsum("bn,bnf->bf", presence, graphs.nodes)
    if graphs.edges is not None and categories(graphs.spec.edges):
        tables[EDGES] = torch.einsum("bij,bijd->bd", graphs.weight, graphs.edges)
    return tables


def kind_names(blocks: Sequence[Block]) -> list[str | None]:
    """Name of the kind that each dense column stands for; None where it is a number."""
    names: list[str | None] = []
    for block in blocks:
        names += block.names if isinstance(block, Categorical) else [None] * block.dim
    return names


def categories(blocks: Sequence[Block]) -> bool:
    """Whether there is a kind to choose."""
    return any(isinstance(block, Categorical) for block in blocks)
