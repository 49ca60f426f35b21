"""A run and its model, ready to be asked from many places at once."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch_geometric.data import Data

from gnninterpreter.arguments import one_of
from gnninterpreter.audit.context import Oracle, oracle_of
from gnninterpreter.chem.reading import reading_of
from gnninterpreter.errors import DataError, GNNInterpreterError, ModelError, TargetError
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.explanation.export import graph_text
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.models import Bundle
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.models.task import Task
from gnninterpreter.objective import Target, ValueTarget
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.report import compute_extras, live_classifier
from gnninterpreter.report.drawing import Drawing
from gnninterpreter.report.page import render_page
from gnninterpreter.report.svg import render
from gnninterpreter.schema import listed, number
from gnninterpreter.spec import GraphSpec, graph_list
from gnninterpreter.spec.derived import completed
from gnninterpreter.web.appearance import describe_block, legend_html
from gnninterpreter.web.inspector import Inspector
from gnninterpreter.web.saved import SavedRuns

BOX = (720, 480)
MOST_NODES, MOST_EDGES = 300, 2000
TOLERANCE = 0.02
FORMATS = {
    "json": "application/json",
    "graphml": "application/xml",
    "svg": "image/svg+xml",
    "smi": "text/plain",
}
FARTHEST = 1_000_000


class Backend:
    """What the live page talks to; every method may be called from any thread.

    The folder of the run is the only place that is ever written to. Labelled graphs give class
    statistics and the rule of the data set.

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
        self.dataset = dataset = None if dataset is None else graph_list(dataset)
        self.forward = forward
        self.model = model.model if isinstance(model, Bundle) else model
        self.spec = result.spec
        self.classifier = live_classifier(result, model, dataset, forward=forward)
        self.oracle: Oracle | None = oracle_of(model, dataset)
        self.statistics = self._statistics(model)
        self.targets = askable(self.spec, [e.target for e in result.values()])
        self.saved = SavedRuns(folder, self.spec, self.opened)
        # The classifier listens to its model while it runs, so that runs must not overlap.
        self._lock = threading.Lock()
        self.inspector = Inspector(result, self.classifier, dataset, self._lock)
        reading = reading_of(self.spec)
        self._seen = frozenset() if reading is None else reading.seen
        self._report: str | None = None
        self._opened: list[dict[str, Any]] | None = None

    def target_name(self, value: Any) -> str:
        """The name of a target given by name, or by the number of its class."""
        if isinstance(value, str) and value in self.targets:
            return value
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and 0 <= value < self.spec.num_classes:
            return self.target_name(self.spec.class_names[value])
        raise TargetError(
            f"there is no target {value!r:.80}; the targets are {', '.join(self.targets)}"
        )

    def idle(self, timeout: float) -> bool:
        """Whether nobody asks the model any more, after waiting so many seconds at the most."""
        if free := self._lock.acquire(timeout=timeout):
            self._lock.release()
        return free

    def _statistics(self, model: nn.Module | Bundle) -> ClassStatistics | None:
        """What the classes look like: from the bundle, the data, or the run itself."""
        if isinstance(model, Bundle):
            return model.statistics
        if self.dataset is not None:
            return ClassStatistics.from_dataset(self.classifier, self.dataset)
        stored = self.result.statistics
        return stored if stored is not None and self._agrees(stored) else None

    def _agrees(self, statistics: ClassStatistics) -> bool:
        """Whether stored statistics are about the embedding that is read off the model here.

        The run may have been made with another one (``explain(..., embedding=...)``).
        """
        for explanation in self.result.values():
            if explanation.num_edges == 0 or explanation.similarity is None:
                continue
            embedding = self.classifier.score_data([explanation.best]).embedding
            profile = explanation.target.profile(statistics)
            if profile is None or profile.mean_embedding is None:
                continue
            mean = profile.mean_embedding.to(embedding)
            if mean.numel() != embedding.size(1):
                return False
            found = torch.cosine_similarity(embedding, mean.unsqueeze(0)).nan_to_num(nan=-1.0)
            if abs(float(found) - explanation.similarity) > TOLERANCE:
                return False
        return True

    def describe(self) -> dict[str, Any]:
        """What the page needs to know: features, targets, and graphs to begin with."""
        if self._opened is None:
            found = [e for e in self.result.values() if e.num_edges]
            self._opened = [self.opened(e) for e in found]
            self._opened += [entry for e in found for entry in self._others(e)]
        return {
            "model": self.result.model_name,
            "classes": list(self.spec.class_names),
            "targets": list(self.targets),
            "directed": self.spec.directed,
            "nodes": [describe_block(block, self._seen) for block in self.spec.nodes],
            "edges": [describe_block(block) for block in self.spec.edges],
            "legend": legend_html(self.spec),
            "box": list(BOX),
            "most_nodes": MOST_NODES,
            "similarity": self.statistics is not None
            and self.classifier.task is not Task.REGRESSION,
            "rule": self.oracle is not None,
            "molecules": self.inspector.molecules,
            "real": len(self.inspector.real),
            "graphs": self._opened,
            "saved": self.saved.entries(),
        }

    def opened(self, explanation: Explanation) -> dict[str, Any]:
        """An explanation graph as the editor opens it."""
        named = {"name": explanation.name, "score": explanation.given}
        return {**named, **self.placed(explanation.best)}

    def _others(self, explanation: Explanation) -> Iterator[dict[str, Any]]:
        """Its cores and shortcuts, each under its right name."""
        kinds = {"core": explanation.cores, "shortcut": explanation.shortcuts}
        for kind, found in kinds.items():
            for count, one in enumerate(found, 1):
                name = f"{explanation.name}: {kind}" + f" {count}" * (len(found) > 1)
                name += ", one of any kind" * (any(one.open) or any(one.free))
                score = one.said or f"{one.probability:.3f}"
                yield {"name": name, "score": score, **self.placed(one.graph)}

    def read(self, values: Any) -> Data:
        """Read a graph from outside; refuse what the spec cannot express, or what is too large."""
        return graph_from_json(
            values,
            self.spec,
            most_nodes=MOST_NODES,
            most_edges=MOST_EDGES,
            dtype=self.classifier.dtype,
        )

    def score(self, values: Any) -> dict[str, Any]:
        """Ask the model about a graph; nodes without edges are not part of it."""
        started = time.perf_counter()
        graph, ignored = _present(self.read(values))
        graph = completed(graph, self.spec)
        answer: dict[str, Any] = {"values": None, "similarities": None}
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
            given = scores.outputs[0].double().cpu()
            if not bool(torch.isfinite(given).all()):
                derived = " and ".join(block.name for block in self.spec.derived)
                why = f"; it may be no graph that can have '{derived}'" if derived else ""
                raise ModelError(f"the model gives this graph no finite output{why}")
            answer |= {"values": [round(v, 6) for v in given.tolist()], "task": scores.task.value}
            if scores.task is Task.REGRESSION:
                answer |= self._places_of_values(given.tolist())
            elif self.statistics is not None:
                mean = self.statistics.mean_embedding.to(scores.embedding)
                alike = torch.cosine_similarity(scores.embedding, mean).nan_to_num(nan=-1.0)
                answer["similarities"] = [round(s, 6) for s in alike.tolist()]
        return {
            **answer,
            "nodes": int(graph.num_nodes or 0),
            "edges": int(graph.num_edges) // self.spec.ways,
            "ignored": ignored,
            "milliseconds": round(1000 * (time.perf_counter() - started), 1),
        }

    def _places_of_values(self, values: list[float]) -> dict[str, Any]:
        """How values read, where they lie among real ones in words, and as shares below them."""
        ends = targets_of(None, self.spec, Task.REGRESSION, self.statistics)
        known = {one.index: one for one in ends if isinstance(one, ValueTarget)}
        each = [(known[index], value) for index, value in enumerate(values)]
        words = [", ".join(filter(None, (t.written(values), t.place(v)))) for t, v in each]
        return {
            "words": words,
            "figures": [target.figure(value) for target, value in each],
            "shares": [(target.percentile(value) or 0.0) / 100 for target, value in each],
        }

    def truth(self, values: Any) -> str | None:
        """The class of a graph by the rule of its data set, where there is a rule that knows it.

        Asked for by itself: a rule may take longer than the model, and the bars must not wait.
        """
        graph, _ = _present(self.read(values))
        if self.oracle is None or not graph.num_edges:
            return None
        try:
            return self.spec.class_names[self.oracle(graph)]
        except Exception:  # a rule of somebody else's, asked about any graph at all
            return None

    def look(self, values: Any) -> dict[str, Any]:
        """What stands beside a graph: chemistry, cores that it holds, real graphs near it.

        Asked for by itself, as the rule is.
        """
        graph, _ = _present(self.read(values))
        if not graph.num_edges:
            raise DataError("a graph needs an edge to be compared")
        return self.inspector.look(graph)

    def placed(self, graph: Data) -> dict[str, Any]:
        """A graph laid out in the page's box, with every feature but its label written out."""
        graph = Data(**{key: graph[key] for key in graph.keys() if key != "y"})  # noqa: SIM118
        drawn = to_networkx(graph, self.spec)
        places = Drawing.of(drawn, self.spec, BOX).positions
        positions = [[round(c, 1) for c in places[node]] for node in drawn.nodes]
        return {"graph": graph_to_json(graph, self.spec), "positions": positions}

    def export(self, values: Any, form: str) -> tuple[str, str]:
        """A graph, with places for its nodes or not, as the text of a file and its media type."""
        values = dict(values) if isinstance(values, dict) else values
        places = values.pop("positions", None) if isinstance(values, dict) else None
        graph = self.read(values)
        # A molecule has no atoms that nothing binds; the other formats show what was drawn.
        if form == "smi":
            graph = _present(graph)[0]
        return export_graph(graph, self.spec, form, BOX, places)

    def report(self) -> str:
        """The report of the run, with what the model says besides; made once."""
        with self._lock:
            if self._report is None:
                extras = compute_extras(self.result, self.classifier, self.dataset)
                self._report = render_page(self.result, extras)
            return self._report


