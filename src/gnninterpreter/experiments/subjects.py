"""Models with their real graphs: bundled ones, those of the zoo, and one's own by reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.fingerprints import (
    data_fingerprint,
    graphs_fingerprint,
    model_fingerprint,
    weights_fingerprint,
)
from gnninterpreter.isomorphism import graph_key
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.references import load_data, load_model
from gnninterpreter.spec import GraphSpec, graph_list
from gnninterpreter.spec.data import node_count

# A model of one's own and its graphs, both as ``package.module:name``.
SEPARATOR = "@"


@dataclass
class Subject:
    """A model beside the graphs it was trained on, which are loaded when they are asked for.

    Model and options are what `explain` takes; the oracle is the rule of the data set; molecules
    have MUTAG's atoms.
    """

    name: str
    model: Any
    options: dict[str, Any]
    classifier: GraphClassifier
    statistics: ClassStatistics
    load_graphs: Callable[[], Iterable[Data]] = field(repr=False)
    oracle: Callable[[Data], int] | None = None
    molecules: bool = False
    _keys: dict[tuple[int, int], set[str]] = field(default_factory=dict, repr=False)

    @cached_property
    def graphs(self) -> list[Data]:
        """Labelled real graphs."""
        return [graph.cpu() for graph in graph_list(self.load_graphs())]

    @property
    def spec(self) -> GraphSpec:
        """What the features mean."""
        return self.classifier.spec

    def real(self, target: int) -> list[Data]:
        """The real graphs of a class."""
        return [graph for graph in self.graphs if int(graph.y) == target]

    def is_real(self, graph: Data) -> bool:
        """Whether a graph is one of the real ones, of whatever class."""
        size = _size(graph)
        if size not in self._keys:
            alike = (other for other in self.graphs if _size(other) == size)
            self._keys[size] = {graph_key(other, self.spec) for other in alike}
        return graph_key(graph, self.spec) in self._keys[size]


def names_of(models: str) -> list[str]:
    """Names with commas between; ``bundled`` and ``zoo`` stand for all of each."""
    from gnninterpreter.datasets import MOLECULES
    from gnninterpreter.experiments.zoo import ZOO
    from gnninterpreter.models import bundled_names

    six = [name for name in bundled_names() if name not in MOLECULES]
    groups = {"bundled": six, "molecules": list(MOLECULES), "zoo": list(ZOO)}
    return list(
        dict.fromkeys(name for part in models.split(",") for name in groups.get(part, [part]))
    )


@lru_cache(maxsize=64)
def subject(name: str) -> Subject:
    """The model of a name with its graphs; kept in memory for the process.

    A name is that of a bundled model, one of the zoo, a file of `Bundle.save`, or
    ``package.module:model@package.module:graphs``.
    """
    from gnninterpreter.experiments.zoo import SPECS, ZOO, trained
    from gnninterpreter.experiments.zoo.graphs import draw

    if name in ZOO:
        made = trained(name)
        options = {"spec": SPECS[ZOO[name].data], "class_statistics": made.statistics}
        classifier = GraphClassifier.connect(made.model, made.spec)
        graphs = partial(draw, ZOO[name].data, 0)
        return Subject(name, made.model, options, classifier, made.statistics, graphs)
    return _loaded(name)


def _loaded(name: str) -> Subject:
    from gnninterpreter import datasets
    from gnninterpreter.models import Bundle

    reference, _, graphs_named = name.partition(SEPARATOR)
    model = load_model(reference)
    data: Any = load_data(graphs_named or None)
    load: Callable[[], Any] = lambda: data  # noqa: E731
    if data is None and isinstance(model, Bundle) and model.dataset_name in datasets.NAMES:
        data = datasets.dataset_class(model.dataset_name)
        load = partial(datasets.load, model.dataset_name)
    if data is None:
        raise DataError(
            f"the model {name!r} comes without real graphs to compare with; "
            "name them after an @, as in package.module:model@package.module:graphs"
        )
    rest = load, getattr(data, "oracle", None), getattr(data, "name", None) == "mutag"
    if isinstance(model, Bundle):
        classifier = GraphClassifier.connect(model.model, model.spec)
        return Subject(name, model, {}, classifier, model.statistics, *rest)
    real = [graph.cpu() for graph in graph_list(load())]
    spec = getattr(data, "spec", None) or GraphSpec.from_dataset(real)
    classifier = GraphClassifier.connect(model, spec, examples=real)
    statistics = ClassStatistics.from_dataset(classifier, real)
    options = {"spec": spec, "class_statistics": statistics}
    return Subject(name, model, options, classifier, statistics, *rest)


def targets_of(name: str, method: str = "ours") -> tuple[str, ...]:
    """The classes of a model that a method has something to say about."""
    from gnninterpreter.experiments.zoo import SPECS, ZOO
    from gnninterpreter.models import bundled_names, load
    from gnninterpreter.search.paper_settings import PAPER_WEIGHTS

    bundled = name in bundled_names()
    if method == "xgnn" and not (bundled and name in ("mutag", "is_acyclic")):
        return ()
    if method == "paper" and not bundled:
        return ()
    if name in ZOO:
        return SPECS[ZOO[name].data].class_names
    spec = load(name).spec if bundled else subject(name).spec
    known = PAPER_WEIGHTS.get(name, {})
    return tuple(c for c in spec.class_names if method != "paper" or c.replace("_", " ") in known)


def fingerprint(name: str) -> dict[str, str]:
    """What figures of a model depend on besides code: its weights and its graphs."""
    from gnninterpreter.experiments.zoo import ZOO
    from gnninterpreter.models import bundled_names

    if name in ZOO:
        return {"model": repr(ZOO[name])}
    if name in bundled_names():
        return {"model": model_fingerprint(name), "data": data_fingerprint(name)}
    found = subject(name)
    content = (weights_fingerprint(found.classifier.model), graphs_fingerprint(found.graphs))
    return {"model": name, "weights": content[0], "data": content[1]}


def _size(graph: Data) -> tuple[int, int]:
    return node_count(graph), int(graph.edge_index.size(1))
