"""Where the rule of a data set comes from, and what it is called."""

from __future__ import annotations

import pytest

import gnninterpreter as gi
from gnninterpreter.datasets import NAMES, dataset_class
from gnninterpreter.evidence import Rule, rule_of


class Ruled(list[object]):
    rule_of_thumb = True

    @staticmethod
    def oracle(graph: object) -> int:
        return 1


@pytest.mark.parametrize("name", NAMES)
def test_only_molecules_have_a_rule_of_thumb(name: str) -> None:
    assert dataset_class(name).rule_of_thumb == (name in ("mutag", "mutagenicity"))


def test_a_bundled_model_brings_the_rule_of_its_data() -> None:
    rule = rule_of(gi.models.load("mutag"))
    assert rule == Rule(dataset_class("mutag").oracle, of_thumb=True)
    assert rule is not None
    assert rule.name == "rule of thumb"
    exact = rule_of(gi.models.load("motif"))
    assert exact is not None
    assert exact.name == "rule of the data set"


def test_the_data_set_at_hand_comes_first() -> None:
    assert rule_of(gi.models.load("motif"), Ruled()) == Rule(Ruled.oracle, of_thumb=True)
    assert rule_of(None, Ruled()) == Rule(Ruled.oracle, of_thumb=True)


def test_where_nobody_knows_there_is_none() -> None:
    assert rule_of(None) is None
    assert rule_of(object(), [1, 2]) is None
