"""What an audit says: findings, each with severity, numbers and the graphs that prove it.

`load_graphs` reads those graphs back from a stored audit, as PyG data to train on.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch_geometric.data import Data

from gnninterpreter.arguments import one_of, path_of
from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.evidence import audit_check
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.files import read_json
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.spec import GraphSpec

if TYPE_CHECKING:
    from jinja2 import Environment

KIND, SCHEMA = "gnninterpreter audit", 1
MOSTLY = 0.5
FILE = "audit.json"
# Hosts come from the user's own data, so that there is no size that would be too large.
MOST = 10**7


def told(kind: str, **values: Any) -> str:
    """The sentence of a finding: what was done and found, why it matters, and what to do."""
    return _templates().get_template(f"{kind}.jinja").render(**values)


@lru_cache(maxsize=1)
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    assets = PackageLoader("gnninterpreter.audit", "assets")
    return Environment(loader=assets, undefined=StrictUndefined)


class Severity(str, Enum):
    """How grave a finding is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"

    def __str__(self) -> str:
        return self.value

    @classmethod
    def of(cls, value: Severity | str) -> Severity:
        """One of them by its name."""
        return cls(one_of("severity", value, map(str, cls), DataError))

    @property
    def rank(self) -> int:
        """0 for the gravest."""
        return list(Severity).index(self)

    def at_most(self, limit: Severity) -> Severity:
        """The same, or the limit where it is graver."""
        return max(self, limit, key=lambda severity: severity.rank)

    @classmethod
    def of_share(cls, share: float) -> Severity | None:
        """How grave it is to be wrong that often, or that much more often than by chance."""
        limits = {cls.HIGH: MOSTLY, cls.MEDIUM: 0.2, cls.LOW: 0.05}
        return next((level for level, least in limits.items() if share >= least), None)


class Kind(str, Enum):
    """Which question of the audit a finding answers."""

    DISAGREEMENT = "disagreement"
    MISSED = "missed pattern"
    LOOKALIKE = "look-alike"
    DEFAULT_CLASS = "default class"
    SMALL_CHANGE = "small change"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Evidence:
    """A graph to look at, its class in ``y`` where that is known, and what the model says of it."""

    graph: Data
    caption: str


