"""What every question of the audit needs: the model, the rule, the graphs, the seed.

Some rules define the classes (Motif's looks for the motif), others are rules of thumb: MUTAG's only
agrees with most of the labels. What contradicts a rule of thumb is never more than a hint.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from typing import Any, TypeVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.audit.findings import Severity
from gnninterpreter.audit.patterns import Pattern
from gnninterpreter.datasets import NAMES, dataset_class, load
from gnninterpreter.datasets.rome import RomeDataset
from gnninterpreter.errors import DataError, MissingExtraError
from gnninterpreter.evidence import rule_of
from gnninterpreter.evidence.patterns.typed import node_kinds
from gnninterpreter.evidence.thresholds import EXACT_RULE
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.classifier import GraphClassifier

T = TypeVar("T")
Oracle = Callable[[Data], int]
COMMON = 0.02


@dataclass(frozen=True)
class Context:
    """A model under audit.

    Hosts are graphs to join things to; the pool has more, to choose from where only those of one
    class will do. The rule agrees with a share of their labels; the data set may say that it is one
    of thumb.
    """

    classifier: GraphClassifier
    hosts: list[Data]
    seed: int
    oracle: Oracle | None = None
    rule_agreement: float | None = None
    rule_of_thumb: bool = False
    patterns: tuple[Pattern, ...] = ()
    pool: tuple[Data, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.classifier.spec.class_names

    @cached_property
    def common(self) -> set[int]:
        """Kinds of nodes that are no rarity: in at least one of fifty graphs."""
        graphs = [*self.hosts, *self.pool]
        held = Counter(k for own in node_kinds(graphs, self.classifier.spec) for k in set(own))
        return {kind for kind, count in held.items() if count >= COMMON * len(graphs)}

    @property
    def whole(self) -> bool:
        """Whether the classes are about graphs as a whole, so that joining makes no sense."""
        return any(pattern.whole for pattern in self.patterns)

    @property
    def gravest(self) -> Severity:
        """A rule of thumb, or none at all, cannot prove more than a medium weakness."""
        known = self.oracle is not None
        return Severity.HIGH if known and self.exact else Severity.MEDIUM

    @property
    def exact(self) -> bool:
        """Whether the rule is no rule of thumb: it agrees with nearly every label, where known."""
        contradicted = self.rule_agreement is not None and self.rule_agreement < EXACT_RULE
        return not (self.rule_of_thumb or contradicted)

    @property
    def rule(self) -> str:
        """What to call the rule in a sentence."""
        return "the rule of the data set" if self.exact else "a rule of thumb"

    @property
    def agreement(self) -> str:
        """Share of the labels that the rule agrees with, in words."""
        return "an unknown share" if self.rule_agreement is None else f"{self.rule_agreement:.0%}"

    def generator(self, purpose: int) -> torch.Generator:
        """A stream of random numbers for one question."""
        return torch.Generator().manual_seed(1_000_003 * (self.seed % 2**31) + purpose)

    def predict(self, graphs: list[Data]) -> tuple[Tensor, Tensor]:
        """Predicted class (-1 for none) and probabilities of the classes for each, on the CPU."""
        probabilities = self.classifier.score_data(graphs).probabilities.double().cpu()
        # A graph whose derived features do not exist has no class.
        missing = probabilities.isnan().any(dim=1)
        return probabilities.argmax(dim=1).masked_fill(missing, -1), probabilities

    def class_by_rule(self, graph: Data) -> int | None:
        """The class by rule, or None where there is no rule or it does not know."""
        if self.oracle is None:
            return None
        try:
            label = int(self.oracle(graph))
        except (DataError, MissingExtraError):
            return None  # such as a rule for molecules, on a graph that is none
        except Exception as error:  # whatever a user's function does
            raise DataError(
                f"oracle failed on a graph with {graph.num_nodes} nodes ({type(error).__name__}: "
                f"{error}); it must give the class of every graph that the spec allows"
            ) from error
        if not 0 <= label < len(self.names):
            raise DataError(
                f"oracle must give a class from 0 to {len(self.names) - 1} (got {label})"
            )
        return label

    def ruled(self, graph: Data) -> str:
        """The class by rule as the end of a caption; nothing where there is no rule."""
        label = self.class_by_rule(graph)
        return "" if label is None else f", by {self.rule} {self.names[label]}"

    def labeled(self, graph: Data, label: int | None = None) -> Data:
        """A copy with its class in ``y``, where the rule is one to learn from: none of thumb."""
        known = self.class_by_rule(graph) if label is None else label
        copy = graph.clone().cpu()
        if known is not None and self.exact:
            copy.y = torch.tensor([known])
        return copy


def oracle_of(model: Any, dataset: Any = None) -> Oracle | None:
    """Return what gives a graph its class by rule; None where there is no rule."""
    rule = rule_of(model, dataset)
    return None if rule is None else rule.oracle


def rule_agreement(rule: Callable[[Data], int | None], graphs: list[Data]) -> float | None:
    """Share of labeled graphs whose label is what the rule says; None without labeled graphs."""
    labeled = [graph for graph in graphs if graph.get("y") is not None]
    if not labeled:
        return None
    return sum(rule(graph) == int(graph.y) for graph in labeled) / len(labeled)


def in_turn(groups: Sequence[Sequence[T]], most: int) -> tuple[T, ...]:
    """The first of each group, then the second of each, and so on, up to a number."""
    turns = (one for turn in zip_longest(*groups) for one in turn if one is not None)
    return tuple(islice(turns, most))


FRESH_SEED = 101
RANDOM_NODES = 12


def host_graphs(
    classifier: GraphClassifier, dataset: Any, dataset_name: str | None, count: int, seed: int
) -> tuple[list[Data], str]:
    """Find graphs to join things to, and say in words where they come from."""
    generator = torch.Generator().manual_seed(seed)
    graphs: list[Data] = []
    source = "random graphs"
    if dataset is not None:
        graphs, source = list(dataset), "graphs of the data set"
    elif dataset_name in NAMES:
        # Without the files of a downloaded data set random graphs have to do.
        with contextlib.suppress(DataError):
            graphs = _fresh(str(dataset_name), count, FRESH_SEED + seed)
            source = f"fresh graphs of {dataset_name}"
    if not graphs:
        drawn = random_graphs(
            classifier.spec, count, RANDOM_NODES, generator, density=0.2, dtype=classifier.dtype
        )
        graphs = drawn[drawn.possible].to_data_list()
    order = torch.randperm(len(graphs), generator=generator)[:count].tolist()
    return [graphs[i].clone() for i in order], source


def _fresh(name: str, count: int, seed: int) -> list[Data]:
    """Draw graphs of a data set of this package that no bundled model was trained on."""
    options: dict[str, Any] = {}
    if issubclass(dataset_class(name), RomeDataset):
        options = {"base": "synthetic", "num_graphs": count}
    elif name != "mutag":
        options = {"num_graphs": count}
    with tempfile.TemporaryDirectory() as folder:
        return list(load(name, folder, seed=seed, **options))
