"""What a run says about itself, and runs that go on where they were stopped.

Each finished class is kept until the run is whole, under everything it depends on, so that a call
with another model, other data or other settings never takes it for its own.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch_geometric
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter._version import __version__
from gnninterpreter.errors import CheckpointError
from gnninterpreter.explanation.explanation import Explanation
from gnninterpreter.explanation.explanation_set import ExplanationSet
from gnninterpreter.explanation.storage import UNFINISHED, load_run, save_run
from gnninterpreter.fingerprints import (
    digest_of,
    graphs_fingerprint,
    values_fingerprint,
    weights_fingerprint,
)
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.relax import ProbeReport, RelaxedModel
from gnninterpreter.search import Reason, Recipe
from gnninterpreter.spec import Derived

# Graphs that a model is asked about, so that its code and the way it is called count as well.
ASKED, NODES = 8, 6
MOST_NAMED = 6


class Unfinished:
    """The finished classes of a run under way, out of ``names``, kept under a `content_key`.

    Nothing is made in the folder before a class is finished.
    """

    def __init__(self, folder: Path, key: str, run: ExplanationSet, names: Sequence[str]) -> None:
        self.folder, self._names = folder, list(names)
        self._place = folder / f"{UNFINISHED}{key}"
        self._run = replace(run, metadata={**run.metadata, "targets": self._names})

    def read(self, names: Sequence[str]) -> dict[str, Explanation]:
        """Those of some classes that were finished before and are not damaged."""
        found = {}
        for name in names:
            with contextlib.suppress(CheckpointError):
                kept = load_run(self._piece(name)).explanations.get(name)
                if kept is not None:
                    found[name] = replace(kept, spec=self._run.spec)
        return found

    def keep(self, explanation: Explanation) -> None:
        """Keep a class, unless its search was stopped before its end."""
        if any(restart.reason == Reason.STOPPED for restart in explanation.restarts):
            return
        alone = replace(self._run, explanations={explanation.name: explanation})
        save_run(alone, self._piece(explanation.name), overwrite=True)
        with contextlib.suppress(OSError):
            os.utime(self._place)  # the one that is loaded, where there are several

    def said(self) -> str:
        """What is kept, in a sentence; nothing where nothing is."""
        count = sum((self._piece(name) / "run.json").exists() for name in self._names)
        said = f"{count} of {len(self._names)} are finished and kept in {self.folder}"
        return said if count else ""

    def _piece(self, name: str) -> Path:
        return self._place / str(self._names.index(name))


def content_key(
    models: Iterable[GraphClassifier],
    graphs: Iterable[Data],
    tensors: Mapping[str, Tensor],
    settings: Mapping[str, Any],
) -> str:
    """One word for everything that a run depends on.

    Models count by their weights, and by what they say of a few graphs: their code may change too.
    """
    parts = [json.dumps(settings, sort_keys=True, default=repr)]
    for model in models:
        said = model.score(model.drawn(ASKED, NODES))
        answers = {"logits": said.logits, "embedding": said.embedding}
        parts += [weights_fingerprint(model.model), values_fingerprint(answers)]
    parts += [graphs_fingerprint(graphs), values_fingerprint(tensors)]
    return digest_of(part.encode() for part in parts)


def describe(
    classifier: GraphClassifier, report: ProbeReport, relaxed: RelaxedModel | None
) -> list[str]:
    """What was found out about a model, in short lines that are printed when a run begins."""
    spec = classifier.spec
    nodes, edges = _blocks((*spec.nodes, *spec.attributes)), _blocks(spec.edges)
    names = ", ".join(spec.class_names[:MOST_NAMED]) + ", ..." * (spec.num_classes > MOST_NAMED)
    outputs = f"{classifier.task.counted(spec.num_classes)} ({names})"
    lines = [f"{outputs}; node features: {nodes}; edge features: {edges}"]
    if relaxed is not None:
        lines.append(
            f"relaxation exact on discrete graphs (largest error {report.logits_error:.0e})"
        )
    elif report.passed:
        lines.append("score-function gradient, as asked for")
    else:
        lines.append(
            f"cannot be relaxed: {report.reason}; using the score-function gradient "
            "(slower, equally valid)"
        )
    return lines


def _blocks(blocks: Sequence[Any]) -> str:
    """The features of nodes or edges: what is chosen, then what follows from the graph."""
    free = [_block(block) for block in blocks if not isinstance(block, Derived)]
    follow = [
        block.name + (f" ({block.width} columns)" if block.width > 1 else "")
        for block in blocks
        if isinstance(block, Derived)
    ]
    computed = [f"computed from the graph: {', '.join(follow)}"] if follow else []
    return ", ".join(free + computed) or "none"


def _block(block: Any) -> str:
    kind = type(block).__name__.lower()
    if kind == "categorical":
        none = ", one of them rows of zeros" if block.encoding == "dummy" else ""
        return f"{block.name} ({block.size} categories{none})"
    many = "one number" if block.dim == 1 else f"{block.dim} numbers"
    return "constant" if block.constant else many


def versions() -> dict[str, str]:
    """What a run was made with, for its metadata."""
    return {
        "gnninterpreter": __version__,
        "torch": torch.__version__,
        "torch_geometric": torch_geometric.__version__,
        "python": platform.python_version(),
    }


def metadata_of(
    recipes: Sequence[Recipe],
    seed: int,
    restarts: int,
    report: ProbeReport,
    classifier: GraphClassifier,
) -> dict[str, Any]:
    """Versions and settings that a run keeps, so that it can be repeated."""
    told = [recipe.to_json() for recipe in recipes]
    return {
        "versions": versions(),
        "seed": seed,
        "restarts": restarts,
        "recipe": recipes[0].name,
        "recipes": [one for i, one in enumerate(told) if one not in told[:i]],
        "task": str(classifier.task),
        "device": str(classifier.device),
        "probe": {
            "passed": report.passed,
            "logits_error": report.logits_error if math.isfinite(report.logits_error) else None,
            "reason": report.reason,
        },
    }
