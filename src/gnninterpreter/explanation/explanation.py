"""The explanation of one class: the learned distribution, its graphs, and how far to trust them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from torch_geometric.data import Data

from gnninterpreter.distribution import GraphDistribution, Streams
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import Evidence, Verdict, verdict_on
from gnninterpreter.graphs import DenseGraphs, to_networkx
from gnninterpreter.objective.target import Target
from gnninterpreter.spec import GraphSpec
from gnninterpreter.views import view

__all__ = ["Curve", "Explanation", "Mode", "Probability", "Restart"]

# Far from the purposes of a search, which are ten for each class.
SAMPLE_PURPOSE = 1 << 40


@dataclass(frozen=True)
class Probability:
    """Class probability over ``n`` discrete samples, as the native model gives it."""

    mean: float
    std: float
    n: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} ± {self.std:.3f} (n={self.n})"


@dataclass(frozen=True)
class Restart:
    """What one restart came to.

    Args:
        probability: Class probability of its most probable graph.
        mean_probability: Mean class probability over its samples.
        nodes: Nodes of its most probable graph.
        edges: Edges of it.
        similarity: Cosine similarity of its embedding to the class mean; None without statistics.
        feasible: Whether it is connected, within the size limit and has three nodes or more.
        undecided: What is still open in its distribution, in bits.
        reason: Why it ended.
        iterations: Gradient iterations it took.
    """

    probability: float
    mean_probability: float
    nodes: int
    edges: int
    similarity: float | None
    feasible: bool
    undecided: float
    reason: str
    iterations: int


@dataclass(frozen=True)
class Curve:
    """One quantity along the search: a value for each restart at each look."""

    name: str
    iterations: list[int]
    values: list[list[float]]


@dataclass(frozen=True)
class Mode:
    """A distinct explanation graph and the restarts that found it."""

    graph: Data
    probability: float
    restarts: tuple[int, ...]
    share: float


@dataclass
class Explanation:
    """What the model believes in for one class.

    Args:
        spec: What the features mean.
        target: What was asked of the model.
        distribution: The distributions of all restarts.
        choice: The restart that was chosen.
        probability: Class probability over discrete samples of the chosen one.
        mode_probability: Class probability of its most probable graph.
        class_probabilities: Probabilities of all classes for that graph.
        restarts: What each restart came to.
        similarity: Similarity of the most probable graph to the class; None without statistics.
        similarity_percentile: Share of the class's real graphs less similar than it, in percent.
        max_nodes: Limit on nodes.
        max_edges: Limit on edges.
        gradient: Which gradient was used, ``"relaxed"`` or ``"score-function"``.
        recipe: Name of the recipe.
        seed: Seed.
        seconds: Time the search took.
        history: Curves of the search.
        notes: What may help, in plain sentences.
        evidence: What was checked, and with what result.
    """

    spec: GraphSpec
    target: Target
    distribution: GraphDistribution
    choice: int
    probability: Probability
    mode_probability: float
    class_probabilities: list[float]
    restarts: list[Restart]
    similarity: float | None
    similarity_percentile: float | None
    max_nodes: int
    max_edges: float
    gradient: str
    recipe: str
    seed: int
    seconds: float
    history: list[Curve] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def name(self) -> str:
        """Name of the class, label or value."""
        return self.target.name

    @property
    def best(self) -> Data:
        """The most probable explanation graph, which the native model takes as it is."""
        return self._chosen().mode().to_data_list()[0]

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
    def undecided(self) -> float:
        """What is still open in the distribution, in bits; 0 means it is a single graph."""
        return self.restarts[self.choice].undecided

    def sample(self, n: int, seed: int = 0) -> list[Data]:
        """Draw fresh discrete graphs from the learned distribution.

        Args:
            n: How many.
            seed: The same seed gives the same graphs.

        Raises:
            SpecError: If ``n`` is below 1.
        """
        return self.sample_dense(n, seed).to_data_list()

    def sample_dense(self, n: int, seed: int = 0) -> DenseGraphs:
        """The same as one batch on the candidate nodes."""
        if n < 1:
            raise SpecError(f"n must be at least 1 (got {n})")
        device = self.distribution.edge_logits.device
        streams = Streams(seed, 1, purpose=SAMPLE_PURPOSE, device=device)
        return self._chosen().discrete(n, streams)

    def modes(self, least_probability: float = 0.5) -> list[Mode]:
        """The distinct explanation graphs that the restarts found, most frequent first.

        Two graphs are the same if they are isomorphic with their features.

        Args:
            least_probability: Graphs that the model gives less than this are left out.
        """
        graphs = self.distribution.mode().to_data_list()
        found: list[tuple[nx.Graph, str, list[int]]] = []
        for r, data in enumerate(graphs):
            if self.restarts[r].probability < least_probability or data.num_edges == 0:
                continue
            drawn = to_networkx(data, self.spec)
            key = _fingerprint(drawn)
            for other, other_key, members in found:
                if key == other_key and _isomorphic(drawn, other):
                    members.append(r)
                    break
            else:
                found.append((drawn, key, [r]))
        found.sort(key=lambda entry: (-len(entry[2]), self.restarts[entry[2][0]].edges))
        return [
            Mode(
                graphs[members[0]],
                self.restarts[members[0]].probability,
                tuple(members),
                len(members) / len(self.restarts),
            )
            for _, _, members in found
        ]

    def export(self, path: str | Path) -> Path:
        """Write `best` to a file in the format that its ending asks for.

        Args:
            path: Where to; ends in .graphml, .json, .svg, .png, .pdf or .smi.

        Raises:
            OutputError: If the ending is not known, the place cannot be written, or the graph is no
                molecule that SMILES could tell.
            MissingExtraError: If matplotlib (.png, .pdf) or RDKit (.smi) is not installed.
        """
        from gnninterpreter.explanation.export import export

        return export(self, Path(path))

    def draw(self, ax: Any = None) -> Any:
        """Draw `best` on matplotlib axes, new ones when omitted, and return them.

        Raises:
            MissingExtraError: If matplotlib is not installed.
        """
        return view("draw")(self, ax)

    def visualize_graph(self, path: str | Path | None = None) -> Any:
        """Draw `best` into a file, or on new matplotlib axes; the name is the one PyG has for it.

        Args:
            path: The file, in any format of `export`; axes are returned when omitted.

        Returns:
            The path, or the axes.
        """
        return self.draw() if path is None else self.export(path)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        card: str = view("card")(self)
        return card

    def summary(self) -> dict[str, Any]:
        """The numbers of this explanation as plain JSON values."""
        return {
            "class": self.name,
            "target": self.target.to_json(),
            "probability": vars(self.probability),
            "mode_probability": self.mode_probability,
            "class_probabilities": self.class_probabilities,
            "nodes": self.num_nodes,
            "edges": self.num_edges,
            "similarity": self.similarity,
            "similarity_percentile": self.similarity_percentile,
            "undecided_bits": self.undecided,
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
            f"Explanation({self.name!r}: probability {self.probability}, "
            f"{self.num_nodes} nodes, {self.num_edges} edges, {self.reason})"
        )

    def _chosen(self) -> GraphDistribution:
        return self.distribution.select(torch.tensor([self.choice]))


def _fingerprint(graph: nx.Graph) -> str:
    """Weisfeiler-Lehman hash with features of nodes and edges: equal for isomorphic graphs."""
    labelled = graph.copy()
    for _, attributes in labelled.nodes(data=True):
        attributes["label"] = _label(attributes)
    for _, _, attributes in labelled.edges(data=True):
        attributes["label"] = _label(attributes)
    with warnings.catch_warnings():
        # Said of every directed graph: that its hash was another one before networkx 3.5.
        warnings.filterwarnings("ignore", "The hashes produced for", UserWarning)
        hashed: str = nx.weisfeiler_lehman_graph_hash(
            labelled, node_attr="label", edge_attr="label", iterations=4
        )
    return hashed


def _label(attributes: dict[str, Any]) -> str:
    values = {k: round(v, 2) if isinstance(v, float) else v for k, v in attributes.items()}
    return repr(sorted(values.items()))


def _isomorphic(one: nx.Graph, other: nx.Graph) -> bool:
    def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
        return _label(a) == _label(b)

    return bool(nx.is_isomorphic(one, other, node_match=same, edge_match=same))
