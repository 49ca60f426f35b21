"""What explanations are compared with: real graphs that fit a picture, or real pieces of them.

Where the graphs of a class are small enough they are taken whole. Where they are not, connected
pieces are cut out of them: those that the model is certain of, cut down further for as long as it
stays so, each for a random time. Such pieces show what the model goes by, and occur in real graphs.

An explanation is in one piece. Where most real graphs are in several, each stands for itself by the
largest of its connected parts that the model is certain of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.batches import compact, present_nodes
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.pieces import cut_piece, parts_of, to_dense

Certain = Callable[[DenseGraphs], Tensor]
"""Says which of B graphs the model is certain of, [B]."""

MOST_GRAPHS = 512
# Pairs of nodes that the graphs may have together, which bounds memory; but so many there are.
MOST_PAIRS, FEWEST_GRAPHS = 2**24, 64
# Where at least this share of a class fits the limit, graphs are compared as wholes.
WHOLE = 0.25
SMALLEST_PIECE = 4
# Where fewer than this share are in one piece, parts are taken, of at least so many nodes.
CONNECTED, SMALLEST_PART = 0.5, 3
# Of this share of the graphs that the model is certain of it has to be certain of a part, too: a
# class may be about being in pieces.
PARTED = 0.8
# Rounds of cutting pieces, and with how few that the model is certain of all pieces are taken.
ROUNDS = 5
FEWEST_CERTAIN = 24
# Nodes that are tried for leaving out of each piece.
DROPS = 40


@dataclass(frozen=True)
class References:
    """Real graphs, or pieces of them, that explanations are compared with.

    ``whole`` ones were not cut; ``parted`` ones are what hangs together in a graph.
    """

    graphs: DenseGraphs
    whole: bool
    certain: Tensor
    parted: bool = False


def references(
    graphs: Sequence[Data],
    spec: GraphSpec,
    max_nodes: int,
    certain: Certain,
    seed: int = 0,
    count: int = MOST_GRAPHS,
    parted: bool = True,
) -> References | None:
    """Real graphs of a class that fit the limit, or pieces where too few do.

    Args:
        graphs: Real graphs of the class.
        spec: What their features mean.
        max_nodes: Most nodes an explanation may have.
        certain: Asks the model.
        seed: Decides which graphs and pieces are taken.
        count: Most graphs to take.
        parted: Whether parts that the model is certain of may stand for graphs in several pieces.

    Returns:
        The graphs; None where none has an edge.
    """
    rng = np.random.default_rng(seed)
    count = min(count, max(FEWEST_GRAPHS, MOST_PAIRS // max_nodes**2))
    usable = [g for g in graphs if node_count(g) >= 2 and g.edge_index.numel()]
    if not usable:
        return None
    fitting = [g for g in usable if node_count(g) <= max_nodes]
    if len(fitting) >= WHOLE * len(usable):
        chosen = np.sort(rng.permutation(len(fitting))[:count])
        dense = to_dense([fitting[i] for i in chosen.tolist()], spec, max_nodes)
        # An explanation is in one piece, so it is compared with graphs that are.
        connected = dense.connected()
        if parted and float(connected.double().mean()) < CONNECTED:
            sure = [fitting[i] for i in chosen[certain(dense).numpy()].tolist()]
            parts = _parts(sure, spec, max_nodes, certain)
            if parts is not None:
                return References(parts, True, torch.ones(len(parts), dtype=torch.bool), True)
        if bool(connected.any()):
            dense = dense[connected]
        return References(dense, True, certain(dense))
    good, others = _pieces(usable, spec, max_nodes, certain, rng, count)
    if len(good) < FEWEST_CERTAIN:
        every = DenseGraphs.cat([good, others])[slice(0, count)]
        return References(every, False, torch.arange(len(every)) < len(good))
    good = _cut_down(good[slice(0, count)], certain, rng)
    return References(good, False, torch.ones(len(good), dtype=torch.bool))


def _parts(
    graphs: Sequence[Data], spec: GraphSpec, max_nodes: int, certain: Certain
) -> DenseGraphs | None:
    """The largest part of each graph that the model is certain of; None where few have one."""
    own = [(i, part) for i, graph in enumerate(graphs) for part in parts_of(graph, SMALLEST_PART)]
    if len(own) < FEWEST_CERTAIN:
        return None
    dense = to_dense([part for _, part in own], spec, max_nodes)
    first: dict[int, int] = {}
    for place in certain(dense).nonzero().flatten().tolist():
        first.setdefault(own[place][0], place)
    enough = len(first) >= max(FEWEST_CERTAIN, PARTED * len(graphs))
    return dense[torch.tensor(list(first.values()))] if enough else None


def _pieces(
    graphs: Sequence[Data],
    spec: GraphSpec,
    max_nodes: int,
    certain: Certain,
    rng: np.random.Generator,
    count: int,
) -> tuple[DenseGraphs, DenseGraphs]:
    """Cut pieces until the model is certain of enough of them; those, and the others."""
    good: list[DenseGraphs] = []
    others: list[DenseGraphs] = []
    for _ in range(ROUNDS):
        cut: list[Data] = []
        while len(cut) < count:
            graph = graphs[int(rng.integers(len(graphs)))]
            size = int(rng.integers(min(SMALLEST_PIECE, max_nodes), max_nodes + 1))
            piece = cut_piece(graph, size, rng)
            if piece.edge_index.numel():
                cut.append(piece)
        dense = to_dense(cut, spec, max_nodes)
        sure = certain(dense)
        good.append(dense[sure])
        if sum(len(part) for part in others) < count:  # more are never taken
            others.append(dense[~sure])
        if sum(len(part) for part in good) >= count // 2:
            break
    return DenseGraphs.cat(good), DenseGraphs.cat(others)


def _cut_down(graphs: DenseGraphs, certain: Certain, rng: np.random.Generator) -> DenseGraphs:
    """Take nodes out at random while a graph holds together and the model is certain of it."""
    size = present_nodes(graphs).sum(1)
    share = torch.from_numpy(rng.random(len(graphs))).to(size.device)
    wanted = SMALLEST_PIECE + (share * (size - SMALLEST_PIECE + 1)).long()
    for _ in range(DROPS):
        present = present_nodes(graphs)
        rows = (present.sum(1) > wanted).nonzero().squeeze(1)
        if not rows.numel():
            break
        chance = torch.from_numpy(rng.random((rows.numel(), graphs.num_candidates)))
        node = (chance.to(present.device) * present[rows]).argmax(1)
        some = graphs[rows]
        keep = torch.ones_like(some.weight[:, 0]).scatter(1, node.unsqueeze(1), 0.0)
        weight = some.weight * keep.unsqueeze(1) * keep.unsqueeze(2)
        tried = DenseGraphs(graphs.spec, weight, some.nodes, some.edges)
        fine = tried.connected() & (present_nodes(tried).sum(1) == present[rows].sum(1) - 1)
        ask = fine.nonzero().squeeze(1)
        if ask.numel():
            fine[ask] = certain(compact(tried[ask]))
        graphs = graphs.merged(rows[fine], tried[fine])
    return graphs
