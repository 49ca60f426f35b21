from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.explain.config import ModelConfig

from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.models.outputs import OutputKind, OutputReader, parse_task, read_outputs
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Labels, read_labels

NAN = float("nan")
LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0], [1.0, 1.0, 1.0], [-4.0, 0.0, 4.0]])
SMALL = torch.tensor([[0.1], [0.5], [0.9], [0.2]])
RAW, PROBS, LOGS = OutputKind.LOGITS, OutputKind.PROBABILITIES, OutputKind.LOG_PROBABILITIES


def labels(*values: Any) -> Labels | None:
    return read_labels([Data(y=torch.tensor(value)) for value in values])


CLASSES = labels(0, 1, 2, 1)
REAL = labels(0.3, -1.2, 7.5)
SEVERAL = labels([1.0, 0.0, 1.0], [NAN, 0.0, 1.0])
ONE_HOT = labels([1, 0, 0], [0, 0, 1])


@pytest.mark.parametrize(
    ("output", "made_by", "given", "task", "kind"),
    [
        (LOGITS, "linear", CLASSES, Task.MULTICLASS, RAW),
        (LOGITS, "other", None, Task.MULTICLASS, RAW),
        (LOGITS.softmax(1), "softmax", CLASSES, Task.MULTICLASS, PROBS),
        (LOGITS.log_softmax(1), "other", None, Task.MULTICLASS, LOGS),
        (LOGITS, "linear", SEVERAL, Task.MULTILABEL, RAW),
        (LOGITS.sigmoid(), "sigmoid", SEVERAL, Task.MULTILABEL, PROBS),
        (LOGITS.sigmoid(), "sigmoid", None, Task.MULTILABEL, PROBS),
        (LOGITS.sigmoid(), "sigmoid", CLASSES, Task.MULTICLASS, PROBS),
        (LOGITS.sigmoid(), "other", CLASSES, Task.MULTICLASS, RAW),
        (torch.zeros(4, 3), "other", CLASSES, Task.MULTICLASS, RAW),
        (LOGITS, "linear", ONE_HOT, Task.MULTICLASS, RAW),
        (LOGITS.sigmoid(), "sigmoid", ONE_HOT, Task.MULTILABEL, PROBS),
        (LOGITS, "linear", labels([0.5, 2.0, 1.0]), Task.REGRESSION, RAW),
        (LOGITS, "linear", REAL, Task.REGRESSION, RAW),
        (LOGITS, "linear", labels(0.0, 2.0), Task.MULTICLASS, RAW),
        (LOGITS, "linear", labels(0.0, 37.0), Task.REGRESSION, RAW),
        (LOGITS, "linear", labels(0, 37), Task.MULTICLASS, RAW),
        (LOGITS[:, :1], "linear", labels(0, 1), Task.BINARY, RAW),
        (LOGITS[:, :1], "linear", labels(0.0, 1.0, NAN), Task.BINARY, RAW),
        (LOGITS[:, :1], "linear", REAL, Task.REGRESSION, RAW),
        (LOGITS[:, :1], "linear", labels(0, 1, 2), Task.REGRESSION, RAW),
        (LOGITS[:, :1], "linear", None, Task.BINARY, RAW),
        (SMALL, "linear", labels(0, 1), Task.BINARY, RAW),
        (SMALL, "sigmoid", labels(0, 1), Task.BINARY, PROBS),
        (SMALL, "sigmoid", REAL, Task.REGRESSION, RAW),
        (LOGITS.sigmoid(), "linear", CLASSES, Task.MULTICLASS, RAW),
    ],
)
def test_tasks(
    output: Tensor, made_by: str, given: Labels | None, task: Task, kind: OutputKind
) -> None:
    found = read_outputs(output, made_by, given)
    assert found == OutputReader(kind, task, output.size(1))


