"""What each kind of target says, in its own figures."""

from __future__ import annotations

import math

import pytest
import torch

from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.task import Task
from gnninterpreter.objective import BoundaryTarget, ClassTarget, LabelTarget, ValueTarget
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.spec import GraphSpec

SCALE = tuple(-8.0 + 0.1 * i for i in range(101))
LOW = ValueTarget(0, "min", "min", -7.5, 2.9, "log S", SCALE)
HIGH = ValueTarget(0, "max", "max", 1.5, 2.9, "log S", SCALE)
NEAR = ValueTarget(0, "-2", -2.0, -2.0, 0.29, "log S", SCALE)
BETWEEN = BoundaryTarget(0, "a | b", 1, ("a", "b"))


def test_values_are_told_by_their_name_and_scale() -> None:
    assert [t.title for t in (LOW, HIGH, NEAR)] == [
        "Lowest log S", "Highest log S", "log S near -2",
    ]  # fmt: skip
    assert [t.asked for t in (LOW, HIGH, NEAR)] == [
        "-7.50 or less", "1.50 or more", "-2.29 to -1.71",
    ]  # fmt: skip
    assert LOW.written([-7.9], [0.31]) == "log S -7.90 ± 0.31"
    assert LOW.place(-7.9) == "below 99% of real graphs"
    assert HIGH.place(1.4) == "above 93% of real graphs"
    assert (HIGH.place(9.0), LOW.place(-99.0)) == ("above all real graphs", "below all real graphs")
    assert ValueTarget(0, "max", "max", 0.0, 1.0).place(3.0) == ""
    large = ValueTarget(0, "max", "max", 4e4, 1e4, "mass")
    assert large.written([41234.5]) == "mass 41234"


def test_changes_of_a_value_have_a_direction() -> None:
    assert (LOW.changed(1.5), LOW.changed(-1.5)) == ("log S rises by 1.50", "log S falls by 1.50")
    assert HIGH.changed(1.5) == "log S falls by 1.50"
    assert (NEAR.changed(0.5), NEAR.changed(-0.5)) == (
        "log S goes 0.50 away",
        "log S goes 0.50 nearer",
    )
    assert ClassTarget(1, "b").changed(0.34) == "the probability falls by 0.34"
    assert BETWEEN.changed(0.2) == "the nearness to the boundary falls by 0.20"
    given = Scores(torch.tensor([[-7.0], [1.0]]), torch.zeros(2, 1), Task.REGRESSION)
    assert LOW.amount(given).tolist() == [7.0, -1.0]


def test_a_boundary_tells_both_probabilities() -> None:
    assert BETWEEN.said([0.48, 0.51, 0.01]) == "p = 0.48 and 0.51"
    assert BETWEEN.title == "Between a and b"
    assert BETWEEN.true_of(torch.tensor([0])) is None
    assert BETWEEN.asked == "0.4 to 0.6 for both"


@pytest.mark.parametrize(
    ("target", "label", "words"),
    [
        (ClassTarget(0, "a"), torch.tensor([1]), "labelled b"),
        (ClassTarget(0, "a"), None, ""),
        (ClassTarget(0, "a"), torch.tensor([math.nan]), ""),
        (LabelTarget(1, "b"), torch.tensor([[0.0, 1.0]]), "labelled b"),
        (LabelTarget(0, "a"), torch.tensor([[0.0, 1.0]]), "labelled not a"),
        (LabelTarget(0, "a"), torch.tensor([[math.nan, 1.0]]), "not measured"),
        (LabelTarget(0, "a"), torch.tensor([-1, 1]), "not measured"),
    ],
)
def test_what_labels_of_real_graphs_say(
    target: ClassTarget | LabelTarget, label: torch.Tensor | None, words: str
) -> None:
    assert target.truth(label, ("a", "b")) == words


def test_what_was_measured_of_a_value() -> None:
    assert LOW.truth(torch.tensor([[-7.2]]), ("log S",)) == "measured -7.20"
    assert LOW.truth(torch.tensor([math.nan]), ("log S",)) == "not measured"


def test_a_boundary_can_be_written_in_one_word() -> None:
    spec = GraphSpec(class_names=("a", "b", "c"))
    (found,) = targets_of("a | c", spec, Task.MULTICLASS, None)
    assert found == BoundaryTarget(0, "a | c", 2, ("a", "c"))
