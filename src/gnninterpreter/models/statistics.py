"""What a class looks like to the model: mean embedding, mean size, how alike its members are.

`ClassStatistics` stands in for the training data. It is small, holds no graphs and is saved beside
a checkpoint, so that a model can be explained where its data is not at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.arguments import whole_number
from gnninterpreter.batches import compact
from gnninterpreter.datasets._storage import below
from gnninterpreter.equality import ByValue
from gnninterpreter.errors import CheckpointError, SpecError
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.members import DECILES, members_of
from gnninterpreter.models.profile import (
    MOST_NODES,
    QUANTILES,
    Profile,
    percentile_of,
    picture_nodes,
)
from gnninterpreter.models.task import Task
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import GraphList, graph_list, node_count
from gnninterpreter.typicality import Environments, Kinds, Typicality, either, showing_nodes
from gnninterpreter.typicality.references import WHOLE

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

# What it shows where the model is certain of hardly any graph that is smaller.
STRETCHED = 48
# So many graphs that the model is certain of should be small enough to be compared with.
FEWEST_SURE = 8
TYPICALITY, SHARED = "typicality.", "bank.environments."


@dataclass(frozen=True, eq=False)
class ClassStatistics(ByValue):
    """Figures of real graphs, a row for each class of the model.

    The rows of a multilabel model are those of its labels, over the graphs that have them. A
    regression has ten rows for each output: the graphs whose predicted value lies in each tenth.

    Args:
        count: Number of graphs, [C].
        mean_embedding: Mean of the graph embeddings, [C, D] (the paper's psi-bar).
        mean_nodes: Mean number of nodes, [C].
        mean_edges: Mean number of edges, an undirected one counted once, [C].
        edges_per_node: Mean over graphs of edges divided by nodes, [C].
        edges_per_node_std: Standard deviation of the same, [C].
        similarity_quantiles: Quantiles 0, 0.01, ..., 1 of the cosine similarity between a graph's
            embedding and the mean of its class, [C, 101].
        score_quantiles: The same of the probability that the model gives a graph for its class,
            [C, 101], but for graphs with a kind that hardly any holds; NaN for a regression.
        accuracy: Share of the graphs that the model assigns to their class, [C].
        value_quantiles: Quantiles of the predicted values of a regression, [outputs, 101]; empty
            for other tasks.
        typicality: What is kept of the real graphs of each row; None where there are too few.
    """

    count: Tensor
    mean_embedding: Tensor
    mean_nodes: Tensor
    mean_edges: Tensor
    edges_per_node: Tensor
    edges_per_node_std: Tensor
    similarity_quantiles: Tensor
    score_quantiles: Tensor
    accuracy: Tensor
    value_quantiles: Tensor
    typicality: tuple[Typicality | None, ...] = ()

    @property
    def num_classes(self) -> int:
        """Number of rows."""
        return self.count.size(0)

    def profile(self, *rows: int) -> Profile | None:
        """What the graphs of one row, or of several together, look like; None if there are none."""
        chosen = torch.tensor(rows)
        count = self.count[chosen].double()
        total = float(count.sum())
        if total == 0:
            return None
        nodes = float((self.mean_nodes[chosen].double() * count).sum() / total)
        edges = float((self.mean_edges[chosen].double() * count).sum() / total)
        if len(rows) > 1:
            known = [self.typicality[row] for row in rows] if self.typicality else []
            found = [one for one in known if one is not None]
            # Of what lies between classes nothing is asked but to be like one of them.
            both = either(found) if found and len(found) == len(rows) else None
            return Profile(int(total), nodes, edges, typicality=both)
        row = rows[0]
        return Profile(
            int(total),
            nodes,
            edges,
            self.mean_embedding[row],
            self.similarity_quantiles[row],
            self.score_quantiles[row],
            self.typicality[row] if self.typicality else None,
        )

    def similarity_percentile(self, row: int, similarity: float) -> float | None:
        """Share of the graphs of a row less similar to its mean than this, in percent."""
        return percentile_of(self.similarity_quantiles[row], similarity)

    def kept(self) -> list[list[Data]]:
        """The real graphs, or pieces of them, that are kept of each row."""
        return [
            [] if known is None else compact(known.exemplars.graphs).to_data_list()
            for known in self.typicality
        ]

    @classmethod
    def from_dataset(
        cls,
        model: Any,
        dataset: Any,
        spec: Any = None,
        progress: Callable[[int], None] | None = None,
        max_nodes: int | None = None,
    ) -> ClassStatistics:
        """Compute the statistics of a model over a labelled data set.

        Of more than `sampling.MOST_KEPT` graphs a sample is kept, as large for each class as for
        any other, and asked about; numbers and sizes of graphs are over all.

        Args:
            model: The model, or a `GraphClassifier` around it.
            dataset: Graphs with a label ``y`` each; a regression needs none. Anything that yields
                them, which is read once.
            spec: The graphs the model takes; inferred from the graphs when omitted.
            progress: Called now and then with the number of graphs that were read, if they are
                many.
            max_nodes: Most nodes of the graphs that are kept to compare with, where pieces that fit
                a picture do not show a class: they are as large as they need to be.

        Raises:
            DataError: If the data set is empty, or has other labels than the model.
        """
        from gnninterpreter.models.classifier import GraphClassifier

        max_nodes = None if max_nodes is None else whole_number("max_nodes", max_nodes, 2)
        graphs = graph_list(dataset, progress)
        classifier = model
        if not isinstance(model, GraphClassifier):
            spec = GraphSpec.from_dataset(graphs) if spec is None else spec
            classifier = GraphClassifier(model, spec, examples=graphs)
        found = _measure(classifier, graphs, max_nodes)
        return _counted(found, graphs, classifier) if graphs.read > len(graphs) else found

    def tensors(self) -> dict[str, Tensor]:
        """Return the statistics as named tensors, for a safetensors file."""
        found = {name: getattr(self, name).cpu().contiguous() for name in _figures()}
        first: dict[str, Tensor] = {}
        for row, known in enumerate(self.typicality):
            for name, value in ({} if known is None else known.tensors()).items():
                # What was counted over all rows is large, and stored once.
                if name.startswith(SHARED) and torch.equal(first.setdefault(name, value), value):
                    found[f"{TYPICALITY}{name}"] = value
                else:
                    found[f"{TYPICALITY}{row}.{name}"] = value
        return found

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Tensor], spec: GraphSpec | None = None
    ) -> ClassStatistics:
        """Read what `tensors` wrote.

        Args:
            tensors: The tensors.
            spec: What the features of real graphs mean; without it none of them are read.

        Raises:
            CheckpointError: If a part is missing.
        """
        missing = set(_figures()) - set(tensors)
        if missing:
            raise CheckpointError(f"class statistics lack {', '.join(sorted(missing))}")
        rows = tensors["count"].size(0)
        known: list[Typicality | None] = []
        shared = {
            name: part
            for name, part in below(tensors, TYPICALITY).items()
            if name.startswith(SHARED)
        }
        for row in range(rows if spec is not None else 0):
            parts = below(tensors, f"{TYPICALITY}{row}.")
            assert spec is not None
            known.append(Typicality.from_tensors({**shared, **parts}, spec) if parts else None)
        kept = tuple(known) if any(known) else ()
        figures: dict[str, Any] = {name: tensors[name] for name in _figures()}
        return cls(**figures, typicality=kept)


def _figures() -> list[str]:
    return [field.name for field in fields(ClassStatistics) if field.name != "typicality"]


def check_fit(statistics: ClassStatistics, classifier: GraphClassifier) -> None:
    """Refuse statistics of another model."""
    if not isinstance(statistics, ClassStatistics):
        raise SpecError(
            f"class_statistics must be a ClassStatistics (got {type(statistics).__name__}); "
            "make them with ClassStatistics.from_dataset(model, dataset)"
        )
    rows = classifier.spec.num_classes
    if classifier.task is Task.REGRESSION:
        rows *= DECILES
    expected = (rows, classifier.score(classifier.drawn(1, 3)).embedding.size(1))
    found = tuple(statistics.mean_embedding.shape)
    if found != expected:
        raise SpecError(
            f"class_statistics is for {found[0]} classes and embeddings of {found[1]} numbers but "
            f"the model has {expected[0]} and {expected[1]}; "
            "make them with ClassStatistics.from_dataset(model, dataset)"
        )


def _measure(
    classifier: GraphClassifier, graphs: Sequence[Data], max_nodes: int | None = None
) -> ClassStatistics:
    scores = classifier.score_data(list(graphs))
    embedding = scores.embedding.double().cpu()
    members, given, hits = members_of(classifier, graphs, scores.logits.double().cpu())
    nodes = torch.tensor([float(graph.num_nodes) for graph in graphs], dtype=torch.double)
    ways = classifier.spec.ways
    edges = torch.tensor([graph.edge_index.size(1) / ways for graph in graphs]).double()
    per_node = edges / nodes.clamp_min(1)
    levels = torch.linspace(0, 1, QUANTILES, dtype=torch.double)
    rows: dict[str, list[Tensor]] = {}

    def put(name: str, value: Tensor) -> None:
        rows.setdefault(name, []).append(value)

    for mine, score, hit in zip(members, given, hits, strict=True):
        n = int(mine.sum())
        put("count", torch.tensor(float(n)))
        # A class without graphs has zeros everywhere; its count says so.
        used = mine if n else torch.zeros_like(mine).index_fill(0, torch.tensor([0]), True)
        keep = float(n > 0)
        mean = embedding[used].mean(0) * keep
        alike = torch.cosine_similarity(embedding[used], mean.unsqueeze(0))
        put("mean_embedding", mean)
        put("mean_nodes", nodes[used].mean() * keep)
        put("mean_edges", edges[used].mean() * keep)
        put("edges_per_node", per_node[used].mean() * keep)
        put("edges_per_node_std", per_node[used].std(unbiased=False) * keep)
        put("similarity_quantiles", torch.quantile(alike, levels) * keep)
        # What the model gives a handful of odd graphs is not what can be expected of the others.
        odd = Kinds.of([graphs[i] for i in used.nonzero().flatten().tolist()], classifier.spec).odd
        put("score_quantiles", torch.quantile(score[used][~odd], levels) * keep)
        put("accuracy", hit[used].double().mean() * keep)
    values = torch.zeros(0, QUANTILES)
    if classifier.task is Task.REGRESSION:
        values = torch.quantile(scores.logits.double().cpu(), levels, dim=0).t()
    stacked: dict[str, Any] = {n: torch.stack(parts).float() for n, parts in rows.items()}
    found = ClassStatistics(**stacked, value_quantiles=values.float())
    known = _typicality(classifier, graphs, members, given, found, max_nodes)
    return replace(found, typicality=known)


def _counted(
    found: ClassStatistics, graphs: GraphList, classifier: GraphClassifier
) -> ClassStatistics:
    """The same with numbers and sizes of all graphs that were read, where each has one class."""
    rows = range(found.num_classes)
    if not classifier.task.exclusive or set(graphs.totals) - {None, *rows}:
        return found
    total = torch.tensor(np.array([graphs.totals.get(row, np.zeros(5)) for row in rows]))
    count, nodes, edges, share, square = total.unbind(1)
    if not bool(count.any()):
        return found
    ways, each = classifier.spec.ways, count.clamp_min(1)
    share = share / each / ways
    spread = (square / each / ways**2 - share**2).clamp_min(0).sqrt()
    return replace(
        found,
        count=count.float(),
        mean_nodes=(nodes / each).float(),
        mean_edges=(edges / each / ways).float(),
        edges_per_node=share.float(),
        edges_per_node_std=spread.float(),
    )


def _typicality(
    classifier: GraphClassifier,
    graphs: Sequence[Data],
    members: Tensor,
    given: Tensor,
    found: ClassStatistics,
    max_nodes: int | None,
) -> tuple[Typicality | None, ...]:
    """What is kept of the real graphs of each row."""
    known: list[Typicality | None] = []
    classes = classifier.task is not Task.REGRESSION
    graphs = [graph.clone().cpu() for graph in graphs]
    # What lies around nodes in graphs of any class occurs in real graphs.
    around = Environments.of(graphs, classifier.spec)
    for row, mine in enumerate(members):
        profile = found.profile(row)
        if profile is None:
            known.append(None)
            continue
        real = [graphs[i] for i in mine.nonzero().flatten().tolist()]
        # Where the model is rarely sure there is no room for more than what counts as certain.
        bar = profile.certain if profile.rarely_sure else profile.enough
        sure = given[row][mine] >= profile.certain
        sizes = [node_count(graph) for graph, s in zip(real, sure, strict=True) if s]
        limit = _most_nodes(profile, sizes, [node_count(graph) for graph in real])

        def certain(some: DenseGraphs, row: int = row, bar: float = bar) -> Tensor:
            return _scores(classifier, some, row).cpu() >= bar

        if max_nodes is not None and sum(size <= limit for size in sizes) < FEWEST_SURE:
            limit = showing_nodes(real, classifier.spec, limit, max_nodes, certain)
        known.append(Typicality.of(real, classifier.spec, limit, certain, around, classes))
    return tuple(known) if any(known) else ()


def _most_nodes(profile: Profile, sure: Sequence[int], every: Sequence[int]) -> int:
    """Most nodes to compare with: more than the mean where few certain graphs are smaller."""
    usual, small = picture_nodes(profile.mean_nodes), sorted(sure)[:FEWEST_SURE]
    # Graphs that are compared as wholes are where a search begins: some must be certain.
    whole = sum(size <= MOST_NODES for size in every) >= WHOLE * len(every)
    return max(usual, min(small[-1], STRETCHED if whole else MOST_NODES)) if small else usual


def _scores(classifier: GraphClassifier, graphs: DenseGraphs, row: int) -> Tensor:
    """What the model gives graphs for a row, between 0 and 1, [B]."""
    moved = graphs.to(classifier.dtype).to(classifier.device)
    scores = classifier.score(moved)
    if classifier.task is Task.REGRESSION:
        # A value has no probability: graphs of its tenth are as good as any.
        return torch.ones(len(graphs))
    return scores.probabilities[:, row].nan_to_num(nan=0.0)
