"""Prototype and samples hold the core that makes the class, where there is such a graph."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gnninterpreter.distribution import from_graphs
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.explanation.holding import holding, lacking
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.objective import Aim
from gnninterpreter.search import History, Limits, Problem, Reason, Recipe, SearchResult
from tests.evidence.patterns.pairs import PAIRED_CLASS, SPEC, chain, classifier

CORE = Core(chain("rrr"), SPEC, 1.0, True, coverage=1.0, lift=50.0)


def found(modes: list[str], population: list[str]) -> SearchResult:
    graphs = dense_graphs([chain(one) for one in modes], SPEC)
    problem = Problem(classifier(), None, Recipe.auto().objective, Aim(PAIRED_CLASS, 6, 9.0))
    evaluation = problem.evaluate(graphs)
    return SearchResult(
        PAIRED_CLASS, from_graphs(graphs), evaluation, evaluation.score,
        [Reason.CONVERGED] * len(modes), [1] * len(modes), History(), Limits(6, 9.0), "relaxed",
        0.99, 0.1, {}, dense_graphs([chain(one) for one in population], SPEC),
    )  # fmt: skip


def kinds(graphs: Any) -> list[str]:
    """The colours of chains, the smaller end first."""
    every = ["".join("br"[int(row[1])] for row in one.x) for one in graphs.to_data_list()]
    return [min(one, one[::-1]) for one in every]


def test_samples_hold_the_core_and_one_of_them_stands_for_a_restart_that_does_not() -> None:
    made = holding(
        found(["brrbbb", "bbbrrb"], ["bbrr", "bbrrrb", "brrr"]), CORE, classifier(), None
    )
    assert made.population is not None
    assert kinds(made.population) == ["bbrrrb", "brrr"]
    assert sum("rrr" in one for one in kinds(made.distribution.mode())) == 1
    assert sum("brrb" in one for one in kinds(made.distribution.mode())) == 1


def test_restarts_stay_where_one_of_them_holds_it() -> None:
    before = found(["brrrbb", "bbbrrb"], ["bbrr", "bbrrrb"])
    made = holding(before, CORE, classifier(), None)
    assert kinds(made.distribution.mode()) == kinds(before.distribution.mode())
    assert made.population is not None
    assert kinds(made.population) == ["bbrrrb"]


def test_without_any_such_graph_nothing_changes() -> None:
    core = replace(CORE, graph=chain("r" * 7))  # too large to be shown
    before = found(["brrbbb"], ["bbrr"])
    made = holding(before, core, classifier(), None)
    assert kinds(made.distribution.mode()) == ["bbbrrb"]
    assert made.population is not None
    assert kinds(made.population) == ["bbrr"]


def test_what_is_left_holds_no_core_of_another_class() -> None:
    """Here three red nodes in a row are another class's, and two of them are this one."""
    before = found(["brrrbb", "bbrrrb"], ["bbrr", "bbrrrb"])
    made = lacking(before, [CORE], classifier(), None)
    assert made.population is not None
    assert kinds(made.population) == ["bbrr"]
    assert sum("rrr" in one for one in kinds(made.distribution.mode())) == 1
    stays = lacking(found(["brrbbb", "bbrrrb"], ["bbrrrb"]), [CORE], classifier(), None)
    assert kinds(stays.distribution.mode()) == ["bbbrrb", "bbrrrb"]
