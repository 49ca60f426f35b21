"""Targets: scores by hand, what counts as reached, and that they survive being stored."""

from __future__ import annotations

import json
import math

import pytest
import torch

from gnninterpreter.errors import CheckpointError, TargetError
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.models.task import Task
from gnninterpreter.objective import (
    BoundaryTarget,
    ClassTarget,
    LabelTarget,
    Target,
    ValueTarget,
    target_from_json,
)
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.spec import GraphSpec

SPEC = GraphSpec(class_names=("a", "b", "c"))
VALUE = GraphSpec(class_names=("log S",))
EACH = [
    ClassTarget(1, "b"),
    LabelTarget(2, "c"),
    ValueTarget(0, "max", "max", 2.0, 0.5),
    ValueTarget(0, "min", "min", -2.0, 0.5),
    ValueTarget(0, "1.5", 1.5, 1.5, 0.1),
    BoundaryTarget(0, "a | b", 1, ("a", "b")),
]


def scores(*rows: list[float], task: Task = Task.MULTICLASS) -> Scores:
    logits = torch.tensor(rows, dtype=torch.double)
    return Scores(logits, logits, task)


def logs(*shares: float) -> list[float]:
    return [math.log(share) for share in shares]


def test_a_class_has_its_probability() -> None:
    given = scores(logs(0.2, 0.7, 0.1), logs(0.5, 0.25, 0.25))
    target = ClassTarget(1, "b")
    assert target.score(given).tolist() == pytest.approx([0.7, 0.25])
    assert target.raw_score(given).tolist() == pytest.approx(logs(0.7, 0.25))
    assert target.assigned(given).tolist() == [True, False]
    assert [target.true_of(torch.tensor([y])) for y in (1.0, 0.0, math.nan)] == [True, False, None]
    rows = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [math.nan, 1.0, 0.0]]
    assert [target.true_of(torch.tensor([y])) for y in rows] == [True, False, None, None]
    assert target.truth(torch.tensor(rows[:1]), ("a", "b", "c")) == "labelled b"
    assert target.truth(torch.tensor(rows[2:3]), ("a", "b", "c")) == ""


def test_a_label_has_its_own_probability_whatever_the_others_have() -> None:
    given = scores([9.0, 9.0, 0.0], [-9.0, 0.0, math.log(3)], task=Task.MULTILABEL)
    target = LabelTarget(2, "c")
    assert target.score(given).tolist() == pytest.approx([0.5, 0.75])
    assert target.assigned(given).tolist() == [False, True]
    row = torch.tensor([1.0, 0.0, math.nan])
    assert [LabelTarget(i, "x").true_of(row) for i in range(3)] == [True, False, None]
    assert given.probabilities[0].tolist() == pytest.approx([1 / (1 + math.exp(-9))] * 2 + [0.5])


def test_a_high_value_is_certain_where_it_reaches_what_few_graphs_have() -> None:
    given = scores([2.0], [1.5], [2.5], [-9.0])
    high = ValueTarget(0, "max", "max", 2.0, 0.5)
    found = high.score(given).tolist()
    assert found[0] == pytest.approx(0.99)
    assert found[1] == pytest.approx(0.5)
    assert found[2] > 0.999
    assert high.assigned(given).tolist() == [True, False, True, False]
    low = ValueTarget(0, "min", "min", -2.0, 0.5)
    assert torch.allclose(low.score(scores([-2.0], [-1.5])), high.score(scores([2.0], [1.5])))
    assert low.raw_score(given).tolist() == [-2.0, -1.5, -2.5, 9.0]
    assert [high.true_of(torch.tensor([y])) for y in (2.0, 1.9, math.nan)] == [True, False, None]


def test_a_number_is_met_within_its_unit() -> None:
    target = ValueTarget(0, "1.5", 1.5, 1.5, 0.1)
    given = scores([1.5], [1.6], [1.4], [1.7])
    assert target.score(given).tolist() == pytest.approx([1.0, 0.99, 0.99, 0.99**4])
    assert target.assigned(scores([1.5], [1.7])).tolist() == [True, False]
    assert target.raw_score(given).tolist() == pytest.approx([0.0, -0.1, -0.1, -0.2])


def test_a_boundary_is_where_both_have_half_and_nobody_else_anything() -> None:
    target = BoundaryTarget(0, "a | b", 1, ("a", "b"))
    given = scores(
        logs(0.5, 0.5, 1e-12), logs(0.6, 0.4, 1e-12), logs(0.25, 0.25, 0.5), logs(0.9, 0.1, 1e-12)
    )
    found = target.score(given).tolist()
    assert found[:3] == pytest.approx([1.0, 0.99, 0.5])
    assert found[3] < 0.8
    inside = scores(logs(0.5, 0.5, 1e-12), logs(0.59, 0.41, 1e-12), logs(0.9, 0.1, 1e-12))
    assert target.assigned(inside).tolist() == [True, True, False]


def test_far_from_a_boundary_the_score_falls_by_one_nat_for_each_of_the_distance() -> None:
    target = BoundaryTarget(0, "a | b", 1, ("a", "b"))
    found = target.log_score(scores([20.0, 0.0, -99.0], [60.0, 0.0, -99.0], [0.0, 61.0, -99.0]))
    assert (found[0] - found[1]).item() == pytest.approx(40.0, abs=1e-3)
    assert (found[1] - found[2]).item() == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("target", EACH, ids=lambda t: f"{t.kind} {t.name}")
