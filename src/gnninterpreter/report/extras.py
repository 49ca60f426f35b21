"""What only the live model can say: the numbers of a report that a stored run does not hold.

A run holds the learned distribution, not the model. `live_classifier` brings the two together again
and checks that they belong together; `compute_extras` asks the model about thresholds, samples and,
where there is data, the nearest real graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data

from gnninterpreter.errors import ModelError
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.report.gallery import DRAWS, SHOWN, Stop, distinct_samples, stops, thresholded
from gnninterpreter.spec import graph_list

NEIGHBOURS = 3
TOLERANCE = 0.02


@dataclass(frozen=True)
class Neighbour:
    """A real graph near the explanation.

    Args:
        graph: The graph, its features named or to be named.
        label: What its label says.
        similarity: Cosine similarity of its embedding to that of the explanation.
        said: What the model says of it.
    """

    graph: nx.Graph | Data
    label: str
    similarity: float
    said: str


@dataclass(frozen=True)
class ClassExtras:
    """Additions to the report of one class; whatever is left out is not shown.

    Args:
        stops: Thresholds on the edge probability, with what the model says at each.
        sample_outputs: The model's outputs for each graph of the gallery, in its order.
        neighbours: The nearest real graphs, nearest first.
    """

    stops: tuple[Stop, ...] = ()
    sample_outputs: tuple[tuple[float, ...], ...] = ()
    neighbours: tuple[Neighbour, ...] = ()


def live_classifier(
    result: ExplanationSet,
    model: nn.Module | Bundle | GraphClassifier,
    dataset: Any = None,
    *,
    forward: Callable[..., Any] | None = None,
) -> GraphClassifier:
    """Connect the model that a run explains.

    Args:
        result: The run.
        model: The model.
        dataset: Graphs to try it on; random ones when omitted.
        forward: How to call it, where its signature does not say.

    Raises:
        ModelError: If the model gives an explanation graph of the run other probabilities than the
            run holds: another model, or other weights.
    """
    if isinstance(model, Bundle):
        model = model.model
    if isinstance(model, GraphClassifier):
        classifier = model
    else:
        examples = None if dataset is None else graph_list(dataset)
        classifier = GraphClassifier(model, result.spec, forward=forward, examples=examples)
    for explanation in result.values():
        if explanation.num_edges == 0:
            continue
        target = explanation.target
        given = classifier.score_data([explanation.best]).outputs[0].double().cpu()
        stored = torch.tensor(explanation.class_probabilities, dtype=torch.double)
        if not float((given - stored).abs().max()) <= TOLERANCE * target.span:
            raise ModelError(
                "this is not the model that the run explains: it says "
                f"{target.said(given.tolist())} of the graph of {explanation.name!r}, and the run "
                f"{explanation.said}; name the right model, or explain this one"
            )
    return classifier


def compute_extras(
    result: ExplanationSet,
    model: nn.Module | Bundle | GraphClassifier,
    dataset: Any = None,
    *,
    neighbours: int = NEIGHBOURS,
) -> dict[str, ClassExtras]:
    """Ask the model what the report wants to know besides the run.

    Args:
        result: The run.
        model: The model that it explains.
        dataset: Labelled graphs, for the nearest ones; none are shown when omitted.
        neighbours: How many real graphs to show for each class.

    Returns:
        The extras of each class, by name.
    """
    if isinstance(model, Bundle):
        model = model.model
    classifier = (
        model if isinstance(model, GraphClassifier) else GraphClassifier(model, result.spec)
    )
    graphs = [] if dataset is None else graph_list(dataset)
    scores = classifier.score_data(graphs) if graphs else None
    extras = {}
    for name, explanation in result.items():
        extra = _of_model(explanation, classifier)
        if explanation.num_edges and scores is not None:
            near = _nearest(explanation, classifier, graphs, scores, neighbours)
            extra = replace(extra, neighbours=near)
        extras[name] = extra
    return extras


def _of_model(explanation: Explanation, classifier: GraphClassifier) -> ClassExtras:
    target = explanation.target
    asked = [
        replace(stop, said=target.written(_outputs(classifier, graph)[0]))
        for stop in stops(explanation)
        for graph in (thresholded(explanation, stop.threshold),)
    ]
    shown = [group.index for group in distinct_samples(explanation)[:SHOWN]]
    sampled: list[tuple[float, ...]] = []
    if shown:
        drawn = explanation.sample_dense(DRAWS)[torch.tensor(shown)]
        sampled = _outputs(classifier, drawn)
    return ClassExtras(tuple(asked), tuple(sampled))


def _outputs(classifier: GraphClassifier, graphs: DenseGraphs) -> list[tuple[float, ...]]:
    rows = classifier.score(graphs).outputs.nan_to_num(nan=0.0).tolist()
    return [tuple(row) for row in rows]


def _nearest(
    explanation: Explanation,
    classifier: GraphClassifier,
    graphs: list[Data],
    scores: Scores,
    count: int,
) -> tuple[Neighbour, ...]:
    own = classifier.score_data([explanation.best]).embedding
    alike = torch.cosine_similarity(scores.embedding, own).nan_to_num(nan=-1.0)
    target, names = explanation.target, explanation.spec.class_names
    found = []
    for index in alike.topk(min(count, len(graphs))).indices.tolist():
        graph = graphs[index]
        label = target.truth(graph.get("y"), names) or "unlabelled"
        found.append(
            Neighbour(
                graph,
                label,
                float(alike[index]),
                target.said(scores.outputs[index].tolist()),
            )
        )
    return tuple(found)