class TestDoubt:
    def test_small_logits_are_found_out_on_other_graphs(self) -> None:
        reader = read_outputs(SMALL, "other", labels(0, 1), more=lambda: torch.tensor([[-3.0]]))
        assert reader.kind is RAW
        assert reader.notes == ()

    def test_numbers_that_never_leave_the_interval_are_probabilities_and_it_is_said(self) -> None:
        many = torch.rand(300, 1)
        reader = read_outputs(SMALL, "other", labels(0, 1), more=lambda: many)
        assert reader.kind is PROBS
        (note,) = reader.notes
        assert note.startswith("outputs lie in [0, 1] on 304 graphs; read as probabilities; if")
        assert "ModelConfig(mode, 'graph', 'raw')" in note

    def test_failures_on_other_graphs_say_nothing(self) -> None:
        reader = read_outputs(SMALL, "other", more=lambda: torch.tensor([[NAN], [0.5]]))
        assert reader.kind is PROBS
        assert "on 5 graphs" in reader.notes[-1]

    def test_values_are_not_said_to_be_probabilities(self) -> None:
        reader = read_outputs(SMALL, "other", REAL, more=lambda: SMALL)
        assert (reader.task, reader.notes) == (Task.REGRESSION, ())

    def test_sigmoids_that_may_be_one_class_of_several(self) -> None:
        for known, read in (
            (None, "each read as a label of its own"),
            (CLASSES, "read in proportion to each other, since the labels are numbers of classes"),
        ):
            notes = read_outputs(LOGITS.sigmoid(), "sigmoid", known).notes
            bounded = "outputs lie in [0, 1] and do not add up to one: "
            assert notes == (f"{bounded}{read}; pass task= to settle it",)

    def test_bounded_numbers_beside_numbers_of_classes_are_logits_and_it_is_said(self) -> None:
        (note,) = read_outputs(torch.zeros(4, 3), "other", CLASSES).notes
        assert note.startswith("outputs lie in [0, 1] and do not add up to one: read as logits of")

    def test_one_output_without_labels(self) -> None:
        notes = read_outputs(LOGITS[:, :1], "linear").notes
        assert notes == (
            "one output and no labels: read as yes or no, not as a value; pass task= to settle it",
        )

    def test_labels_of_another_width_are_not_used(self) -> None:
        reader = read_outputs(LOGITS, "linear", labels([1, 0], [0, 1]))
        assert reader.task is Task.MULTICLASS
        assert reader.notes == (
            "2 labels a graph (0/1), but the model returns 3: labels are not used",
        )

    def test_what_was_read_is_said(self) -> None:
        assert read_outputs(LOGITS).reason == "no labels to go by"
        reason = read_outputs(LOGITS, labels=CLASSES).reason
        assert reason == "labels are whole numbers from 0 to 2"
        assert read_outputs(LOGITS, task="multilabel").reason == "as asked for"


class TestAsked:
    @pytest.mark.parametrize(
        ("task", "expected"),
        [
            ("auto", (None, None)),
            (Task.MULTILABEL, (Task.MULTILABEL, None)),
            ("regression", (Task.REGRESSION, None)),
            ("binary_classification", (Task.BINARY, None)),
            ("multilabel, probabilities", (Task.MULTILABEL, PROBS)),
            (
                ModelConfig("multiclass_classification", "graph", "log_probs"),
                (Task.MULTICLASS, LOGS),
            ),
            (ModelConfig("binary_classification", "graph", "probs"), (Task.BINARY, PROBS)),
            (ModelConfig("regression", "graph", "raw"), (Task.REGRESSION, RAW)),
        ],
    )
    def test_words_and_configs(self, task: Any, expected: tuple[Any, Any]) -> None:
        assert parse_task(task) == expected

    @pytest.mark.parametrize("level", ["node", "edge"])
    def test_other_levels_are_refused(self, level: str) -> None:
        config = ModelConfig("multiclass_classification", level, "raw")
        message = f"task_level '{level}' is not supported yet; only 'graph' is"
        with pytest.raises(ModelError, match=message):
            parse_task(config)

    @pytest.mark.parametrize("task", ["classification", 3, ["binary"]])
    def test_other_words_are_refused(self, task: Any) -> None:
        with pytest.raises(
            SpecError, match=r"task must be 'auto', 'multiclass', .* or a ModelConf"
        ):
            parse_task(task)

    def test_what_is_asked_for_wins_over_labels(self) -> None:
        assert read_outputs(LOGITS, labels=CLASSES, task="multilabel").task is Task.MULTILABEL
        assert read_outputs(SMALL, "sigmoid", labels(0, 1), "regression").task is Task.REGRESSION

    def test_a_config_says_what_outputs_are(self) -> None:
        config = ModelConfig("binary_classification", "graph", "raw")
        reader = read_outputs(SMALL, "sigmoid", task=config)
        assert reader == OutputReader(RAW, Task.BINARY, 1)

    def test_several_binary_outputs_of_a_config_are_labels(self) -> None:
        config = ModelConfig("binary_classification", "graph", "probs")
        assert read_outputs(LOGITS.sigmoid(), task=config).task is Task.MULTILABEL

    @pytest.mark.parametrize(
        ("output", "task", "got"),
        [(LOGITS, "binary", "3 numbers"), (SMALL, "multiclass", "1 number ")],
    )
    def test_tasks_that_do_not_fit(self, output: Tensor, task: str, got: str) -> None:
        with pytest.raises(ModelError, match=f"task='{task}' does not fit .* returns {got}"):
            read_outputs(output, task=task)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_scores_that_are_not_finite(bad: float) -> None:
    output = LOGITS.clone()
    output[1, 1] = bad
    with pytest.raises(ModelError, match="returned NaN or infinite scores on ordinary graphs"):
        read_outputs(output)
