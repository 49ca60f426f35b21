"""One class explained once, and files of such runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gnninterpreter.errors import CheckpointError
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.fingerprints import versions
from gnninterpreter.schema import listed, typed

__all__ = ["WANTED", "Run", "RunConfig", "read_runs", "write_runs"]

SCHEMA = 2
WANTED = 0.99


@dataclass(frozen=True, order=True)
class RunConfig:
    """One class of one model, to be explained from one seed."""

    model: str
    target: str
    seed: int
    restarts: int = 8
    recipe: str = "auto"


@dataclass(frozen=True)
class Run:
    """What one explanation came to.

    Args:
        config: What was asked for.
        mean: Mean class probability over discrete samples, native model.
        std: Their standard deviation.
        samples: Number of samples.
        mode_probability: Class probability of the most probable graph.
        nodes: Its nodes.
        edges: Its edges.
        max_nodes: Limit on nodes.
        max_edges: Limit on edges.
        feasible: Whether it is connected, has three nodes or more and keeps to the limits.
        similarity: Cosine similarity to the class mean.
        percentile: Share of the class's real graphs less similar, in percent.
        oracle: What the ground truth says of it, where the data set has an oracle.
        entropy: Entropy of the distribution, in bits.
        good_restarts: Restarts whose mean reached the wanted level.
        iterations: Gradient iterations.
        seconds: Time it took.
        reason: Why the chosen restart ended.
    """

    config: RunConfig
    mean: float
    std: float
    samples: int
    mode_probability: float
    nodes: int
    edges: int
    max_nodes: int
    max_edges: float
    feasible: bool
    similarity: float | None
    percentile: float | None
    oracle: str | None
    entropy: float
    good_restarts: int
    iterations: int
    seconds: float
    reason: str

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Run:
        """Read what `dataclasses.asdict` gives."""
        return cls(**{**values, "config": RunConfig(**values["config"])})

    @property
    def missed(self) -> bool:
        """Whether the run fell short: in probability, in one piece, or in size."""
        return self.mean < WANTED or not self.feasible


def write_runs(runs: Sequence[Run], out: Path) -> None:
    """Write runs to their file, whole or not at all."""
    ordered = sorted(runs, key=lambda run: run.config)
    content = {
        "schema": SCHEMA,
        "kind": "robustness",
        "versions": versions(),
        "runs": [asdict(run) for run in ordered],
    }
    write_atomically(out, json.dumps(content, indent=0).encode())


def read_runs(out: Path) -> list[Run]:
    """Read the runs of a file.

    Raises:
        CheckpointError: If it is not a file of runs.
    """
    try:
        content = read_json(out)
        if content["kind"] != "robustness" or content["schema"] != SCHEMA:
            raise KeyError("kind")
        runs: list[Run] = listed(typed(Run))(content["runs"], "runs")
        return runs
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{out} is not a file of robustness runs ({error!r}); give another file"
        ) from error
