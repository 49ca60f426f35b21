"""Values compare by what they hold: ``==`` gives an answer, and a spec has a hash."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import Any

import pytest
import torch

from gnninterpreter.equality import equal
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import Categorical, GraphSpec
from tests.explanation.made import explanation, explanation_set
from tests.tiny import COLOURED, distribution, graph


def statistics(value: float = 1.0) -> ClassStatistics:
    return ClassStatistics(**{f.name: torch.full((2, 3), value) for f in fields(ClassStatistics)})


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (statistics, {"mean_nodes": torch.zeros(2, 3)}),
        (lambda: graph(4, [(0, 1)]), {"weight": torch.zeros(1, 4, 4, dtype=torch.float64)}),
        (lambda: distribution(COLOURED, 4), {"edge_logits": torch.zeros(1, 6).double()}),
        (lambda: explanation(distribution(COLOURED, 4)), {"notes": []}),
        (lambda: explanation(distribution(COLOURED, 4)), {"history": []}),
        (
            lambda: explanation_set(explanation(distribution(COLOURED, 4))),
            {"statistics": statistics()},
        ),
        (lambda: GraphSpec(metadata={"x": "flat"}), {"metadata": {}}),
    ],
    ids=["statistics", "graphs", "distribution", "notes", "history", "set", "spec"],
)
def test_equal_where_every_field_is(make: Any, change: dict[str, Any]) -> None:
    one, other = make(), make()
    assert one == other
    assert one != replace(one, **change)
    assert one != "something else"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (torch.tensor([1.0, torch.nan]), torch.tensor([1.0, torch.nan]), True),
        (torch.tensor([1.0]), torch.tensor([1.0], dtype=torch.double), False),
        (torch.ones(2), torch.ones(3), False),
        (torch.ones(2), torch.ones(2, requires_grad=True), True),
        ([float("nan"), {"a": torch.ones(1)}], [float("nan"), {"a": torch.ones(1)}], True),
        ({"a": torch.ones(1)}, {"b": torch.ones(1)}, False),
        ([1], [1, 2], False),
        (torch.ones(1), 1.0, True),
        (1, 1.0, True),
        (None, torch.ones(2), False),
    ],
)
def test_single_values(one: Any, other: Any, same: bool) -> None:
    assert equal(one, other) is same


def test_a_spec_has_a_hash_and_cannot_change() -> None:
    written = {"x": "flat"}
    one = GraphSpec(nodes=(Categorical(3),), metadata=written)
    other = GraphSpec(nodes=(Categorical(3),), metadata={"x": "flat"})
    assert len({one, other, replace(one, metadata={})}) == 2
    written["x"] = "changed"
    assert one == other
    assert one.metadata == {"x": "flat"}
    with pytest.raises(TypeError):
        one.metadata["x"] = "changed"  # type: ignore[index]
    again = pickle.loads(pickle.dumps(one))
    assert (again, hash(again)) == (one, hash(one))
