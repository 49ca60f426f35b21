"""What a graph looks like in numbers: one row for each node and one for the whole graph.

Both are made of blocks that measure one thing each (kinds, neighbours, degrees, ...), so that a
distance can give every block the same say. Everything is a sum, a product or a bound of edge
weights and features: on soft graphs the numbers are soft, and have a slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import torch
from torch import Tensor

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.mixing import mix
from gnninterpreter.spec import Block, Categorical
from gnninterpreter.spec.encoding import bounds, dense_width, split_blocks
from gnninterpreter.typicality.environments import environment_codes
from gnninterpreter.typicality.kinds import count_kinds

WALKS = 8
# Products of kinds are told apart as long as there are no more of them than this.
MOST_TRIPLES = 64
MOST_PAIRS = 400
# Counts are exact up to here and logarithmic from there on: a hub of 30 is like one of 31.
EXACT = 4.0
DEGREES = 6
# Degrees that a table of kinds tells apart, and most kinds of edges with both ends.
TABLE_DEGREES = 8
COMBINED = ("degrees", "edges", "other degrees", "together")
MOST_EDGE_KINDS = 2500
REACH = (2, 3, 4, 6, 8)
# A block of more kinds than this is described in so many columns: distances stay what they are to
# about a seventh, and time no longer grows with the number of kinds.
MOST_KINDS, FEW_COLUMNS = 64, 48
TINY = 1e-6


@dataclass(frozen=True)
class Described:
    """Descriptions of B graphs on N candidate nodes, a tensor for each block.

    ``presence``, [B, N], is how far each node is there; ``tables`` how often each combination of
    categories occurs, [B, combinations]; ``edges`` the number of edges, [B]; ``source`` the graphs.
    """

    nodes: dict[str, Tensor]
    graphs: dict[str, Tensor]
    presence: Tensor
    tables: dict[str, Tensor]
    edges: Tensor
    source: DenseGraphs

    @cached_property
    def codes(self) -> tuple[Tensor, Tensor]:
        """What lies around each node, and which nodes there are."""
        return environment_codes(self.source)


def describe(graphs: DenseGraphs) -> Described:
    """Describe every node and every graph."""
    source, graphs = graphs, _scaled(graphs)
    weight, presence = graphs.weight, graphs.presence
    undirected = torch.maximum(weight, weight.mT) if graphs.spec.directed else weight
    degree = undirected.sum(2)
    step = undirected / degree.clamp_min(TINY).unsqueeze(2)
    tables, graphs = _tables(graphs, degree, presence), _compressed(graphs)
    nodes = {"kind": graphs.nodes * presence.unsqueeze(2)}
    nodes["around"] = _around(graphs, weight)
    if graphs.spec.directed:
        nodes["around out"] = _around(graphs, weight.mT)
    nodes["degree"] = _degrees(undirected, degree)
    twice = step @ step
    if dense_width(graphs.spec.nodes) > 1:
        near = twice @ graphs.nodes
        nodes["far"] = torch.cat([near, step @ near], dim=2)
    nodes["walk"] = _returns(step, twice)
    whole = _whole(graphs, nodes, undirected, degree, presence)
    return Described(nodes, whole, presence, tables, source.num_edges, source)


def _scaled(graphs: DenseGraphs) -> DenseGraphs:
    """The same graphs with numbers between 0 and 1, so that sums of them are like counts."""

    def scaled(values: Tensor, blocks: tuple[Block, ...]) -> Tensor:
        if all(isinstance(block, Categorical) for block in blocks):
            return values
        parts = []
        for part, block in zip(split_blocks(values, blocks), blocks, strict=True):
            if isinstance(block, Categorical):
                parts.append(part)
                continue
            low, high = bounds(block, part)
            width = torch.where(high > low, high - low, 1.0)
            parts.append(torch.where(high > low, (part - low) / width, 1.0))
        return torch.cat(parts, dim=-1)

    spec, nodes, edges = graphs.spec, graphs.nodes, graphs.edges
    # What follows from the graph says nothing more about it than its edges do.
    nodes = scaled(nodes, spec.nodes) if nodes.size(-1) else torch.ones_like(graphs.weight[..., :1])
    edges = None if edges is None or not edges.size(-1) else scaled(edges, spec.edges)
    return DenseGraphs(spec, graphs.weight, nodes, edges)


def _compressed(graphs: DenseGraphs) -> DenseGraphs:
    """The same graphs, each block of many kinds of nodes in few columns."""
    blocks = graphs.spec.nodes
    if not any(isinstance(block, Categorical) and block.size > MOST_KINDS for block in blocks):
        return graphs
    parts = [
        part @ _signs(block.size, part.dtype, part.device)
        if isinstance(block, Categorical) and block.size > MOST_KINDS
        else part
        for part, block in zip(split_blocks(graphs.nodes, blocks), blocks, strict=True)
    ]
    return DenseGraphs(graphs.spec, graphs.weight, torch.cat(parts, dim=2), graphs.edges)


@lru_cache(maxsize=16)
def _signs(kinds: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Signs by which many kinds become few columns, as random as can be and always the same."""
    place = torch.arange(kinds * FEW_COLUMNS).view(kinds, FEW_COLUMNS)
    signs = 1 - 2 * (mix(place) < 0).to(device, dtype)
    return signs / math.sqrt(FEW_COLUMNS)


