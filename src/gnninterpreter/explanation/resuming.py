"""Runs that go on where they were stopped: each finished class is kept until the run is whole.

A class is kept under everything it depends on, so that a call with another model, other data or
other settings never takes it for its own.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from torch import Tensor
from torch_geometric.data import Data

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
from gnninterpreter.search import Reason

# Graphs that a model is asked about, so that its code and the way it is called count as well.
ASKED, NODES = 8, 6


class Unfinished:
    """The finished classes of a run under way, out of ``names``, kept under a `content_key`.

    Nothing is made in the folder before a class is finished.
    """

    def __init__(self, folder: Path, key: str, run: ExplanationSet, names: Sequence[str]) -> None:
        self.folder, self._names = folder, list(names)
        self._place = folder / f"{UNFINISHED}{key}"
        self._run = replace(run, metadata={**run.metadata, "targets": self._names})

    def read(self, name: str) -> Explanation | None:
        """A class that was finished before; None where it was not, or is damaged."""
        try:
            found = load_run(self._piece(name))
        except CheckpointError:
            return None
        kept = found.explanations.get(name)
        return None if kept is None else replace(kept, spec=self._run.spec)

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