def test_log_scores_are_at_most_zero_and_have_finite_slopes(target: Target) -> None:
    logits = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)).double() * 4
    logits.requires_grad_()
    found = target.log_score(Scores(logits, logits))
    assert (found <= 0).all()
    assert torch.isfinite(torch.autograd.grad(found.sum(), logits)[0]).all()
    batched = target.log_score(Scores(logits.view(5, 10, 3), logits.view(5, 10, 3)))
    assert torch.allclose(batched.flatten(), found)
    assert target.quantity


@pytest.mark.parametrize("target", EACH, ids=lambda t: f"{t.kind} {t.name}")
def test_targets_survive_being_stored(target: Target) -> None:
    assert target_from_json(json.loads(json.dumps(target.to_json()))) == target


@pytest.mark.parametrize(
    "stored",
    [
        {},
        {"kind": "wish"},
        {"kind": "class", "index": 0},
        {"kind": "class", "index": "0", "name": "a"},
        {"kind": "class", "index": 0, "name": "a", "more": 1},
        {"kind": "value", "index": 0, "name": "v", "aim": "most", "reach": 1.0, "unit": 1.0},
        {"kind": "value", "index": 0, "name": "v", "aim": "max", "reach": 1.0, "unit": 0.0},
    ],
)
def test_a_damaged_target_is_refused(stored: dict[str, object]) -> None:
    with pytest.raises((CheckpointError, TargetError)):
        target_from_json(stored)


# --- what a user asks for -----------------------------------------------------------------------


def names(asked: object, spec: GraphSpec = SPEC, task: Task = Task.MULTICLASS) -> list[str]:
    return [target.name for target in targets_of(asked, spec, task, None)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, ["a", "b", "c"]),
        ("b", ["b"]),
        (2, ["c"]),
        (["a", 1, "b"], ["a", "b"]),
        (("a", "b", "c"), ["a", "b", "c"]),
        (("a", "c"), ["a | c"]),
        ([("a", "c"), "b"], ["a | c", "b"]),
        ((name for name in "ab"), ["a", "b"]),
    ],
)
def test_classes_and_pairs_of_them(asked: object, expected: list[str]) -> None:
    assert names(asked) == expected


def test_labels_of_a_multilabel_model() -> None:
    found = targets_of(["a", 2], SPEC, Task.MULTILABEL, None)
    assert found == [LabelTarget(0, "a"), LabelTarget(2, "c")]
    with pytest.raises(TargetError, match="the model is multilabel"):
        targets_of([("a", "b")], SPEC, Task.MULTILABEL, None)


def test_values_of_a_regression() -> None:
    assert names(None, VALUE, Task.REGRESSION) == ["min", "max"]
    assert names(["max", -2, "0.5"], VALUE, Task.REGRESSION) == ["max", "-2", "0.5"]
    several = GraphSpec(class_names=("u", "v"))
    assert names(None, several, Task.REGRESSION) == ["u min", "u max", "v min", "v max"]
    assert names([("v", 3.0)], several, Task.REGRESSION) == ["v 3"]
    for wrong in ("most", True, float("nan"), None.__class__):
        with pytest.raises(TargetError, match="'max', 'min' or a number"):
            names([wrong], VALUE, Task.REGRESSION)
    with pytest.raises(TargetError, match="name the output, as in 'u max'; there are u, v"):
        names("max", several, Task.REGRESSION)


def test_nothing_asked_for_is_refused() -> None:
    with pytest.raises(TargetError, match="targets is empty"):
        names([])


def statistics() -> ClassStatistics:
    """Ten tenths of a regression whose predictions run from 0 to 100."""
    rows = torch.arange(10.0)
    return ClassStatistics(
        count=torch.full((10,), 5.0),
        mean_embedding=rows.unsqueeze(1).repeat(1, 2),
        mean_nodes=10 + rows,
        mean_edges=20 + rows,
        edges_per_node=torch.ones(10),
        edges_per_node_std=torch.ones(10),
        similarity_quantiles=torch.linspace(0, 1, 101).repeat(10, 1),
        score_quantiles=torch.full((10, 101), torch.nan),
        accuracy=torch.ones(10),
        value_quantiles=torch.linspace(0, 100, 101).unsqueeze(0),
    )


def test_scale_and_size_of_a_value_come_from_the_data() -> None:
    known = statistics()
    low, high, near = targets_of(["min", "max", 42], VALUE, Task.REGRESSION, known)
    assert isinstance(low, ValueTarget)
    assert isinstance(high, ValueTarget)
    assert isinstance(near, ValueTarget)
    assert (low.reach, high.reach) == (5.0, 95.0)
    assert high.unit == pytest.approx(29.3, abs=0.1)
    assert near.unit == pytest.approx(2.93, abs=0.01)
    sizes = [target.profile(known) for target in (low, high, near)]
    assert [profile.mean_nodes for profile in sizes if profile] == [10.0, 19.0, 14.0]
    assert sizes[0] is not None
    assert sizes[0].score_percentile(0.9) is None


def test_a_boundary_has_the_mean_size_of_both_and_no_embedding() -> None:
    profile = BoundaryTarget(0, "a | b", 1, ("a", "b")).profile(statistics())
    assert profile is not None
    assert (profile.count, profile.mean_nodes, profile.mean_embedding) == (10, 10.5, None)
    assert profile.least_similarity == -1.0
    assert ClassTarget(0, "a").profile(None) is None
