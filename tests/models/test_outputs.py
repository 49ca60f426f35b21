from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor

from gnninterpreter.errors import ModelError
from gnninterpreter.models.outputs import OutputKind, OutputReader, find_scores
from gnninterpreter.models.task import Task

LOGITS = torch.tensor([[2.0, -1.0, 0.5], [0.0, 3.0, -2.0], [1.0, 1.0, 1.0], [-4.0, 0.0, 4.0]])


class TestFind:
    @pytest.mark.parametrize(
        "output",
        [
            LOGITS,
            (LOGITS, torch.rand(4)),
            [LOGITS],
            {"embedding": torch.rand(4, 8), "logits": LOGITS},
            {"loss": torch.tensor(1.0), "out": LOGITS},
            {"mine": LOGITS},
            SimpleNamespace(logits=LOGITS),
            (torch.rand(9, 3), LOGITS),
            (torch.zeros(4, 3, dtype=torch.long), LOGITS),
        ],
        ids=[
            "tensor",
            "tuple",
            "list",
            "dict",
            "dict with loss",
            "other key",
            "object",
            "node scores first",
            "labels first",
        ],
    )
    def test_scores_are_found(self, output: Any) -> None:
        assert find_scores(output, 4) is LOGITS

    def test_one_number_for_each_graph_is_a_column(self) -> None:
        assert find_scores(torch.rand(4), 4).shape == (4, 1)

    @pytest.mark.parametrize(
        ("output", "shape"),
        [(torch.tensor(0.3), (1, 1)), (torch.rand(1), (1, 1)), (torch.rand(3), (1, 3))],
        ids=["number", "one", "row"],
    )
    def test_a_squeezed_batch_of_one(self, output: Tensor, shape: tuple[int, int]) -> None:
        assert find_scores(output, 1).shape == shape

    @pytest.mark.parametrize(
        ("output", "got"),
        [
            (torch.rand(9, 3), r"a tensor of shape \[9, 3\] for 4 graphs"),
            (torch.rand(4, 3, 2), r"a tensor of shape \[4, 3, 2\]"),
            (torch.zeros(4, dtype=torch.long), r"a tensor of shape \[4\]"),
            (torch.tensor(1.0), r"a tensor of shape \[\]"),
            (None, "a NoneType"),
            ({"loss": torch.tensor(1.0)}, "a dict"),
            ((), "a tuple"),
        ],
        ids=["nodes", "three dimensions", "integers", "number", "nothing", "dict", "empty"],
    )
    def test_no_scores(self, output: Any, got: str) -> None:
        with pytest.raises(ModelError, match=f"the model returned {got}.*pass forward=lambda"):
            find_scores(output, 4)


class TestLevels:
    @pytest.mark.parametrize(("rows", "part"), [(9, "node"), (14, "edge")], ids=["nodes", "edges"])
    def test_one_row_for_each_part_of_a_graph(self, rows: int, part: str) -> None:
        message = (
            rf"a tensor of shape \[{rows}, 3\] for 4 graphs, one row for each of their {rows} "
            rf"{part}s: {part}-level models are not supported yet"
        )
        with pytest.raises(ModelError, match=message):
            find_scores(torch.rand(rows, 3), 4, num_nodes=9, num_edges=14)


class TestReader:
    def test_logits(self) -> None:
        reader = OutputReader(OutputKind.LOGITS, Task.MULTICLASS, 3)
        assert torch.equal(reader(LOGITS), LOGITS)
        assert reader.columns == 3
        assert str(reader) == "raw logits"

    def test_log_probabilities(self) -> None:
        reader = OutputReader(OutputKind.LOG_PROBABILITIES, Task.MULTICLASS, 3)
        assert torch.allclose(reader(LOGITS.log_softmax(1)).softmax(1), LOGITS.softmax(1))
        assert str(reader) == "log-probabilities"

    def test_probabilities(self) -> None:
        reader = OutputReader(OutputKind.PROBABILITIES, Task.MULTICLASS, 3)
        assert torch.allclose(reader(LOGITS.softmax(1)).softmax(1), LOGITS.softmax(1))
        assert str(reader) == "probabilities"

    def test_one_logit(self) -> None:
        output = torch.tensor([[-3.0], [0.0], [2.0], [5.0]])
        reader = OutputReader(OutputKind.LOGITS, Task.BINARY, 1)
        assert torch.allclose(reader(output).softmax(1)[:, 1], output.flatten().sigmoid())
        assert reader.columns == 2
        assert str(reader) == "one logit for each graph, read as that of the second of two classes"

    def test_one_probability(self) -> None:
        output = torch.tensor([[0.1], [0.5], [0.999], [0.0]])
        reader = OutputReader(OutputKind.PROBABILITIES, Task.BINARY, 1)
        assert torch.allclose(reader(output).softmax(1)[:, 1], output.flatten(), atol=1e-6)
        assert str(reader).startswith("one probability for each graph")

    def test_labels(self) -> None:
        reader = OutputReader(OutputKind.PROBABILITIES, Task.MULTILABEL, 3)
        assert torch.allclose(reader(LOGITS.sigmoid()), LOGITS, atol=1e-5)
        assert str(reader) == "probabilities, one for each label"

    @pytest.mark.parametrize(
        ("outputs", "said"), [(1, "one value for each graph"), (3, "3 values for each graph")]
    )
    def test_values_are_taken_as_they_are(self, outputs: int, said: str) -> None:
        reader = OutputReader(OutputKind.PROBABILITIES, Task.REGRESSION, outputs)
        assert reader(LOGITS) is LOGITS
        assert str(reader) == said

    def test_certain_probabilities_stay_finite(self) -> None:
        reader = OutputReader(OutputKind.PROBABILITIES, Task.MULTICLASS, 2)
        assert torch.isfinite(reader(torch.tensor([[0.0, 1.0]]))).all()
        reader = OutputReader(OutputKind.PROBABILITIES, Task.BINARY, 1)
        assert torch.isfinite(reader(torch.tensor([[0.0], [1.0]]))).all()

    def test_readings_are_differentiable(self) -> None:
        output = LOGITS.softmax(1).requires_grad_()
        reader = OutputReader(OutputKind.PROBABILITIES, Task.MULTICLASS, 3)
        reader(output).log_softmax(1)[:, 0].sum().backward()
        assert torch.isfinite(output.grad).all()
        assert output.grad.any()
