"""A run and its model, ready to be asked from many places at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data

from gnninterpreter.audit.truth import Oracle, ground_truth
from gnninterpreter.errors import DataError, GNNInterpreterError, ModelError
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.models import Bundle
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.report import compute_extras, live_classifier
from gnninterpreter.report.appearance import edge_look, node_look
from gnninterpreter.report.drawing import Drawing, graph_svg
from gnninterpreter.report.molecule import read_molecule
from gnninterpreter.report.page import render_page
from gnninterpreter.spec import Block, Categorical

__all__ = ["BOX", "Studio"]

BOX = (720, 480)
MOST_NODES, MOST_EDGES = 300, 2000
FORMATS = ("json", "graphml", "svg", "smi")


class Studio:
    """What the live page talks to; every method may be called from any thread.

    Args:
        result: The run.
        folder: Its folder, the only place that is ever written to.
        model: The model that the run explains.
        dataset: Labelled graphs, for class statistics and the ground truth.
        forward: How to call the model, where its signature does not say.

    Raises:
        ModelError: If it is not the model that the run explains.
    """

    def __init__(
        self,
        result: ExplanationSet,
        folder: Path,
        model: nn.Module | Bundle,
        dataset: Any = None,
        *,
        forward: Callable[..., Any] | None = None,
    ) -> None:
        """Connect the model and check that it belongs to the run."""
        self.result = result
        self.folder = folder
        self.dataset = dataset
        self.forward = forward
        self.model = model.model if isinstance(model, Bundle) else model
        self.spec = result.spec
        self.classifier = live_classifier(result, model, dataset, forward=forward)
        self.oracle: Oracle | None = ground_truth(model, dataset)
        self.statistics: ClassStatistics | None = None
        if isinstance(model, Bundle):
            self.statistics = model.statistics
        elif dataset is not None:
            self.statistics = ClassStatistics.from_dataset(self.classifier, dataset)
        # The classifier listens to its model while it runs, so that runs must not overlap.
        self._lock = threading.Lock()
        self._report: str | None = None

    def describe(self) -> dict[str, Any]:
        """What the page needs to know once: features, classes, and graphs to begin with."""
        return {
            "model": self.result.model_name,
            "classes": list(self.spec.class_names),
            "directed": self.spec.directed,
            "nodes": [_block(block) for block in self.spec.nodes],
            "edges": [_block(block) for block in self.spec.edges],
            "box": list(BOX),
            "most_nodes": MOST_NODES,
            "similarity": self.statistics is not None,
            "molecules": read_molecule(_first(self.result), self.spec) is not None,
            "graphs": [self.opened(e) for e in self.result.values() if e.num_edges],
        }

    def opened(self, explanation: Explanation) -> dict[str, Any]:
        """An explanation graph as the editor opens it."""
        graph = explanation.best
        return {
            "name": explanation.name,
            "graph": graph_to_json(graph, self.spec),
            "positions": self._places(to_networkx(graph, self.spec)),
        }

    def read(self, values: Any) -> Data:
        """Read a graph from outside.

        Raises:
            DataError: If it is no graph that the spec can express, or too large.
        """
        return graph_from_json(
            values,
            self.spec,
            most_nodes=MOST_NODES,
            most_edges=MOST_EDGES,
            dtype=self.classifier.dtype,
        )

    def score(self, values: Any) -> dict[str, Any]:
        """Ask the model about a graph; nodes without edges are not part of it.

        Raises:
            DataError: If it is no graph that the spec can express.
            ModelError: If the model fails on it.
        """
        started = time.perf_counter()
        graph, ignored = _present(self.read(values))
        answer: dict[str, Any] = {"probabilities": None, "similarities": None, "truth": None}
        if graph.num_edges:
            with self._lock:
                try:
                    scores = self.classifier.score_data([graph])
                except GNNInterpreterError:
                    raise
                except Exception as error:  # whatever a user's model does
                    raise ModelError(
                        f"the model failed on this graph: {type(error).__name__}: {error}"
                    ) from error
            given = scores.probabilities[0].double().cpu()
            if not bool(torch.isfinite(given).all()):
                raise ModelError("the model gives this graph no finite probabilities")
            answer["probabilities"] = [round(p, 6) for p in given.tolist()]
            if self.statistics is not None:
                mean = self.statistics.mean_embedding.to(scores.embedding)
                alike = torch.cosine_similarity(scores.embedding, mean).nan_to_num(nan=-1.0)
                answer["similarities"] = [round(s, 6) for s in alike.tolist()]
            answer["truth"] = self._truth(graph)
        return {
            **answer,
            "nodes": int(graph.num_nodes or 0),
            "edges": int(graph.num_edges) // (1 if self.spec.directed else 2),
            "ignored": ignored,
            "milliseconds": round(1000 * (time.perf_counter() - started), 1),
        }

    def place(self, values: Any) -> list[list[float]]:
        """Places of the nodes of a graph in the page's box."""
        return self._places(to_networkx(self.read(values), self.spec))

    def export(self, values: Any, form: str) -> tuple[str, str]:
        """A graph as the text of a file, with its media type.

        Raises:
            DataError: If the format is not known, or the graph has no such form.
        """
        graph = self.read(values)
        drawn = to_networkx(graph, self.spec)
        if form == "svg":
            return graph_svg(drawn, self.spec, size=BOX), "image/svg+xml"
        if form == "graphml":
            return "\n".join(nx.generate_graphml(drawn)), "application/xml"
        if form == "smi":
            molecule = read_molecule(_present(graph)[0], self.spec)
            if molecule is None or not molecule.valid:
                raise DataError("this graph is no valid molecule, so it has no SMILES")
            return molecule.smiles + "\n", "text/plain"
        if form == "json":
            import json

            return json.dumps(graph_to_json(graph, self.spec)), "application/json"
        raise DataError(f"format must be one of {', '.join(FORMATS)} (got {form!r})")

    def report(self) -> str:
        """The report of the run, with what the model says besides; made once."""
        with self._lock:
            if self._report is None:
                extras = compute_extras(
                    self.result, self.classifier, self.dataset, oracle=self.oracle
                )
                self._report = render_page(self.result, extras)
            return self._report

    def _truth(self, graph: Data) -> str | None:
        if self.oracle is None:
            return None
        try:
            return self.spec.class_names[self.oracle(graph)]
        except Exception:  # a rule of somebody else's, asked about any graph at all
            return None

    def _places(self, graph: nx.Graph) -> list[list[float]]:
        drawing = Drawing.of(graph, self.spec, BOX)
        return [[round(c, 1) for c in drawing.positions[node]] for node in graph.nodes]


