"""Exemplars: real graphs or pieces that the model is certain of, where a search can begin.

They are kept beside the bank, so that a search needs no data: few, small, packed into bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from gnninterpreter.batches import compact, parts_of
from gnninterpreter.equality import Alike, ByValue
from gnninterpreter.errors import CheckpointError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.encoding import dense_width
from gnninterpreter.typicality.bank import TypicalityBank
from gnninterpreter.typicality.descriptors import describe
from gnninterpreter.typicality.measuring import Measuring
from gnninterpreter.typicality.references import References

if TYPE_CHECKING:
    from gnninterpreter.distribution import Streams
    from gnninterpreter.typicality.either import EitherBank

MOST = 128
# Graphs that are drawn to begin at the smallest of them.
AMONG = 4
# Where none is both certain and typical, this many that come nearest to it.
FEWEST = 8
# Two graphs whose descriptions agree to this part of their spread count as one.
GRAIN = 200.0
UNCERTAIN = 1e6


@dataclass(frozen=True, eq=False)
class Exemplars(Alike, ByValue):
    """Real graphs where a search can begin, best ones first, and how typical each is."""

    graphs: DenseGraphs
    percentile: Tensor

    def __len__(self) -> int:
        return len(self.graphs)

    def begin_small(self, streams: Streams, bar: float = 0.0) -> DenseGraphs:
        """Draw a few graphs for every stream and give it the smallest of them."""
        # Of a few exemplars the smallest would be the same for all.
        among = min(AMONG, max(1, self._places(bar).numel() // 2))
        drawn = self.begin(streams, among, bar)
        least = drawn.num_edges.view(-1, among).argmin(1)
        first = torch.arange(len(least), device=least.device) * among
        return drawn[first + least]

    def begin(self, streams: Streams, each: int = 1, bar: float = 0.0) -> DenseGraphs:
        """Draw ``each`` graphs for every stream, not one twice for a stream while there are others.

        The least percentile is ``bar`` where at least `FEWEST` graphs reach it; else as many as
        come nearest to it are taken, and none that is unlike all others while there are any.
        """
        places = self._places(bar)
        order = streams.uniform(places.numel()).argsort(dim=1)
        wanted = torch.arange(each, device=order.device) % places.numel()
        return self.graphs[places[order[:, wanted]].flatten()]

    def _places(self, bar: float) -> Tensor:
        typical = self.percentile >= bar
        if int(typical.sum()) < FEWEST:
            like = self.percentile > 0
            like = like if bool(like.any()) else ~like
            typical = like & (like.cumsum(0) <= FEWEST)
        return typical.nonzero().squeeze(1)

    def tensors(self) -> dict[str, Tensor]:
        """Return the exemplars as named tensors: edges as bits, categories as bytes or halves."""
        graphs = self.graphs
        stored = {
            "weight": torch.from_numpy(
                np.packbits(graphs.weight.gt(0.5).numpy(force=True), bitorder="little")
            ),
            "nodes": graphs.nodes.half(),
            "percentile": self.percentile.half(),
            "shape": torch.tensor(graphs.weight.shape),
        }
        if graphs.edges is not None:
            # Absent edges are zeros, which any compression makes nothing of.
            stored["edges"] = graphs.edges[graphs.weight.gt(0.5)].half()
        return {name: value.cpu().contiguous() for name, value in stored.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], spec: GraphSpec) -> Exemplars:
        """Read what `tensors` wrote."""
        missing = {"weight", "nodes", "percentile", "shape"} - set(tensors)
        if missing or (spec.edges and "edges" not in tensors):
            raise CheckpointError(
                f"stored exemplars lack {', '.join(sorted(missing)) or 'edges'}; store them again"
            )
        shape = tuple(tensors["shape"].flatten().tolist())
        size, packed = math.prod(shape), tensors["weight"]
        # Sizes are looked at before anything of that size is made.
        fits = len(shape) == 3 and shape[1] == shape[2] and 0 <= 8 * packed.numel() - size < 8
        fits = fits and tensors["nodes"].shape == (*shape[:2], dense_width(spec.nodes))
        fits = fits and tensors["percentile"].shape == shape[:1]
        edge = torch.zeros(0)
        if fits:
            bits = np.unpackbits(tensors["weight"].numpy(), count=size, bitorder="little")
            edge = torch.from_numpy(bits).bool().view(shape)
        if spec.edges:
            wide = (int(edge.sum()), dense_width(spec.edges))
            fits = fits and tensors["edges"].shape == wide
        if not fits:
            raise CheckpointError("stored exemplars do not fit together; store them again")
        nodes = tensors["nodes"].float()
        edges = None
        if spec.edges:
            edges = torch.zeros(*shape, tensors["edges"].size(-1))
            edges[..., 0] = 1.0
            edges[edge] = tensors["edges"].float()
        return cls(DenseGraphs(spec, edge.float(), nodes, edges), tensors["percentile"].float())


def choose_exemplars(real: References, bank: TypicalityBank) -> Exemplars:
    """Choose different graphs that the model is certain of, those typical of the class first."""
    graphs = real.graphs
    percentile = bank.percentile(graphs)
    first = distinct_rows(graphs, bank)
    rank = bank.penalty(graphs, 25.0) + UNCERTAIN * (~real.certain)
    order = first[rank[first].argsort(stable=True)]
    sure = int(real.certain[order].sum())
    order = order[: min(max(sure, FEWEST), MOST)]
    return Exemplars(graphs[order], percentile[order])


def distinct_rows(graphs: DenseGraphs, bank: Measuring | EitherBank) -> Tensor:
    """Places of graphs that differ from all before them, by their descriptions."""
    if not len(graphs):
        return torch.zeros(0, dtype=torch.long, device=graphs.weight.device)
    parts = parts_of(compact(graphs))
    rows = torch.cat([bank.graph_frame(describe(part).graphs) for part in parts])
    _, group = torch.unique((rows * GRAIN).round(), dim=0, return_inverse=True)
    places = torch.arange(len(graphs), device=group.device)
    first = torch.full_like(places, len(graphs)).scatter_reduce(0, group, places, "amin")
    return first[first < len(graphs)].sort()[0]
