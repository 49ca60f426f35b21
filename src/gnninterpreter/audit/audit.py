"""The audit: explain every class, then look for ways in which the model is wrong about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from torch import nn
from torch_geometric.data import Data

from gnninterpreter.api import explain
from gnninterpreter.audit.changes import small_change_findings
from gnninterpreter.audit.context import Context
from gnninterpreter.audit.default_class import default_class
from gnninterpreter.audit.disagreement import disagreements
from gnninterpreter.audit.findings import Audit, Finding
from gnninterpreter.audit.flips import lookalike_findings
from gnninterpreter.audit.hosts import host_graphs
from gnninterpreter.audit.lookalikes import LookalikeMaker, invariant, lookalikes
from gnninterpreter.audit.truth import Oracle, ground_truth, rule_agreement, true_motifs
from gnninterpreter.errors import SpecError
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier

__all__ = ["audit"]


def audit(
    model: nn.Module | Bundle,
    dataset: Any = None,
    *,
    explanations: ExplanationSet | None = None,
    oracle: Oracle | None = None,
    hosts: int = 60,
    seed: int = 0,
    forward: Callable[..., Any] | None = None,
    make_lookalikes: LookalikeMaker = lookalikes,
    **settings: Any,
) -> Audit:
    """Look for ways in which a model is certain and wrong.

    Five questions: (1) what does each class look like to the model; (2) does the ground truth
    disagree; (3) do look-alikes turn graphs of other classes into it; (4) is there a default class;
    (5) how small a change turns an explanation into another class.

    Args:
        model: The model, as for `gnninterpreter.explain`.
        dataset: Labelled graphs. Without them look-alikes hang on fresh graphs of the data set that
            a bundled model was trained on, or on random ones.
        explanations: Explanations of this model, where there are some already.
        oracle: Gives the true class of a graph; the data set's own, or that of a bundled model,
            when omitted.
        hosts: How many graphs to hang look-alikes on.
        seed: The same seed gives the same findings.

    Keyword Args:
        forward: How to call the model, where its signature does not say.
        make_lookalikes: Makes look-alikes of a graph.
        **settings: More of `gnninterpreter.explain`.

    Returns:
        The findings, the gravest first.

    Example:
        >>> found = audit(gi.models.load("motif"))  # doctest: +SKIP
        >>> found.findings[0].title  # doctest: +SKIP
        'Look-alikes of the true house-x pass for “house-x”'
    """
    if hosts < 1:
        raise SpecError(f"hosts must be at least 1 (got {hosts})")
    started = time.perf_counter()
    if explanations is None:
        explanations = explain(model, dataset, seed=seed, forward=forward, **settings)
    context, source = _context(model, dataset, explanations, oracle, hosts, seed, forward)
    found: list[Finding] = []
    checked: list[str] = [f"look-alikes hang on {len(context.hosts)} {source}"]

    def keep(answer: tuple[list[Finding], str]) -> None:
        found.extend(answer[0])
        checked.append(answer[1])

    for explanation in explanations.values():
        found.extend(disagreements(explanation, context))
        for graph, what in _sources(explanation.name, explanations, context):
            target = explanation.target
            keep(lookalike_findings(graph, what, target, context, make_lookalikes))
        keep(small_change_findings(explanation, context))
    keep(default_class(context))
    numbers: dict[str, Any] = {
        "seed": seed,
        "hosts": len(context.hosts),
        "seconds": round(time.perf_counter() - started, 1),
    }
    if context.rule_agreement is not None:
        numbers["rule agrees with labels"] = round(context.rule_agreement, 4)
    return Audit(explanations, _ranked(found), numbers, tuple(checked))


def _context(
    model: nn.Module | Bundle,
    dataset: Any,
    explanations: ExplanationSet,
    oracle: Oracle | None,
    hosts: int,
    seed: int,
    forward: Callable[..., Any] | None,
) -> tuple[Context, str]:
    name = model.dataset_name if isinstance(model, Bundle) else getattr(dataset, "name", None)
    module = model.model if isinstance(model, Bundle) else model
    examples = None if dataset is None else list(dataset)
    classifier = GraphClassifier(module, explanations.spec, forward=forward, examples=examples)
    graphs, source = host_graphs(classifier, dataset, name, hosts, seed)
    oracle = oracle or ground_truth(model, dataset)
    agreement = None if oracle is None else rule_agreement(oracle, graphs)
    motifs = true_motifs(name) if oracle is not None else {}
    return Context(classifier, graphs, seed, oracle, agreement, motifs), source


def _sources(name: str, explanations: ExplanationSet, context: Context) -> list[tuple[Data, str]]:
    """What to imitate for a class: the pattern that defines it, and its explanation."""
    sources = []
    if name in context.motifs:
        sources.append((context.motifs[name], f"the true {name}"))
    explanation = explanations[name]
    if explanation.num_edges and not explanations.spec.directed:
        known = {invariant(graph) for graph, _ in sources}
        if invariant(explanation.best) not in known:
            sources.append((explanation.best, f"the explanation of {name}"))
    return sources


def _ranked(found: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda f: (f.severity.rank, -f.weight, f.target, f.title)))