def _first(result: ExplanationSet) -> Data:
    return next((e.best for e in result.values() if e.num_edges), Data(num_nodes=0))


def _present(graph: Data) -> tuple[Data, int]:
    """The graph without nodes that no edge touches, and how many those are."""
    touched = torch.zeros(int(graph.num_nodes or 0), dtype=torch.bool)
    touched[graph.edge_index.flatten()] = True
    ignored = int((~touched).sum())
    if not ignored:
        return graph, 0
    number = touched.cumsum(0) - 1
    kept = graph.clone()
    kept.x = graph.x[touched]
    kept.edge_index = number[graph.edge_index]
    kept.num_nodes = int(touched.sum())
    return kept, ignored


def _block(block: Block) -> dict[str, Any]:
    """A feature block with the look of its categories."""
    if isinstance(block, Categorical):
        from gnninterpreter.spec import GraphSpec

        alone = GraphSpec(nodes=(block,), edges=(block,))
        nodes = [node_look({block.name: name}, alone) for name in block.names]
        edges = [edge_look({block.name: name}, alone) for name in block.names]
        return {
            "kind": "categorical",
            "name": block.name,
            "names": list(block.names),
            "fills": [look.fill for look in nodes],
            "strokes": [look.stroke for look in nodes],
            "labels": [look.label for look in nodes],
            "lines": [look.stroke for look in edges],
            "dashes": [look.dash for look in edges],
            "breadths": [look.breadth for look in edges],
        }
    return {
        "kind": "continuous",
        "name": block.name,
        "names": list(block.names),
        "constant": block.constant,
        "low": block.low,
        "high": block.high,
    }
