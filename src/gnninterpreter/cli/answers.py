"""Prototype, core, shortcuts and exemplars on the command line: cells of the table, and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gnninterpreter.report.words import (
    figure,
    shortcut_words,
    typical_percentile,
)

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation

EXEMPLARS = 5
UNCHECKED = "not checked"


def given_cell(explanation: Explanation) -> str:
    """What the model says of samples: the mean probability, the value, or both probabilities."""
    target, sampled = explanation.target, explanation.sampled_outputs
    if target.probable:
        return f"{explanation.probability.mean:.3f}"
    means = [mean for mean, _ in sampled] or explanation.class_probabilities
    return target.written(means).removeprefix(f"{target.measure} ")


def prototype_cell(explanation: Explanation) -> str:
    """Size of the prototype: nodes and edges."""
    return f"{explanation.num_nodes} / {explanation.num_edges}"


def typical_cell(explanation: Explanation) -> str:
    """Share of real graphs that are less typical than the prototype."""
    percentile = typical_percentile(explanation)
    return UNCHECKED if percentile is None else f"{percentile:.0f}%"


def core_cell(explanation: Explanation) -> str:
    """Share of the class's graphs that hold the core, and how often others do."""
    core = explanation.core
    coverage, lift = figure(core, "coverage"), figure(core, "lift")
    if coverage is None:
        return UNCHECKED
    return f"{100 * coverage:.0f}%" + ("" if lift is None else f", x {lift:.1f}")


def shortcut_lines(explanation: Explanation) -> Iterator[str]:
    """What fools the model, one line each."""
    per_edge = 1 if explanation.spec.directed else 2
    for shortcut in explanation.shortcuts:
        size = f"{shortcut.graph.num_nodes} nodes, {shortcut.graph.num_edges // per_edge} edges"
        words = shortcut_words(shortcut, explanation.target)
        yield f"{explanation.name}: {size}: {words[:1].lower()}{words[1:]}"


def answers_json(explanation: Explanation) -> dict[str, Any]:
    """The answers as plain JSON values; what was not measured is null."""
    return {
        "typical_percentile": typical_percentile(explanation),
        "cores": [core.to_json() for core in explanation.cores],
        "shortcuts": [shortcut.to_json() for shortcut in explanation.shortcuts],
        "exemplars": [real.to_json() for real in explanation.real_graphs[:EXEMPLARS]],
    }
