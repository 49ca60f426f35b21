"""What every question of the audit needs: the model, the rule, the graphs, the seed."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.audit.findings import Severity
from gnninterpreter.audit.truth import Oracle
from gnninterpreter.models.classifier import GraphClassifier

__all__ = ["Context"]

EXACT_RULE = 0.99


@dataclass(frozen=True)
class Context:
    """A model under audit.

    Args:
        classifier: The model.
        hosts: Graphs to hang things on, with their labels where they have any.
        seed: Of every draw.
        oracle: The rule that gives a graph its true class, where there is one.
        rule_agreement: Share of labelled graphs with which the rule agrees, where known.
        motifs: The patterns that define classes, by class name, where known.
    """

    classifier: GraphClassifier
    hosts: list[Data]
    seed: int
    oracle: Oracle | None = None
    rule_agreement: float | None = None
    motifs: dict[str, Data] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes."""
        return self.classifier.spec.class_names

    @property
    def gravest(self) -> Severity:
        """A rule of thumb, or none at all, cannot prove more than a medium weakness."""
        known = self.oracle is not None
        exact = self.rule_agreement is None or self.rule_agreement >= EXACT_RULE
        return Severity.HIGH if known and exact else Severity.MEDIUM

    def generator(self, purpose: int) -> torch.Generator:
        """A stream of random numbers for one question."""
        return torch.Generator().manual_seed(1_000_003 * (self.seed % 2**31) + purpose)

    def predict(self, graphs: list[Data]) -> tuple[Tensor, Tensor]:
        """Predicted class and probabilities of the classes for each graph, on the CPU."""
        probabilities = self.classifier.score_data(graphs).probabilities.double().cpu()
        return probabilities.argmax(dim=1), probabilities

    def truth(self, graph: Data) -> int | None:
        """The true class by rule, or None where there is no rule."""
        return None if self.oracle is None else int(self.oracle(graph))

    def labelled(self, graph: Data, label: int | None = None) -> Data:
        """A copy that carries its true class, where that is known."""
        known = self.truth(graph) if label is None else label
        copy = graph.clone().cpu()
        if known is not None:
            copy.y = torch.tensor([known])
        return copy
