from __future__ import annotations

import pytest
import torch

from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.datasets.mutag import ATOMS, MUTAG
from gnninterpreter.errors import SpecError
from gnninterpreter.models import load
from gnninterpreter.spec import GraphSpec

M = 5
CARBON, OXYGEN, FLUORINE = ATOMS.index("C"), ATOMS.index("O"), ATOMS.index("F")


def play(rules: Rules, actions: list[tuple[int, int]]) -> tuple[State, list[bool]]:
    """Take actions in one graph, one after the other."""
    state, kept = rules.begin(1), []
    for start, end in actions:
        state, legal = rules.apply(state, torch.tensor([start]), torch.tensor([end]))
        kept.append(bool(legal))
    return state, kept


def test_begins_with_one_carbon():
    state = Rules.of(MUTAG.spec, M).begin(3)
    assert state.count.tolist() == [1, 1, 1]
    assert state.types[0, 0].argmax() == CARBON
    assert state.present.tolist() == [[True, False, False, False, False]] * 3


def test_a_new_node_is_appended_and_joined():
    state, kept = play(Rules.of(MUTAG.spec, M), [(0, M + OXYGEN), (1, M + CARBON)])
    assert kept == [True, True]
    assert int(state.count) == 3
    assert state.types[0].argmax(1).tolist()[:3] == [CARBON, OXYGEN, CARBON]
    assert state.weight[0].nonzero().tolist() == [[0, 1], [1, 0], [1, 2], [2, 1]]


def test_valency_rule_of_fluorine_and_oxygen():
    # Fluorine has one bond; oxygen two.
    _, kept = play(Rules.of(MUTAG.spec, M), [(0, M + FLUORINE), (1, M + CARBON)])
    assert kept == [True, False]
    actions = [(0, M + OXYGEN), (1, M + CARBON), (1, M + CARBON)]
    assert play(Rules.of(MUTAG.spec, M), actions)[1] == [True, True, False]


def test_carbon_takes_four_bonds_and_no_fifth():
    rules = Rules.of(MUTAG.spec, 7)
    state, kept = play(rules, [(0, 7 + FLUORINE)] * 5)
    assert kept == [True] * 4 + [False]
    assert int(state.count) == 5
    # CF4 is saturated: nothing is left to do.
    assert not rules.legal(state).any()


def test_no_double_edge_no_loop_no_sixth_node():
    rules = Rules.of(load("is_acyclic").spec, 3)
    state, kept = play(rules, [(0, 3), (0, 1), (1, 1), (1, 3), (2, 3), (0, 2)])
    assert kept == [True, False, False, True, False, True]
    assert int(state.count) == 3
    assert float(state.weight.sum()) == 6


def test_an_illegal_action_changes_nothing():
    rules = Rules.of(MUTAG.spec, M)
    before, _ = play(rules, [(0, M + FLUORINE)])
    after, legal = rules.apply(before, torch.tensor([1]), torch.tensor([M + CARBON]))
    assert not legal
    assert torch.equal(after.weight, before.weight)
    assert torch.equal(after.types, before.types)
    assert torch.equal(after.count, before.count)


def test_graphs_are_what_the_model_takes():
    rules = Rules.of(load("is_acyclic").spec, 3)
    state, _ = play(rules, [(0, 3), (1, 3)])
    graph = rules.graphs(state).to_data_list()[0]
    assert graph.num_nodes == 3
    assert torch.equal(graph.x, torch.ones(3, 1))


def test_no_valencies_where_they_are_switched_off():
    rules = Rules.of(MUTAG.spec, M, valencies={})
    assert play(rules, [(0, M + FLUORINE), (1, M + CARBON)])[1] == [True, True]


def test_what_cannot_be_built():
    with pytest.raises(SpecError, match="edge"):
        Rules.of(load("cyclicity").spec, M)
    with pytest.raises(SpecError, match="start"):
        Rules.of(MUTAG.spec, M, start="Xe")
    with pytest.raises(SpecError, match="max_nodes"):
        Rules.of(MUTAG.spec, 1)
    with pytest.raises(SpecError, match="directed"):
        Rules.of(GraphSpec(class_names=("a", "b"), directed=True), M)


def test_start_by_name():
    assert Rules.of(MUTAG.spec, M, start="N").start == ATOMS.index("N")
