"""Fitting: describe the real graphs of a class once and keep what judging others needs."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from gnninterpreter.batches import parts_of
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality.bank import QUANTILES, TypicalityBank
from gnninterpreter.typicality.descriptors import COMBINED, Described, describe
from gnninterpreter.typicality.measuring import NEIGHBOURS, Frame, combined, compared, rooted
from gnninterpreter.typicality.references import References

KEPT_GRAPHS = 320
MOST_NODES = 6000
KEPT_NODES = 768
# A node is at home up to the distance that this share of real nodes has to other real graphs.
AT_HOME = 0.95
LEAST_UNIT = 0.1
USUAL = (0.03, 0.97)
# Pieces may be as small as an explanation may be.
FEWEST_NODES, FEWEST_EDGES = 3.0, 2.0
# A kind of edge with both ends, or of node with its degree, that is less frequent than this counts
# as never seen.
SELDOM = 0.0005
# Least distance that counts as a graph's own, as a share of the median: copies have none at all.
LEAST_OWN, LEAST_OWN_AT_ALL = 0.25, 0.05
# Columns that hardly vary are not blown up by more than this beside the largest of their block.
LEAST_SPREAD = 0.25


def fit(real: References, seed: int = 0) -> TypicalityBank | None:
    """Learn what real graphs of one class look like; None where there are fewer than two."""
    graphs = real.graphs
    if len(graphs) < 2:
        return None
    rng = np.random.default_rng(seed)
    found = _describe_all(graphs)
    here = found.presence > 0.5
    node_frame = _frame({name: values[here] for name, values in found.nodes.items()})
    graph_frame = _frame(found.graphs)
    owner = torch.arange(len(graphs)).unsqueeze(1).expand(here.shape)[here]
    node_rows = node_frame(found.nodes)[here]
    bank = _cover(node_rows, rng)
    apart = _to_others(node_rows, owner, bank)
    unit = apart.quantile(AT_HOME).clamp_min(LEAST_UNIT)
    each = torch.zeros_like(found.presence)
    each[here] = apart / unit
    graph_rows = graph_frame(found.graphs)
    kept = torch.from_numpy(np.sort(rng.permutation(len(graphs))[:KEPT_GRAPHS]))
    whole, own, local = _leave_out(graph_rows, kept)
    levels = torch.linspace(0, 1, QUANTILES, dtype=whole.dtype)
    parts = torch.stack([combined(each, found.presence), whole, local])
    return TypicalityBank(
        node_frame,
        graph_frame,
        node_rows[bank].half().float(),
        graph_rows[kept].half().float(),
        unit,
        own,
        parts.quantile(levels, dim=1).T.contiguous(),
        _limits(graphs, real.whole),
        {name: _occurring(found.tables[name]) for name in COMBINED if name in found.tables},
    )


def _describe_all(graphs: DenseGraphs) -> Described:
    parts = [describe(part) for part in parts_of(graphs)]
    first = parts[0]
    return Described(
        {name: torch.cat([part.nodes[name] for part in parts]) for name in first.nodes},
        {name: torch.cat([part.graphs[name] for part in parts]) for name in first.graphs},
        torch.cat([part.presence for part in parts]),
        {name: torch.cat([part.tables[name] for part in parts]) for name in first.tables},
        torch.cat([part.edges for part in parts]),
        graphs,
    )


def _frame(blocks: dict[str, Tensor]) -> Frame:
    """Give every block the same say, and within a block every column that varies."""
    shifts, scales = [], []
    for values in blocks.values():
        deviation = values.std(0, unbiased=False)
        largest = float(deviation.max().clamp_min(0.05))
        scale = 1 / deviation.clamp_min(LEAST_SPREAD * largest)
        varying = ((deviation * scale) ** 2).sum().clamp_min(1.0)
        shifts.append(values.mean(0))
        scales.append(scale / (varying * len(blocks)).sqrt())
    return Frame(torch.cat(shifts), torch.cat(scales))


def _cover(rows: Tensor, rng: np.random.Generator) -> Tensor:
    """Choose rows to keep, so that none is far from a chosen one.

    Half are drawn at random, which follows how frequent they are; of the others each is the one
    farthest from those before it, which finds the rare.
    """
    some = torch.from_numpy(rng.permutation(rows.size(0))[:MOST_NODES])
    if some.numel() <= KEPT_NODES:
        return some
    chosen = list(range(KEPT_NODES // 2))
    rows = rows[some]
    apart = torch.cdist(rows, rows[chosen]).amin(1)
    for _ in range(KEPT_NODES - len(chosen)):
        far = int(apart.argmax())
        if float(apart[far]) < 1e-3:
            break
        chosen.append(far)
        apart = torch.minimum(apart, (rows - rows[far]).norm(dim=1))
    return some[torch.tensor(chosen)]


def _to_others(rows: Tensor, owner: Tensor, bank: Tensor) -> Tensor:
    """Distance of each row to the nearest of the bank that is of another graph, [rows]."""
    parts = []
    for start in range(0, rows.size(0), 2048):
        some = slice(start, start + 2048)
        apart = torch.cdist(rows[some], rows[bank])
        mine = owner[some].unsqueeze(1) == owner[bank].unsqueeze(0)
        parts.append(apart.masked_fill(mine, torch.inf).amin(1))
    # Where all of the bank is of one graph there is nothing to say of that graph.
    return rooted(torch.cat(parts).nan_to_num(posinf=0.0) ** 2)


def _leave_out(rows: Tensor, kept: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Distance of each row to kept ones, that of the kept ones, and the first in their units."""
    apart = torch.cdist(rows, rows[kept])
    apart[kept, torch.arange(kept.numel())] = torch.inf
    near, which = apart.topk(max(min(NEIGHBOURS, kept.numel() - 1), 1), 1, largest=False)
    near = rooted(near**2)
    distance = near.mean(1)
    own = distance[kept]
    least = max(LEAST_OWN * float(own.median()), LEAST_OWN_AT_ALL)
    own = own.clamp_min(least)
    return distance, own, compared(near, own[which])[1]


def _limits(graphs: DenseGraphs, whole: bool) -> Tensor:
    sizes = torch.stack([graphs.num_nodes, graphs.num_edges])
    low, high = sizes.quantile(USUAL[0], dim=1), sizes.quantile(USUAL[1], dim=1)
    if not whole:
        low = torch.tensor([FEWEST_NODES, FEWEST_EDGES]).to(low)
    return torch.stack([low, torch.maximum(low, high)], dim=1).flatten()


def _occurring(counts: Tensor) -> Tensor:
    total = counts.sum(0)
    return total >= max(0.5, SELDOM * float(total.sum()))
