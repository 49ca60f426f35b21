"""What every question of the audit needs: the model, the rule, the graphs, the seed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.audit.findings import Severity
from gnninterpreter.audit.patterns import Pattern
from gnninterpreter.audit.truth import Oracle
from gnninterpreter.errors import DataError
from gnninterpreter.evidence.thresholds import EXACT_RULE
from gnninterpreter.models.classifier import GraphClassifier

__all__ = ["Context"]


@dataclass(frozen=True)
class Context:
    """A model under audit.

    Args:
        classifier: The model.
        hosts: Graphs to join things to, with their labels where they have any.
        seed: Of every draw.
        oracle: The rule that gives a graph its true class, where there is one.
        rule_agreement: Share of labelled graphs with which the rule agrees, where known.
        patterns: What defines the classes, where known.
        pool: More graphs, to choose from where only those of one class will do.
    """

    classifier: GraphClassifier
    hosts: list[Data]
    seed: int
    oracle: Oracle | None = None
    rule_agreement: float | None = None
    patterns: tuple[Pattern, ...] = ()
    pool: tuple[Data, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.classifier.spec.class_names

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
        """Whether the rule agrees with nearly every label, as far as that is known."""
        return self.rule_agreement is None or self.rule_agreement >= EXACT_RULE

    @property
    def agreement(self) -> str:
        """Share of the labels that the rule agrees with, in words."""
        return "an unknown share" if self.rule_agreement is None else f"{self.rule_agreement:.0%}"

    def generator(self, purpose: int) -> torch.Generator:
        """A stream of random numbers for one question."""
        return torch.Generator().manual_seed(1_000_003 * (self.seed % 2**31) + purpose)

    def predict(self, graphs: list[Data]) -> tuple[Tensor, Tensor]:
        """Predicted class and probabilities of the classes for each graph, on the CPU."""
        probabilities = self.classifier.score_data(graphs).probabilities.double().cpu()
        return probabilities.argmax(dim=1), probabilities

    def truth(self, graph: Data) -> int | None:
        """The true class by rule, or None where there is no rule.

        Raises:
            DataError: If the rule fails on a graph, or its answer is no class.
        """
        if self.oracle is None:
            return None
        try:
            label = int(self.oracle(graph))
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

    def labelled(self, graph: Data, label: int | None = None) -> Data:
        """A copy that carries its true class, where that is known."""
        known = self.truth(graph) if label is None else label
        copy = graph.clone().cpu()
        if known is not None:
            copy.y = torch.tensor([known])
        return copy
