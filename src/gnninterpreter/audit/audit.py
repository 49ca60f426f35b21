"""The audit: explain every class, then look for ways in which the model is wrong about it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from torch import nn
from torch_geometric.data import Data

from gnninterpreter.api import explain
from gnninterpreter.arguments import several, whole_number
from gnninterpreter.audit.changes import small_change_findings
from gnninterpreter.audit.context import Context, Oracle, host_graphs, rule_agreement
from gnninterpreter.audit.findings import Audit, Finding, Kind
from gnninterpreter.audit.flips import lookalike_findings
from gnninterpreter.audit.lookalikes import ColoredGraph
from gnninterpreter.audit.missed import contrasts, missed_findings
from gnninterpreter.audit.patterns import Pattern, true_patterns
from gnninterpreter.audit.questions import default_class, disagreements
from gnninterpreter.errors import SpecError
from gnninterpreter.evidence import rule_of
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.models import Bundle
from gnninterpreter.models import load as load_model
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import BoundaryTarget, ClassTarget
from gnninterpreter.objective.question import YES, as_question
from gnninterpreter.spec import graph_list

# Graphs to choose from for each that things are joined to: classes may be rare.
POOL = 6
MOST_HOSTS = 100_000


def audit(
    model: nn.Module | Bundle | str,
    dataset: Any = None,
    *,
    explanations: ExplanationSet | None = None,
    oracle: Oracle | None = None,
    hosts: int = 60,
    seed: int = 0,
    forward: Callable[..., Any] | None = None,
    patterns: Sequence[Pattern] | None = None,
    **settings: Any,
) -> Audit:
    """Look for ways in which a model is certain and wrong; the gravest finding comes first.

    Five questions: (1) what does each class look like to the model; (2) does the rule of the data
    set disagree; (3) does the model see the patterns that define classes, and do look-alikes of
    them and of the explanations pass for them; (4) is there a default class; (5) how small a change
    turns an explanation into another class.

    The model may be a bundled one's name. Explanations of it are used where there are some already,
    and else made with ``settings`` of `gnninterpreter.explain`. Without labeled graphs look-alikes
    hang on so many ``hosts`` among fresh graphs of the data set that a bundled model was trained
    on, or on random ones. The oracle is the rule that gives a graph its class, and patterns are
    what defines the classes: the data set's own, or those that are known of a bundled model's, when
    omitted.

    Example:
        >>> found = audit(gi.models.load("motif"))  # doctest: +SKIP
        >>> found.findings[0].title  # doctest: +SKIP
        'Look-alikes of the true house-x pass for “house-x”'
    """
    hosts = whole_number("hosts", hosts, 1, MOST_HOSTS)
    seed = whole_number("seed", seed, -(2**63))
    patterns = None if patterns is None else several("patterns", patterns, "patterns")
    if odd := [one for one in patterns or () if not isinstance(one, Pattern)]:
        raise SpecError(f"patterns must be a list of Pattern (got {odd[0]!r:.60})")
    if not isinstance(explanations, (ExplanationSet, type(None))):
        kind = type(explanations).__name__
        raise SpecError(f"explanations must be a result of gnninterpreter.explain (got {kind})")
    model = load_model(model) if isinstance(model, str) else model
    dataset = None if dataset is None else graph_list(dataset)
    started = time.perf_counter()
    if explanations is None:
        explanations = explain(model, dataset, seed=seed, forward=forward, **settings)
    drawn = seed % 2**63  # numpy takes no seed below 0
    given = (model, dataset, explanations, oracle, patterns, hosts, drawn, forward)
    context, source = _context(*given)
    found: list[Finding] = []
    checked: list[str] = [f"graphs to join things to: {len(context.hosts)} {source}"]
    if context.oracle is None:
        checked.append("there is no rule, so that nothing can be shown to be wrong")

    def keep(answer: tuple[list[Finding], str]) -> None:
        found.extend(answer[0])
        checked.append(answer[1])

    rates: dict[str, dict[str, float]] = {}
    for one in explanations.to("cpu").values():  # where the data is
        explanation, about = _asked(one, context)
        if about is None:
            checked.append(f"{one.name}: a boundary is where models change their mind; not audited")
            continue
        keep(disagreements(explanation, about))
        for graph, what in _sources(explanation, about):
            findings, asked, measured = lookalike_findings(
                graph, what, explanation.target.index, about
            )
            keep((findings, asked))
            if measured:
                rates[what] = measured
        keep(small_change_findings(explanation, about))
    for pattern in context.patterns:
        keep(missed_findings(pattern, context))
    if context.classifier.task.exclusive:
        keep(default_class(context))
    numbers: dict[str, Any] = {
        "seed": seed,
        "hosts": len(context.hosts),
        "seconds": round(time.perf_counter() - started, 1),
        "flip rates": rates,
    }
    if context.rule_agreement is not None:
        numbers["rule agrees with labels"] = round(context.rule_agreement, 4)
    passed = {f.target for f in found if f.kind is Kind.LOOKALIKE}
    contrasted = [
        graph
        for pattern in context.patterns
        if pattern.class_name in passed
        for graph in contrasts(pattern, context)
    ]
    found.sort(key=lambda f: (f.severity.rank, -f.weight, f.target, f.title))
    return Audit(explanations, tuple(found), numbers, tuple(checked), contrasts=tuple(contrasted))


def _context(
    model: nn.Module | Bundle,
    dataset: Any,
    explanations: ExplanationSet,
    oracle: Oracle | None,
    patterns: Sequence[Pattern] | None,
    hosts: int,
    seed: int,
    forward: Callable[..., Any] | None,
) -> tuple[Context, str]:
    name = model.dataset_name if isinstance(model, Bundle) else getattr(dataset, "name", None)
    module = model.model if isinstance(model, Bundle) else model
    classifier = GraphClassifier(module, explanations.spec, forward=forward, examples=dataset)
    pool, source = host_graphs(classifier, dataset, name, POOL * hosts, seed)
    rule = rule_of(model, dataset)
    thumb = oracle is None and rule is not None and rule.of_thumb
    oracle = oracle or (None if rule is None else rule.oracle)
    # What defines a class shows a mistake only where a rule says so.
    known = () if oracle is None else true_patterns(dataset, name)
    chosen = known if patterns is None else tuple(patterns)
    for named in (name for one in chosen for name in (one.class_name, *one.hosts)):
        classifier.spec.class_index(named)  # says which classes there are, where this is none
    context = Context(classifier, pool[:hosts], seed, oracle, patterns=chosen, pool=tuple(pool))
    if oracle is not None:
        agreed = rule_agreement(context.class_by_rule, pool)
        context = replace(context, rule_agreement=agreed, rule_of_thumb=thumb)
    return context, source


def _asked(explanation: Explanation, context: Context) -> tuple[Explanation, Context | None]:
    """An explanation of a label or value as one of two classes; no context for a boundary."""
    target = explanation.target
    if isinstance(target, (ClassTarget, BoundaryTarget)):
        return explanation, context if isinstance(target, ClassTarget) else None
    view = as_question(context.classifier, target, (f"not {target.name}", target.name))
    # Labels and rules are about the outputs as they were.
    hosts = [graph.clone().update({"y": None}) for graph in context.hosts]
    about = replace(context, classifier=view, hosts=hosts, oracle=None, patterns=(), pool=())
    return replace(explanation, spec=view.spec, target=ClassTarget(YES, target.name)), about


def _sources(explanation: Explanation, context: Context) -> Iterator[tuple[Data, str]]:
    """What to imitate for a class: the patterns that define it, and its explanation."""
    directed = context.classifier.spec.directed
    known = []
    for pattern in context.patterns:
        if pattern.class_name == explanation.name and pattern.paste is None:
            known.append(ColoredGraph.from_data(pattern.first, directed))
            yield pattern.first, f"the true {explanation.name}"
    if explanation.num_edges:
        own = ColoredGraph.from_data(explanation.best, directed)
        if not any(own.same(other) for other in known):
            yield explanation.best, f"the explanation of {explanation.name}"
