from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch

from gnninterpreter.errors import ModelError
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.embedding import EmbeddingPoint, check_embedding, find_embedding
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.testing import TinyClassifier

SPEC = GraphSpec((Categorical(3),))
BATCH = random_graphs(SPEC, 5, 6, torch.Generator().manual_seed(0)).to_batch()


def find(model: nn.Module, wanted: str | None = None) -> EmbeddingPoint:
    return find_embedding(model, lambda: model(BATCH), 5, wanted)


def collect(model: nn.Module, point: EmbeddingPoint) -> Tensor | None:
    with point.read(model) as found:
        model(BATCH)
    return found[0] if found else None


class Deep(nn.Module):
    """Two graph-level layers after the readout."""

    def __init__(self, pool: Callable[..., Tensor] = gnn.global_mean_pool) -> None:
        super().__init__()
        self.conv, self.pool = gnn.GCNConv(3, 4), pool
        self.first, self.second = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index)
        x = self.first(self.pool(x, data.batch)).relu()
        return self.second(nn.functional.dropout(x, training=self.training))


class Headless(nn.Module):
    """The readout is the output."""

    def __init__(self, pool: Callable[..., Tensor]) -> None:
        super().__init__()
        self.conv, self.pool = gnn.GCNConv(3, 2), pool

    def forward(self, data: Batch) -> Tensor:
        return self.pool(self.conv(data.x, data.edge_index), data.batch)


class Twice(Deep):
    """Calls one layer with nodes and then with graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = nn.Linear(3, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.shared(data.x)
        return self.shared(gnn.global_mean_pool(x, data.batch))


class ByKeyword(Deep):
    def forward(self, data: Batch) -> Tensor:
        x = self.pool(self.conv(x=data.x, edge_index=data.edge_index), data.batch)
        return self.second(input=self.first(input=x).relu())


class TestFinding:
    def test_it_is_what_the_readout_produced(self) -> None:
        model = Deep()
        point = find(model)
        assert point == EmbeddingPoint("first", "input")
        assert str(point) == "input of `first`"
        pooled = gnn.global_mean_pool(model.conv(BATCH.x, BATCH.edge_index), BATCH.batch)
        assert torch.equal(collect(model, point), pooled)

    @pytest.mark.parametrize(
        "pool",
        [
            gnn.SumAggregation(),
            gnn.AttentionalAggregation(nn.Linear(4, 1)),
            gnn.DeepSetsAggregation(None, nn.Linear(4, 4)),
            gnn.SetTransformerAggregation(4),
        ],
        ids=lambda pool: type(pool).__name__,
    )
    def test_the_inside_of_a_readout_is_passed_over(self, pool: nn.Module) -> None:
        assert find(Deep(pool)) == EmbeddingPoint("first", "input")

    def test_norms_work_on_graph_level_tensors_inside(self) -> None:
        model = TinyClassifier(gnn.GCNConv(3, 4), 4, norm=gnn.GraphNorm(4))
        assert find(model) == EmbeddingPoint("head", "input")

    def test_a_readout_module_that_is_the_output(self) -> None:
        assert find(Headless(gnn.SumAggregation())) == EmbeddingPoint("pool", "output")

    def test_a_readout_function_that_is_the_output(self) -> None:
        point = find(Headless(gnn.global_add_pool))
        assert point == EmbeddingPoint("")
        assert str(point) == "the class scores themselves"
        assert collect(Headless(gnn.global_add_pool), point) is None

    def test_the_call_counts(self) -> None:
        model = Twice()
        point = find(model)
        assert point == EmbeddingPoint("shared", "input", call=1)
        value = collect(model, point)
        assert value is not None
        assert value.shape == (5, 3)

    def test_nothing_is_left_on_the_model(self) -> None:
        model = Deep()
        find(model)
        collect(model, find(model))
        for module in model.modules():
            assert not module._forward_hooks
            assert not module._forward_pre_hooks

    def test_nothing_is_left_on_the_model_that_fails(self) -> None:
        model = Deep()

        def run() -> None:
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            find_embedding(model, run, 5)
        with pytest.raises(ZeroDivisionError), EmbeddingPoint("first").read(model):
            run()
        assert not any(module._forward_hooks for module in model.modules())
        assert not any(module._forward_pre_hooks for module in model.modules())


class TestNaming:
    def test_the_output_of_a_module(self) -> None:
        model = Deep()
        point = find(model, "first")
        assert point == EmbeddingPoint("first", "output")
        value = collect(model, point)
        assert value is not None
        assert value.shape == (5, 6)

    def test_the_input_of_a_module(self) -> None:
        assert find(Deep(), "second:input") == EmbeddingPoint("second", "input")
        assert find(Deep(), "second:output") == EmbeddingPoint("second", "output")

    @pytest.mark.parametrize(
        ("wanted", "message"),
        [
            ("third", "embedding='third': the model has no such module; it has conv, conv.aggr_"),
            ("first:inside", r"after ':' comes 'input' or 'output' \(got 'inside'\)"),
            ("conv", r"embedding='conv' gives shape \[\d+, 4\] for 5 graphs, where one row for"),
            ("conv:input", r"gives shape \[\d+, 3\] for 5 graphs"),
        ],
    )
    def test_bad_names(self, wanted: str, message: str) -> None:
        with pytest.raises(ModelError, match=message):
            find(Deep(), wanted)

    def test_a_module_that_is_never_called(self) -> None:
        model = Deep()
        model.unused = nn.Linear(2, 2)
        with pytest.raises(ModelError, match="embedding='unused' gives NoneType for 5 graphs"):
            find(model, "unused")

    def test_inputs_given_by_keyword_cannot_be_tapped(self) -> None:
        assert find(ByKeyword()) == EmbeddingPoint("first", "output")
        with pytest.raises(ModelError, match="gives NoneType"):
            find(ByKeyword(), "first:input")


class TestReading:
    def test_the_first_call_is_taken(self) -> None:
        model = nn.Sequential(nn.Linear(2, 2))
        one, two = torch.rand(1, 2), torch.rand(1, 2)
        with EmbeddingPoint("0", "input").read(model) as found:
            model(one)
            model(two)
        assert len(found) == 1
        assert found[0] is one


@pytest.mark.parametrize(
    "value", [torch.rand(4, 2), torch.rand(5), torch.zeros(5, 2, dtype=torch.long), None, "x"]
)
def test_what_is_no_embedding(value: object) -> None:
    with pytest.raises(ModelError, match="embedding= gives"):
        check_embedding("embedding=", value, 5)


def test_what_is_an_embedding() -> None:
    check_embedding("embedding=", torch.rand(5, 2), 5)
