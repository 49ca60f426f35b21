"""One class explained once by one method, as figures, and files of such rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gnninterpreter.errors import CheckpointError, SpecError
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.fingerprints import versions
from gnninterpreter.schema import listed, typed

__all__ = ["ABLATIONS", "METHODS", "RealismConfig", "RealismRow", "line", "read_rows", "write_rows"]

KIND, SCHEMA = "realism", 1
ABLATIONS = ("unopened", "unspread", "unshrunk", "bar-0", "bar-25")
METHODS = ("ours", "certain", "paper", "random", "xgnn", "real", *ABLATIONS)


@dataclass(frozen=True, order=True)
class RealismConfig:
    """One class of one model, to be explained by one method from one seed.

    Args:
        model: Name of a model: bundled, of the zoo, or a reference to one's own.
        target: Name of the class.
        seed: The seed.
        method: ``"ours"``, ``"certain"`` (the search without typicality), ``"paper"``,
            ``"random"``, ``"xgnn"``, ``"real"`` (real graphs that were left out) or one of
            `ABLATIONS`, our search with one ingredient left out.
        restarts: Restarts of a search; baselines have none.

    Raises:
        SpecError: If there is no such method.
    """

    model: str
    target: str
    seed: int
    method: str = "ours"
    restarts: int = 8

    def __post_init__(self) -> None:
        """Check the method."""
        if self.method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)} (got {self.method!r})")


@dataclass(frozen=True)
class RealismRow:
    """What one explanation came to beside real graphs; None stands for not measured.

    Args:
        model: Name of the model.
        target: Name of the class; ``class`` in files.
        seed: The seed.
        method: Who explained.
        restarts: Restarts of the search.
        rule_best: Whether the rule of the data set agrees with the best graph.
        rule_core: The same of the core.
        rule_modes: Share of the modes it agrees with.
        rule_samples: Share of the samples it agrees with.
        place_best: Place of the best graph under random GINs.
        place_samples: Share of 50 samples with a place of 0.1 at least.
        compared_with: What places are among: ``"whole graphs"`` or ``"pieces"`` of as many nodes.
        place_best_whole: Place of the best graph among whole real graphs in either case.
        place_samples_whole: Share of the samples with such a place of 0.1 at least.
        certain_samples: Share of them that reach the bar of certainty.
        good_samples: Share of them that do both.
        distinct50: Distinct graphs among them.
        mean_probability: Mean class probability.
        certain_bar: What counts as certain: 0.99, or less where the model is never that sure.
        feasible: Whether the best graph is in one piece and within the limits.
        nodes: Its nodes.
        edges: Its edges.
        real_median_nodes: Median of the class.
        copy: Whether it is one of the real graphs.
        copy_samples: Share of the samples that are.
        valid: Whether it is a possible molecule.
        valid_samples: Share of the samples that are.
        validation_score: GIN-Graph's validation score of the best graph.
        seconds: Time it took.
        verdict: The verdict in a word or two.
        bits: What is open in the distributions, a mean over restarts; None in older files.
    """

    model: str
    target: str
    seed: int
    method: str
    restarts: int
    rule_best: bool | None
    rule_core: bool | None
    rule_modes: float | None
    rule_samples: float | None
    place_best: float | None
    place_samples: float | None
    compared_with: str
    place_best_whole: float
    place_samples_whole: float
    certain_samples: float
    good_samples: float | None
    distinct50: int
    mean_probability: float
    certain_bar: float
    feasible: bool
    nodes: int
    edges: int
    real_median_nodes: float
    copy: bool
    copy_samples: float
    valid: bool | None
    valid_samples: float | None
    validation_score: float | None
    seconds: float
    verdict: str
    bits: float | None = None

    @property
    def config(self) -> RealismConfig:
        """What was asked for."""
        return RealismConfig(self.model, self.target, self.seed, self.method, self.restarts)

    @property
    def certain(self) -> bool:
        """Whether it is certain and feasible."""
        return self.feasible and self.mean_probability >= self.certain_bar

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        return {"class" if k == "target" else k: v for k, v in asdict(self).items()}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> RealismRow:
        """Read what `to_json` gives."""
        return cls(**{"target" if k == "class" else k: v for k, v in values.items()})


def line(row: RealismRow) -> str:
    """A row in a line, for people."""
    place = "-" if row.place_best is None else f"{row.place_best:.2f}"
    return (
        f"{row.method} / {row.model} / {row.target} / seed {row.seed}: "
        f"p {row.mean_probability:.4f}, rule {row.rule_best}, place {place}, "
        f"{row.distinct50} distinct, {row.nodes} nodes, {row.seconds:.1f} s"
    )


def write_rows(rows: Sequence[RealismRow], out: Path) -> None:
    """Write rows to their file, whole or not at all."""
    ordered = sorted(rows, key=lambda row: (row.method, row.config))
    content = {
        "schema": SCHEMA,
        "kind": KIND,
        "versions": versions(),
        "rows": [row.to_json() for row in ordered],
    }
    write_atomically(out, json.dumps(content, indent=0).encode())


def read_rows(out: Path) -> list[RealismRow]:
    """Read the rows of a file.

    Raises:
        CheckpointError: If it is not a file of rows.
    """
    try:
        content = read_json(out)
        if content["kind"] != KIND or content["schema"] != SCHEMA:
            raise KeyError("kind")
        rows = content["rows"]
        named = [{"target" if k == "class" else k: v for k, v in row.items()} for row in rows]
        found: list[RealismRow] = listed(typed(RealismRow))(named, "rows")
        return found
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(
            f"{out} is not a file of realism rows ({error!r}); give another file"
        ) from error
