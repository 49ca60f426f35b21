"""Environments: what lies around a node, and how many real graphs hold the same.

A node's environment is its kind, with the kinds of the nodes around it and of the edges between
them, one and two steps far; an edge also tells the smallest cycle that it lies on. A graph can be
like real graphs on the whole, and each of its nodes like a real one in figures, and still be made
of parts that no real graph has. So a graph is as rare as its environments are on average: real
graphs hold a rare one here and there, and chemists rate how easily a molecule is made alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.batches import parts_of
from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.mixing import mix, shift_right
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.encoding import split_blocks
from gnninterpreter.typicality.kinds import HANDFUL, MOST_ODD, NEXT_TO_NONE
from gnninterpreter.typicality.pieces import to_dense

RADIUS = 2
# An environment that one graph holds says nothing of another graph; of many, the commonest stay.
FEWEST_HOLDERS, MOST_KEPT = 2, 8192
# Graphs that are larger are left out when counting, which takes the third power of their size.
MOST_NODES, MOST_PAIRS = 200, 2**20
# Of the most that a graph can be rare: what is not worth asking for, and what is rare on the whole.
LITTLE, MUCH = 0.1, 0.25
# Cycles through one edge that are told apart, and odd numbers that keep parts of a code apart.
CYCLES = 2
OWN, OUT = 0x1B873593, 0x2545F4914F6CDD1D
# More than the columns of any spec: keeps whole numbers of several columns apart.
APART = 1_000_003
# Nodes of the largest cycles that are looked for; whole numbers up to which floats are exact.
LARGEST, EXACT = 8, 2**24


@dataclass(frozen=True, eq=False)
class Environments(Alike, ByValue):
    """How many real graphs hold each environment.

    ``keys``, [K], are their codes in order; ``held``, [1 + K], begins with the number of graphs.
    """

    keys: Tensor
    held: Tensor

    @classmethod
    def of(cls, graphs: Sequence[Data], spec: GraphSpec) -> Environments:
        """Count the environments of real graphs of any size."""
        return cls.counted(_batches(graphs, spec))

    @classmethod
    def counted(cls, batches: Iterable[DenseGraphs]) -> Environments:
        """Count them in batches of graphs."""
        every, found = 0, [torch.zeros(0, dtype=torch.int32)]
        for graphs in batches:
            codes, here = environment_codes(graphs)
            graph = torch.arange(len(graphs), device=here.device).view(-1, 1, 1).expand_as(codes)
            both = torch.stack([graph[here], codes[here].long()], dim=-1).flatten(0, 1)
            found.append(torch.unique(both, dim=0)[:, 1].int().cpu())
            every += len(graphs)
        keys, held = torch.unique(torch.cat(found), return_counts=True)
        order = held.argsort(descending=True, stable=True)[:MOST_KEPT]
        kept = order[held[order] >= FEWEST_HOLDERS].sort()[0]
        return cls(keys[kept], torch.cat([torch.tensor([every]), held[kept]]).int())

    @property
    def common(self) -> Tensor:
        """How many graphs have to hold an environment for it to be common, []."""
        return (NEXT_TO_NONE * self.held[0]).clamp_min(HANDFUL)

    def levels(self, real: DenseGraphs, count: int) -> Tensor | None:
        """Quantiles of how rare real graphs are that were counted, [count].

        None where most of them are rare on the whole: that is then what real graphs are like.
        """
        rare, most = self.rarity(real, counted=True), RADIUS * (self.common + 1).log()
        if bool((rare >= MUCH * most).double().mean() >= MOST_ODD):
            return None
        return rare.quantile(torch.linspace(0, 1, count).to(rare)).clamp_min(LITTLE * float(most))

    def rarity(self, graphs: DenseGraphs, counted: bool = False) -> Tensor:
        """How rare the environments of B graphs are on average, 0 where all are common; [B].

        Graphs that are among those ``counted`` do not count for themselves.
        """
        parts = [environment_codes(part) for part in parts_of(graphs)]
        codes, here = (torch.cat(each) for each in zip(*parts, strict=True))
        return self.rarity_of(codes, here, graphs.weight.dtype, counted)

    def rarity_of(
        self, codes: Tensor, here: Tensor, dtype: torch.dtype, counted: bool = False
    ) -> Tensor:
        """The same of graphs whose environments have these codes; see `environment_codes`."""
        others = (self.holders(codes) - int(counted)).clamp_min(0).to(dtype)
        rare = ((self.common.to(others) + 1) / (others + 1)).log().clamp_min(0).sum(2) * here
        return rare.sum(1) / here.sum(1).clamp_min(1)

    def holders(self, codes: Tensor) -> Tensor:
        """How many graphs hold environments with these codes; 0 where hardly any graph does."""
        keys, held = self.keys.to(codes.device), self.held[1:].to(codes.device)
        if not keys.numel():
            return torch.zeros_like(codes)
        place = torch.searchsorted(keys, codes).clamp_max(keys.numel() - 1)
        return torch.where(keys[place] == codes, held[place], 0)

    def tensors(self) -> dict[str, Tensor]:
        """Return it as named tensors."""
        return {"keys": self.keys.cpu(), "held": self.held.cpu()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Environments:
        """Read what `tensors` wrote."""
        return cls(tensors["keys"], tensors["held"])


def environment_codes(graphs: DenseGraphs) -> tuple[Tensor, Tensor]:
    """A number for the environment of each node at each radius, and which nodes there are.

    [B, N, RADIUS] and [B, N]. Equal environments have equal numbers, and different ones hardly
    ever; the order of nodes does not matter.
    """
    spec, edge = graphs.spec, graphs.weight.gt(0.5)
    both = edge | edge.mT if spec.directed else edge
    size, count = smallest_cycles(both)
    cycle = size.long() * (CYCLES + 1) + count.clamp_max(CYCLES).long()
    numbers = torch.arange((LARGEST + 1) * (CYCLES + 1), device=edge.device)
    # Products of random numbers, summed: a sum is the same for the same neighbours alone.
    via = mix(numbers + 1)[cycle] * edge
    if graphs.edges is not None and graphs.edges.size(-1):
        via = via * _kinds(graphs.edges, spec.edges)
    code = mix(_kinds(graphs.nodes, spec.nodes))
    found = []
    for _ in range(RADIUS):
        told = (via * code.unsqueeze(1)).sum(2)
        if spec.directed:
            told = told + OUT * mix((via * code.unsqueeze(2)).sum(1))
        code = mix(OWN * code + told)
        found.append(shift_right(code, 33).int())
    return torch.stack(found, dim=2), both.any(2)


def smallest_cycles(edge: Tensor) -> tuple[Tensor, Tensor]:
    """Size of the smallest cycle through each edge of [B, N, N], and how many there are.

    Undirected graphs without loops; 0 for what is no edge, or on no cycle of at most `LARGEST`
    nodes. Of walks between the ends of an edge that do not use it the shortest closes the smallest
    cycle. With the generating functions g of walks in the whole graph, these begin with the same
    power, and the same coefficient, as :math:`g_{ij} - z (g_{ii} g_{jj} - g_{ij}^2)`, so that no
    edge has to be taken out.
    """
    # Counts have to be exact, for they cancel each other; walks are as many as degrees allow.
    most = edge.size(1) - 1
    if edge.device.type == "cpu" and edge.numel():
        most = int(edge.sum(2).max())
    small = most ** (LARGEST - 2) < EXACT
    step = edge.to(torch.float32 if small else torch.float64)
    powers = [torch.eye(edge.size(1), dtype=step.dtype, device=edge.device).expand_as(step), step]
    for _ in range(2, LARGEST):
        powers.append(powers[-1] @ step)
    back = torch.stack([power.diagonal(dim1=1, dim2=2) for power in powers], dim=2)
    size, count = torch.zeros_like(step), torch.zeros_like(step)
    # The largest first: smaller ones take their place.
    for length in range(LARGEST - 1, 1, -1):
        some = back[..., :length]
        left = torch.baddbmm(powers[length], some, some.flip(2).mT, alpha=-1)
        for first in range(1, (length - 1) // 2 + 1):
            twice = 2 if 2 * first < length - 1 else 1
            left.addcmul_(powers[first], powers[length - 1 - first], value=twice)
        found = left > 0.5
        size.masked_fill_(found, length + 1)
        count = torch.where(found, left, count)
    return size * step, count * step


def _kinds(values: Tensor, blocks: tuple[Block, ...]) -> Tensor:
    """A random odd number for each combination of kinds; only whole numbers are kinds, too."""
    total, start = values.new_zeros(values.shape[:-1]), 1
    levels = torch.zeros_like(total, dtype=torch.long)
    for part, block in zip(split_blocks(values, blocks), blocks, strict=True):
        if isinstance(block, Categorical):
            # Small enough for sums of a few to be exact.
            column = shift_right(
                mix(torch.arange(start, start + block.size, device=values.device)), 43
            )
            total = total + part.gt(0.5).to(total.dtype) @ column.to(total.dtype)
        else:
            for place, number in enumerate(k for k, whole in enumerate(block.whole) if whole):
                held = part[..., number].round().long()
                levels = levels + shift_right(mix(held * APART + (start + place)), 43)
        start += part.size(-1)
    return 2 * (total.long() + levels) + 1


def _batches(graphs: Sequence[Data], spec: GraphSpec) -> Iterator[DenseGraphs]:
    """Graphs in batches of like size, so that little room is wasted."""
    usable = [g for g in graphs if g.edge_index.numel() and node_count(g) <= MOST_NODES]
    usable.sort(key=lambda graph: node_count(graph), reverse=True)
    while usable:
        step = max(1, MOST_PAIRS // max(int(usable[0].num_nodes or 0), 1) ** 2)
        yield to_dense(usable[:step], spec)
        usable = usable[step:]
