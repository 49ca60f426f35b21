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
from gnninterpreter.isomorphism import most_alike
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.report.gallery import DRAWS, SHOWN, Stop, distinct_samples, stops, thresholded
from gnninterpreter.spec import graph_list

NEIGHBOURS = 3
TOLERANCE = 0.02


@dataclass(frozen=True)
class Neighbour:
    """A real graph near the explanation.

    It comes with what its label says, the cosine similarity of its embedding to that of the
    explanation, and what the model says of it.
    """

    graph: nx.Graph | Data
    label: str
    similarity: float
    said: str


@dataclass(frozen=True)
class ClassExtras:
    """Additions to the report of one class; whatever is left out is not shown.

    Thresholds on the edge probability with what the model says at each, its outputs for each graph
    of the gallery, and the nearest real graphs, nearest first.
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
    """Connect the model that a run explains, tried on graphs of the data where there are some.

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
    """Ask the model what the report wants to know besides the run, for each class by name.

    Without labelled graphs there are no nearest ones.
    """
    if isinstance(model, Bundle):
        model = model.model
    if not isinstance(model, GraphClassifier):
        model = GraphClassifier(model, result.spec)
    graphs = [] if dataset is None else graph_list(dataset)
    scores = model.score_data(graphs) if graphs else None
    extras = {}
    for name, explanation in result.items():
        extras[name] = _of_model(explanation, model)
        if explanation.num_edges and scores is not None:
            near = _nearest(explanation, model, graphs, scores, neighbours)
            extras[name] = replace(extras[name], neighbours=near)
    return extras


def _of_model(explanation: Explanation, classifier: GraphClassifier) -> ClassExtras:
    def outputs(graphs: DenseGraphs) -> list[tuple[float, ...]]:
        return [tuple(row) for row in classifier.score(graphs).outputs.nan_to_num(nan=0.0).tolist()]

    asked = []
    for stop in stops(explanation):
        (given,) = outputs(thresholded(explanation, stop.threshold))
        asked.append(replace(stop, said=explanation.target.written(given)))
    shown = [group.index for group in distinct_samples(explanation)[:SHOWN]]
    drawn = explanation.sample_dense(DRAWS)[torch.tensor(shown, dtype=torch.long)]
    return ClassExtras(tuple(asked), tuple(outputs(drawn)) if shown else ())


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
    return tuple(
        Neighbour(
            graphs[index],
            target.truth(graphs[index].get("y"), names) or "unlabelled",
            float(alike[index]),
            target.said(scores.outputs[index].tolist()),
        )
        for index in most_alike(graphs, alike, count, explanation.spec)
    )