def _around(graphs: DenseGraphs, weight: Tensor) -> Tensor:
    """How many neighbours of each kind there are, told apart by the kind of edge; [B, N, *]."""
    edges = graphs.edges
    if edges is None:
        return _count(weight @ graphs.nodes)
    if weight is not graphs.weight:
        edges = edges.transpose(1, 2)
    if dense_width(graphs.spec.nodes) * dense_width(graphs.spec.edges) <= MOST_TRIPLES:
        both = torch.einsum("bij,bijd,bjf->bidf", weight, edges, graphs.nodes)
        return _count(both.flatten(2))
    alone = torch.einsum("bij,bijd->bid", weight, edges)
    return _count(torch.cat([weight @ graphs.nodes, alone], dim=2))


def _count(values: Tensor) -> Tensor:
    over = (values - EXACT).clamp_min(0)
    return values.clamp_max(EXACT) + over.log1p()


def _degrees(weight: Tensor, degree: Tensor) -> Tensor:
    """Degree of each node, and least, mean and largest of its neighbours; [B, N, 4]."""
    counted = _count(degree)
    other = counted.unsqueeze(1)
    largest = (weight * other).amax(2)
    # The least is the largest of inverses, which keeps absent neighbours out.
    least = 1 / (weight / other.clamp_min(0.5)).amax(2).clamp_min(0.05)
    least = least * degree.clamp_max(1)
    mean = (weight * other).sum(2) / degree.clamp_min(TINY)
    return torch.stack([counted, least, mean, largest], dim=2)


def _returns(step: Tensor, twice: Tensor) -> Tensor:
    """Chance of being back after 2 to `WALKS` steps of a random walk; [B, N, 7]."""
    powers = {1: step, 2: twice}
    powers[3], powers[4] = twice @ step, twice @ twice
    back = []
    for k in range(2, WALKS + 1):
        if k <= 4:
            back.append(powers[k].diagonal(dim1=1, dim2=2))
        else:
            # The diagonal of a product takes no product of matrices.
            back.append((powers[4] * powers[k - 4].mT).sum(2))
    return torch.stack(back, dim=2)


def _whole(
    graphs: DenseGraphs, nodes: dict[str, Tensor], weight: Tensor, degree: Tensor, presence: Tensor
) -> dict[str, Tensor]:
    here = presence.unsqueeze(2)
    count = presence.sum(1).clamp_min(1)
    edges = graphs.num_edges
    cycles = (weight.sum((1, 2)) / 2 - count + 1).clamp_min(0)
    whole = {
        "size": torch.stack([count.log(), edges.clamp_min(0.5).log()], 1),
        "cycles": torch.stack([edges / count, cycles.log1p(), cycles / count], 1),
    }
    # All blocks in one go: many small steps take longer than a few larger ones.
    means = _means(list(nodes.values()), here, count)
    spread = {name: place for place, name in enumerate(nodes) if name in ("degree", "walk")}
    squares = [(nodes[name] - means[i].unsqueeze(1)) ** 2 for name, i in spread.items()]
    apart = dict(zip(spread, _means(squares, here, count), strict=True))
    for name, mean in zip(nodes, means, strict=True):
        whole[f"mean {name}"] = mean
        if name in apart:
            whole[f"spread {name}"] = (apart[name] + TINY).sqrt()
    whole["degrees"] = _histogram(degree, presence, count)
    whole["reach"] = _reach(weight, presence, count)
    columns = graphs.nodes.size(2) * nodes["around"].size(2)
    if graphs.nodes.size(2) > 1 and columns <= MOST_PAIRS:
        pairs = torch.einsum("bnf,bnk->bfk", nodes["kind"], nodes["around"]).flatten(1)
        whole["pairs"] = pairs / count.unsqueeze(1)
    return whole


