"""What a class looks like to the model: mean embedding, mean size, how alike its members are.

`ClassStatistics` stands in for the training data. It is small, holds no graphs and is saved beside
a checkpoint, so that a model can be explained where its data is not at hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.equality import ByValue
from gnninterpreter.errors import CheckpointError, DataError

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

__all__ = ["ClassStatistics"]

QUANTILES = 101


@dataclass(frozen=True, eq=False)
class ClassStatistics(ByValue):
    """For each of C classes, over the graphs the data labels so.

    Args:
        count: Number of graphs, [C].
        mean_embedding: Mean of the graph embeddings, [C, D] (the paper's psi-bar).
        mean_nodes: Mean number of nodes, [C].
        mean_edges: Mean number of edges, an undirected one counted once, [C].
        edges_per_node: Mean over graphs of edges divided by nodes, [C].
        edges_per_node_std: Standard deviation of the same, [C].
        similarity_quantiles: Quantiles 0, 0.01, ..., 1 of the cosine similarity between a graph's
            embedding and the mean of its class, [C, 101].
        accuracy: Share of the class's graphs that the model assigns to it, [C].
    """

    count: Tensor
    mean_embedding: Tensor
    mean_nodes: Tensor
    mean_edges: Tensor
    edges_per_node: Tensor
    edges_per_node_std: Tensor
    similarity_quantiles: Tensor
    accuracy: Tensor

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return self.count.size(0)

    def similarity_percentile(self, target: int, similarity: float) -> float:
        """Share of the class's own graphs less similar to its mean than this, in percent."""
        below = self.similarity_quantiles[target] < similarity
        return 100.0 * float(below.sum()) / QUANTILES

    @classmethod
    def from_dataset(cls, model: Any, dataset: Any, spec: Any = None) -> ClassStatistics:
        """Compute the statistics of a model over a labelled data set.

        Args:
            model: The model, or a `GraphClassifier` around it.
            dataset: Graphs with a label ``y`` each.
            spec: The graphs the model takes; inferred from the data set when omitted.

        Raises:
            DataError: If the data set is empty, or has no labels or other ones than the model.
        """
        from gnninterpreter.models.classifier import GraphClassifier
        from gnninterpreter.spec import GraphSpec

        graphs = list(dataset)
        if not graphs:
            raise DataError("dataset is empty; give at least one labelled graph for each class")
        classifier = model
        if not isinstance(model, GraphClassifier):
            spec = GraphSpec.from_dataset(dataset) if spec is None else spec
            classifier = GraphClassifier(model, spec, examples=graphs)
        return _measure(classifier, graphs)

    def tensors(self) -> dict[str, Tensor]:
        """Return the statistics as named tensors, for a safetensors file."""
        return {field.name: getattr(self, field.name).cpu().contiguous() for field in fields(self)}

    @classmethod
    def from_tensors(cls, tensors: dict[str, Tensor]) -> ClassStatistics:
        """Read what `tensors` wrote.

        Raises:
            CheckpointError: If a part is missing.
        """
        missing = {field.name for field in fields(cls)} - set(tensors)
        if missing:
            raise CheckpointError(f"class statistics lack {', '.join(sorted(missing))}")
        return cls(**{field.name: tensors[field.name] for field in fields(cls)})


def _measure(classifier: GraphClassifier, graphs: Sequence[Data]) -> ClassStatistics:
    labels = torch.tensor([_label(graph, classifier.spec.num_classes) for graph in graphs])
    scores = classifier.score_data(list(graphs))
    embedding, logits = scores.embedding.double().cpu(), scores.logits.cpu()
    nodes = torch.tensor([float(graph.num_nodes) for graph in graphs], dtype=torch.double)
    directed = classifier.spec.directed
    edges = torch.tensor(
        [graph.edge_index.size(1) / (1 if directed else 2) for graph in graphs], dtype=torch.double
    )
    degree = edges / nodes.clamp_min(1)
    levels = torch.linspace(0, 1, QUANTILES, dtype=torch.double)
    rows: dict[str, list[Tensor]] = {field.name: [] for field in fields(ClassStatistics)}
    for c in range(classifier.spec.num_classes):
        mine = labels == c
        n = int(mine.sum())
        mean = embedding[mine].mean(0) if n else torch.zeros(embedding.size(1), dtype=torch.double)
        alike = torch.cosine_similarity(embedding[mine], mean.unsqueeze(0))
        rows["count"].append(torch.tensor(float(n)))
        rows["mean_embedding"].append(mean)
        rows["mean_nodes"].append(nodes[mine].mean() if n else torch.tensor(0.0))
        rows["mean_edges"].append(edges[mine].mean() if n else torch.tensor(0.0))
        rows["edges_per_node"].append(degree[mine].mean() if n else torch.tensor(0.0))
        rows["edges_per_node_std"].append(
            degree[mine].std(unbiased=False) if n else torch.tensor(0.0)
        )
        rows["similarity_quantiles"].append(
            torch.quantile(alike, levels) if n else torch.zeros(QUANTILES, dtype=torch.double)
        )
        hits = (logits[mine].argmax(1) == c).double()
        rows["accuracy"].append(hits.mean() if n else torch.tensor(0.0))
    return ClassStatistics(**{name: torch.stack(values).float() for name, values in rows.items()})


def _label(graph: Data, num_classes: int) -> int:
    y = graph.get("y")
    if y is None or (torch.is_tensor(y) and y.numel() != 1):
        got = "none" if y is None else f"a tensor of shape {list(y.shape)}"
        raise DataError(
            f"every graph of the dataset needs one class label in 'y' (got {got}); "
            "give class_statistics= instead if there are no labels"
        )
    label = float(y)
    if label not in range(num_classes):
        raise DataError(
            f"labels in 'y' must be whole numbers from 0 to {num_classes - 1}, one for each class "
            f"of the model (got {label:g}); renumber them"
        )
    return int(label)