@dataclass(frozen=True)
class Finding:
    """One weakness of the model with regard to the class ``target``.

    The weight orders findings of one severity, the largest first. The graphs are all on which the
    model is wrong, as it takes them; their true class is in ``y`` where it is known, so that they
    can be added to a training set.
    """

    kind: Kind
    severity: Severity
    target: str
    title: str
    sentence: str
    weight: float = 0.0
    numbers: dict[str, float | int | str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    graphs: tuple[Data, ...] = ()

    def to_json(self, spec: GraphSpec, with_graphs: bool = True) -> dict[str, Any]:
        """The finding as plain JSON values; `gnninterpreter.interchange` reads the graphs."""
        values: dict[str, Any] = {
            "kind": str(self.kind),
            "severity": str(self.severity),
            "class": self.target,
            "title": self.title,
            "sentence": self.sentence,
            "numbers": self.numbers,
            "evidence": [
                {"caption": shown.caption, "graph": graph_to_json(shown.graph, spec)}
                for shown in self.evidence
            ],
        }
        if with_graphs:
            values["graphs"] = [graph_to_json(graph, spec) for graph in self.graphs]
        return values


@dataclass(frozen=True)
class Audit:
    """What was found out about a model, the gravest first; findings are in the evidence of classes.

    Args:
        checked: What was asked, in short sentences, found or not.
        before: The audit of the model before it was trained again, where it was.
        contrasts: Graphs with the true patterns of those classes for which look-alikes pass, with
            their true class: to train on together with the counter-examples.
    """

    explanations: ExplanationSet
    findings: tuple[Finding, ...]
    numbers: dict[str, Any] = field(default_factory=dict)
    checked: tuple[str, ...] = ()
    before: Audit | None = None
    contrasts: tuple[Data, ...] = ()

    def __post_init__(self) -> None:
        """Count the findings in: they belong to the evidence of the classes they are about."""
        ranked = sorted(self.findings, key=lambda finding: finding.severity.rank)
        judged = {}
        for name, explanation in self.explanations.items():
            found = [(str(f.severity), f.title) for f in ranked if f.target == name]
            evidence = explanation.evidence.with_check(audit_check(found))
            judged[name] = replace(explanation, evidence=evidence)
        object.__setattr__(self, "explanations", replace(self.explanations, explanations=judged))

    def at_least(self, severity: Severity | str) -> list[Finding]:
        """The findings that are as grave as this, or graver."""
        limit = Severity.of(severity)
        return [finding for finding in self.findings if finding.severity.rank <= limit.rank]

    def counterexamples(self) -> list[Data]:
        """All graphs that the model gets wrong and whose true class is known."""
        return [g for finding in self.findings for g in finding.graphs if g.get("y") is not None]

    def counts(self) -> dict[str, int]:
        """How many findings there are of each severity."""
        return {str(s): sum(finding.severity is s for finding in self.findings) for s in Severity}

    def to_json(self, with_graphs: bool = True) -> dict[str, Any]:
        """The audit as plain JSON values."""
        spec = self.explanations.spec
        values: dict[str, Any] = {
            "schema": SCHEMA,
            "kind": KIND,
            "model": self.explanations.model_name,
            "spec": spec.to_json(),
            "counts": self.counts(),
            "findings": [finding.to_json(spec, with_graphs) for finding in self.findings],
            "checked": list(self.checked),
            "numbers": self.numbers,
            "classes": [
                {
                    "class": explanation.name,
                    "verdict": explanation.verdict.to_json(),
                    "probability": vars(explanation.probability),
                    "nodes": explanation.num_nodes,
                    "edges": explanation.num_edges,
                }
                for explanation in self.explanations.values()
            ],
        }
        if with_graphs:
            values["contrasts"] = [graph_to_json(graph, spec) for graph in self.contrasts]
        if self.before is not None:
            values["before"] = self.before.to_json(with_graphs)
        return values


def load_graphs(
    path: str | Path,
    severity: Severity | str = Severity.LOW,
    *,
    labeled: bool = False,
    contrasts: bool = False,
) -> list[Data]:
    """Read the graphs that prove the findings of an audit, the gravest first; nothing is unpickled.

    The path is the folder that ``gnninterpreter audit --out`` wrote, or its ``audit.json``. Only
    findings as grave as ``severity``, or graver, count; with ``labeled`` only graphs whose true
    class is known, which is then in ``y``: what can be trained on. With ``contrasts`` those with
    the true patterns for which look-alikes pass come last: a model that is trained with look-alikes
    alone learns to see no pattern at all.

    Raises:
        DataError: If it is no audit, or one without its graphs.

    Example:
        >>> extra = load_graphs("audit", labeled=True, contrasts=True)  # doctest: +SKIP
        >>> loader = DataLoader([*dataset, *extra])  # doctest: +SKIP
    """
    file = path_of("path", path, DataError)
    file = file / FILE if file.is_dir() else file
    limit = Severity.of(severity)
    try:
        values = read_json(file)
    except OSError as error:
        raise DataError(
            f"cannot read {file} ({error.strerror}); give the folder that "
            "'gnninterpreter audit MODEL --out FOLDER' wrote"
        ) from error
    except ValueError as error:
        raise DataError(f"{file} is no JSON ({error}); make the audit again") from error
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise DataError(f"{file} is no audit; 'gnninterpreter audit MODEL --out FOLDER' makes one")
    try:
        spec = GraphSpec.from_json(values["spec"])
        found = [f for f in values["findings"] if Severity(f["severity"]).rank <= limit.rank]
        stored = [graph for finding in found for graph in finding["graphs"]]
        stored += values["contrasts"] if contrasts else []
        graphs = [graph_from_json(g, spec, most_nodes=MOST, most_edges=MOST) for g in stored]
    except KeyError as error:
        raise DataError(
            f"{file} has no {error}; it was written without the graphs, so make the audit again"
        ) from error
    except (TypeError, ValueError, GNNInterpreterError) as error:
        raise DataError(f"{file} is damaged ({error}); make the audit again") from error
    return [graph for graph in graphs if not labeled or graph.get("y") is not None]