def askable(spec: GraphSpec, known: Sequence[Target]) -> dict[str, Target | int]:
    """What can be explained from the live page: by name, what `explain` takes as a target."""
    found: dict[str, Target | int] = {}
    # A regression has outputs instead of classes.
    if not any(isinstance(target, ValueTarget) for target in known):
        found = {name: index for index, name in enumerate(spec.class_names)}
    return found | {target.name: target for target in known}


def _present(graph: Data) -> tuple[Data, int]:
    """The graph without nodes that no edge touches, and how many those are."""
    touched = graph.edge_index.unique()
    ignored = int(graph.num_nodes or 0) - len(touched)
    return (graph.subgraph(touched), ignored) if ignored else (graph, 0)


def export_graph(
    graph: Data, spec: GraphSpec, form: str, size: tuple[int, int], places: Any = None
) -> tuple[str, str]:
    """A graph as text in one of `FORMATS`, and its media type.

    A drawing keeps the places of the nodes in the editor, where they are given.
    """
    one_of("format", form, FORMATS, DataError)
    if form != "svg":
        return graph_text(graph, spec, form), FORMATS[form]
    drawn = to_networkx(graph, spec)
    if places is None:
        return render(Drawing.of(drawn, spec, size)), FORMATS[form]
    arranged = dict(zip(drawn.nodes, _places(places, len(drawn)), strict=True))
    return render(Drawing.arranged(drawn, spec, size, arranged)), FORMATS[form]


def _places(values: Any, count: int) -> list[tuple[float, float]]:
    """Check places that come from outside."""
    try:
        places = listed(listed(number(-FARTHEST, FARTHEST), 2), count)(values, "positions")
    except ValueError as error:
        raise DataError(str(error)) from error
    return [(float(x), float(y)) for x, y in places]
