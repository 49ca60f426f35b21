"""What the live page says beside a graph: chemistry, cores in it, and real graphs near it."""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem import from_smiles, is_molecular, read_molecule
from gnninterpreter.chem.molecules import rdkit_installed
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.matching import Undecided, find
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.isomorphism import most_alike
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.report.drawing import small_svg
from gnninterpreter.spec import graph_list

MOST_REAL = 2000
EXEMPLARS = 5
NEAREST = 3
FORMULA, SMALL = (340, 220), (200, 140)


class Inspector:
    """Looks at a graph beside the answers of a run; may be asked from any thread.

    Without real graphs the exemplars of the run stand in for them. The lock is held while the model
    is asked.
    """

    def __init__(
        self,
        result: ExplanationSet,
        classifier: GraphClassifier,
        dataset: Any,
        lock: threading.Lock,
    ) -> None:
        """Gather the real graphs; nothing is computed before it is asked for."""
        self.spec = result.spec
        self.classifier = classifier
        self.molecules = is_molecular(self.spec) and rdkit_installed()
        shown = (graph for one in result.values() for graph in one.exemplars(EXEMPLARS))
        graphs = shown if dataset is None else graph_list(dataset)
        self.real: list[Data] = [graph for graph in graphs if graph.num_edges][:MOST_REAL]
        self.cores = [(e.name, core.typed) for e in result.values() for core in e.cores]
        self._lock = lock
        self._known: Tensor | None = None

    def read(self, values: Any) -> Data:
        """A graph from SMILES."""
        if not self.molecules:
            raise DataError("the graphs of this model are no molecules, so they have no SMILES")
        if not isinstance(values, dict) or not isinstance(values.get("smiles"), str):
            raise DataError('say which molecule: {"smiles": "CCO"}')
        return from_smiles(values["smiles"], self.spec)

    def real_graph(self, number: int) -> Data:
        """One of the real graphs."""
        if not 0 <= number < len(self.real):
            raise DataError(f"there are {len(self.real)} real graphs (got number {number})")
        return self.real[number]

    def look(self, graph: Data) -> dict[str, Any]:
        """What stands beside a graph that has an edge, as JSON values."""
        held = self._held(graph)
        marked = held[0][1] if held else ()
        molecule = read_molecule(graph, self.spec, marked, size=FORMULA)
        return {
            "molecule": None if molecule is None else vars(molecule),
            "cores": [{"name": name, "nodes": list(nodes)} for name, nodes in held],
            "asked": len(self.cores),
            "nearest": self._nearest(graph),
        }

    def _held(self, graph: Data) -> list[tuple[str, tuple[int, ...]]]:
        """The cores that occur in a graph, and on which nodes."""
        found = []
        (own,) = typed_graphs([graph], self.spec)
        for name, core in self.cores:
            try:
                nodes = find(core, own)
            except Undecided:
                continue
            if nodes is not None:
                found.append((name, nodes))
        return found

    def _nearest(self, graph: Data) -> list[dict[str, Any]]:
        """Real graphs that the model embeds most like it."""
        if not self.real:
            return []
        with self._lock:
            if self._known is None:
                self._known = self.classifier.score_data(self.real).embedding
            own = self.classifier.score_data([graph]).embedding
        alike = torch.cosine_similarity(self._known, own).nan_to_num(nan=-1.0)
        return [
            {
                "number": number,
                "alike": round(float(alike[number]), 3),
                "label": self._label(self.real[number]),
                "svg": small_svg(self.real[number], self.spec, SMALL),
            }
            for number in most_alike(self.real, alike, NEAREST, self.spec)
        ]

    def _label(self, graph: Data) -> str:
        label, names = graph.get("y"), self.spec.class_names
        if label is None or torch.as_tensor(label).numel() != 1:
            return ""
        value = float(torch.as_tensor(label))
        whole = value == int(value) and 0 <= value < len(names)
        return names[int(value)] if whole and len(names) > 1 else f"{value:.3g}"
