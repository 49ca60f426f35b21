"""Where an explanation's graphs come from: latents that were learned, or graphs that were drawn.

Everything to the right asks a sampler for graphs and does not care which kind it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from gnninterpreter.datasets._storage import below
from gnninterpreter.distribution import GraphDistribution, Narrowing, Streams
from gnninterpreter.equality import ByValue
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.schema import listed, number, record, whole
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.encoding import dense_width

# Far from the purposes of a search, which are ten for each class. The figure that is reported has a
# sample of its own: whoever draws to check it, with whatever seed, draws other graphs.
REPORTING, SAMPLING = 1 << 40, (1 << 40) + 1
MOST_CANDIDATES = 10_000
POPULATION = "population "

Draw = Callable[[int, int], DenseGraphs]


class Sampler(Protocol):
    """Draws graphs, and has one most probable graph for each restart."""

    kind: ClassVar[str]

    def sample(self, n: int, seed: int, purpose: int = SAMPLING) -> DenseGraphs:
        """Draw ``n`` discrete graphs; seed and purpose decide which."""

    def modes(self) -> DenseGraphs:
        """The most probable graph of each restart."""

    def to(self, device: torch.device | str) -> Sampler:
        """The same on another device, which is where its graphs will be."""

    def to_json(self) -> dict[str, Any]:
        """What `read_sampler` needs to know, beside the tensors, as plain JSON values."""

    def tensors(self) -> dict[str, Tensor]:
        """What it holds, by name, on the CPU."""


@dataclass(frozen=True, eq=False)
class LatentSampler(ByValue):
    """Draws from the learned distributions of all restarts, from each as often as its weight says.

    A restart that has no weight is never drawn from.
    """

    distribution: GraphDistribution
    weights: tuple[float, ...]

    kind: ClassVar[str] = "latents"

    def __post_init__(self) -> None:
        weights = self.weights
        if len(weights) != self.distribution.restarts:
            raise SpecError(
                f"weights must be one for each of {self.distribution.restarts} restarts "
                f"(got {len(weights)})"
            )
        if not all(math.isfinite(w) and w >= 0 for w in weights) or not any(weights):
            raise SpecError(f"weights must be at least 0, and one above it (got {weights})")

    @classmethod
    def of(cls, distribution: GraphDistribution, choice: int) -> LatentSampler:
        """Draw from one restart only."""
        return cls(distribution, tuple(float(r == choice) for r in range(distribution.restarts)))

    def sample(self, n: int, seed: int, purpose: int = SAMPLING) -> DenseGraphs:
        """Draw ``n`` discrete graphs of the mixture."""
        device = self.distribution.edge_logits.device
        drawn_from = [r for r, weight in enumerate(self.weights) if weight > 0]
        streams = Streams(seed, len(drawn_from), purpose, device)
        shares = torch.tensor([self.weights[r] for r in drawn_from], dtype=torch.double).cumsum(0)
        place = Streams(seed, 1, purpose).fork(0).uniform(n, dtype=torch.double)[0] * shares[-1]
        which = torch.searchsorted(shares, place)
        # Candidates that never get an edge need not be drawn.
        some = self.distribution.select(drawn_from)
        some = Narrowing.of(some).narrowed(some)
        parts = [
            some.select([k]).discrete(count, streams.select(torch.tensor([k])))
            for k in range(len(drawn_from))
            if (count := int((which == k).sum()))
        ]
        # Parts lie one after the other; each draw goes back to the place that was drawn for it.
        return DenseGraphs.cat(parts)[which.argsort(stable=True).argsort().to(device)]

    def modes(self) -> DenseGraphs:
        """The most probable graph of each restart."""
        return self.distribution.mode()

    def to(self, device: torch.device | str) -> LatentSampler:
        """The same on another device."""
        return replace(self, distribution=self.distribution.to(device))

    def to_json(self) -> dict[str, Any]:
        """Candidate nodes and weights."""
        candidates = self.distribution.num_candidates
        return {"kind": self.kind, "candidates": candidates, "weights": list(self.weights)}

    def tensors(self) -> dict[str, Tensor]:
        """The latents, edges first."""
        latents = self.distribution.latents()
        return {str(i): latent.cpu().contiguous() for i, latent in enumerate(latents)}

    @classmethod
    def read(cls, values: Any, tensors: Mapping[str, Tensor], spec: GraphSpec) -> LatentSampler:
        """Read what `to_json` and `tensors` wrote; ValueError where they do not fit together."""
        fields = record(dict, candidates=whole(2, MOST_CANDIDATES), weights=listed(number(0)))
        known = fields(values, "sampler")
        n, weights = known["candidates"], tuple(known["weights"])
        pairs = GraphDistribution.num_pairs(spec, n)
        nodes, edges = map(GraphDistribution.latent_widths, (spec.nodes, spec.edges))
        shapes = [(pairs,), *((n, width) for width in nodes), *((pairs, width) for width in edges)]
        latents = [
            _tensor(tensors, str(i), (len(weights), *shape)) for i, shape in enumerate(shapes)
        ]
        cut = 1 + len(nodes)
        found = GraphDistribution(spec, n, latents[0], tuple(latents[1:cut]), tuple(latents[cut:]))
        return cls(found, weights)


@dataclass(frozen=True, eq=False)
class PopulationSampler(LatentSampler):
    """Draws from a population of different graphs, each as likely as any other.

    None is drawn twice before all have been. The distributions are those of the restarts, and their
    modes are what the restarts found.
    """

    population: DenseGraphs

    kind: ClassVar[str] = "population"

    def sample(self, n: int, seed: int, purpose: int = SAMPLING) -> DenseGraphs:
        """Draw ``n`` graphs of the population, in an order that seed and purpose decide."""
        size = len(self.population)
        rounds = -(-n // size)
        order = Streams(seed, rounds, purpose).uniform(size, dtype=torch.double).argsort(1)
        return self.population[order.flatten()[:n].to(self.population.weight.device)]

    def to(self, device: torch.device | str) -> PopulationSampler:
        """The same on another device."""
        moved = super().to(device)
        return PopulationSampler(moved.distribution, self.weights, self.population.to(device))

    def to_json(self) -> dict[str, Any]:
        """What the distributions have, and the number of graphs."""
        drawn = DrawnSampler(self.population, (0,))
        return {**super().to_json(), "population": drawn.to_json()}

    def tensors(self) -> dict[str, Tensor]:
        """The latents, and the graphs."""
        graphs = DrawnSampler(self.population, (0,)).tensors()
        return {**super().tensors(), **{POPULATION + name: part for name, part in graphs.items()}}

    @classmethod
    def read(cls, values: Any, tensors: Mapping[str, Tensor], spec: GraphSpec) -> PopulationSampler:
        """Read what `to_json` and `tensors` wrote; ValueError where they do not fit together."""
        latents = LatentSampler.read(values, tensors, spec)
        drawn = DrawnSampler.read(values.get("population"), below(tensors, POPULATION), spec)
        return cls(latents.distribution, latents.weights, drawn.drawn)


@dataclass(frozen=True, eq=False)
class DrawnSampler(ByValue):
    """Graphs that a method without latents drew, and how to draw more while it is at hand.

    Args:
        drawn: Graphs that were drawn.
        best: Places of the best ones among them, which stand for the restarts.
        draw: Called with a number and a seed; returns that many fresh graphs. Without it, as after
            loading a run, samples are taken from ``drawn``.
    """

    drawn: DenseGraphs
    best: tuple[int, ...]
    draw: Draw | None = field(default=None, compare=False, repr=False)

    kind: ClassVar[str] = "graphs"

    def sample(self, n: int, seed: int, purpose: int = SAMPLING) -> DenseGraphs:
        """Draw ``n`` graphs."""
        device = self.drawn.weight.device
        stream = Streams(seed, 1, purpose)
        if self.draw is None:
            return self.drawn[(stream.uniform(n)[0] * len(self.drawn)).long().to(device)]
        own = seed if purpose == REPORTING else int(stream.keys[0]) % 2**63
        return self.draw(n, own).to(device)

    def modes(self) -> DenseGraphs:
        """The best of the graphs that were drawn."""
        return self.drawn[torch.tensor(self.best, device=self.drawn.weight.device)]

    def to(self, device: torch.device | str) -> DrawnSampler:
        """The same on another device."""
        return replace(self, drawn=self.drawn.to(device))

    def to_json(self) -> dict[str, Any]:
        """Candidate nodes, number of graphs, and which are the best."""
        n, count = self.drawn.num_candidates, len(self.drawn)
        return {"kind": self.kind, "candidates": n, "count": count, "best": list(self.best)}

    def tensors(self) -> dict[str, Tensor]:
        """Places of the edges and the features, without the empty space between them."""
        places = self.drawn.weight.gt(0.5).nonzero(as_tuple=True)
        found = {"edges": torch.stack(places, dim=1).int(), "nodes": self.drawn.nodes}
        if self.drawn.edges is not None:
            found["edge features"] = self.drawn.edges[places]
        return {name: part.cpu().contiguous() for name, part in found.items()}

    @classmethod
    def read(cls, values: Any, tensors: Mapping[str, Tensor], spec: GraphSpec) -> DrawnSampler:
        """Read what `to_json` and `tensors` wrote; ValueError where they do not fit together."""
        fields = record(
            dict, candidates=whole(2, MOST_CANDIDATES), count=whole(1), best=listed(whole())
        )
        known = fields(values, "sampler")
        n, count, best = known["candidates"], known["count"], tuple(known["best"])
        places = _tensor(tensors, "edges", (None, 3), torch.int32).long()
        nodes = _tensor(tensors, "nodes", (count, n, dense_width(spec.nodes)))
        limits = torch.tensor([count, n, n])
        if not best or max(best) >= count or bool(((places < 0) | (places >= limits)).any()):
            raise ValueError("stored graphs have other places than the index says")
        where = tuple(places.t())
        weight = nodes.new_zeros(count, n, n).index_put(where, nodes.new_ones(()))
        edges = None
        if spec.edges:
            rows = _tensor(tensors, "edge features", (len(places), dense_width(spec.edges)))
            edges = rows.new_zeros(count, n, n, rows.size(1)).index_put(where, rows)
        return cls(DenseGraphs(spec, weight, nodes, edges), best)


def read_sampler(values: Any, tensors: Mapping[str, Tensor], spec: GraphSpec) -> Sampler:
    """Read a stored sampler."""
    kind = values.get("kind") if isinstance(values, dict) else None
    for sampler in (DrawnSampler, PopulationSampler, LatentSampler):
        if kind == sampler.kind:
            return sampler.read(values, tensors, spec)
    raise ValueError(f"there is no sampler of kind {kind!r:.60}")


def _tensor(
    tensors: Mapping[str, Tensor],
    name: str,
    shape: tuple[int | None, ...],
    dtype: torch.dtype | None = None,
) -> Tensor:
    """A stored tensor, after checking its shape and type."""
    found = tensors.get(name)
    if found is None:
        raise ValueError(f"the tensor {name!r} is missing")
    fits = len(shape) == found.dim() and all(
        wanted in (None, size) for wanted, size in zip(shape, found.shape, strict=True)
    )
    typed = found.is_floating_point() if dtype is None else found.dtype == dtype
    if not fits or not typed:
        raise ValueError(f"the tensor {name!r} has an unexpected shape or type")
    return found
