"""The explanation of one target: where its graphs come from, and how far to trust them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import networkx as nx
import torch
from torch_geometric.data import Data

from gnninterpreter.arguments import device_of, path_of, real_number, whole_number
from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.equality import ByValue
from gnninterpreter.evidence import Evidence, Verdict, verdict_on
from gnninterpreter.evidence.patterns import Core, Exemplar
from gnninterpreter.explanation.modes import Mode, Restart, Variation, distinct_modes, variations
from gnninterpreter.explanation.sampler import LatentSampler, Sampler
from gnninterpreter.graphs import DenseGraphs, to_networkx
from gnninterpreter.objective.target import Target
from gnninterpreter.schema import (
    Amount,
    Cosine,
    Count,
    Known,
    OneOrMore,
    Percent,
    Share,
    number,
    optional,
)
from gnninterpreter.spec import GraphSpec
from gnninterpreter.views import view

MOST_SAMPLES = 1_000_000


@dataclass(frozen=True)
class Probability:
    """Class probability over ``n`` discrete samples, as the native model gives it."""

    mean: Share
    std: Share
    n: OneOrMore

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f} (n={self.n})"


@dataclass(frozen=True)
class Curve:
    """One quantity along the search: a value for each restart at each look."""

    name: str
    iterations: list[Count]
    values: list[list[Known]]


@dataclass(eq=False, repr=False)
class Explanation(ByValue):
    """What the model believes in for one target, and how far that is to be trusted.

    Args:
        sampler: Where its graphs come from.
        choice: The restart that was chosen.
        probability: The score of the target over discrete samples, which `sample` does not draw
            again: the probability of a class or label, or how near a value or boundary is.
        mode_probability: The same of its most probable graph.
        class_probabilities: All outputs for that graph: probabilities, or values.
        similarity: Similarity of the most probable graph to the class; None without statistics.
        similarity_percentile: Share of the class's real graphs less similar than it, in percent.
        gradient: Which gradient was used, ``"relaxed"`` or ``"score-function"``.
        seconds: Time the search took.
        notes: What may help, in plain sentences.
        cores: Small pieces of real graphs that make the model certain by themselves; the first
            tells most about which graphs are of the class.
        shortcuts: Graphs that the model is certain of and that are like nothing real.
        real_graphs: Real graphs that show the target best, for `exemplars`.
        sampled_outputs: Mean and standard deviation of each output over the same samples.
    """

    spec: GraphSpec
    target: Target
    sampler: Sampler
    choice: Count
    probability: Probability
    mode_probability: Share
    class_probabilities: list[float]
    restarts: list[Restart]
    similarity: Cosine | None
    similarity_percentile: Percent | None
    max_nodes: OneOrMore
    max_edges: Annotated[float, optional(number(0.0), math.inf)]
    gradient: str
    recipe: str
    seed: int
    seconds: Amount
    history: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    cores: list[Core] = field(default_factory=list)
    shortcuts: list[Core] = field(default_factory=list)
    real_graphs: list[Exemplar] = field(default_factory=list)
    sampled_outputs: list[tuple[float, float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the class, label or value."""
        return self.target.name

    @property
    def said(self) -> str:
        """What the model says of `best`: its probability, its value, or both probabilities."""
        return self.target.said(self.class_probabilities)

    @property
    def given(self) -> str:
        """What the model says of samples, on average, and how far that varies."""
        if self.target.probable:
            return f"{self.probability.mean:.3f} ± {self.probability.std:.3f}"
        if not self.sampled_outputs:
            return self.target.written(self.class_probabilities)
        means, spreads = zip(*self.sampled_outputs, strict=True)
        return self.target.written(means, spreads)

    @property
    def measured(self) -> str:
        """The same by its name, with the number of samples."""
        if self.target.probable:
            return f"probability {self.probability}"
        return f"{self.given} (n={self.probability.n})"

    @property
    def distribution(self) -> GraphDistribution | None:
        """The learned distributions of all restarts; None where a method has none."""
        return self.sampler.distribution if isinstance(self.sampler, LatentSampler) else None

    @property
    def best(self) -> Data:
        """The most probable explanation graph, which the native model takes as it is."""
        return self.best_dense.to_data_list()[0]

    @property
    def best_dense(self) -> DenseGraphs:
        """The same on its candidate nodes, as a batch of one."""
        return self.sampler.modes()[self.choice]

    @property
    def core(self) -> Core | None:
        """What the model needs to see: the first of the cores; None where there is none."""
        return self.cores[0] if self.cores else None

    @property
    def typicality(self) -> float | None:
        """Share of real graphs that are at least as strange as `best`, in percent, if known."""
        return self.restarts[self.choice].percentile

    @property
    def graph(self) -> nx.Graph:
        """The same as a networkx graph, with the names of its features as attributes."""
        return to_networkx(self.best, self.spec)

    @property
    def num_nodes(self) -> int:
        """Number of nodes of `best`."""
        return self.restarts[self.choice].nodes

    @property
    def num_edges(self) -> int:
        """Number of edges of `best`."""
        return self.restarts[self.choice].edges

    @property
    def reason(self) -> str:
        """Why the chosen restart ended: converged, plateau, budget not met, non-finite, stopped."""
        return self.restarts[self.choice].reason

    @property
    def converged(self) -> bool:
        """Whether the search got what it was after."""
        return self.reason == "converged"

    @property
    def verdict(self) -> Verdict:
        """How far it is to be trusted: one word, and the reasons."""
        return verdict_on(self.evidence)

    @property
    def entropy(self) -> float:
        """Entropy of the distribution in bits; 0 means that it is a single graph."""
        return self.restarts[self.choice].entropy

    def sample(self, n: int, seed: int = 0) -> list[Data]:
        """Draw ``n`` discrete graphs afresh, on the device that the explanation is on.

        The same seed gives the same graphs. Those behind `probability` are never among them by
        design: they have a stream of their own.

        Raises:
            SpecError: If ``n`` is below 1.
        """
        return self.sample_dense(n, seed).to_data_list()

    def sample_dense(self, n: int, seed: int = 0) -> DenseGraphs:
        """The same as one batch on the candidate nodes."""
        count = whole_number("n", n, 1, MOST_SAMPLES)
        return self.sampler.sample(count, whole_number("seed", seed, -(2**63)))

    def variations(self, least: float = 0.01) -> list[Variation]:
        """What may be otherwise than in `best`, most probable first; empty without latents.

        Where real graphs are known the distribution was learned to be as open as certainty and
        typicality allow: what is not listed may not change by itself. Changes less probable than
        ``least`` are left out.
        """
        least = real_number("least", least)
        if self.distribution is None:
            return []
        return variations(self.distribution.select([self.choice]), least)

    def exemplars(self, k: int = 4) -> list[Data]:
        """At most ``k`` (and eight) real graphs that show the target, those with the core first.

        Each has a ``core_mask``: which of its nodes the core lies on. There are none where no real
        graphs were at hand.

        Raises:
            SpecError: If ``k`` is below 1.
        """
        most = whole_number("k", k, 1)
        return [exemplar.data for exemplar in self.real_graphs[:most]]

    def to(self, device: torch.device | str) -> Explanation:
        """Return the explanation with its graphs on another device."""
        there = device_of(device)
        return replace(
            self,
            sampler=self.sampler.to(there),
            cores=[core.to(there) for core in self.cores],
            shortcuts=[core.to(there) for core in self.shortcuts],
            real_graphs=[exemplar.to(there) for exemplar in self.real_graphs],
        )

    def modes(self, least_probability: float = 0.5) -> list[Mode]:
        """The distinct explanation graphs that the restarts found, most frequent first.

        Two graphs are the same if renumbering the nodes of one makes it the other, features kept.
        Graphs that the model gives less than ``least_probability`` are left out.
        """
        least = real_number("least_probability", least_probability)
        cores = [core.graph for core in self.cores]
        return distinct_modes(self.sampler.modes(), self.restarts, cores, self.spec, least)

    def export(self, path: str | Path) -> Path:
        """Write `best` to a file that ends in .graphml, .json, .svg, .png, .pdf or .smi.

        Raises:
            OutputError: If the ending is not known, the place cannot be written, or the graph is no
                molecule that SMILES could tell.
            MissingExtraError: If matplotlib (.png, .pdf) or RDKit (.smi) is not installed.
        """
        from gnninterpreter.explanation.export import export

        return export(self, path_of("path", path))

    def draw(self, ax: Any = None) -> Any:
        """Draw `best` on matplotlib axes, new ones when omitted, and return them.

        Raises:
            MissingExtraError: If matplotlib is not installed.
        """
        return view("draw")(self, ax)

    def visualize_graph(self, path: str | Path | None = None) -> Any:
        """Draw `best` into a file, or on new matplotlib axes; the name is the one PyG has for it.

        Returns the path, in any format of `export`, or the axes.
        """
        return self.draw() if path is None else self.export(path)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(view("card")(self))

    def figures(self) -> dict[str, Any]:
        """The first figures as a row of a table; None for what is not known."""
        core = self.core
        return {
            "verdict": self.verdict.word,
            "probability": self.probability.mean,
            "probability_std": self.probability.std,
            "typicality": self.typicality,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "core_nodes": core and core.num_nodes,
            "coverage": core and core.coverage,
            "lift": core and core.lift,
            "shortcuts": len(self.shortcuts),
            "reason": self.reason,
            "seconds": self.seconds,
        }

    def summary(self) -> dict[str, Any]:
        """The numbers of this explanation as plain JSON values."""
        return {
            "class": self.name,
            "target": self.target.to_json(),
            "probability": vars(self.probability),
            "mode_probability": self.mode_probability,
            "class_probabilities": self.class_probabilities,
            "said": self.said,
            "given": self.given,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "similarity": self.similarity,
            "similarity_percentile": self.similarity_percentile,
            "typicality": self.typicality,
            "entropy_bits": self.entropy,
            "reason": self.reason,
            "verdict": self.verdict.to_json(),
            "evidence": self.evidence.to_json(),
            "notes": self.notes,
            "restarts": [vars(restart) for restart in self.restarts],
            "choice": self.choice,
            "max_nodes": self.max_nodes,
            "max_edges": self.max_edges,
            "gradient": self.gradient,
            "recipe": self.recipe,
            "seed": self.seed,
            "seconds": self.seconds,
        }

    def __repr__(self) -> str:
        return (
            f"Explanation({self.name!r}: {self.measured}, "
            f"{self.num_nodes} nodes, {self.num_edges} edges, {self.reason})"
        )