def _means(values: list[Tensor], here: Tensor, count: Tensor) -> tuple[Tensor, ...]:
    """Means over the nodes that are there, of several blocks; [B, columns] each."""
    total = (torch.cat(values, dim=2) * here).sum(1) / count.unsqueeze(1)
    return torch.split(total, [part.size(2) for part in values], dim=1)


def _histogram(degree: Tensor, presence: Tensor, count: Tensor) -> Tensor:
    """Shares of nodes of each degree, and the largest degree; [B, DEGREES + 1]."""
    bins = torch.arange(1, DEGREES, device=degree.device, dtype=degree.dtype)
    near = (1 - (degree.unsqueeze(2) - bins).abs()).clamp_min(0)
    most = (degree - (DEGREES - 1)).clamp(0, 1).unsqueeze(2)
    (shares,) = _means([torch.cat([near, most], dim=2)], presence.unsqueeze(2), count)
    return torch.cat([shares, degree.amax(1, keepdim=True).log1p()], dim=1)


def _reach(weight: Tensor, presence: Tensor, count: Tensor) -> Tensor:
    """Share of pairs of nodes that are within so many steps of each other; [B, len(REACH)]."""
    near = weight + torch.eye(weight.size(1), dtype=weight.dtype, device=weight.device)
    two = (near @ near).clamp_max(1)
    three, four = (two @ near).clamp_max(1), (two @ two).clamp_max(1)
    six, eight = (four @ two).clamp_max(1), (four @ four).clamp_max(1)
    within = {2: two, 3: three, 4: four, 6: six, 8: eight}
    pairs = (count * (count - 1)).clamp_min(1)
    absent = weight.size(1) - presence.sum(1)
    sums = torch.stack([within[k].sum((1, 2)) for k in REACH], dim=1)
    return (sums - (absent + count).unsqueeze(1)) / pairs.unsqueeze(1)


def _tables(graphs: DenseGraphs, degree: Tensor, presence: Tensor) -> dict[str, Tensor]:
    """Count nodes and edges by kind, edges also by kinds of their ends, nodes also by degree."""
    columns = categorical_columns(graphs.spec.nodes)
    kinds = graphs.nodes[..., slice(columns[0], columns[-1] + 1) if columns else slice(0)]
    tables = count_kinds(graphs, presence)
    if columns:
        bins = torch.arange(1, TABLE_DEGREES + 1, device=degree.device, dtype=degree.dtype)
        near = (1 - (degree.clamp_max(TABLE_DEGREES).unsqueeze(2) - bins).abs()).clamp_min(0)
        tables["degrees"] = torch.einsum("bnf,bnd->bfd", kinds, near).flatten(1)
        others = _other_kinds(graphs)
        if others.size(2):
            tables["other degrees"] = torch.einsum("bnf,bnd->bfd", others, near).flatten(1)
            if kinds.size(2) * others.size(2) <= MOST_EDGE_KINDS:
                here = kinds * presence.unsqueeze(2)
                tables["together"] = torch.einsum("bnf,bne->bfe", here, others).flatten(1)
    both = categorical_columns(graphs.spec.edges)
    size = max(len(columns), 1) ** 2 * max(len(both), 1)
    if not (columns or both) or size > MOST_EDGE_KINDS:
        return tables
    ends = kinds if columns else torch.ones_like(graphs.nodes[..., :1])
    if both and graphs.edges is not None:
        edges = graphs.edges[..., both[0] : both[-1] + 1] * graphs.weight.unsqueeze(3)
        sources = torch.einsum("bijd,bjf->bidf", edges, ends)
        found = torch.einsum("bidf,bie->bdfe", sources, ends)
    else:
        found = torch.einsum("bif,bie->bfe", graphs.weight @ ends, ends)
    tables["edges"] = found.flatten(1)
    return tables


def _other_kinds(graphs: DenseGraphs) -> Tensor:
    """Categories of all blocks of the nodes but the first that has some, [B, N, columns]."""
    blocks = graphs.spec.nodes
    parts = split_blocks(graphs.nodes, blocks)
    found = [p for p, block in zip(parts, blocks, strict=True) if isinstance(block, Categorical)]
    return torch.cat([graphs.nodes[..., :0], *found[1:]], dim=2)


def categorical_columns(blocks: tuple[Block, ...]) -> list[int]:
    """Dense columns of the first categorical block, none where there is none."""
    start = 0
    for block in blocks:
        if isinstance(block, Categorical):
            return list(range(start, start + block.size))
        start += block.dim
    return []
