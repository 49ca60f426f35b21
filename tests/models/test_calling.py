from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch

from gnninterpreter.errors import ModelError
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.bundle import load
from gnninterpreter.models.calling import Convention, infer_convention, native_module
from gnninterpreter.spec import Categorical, Continuous, GraphSpec


class Returns(nn.Module):
    """Returns what it was called with."""


class TakesData(Returns):
    def forward(self, data: Any) -> Any:
        return data


class TakesDataAndOptions(Returns):
    def forward(self, data: Any, return_embedding: bool = False) -> Any:
        return data, return_embedding


class OnlyOptional(Returns):
    def forward(self, data: Any = None) -> Any:
        return data


class TakesTensors(Returns):
    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        return {"x": x, "edge_index": edge_index, "batch": batch}


class OtherNames(Returns):
    def forward(self, h: Any, adj: Any, graph_ids: Any, e: Any, num_graphs: Any = None) -> Any:
        return {"x": h, "edge_index": adj, "batch": graph_ids, "edge_attr": e, "n": num_graphs}


class OptionalEdges(Returns):
    def forward(
        self,
        x: Any,
        edge_index: Any,
        edge_attr: Any = "left out",
        edge_type: Any = "left out",
        batch: Any = None,
        temperature: float = 1.0,
    ) -> Any:
        return {"edge_attr": edge_attr, "edge_type": edge_type, "batch": batch}


class NeedsWeight(Returns):
    def forward(self, x: Any, edge_index: Any, edge_weight: Any, batch: Any) -> Any:
        return edge_weight


class OneGraph(Returns):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return x


class NeedsPositions(Returns):
    def forward(self, x: Any, edge_index: Any, positions: Any) -> Any:
        return x


class TwoUnknown(Returns):
    def forward(self, left: Any, right: Any) -> Any:
        return left


class Anything(Returns):
    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return args


def batch(edges: tuple[Any, ...] = (), nodes: tuple[Any, ...] = (Categorical(3),)) -> Batch:
    spec = GraphSpec(nodes, edges)
    return random_graphs(spec, 2, 4, torch.Generator().manual_seed(0)).to_batch()


@pytest.mark.parametrize("model", [TakesData(), OnlyOptional()], ids=lambda m: type(m).__name__)
def test_models_that_take_the_data(model: nn.Module) -> None:
    convention = infer_convention(model, None, False)
    data = batch()
    assert convention(model, data) is data
    assert str(convention) == "forward(data)"
    assert convention.takes_batch


def test_options_keep_their_defaults() -> None:
    model, data = TakesDataAndOptions(), batch()
    assert infer_convention(model, None, False)(model, data) == (data, False)


def test_models_that_take_tensors() -> None:
    model, data = TakesTensors(), batch()
    convention = infer_convention(model, None, False)
    result = convention(model, data)
    assert all(result[name] is data[name] for name in ("x", "edge_index", "batch"))
    assert str(convention) == "forward(x, edge_index, batch)"
    assert convention.takes_batch


def test_other_names_for_the_same_things() -> None:
    model, data = OtherNames(), batch(edges=(Continuous(2),))
    convention = infer_convention(model, None, True)
    result = convention(model, data)
    assert result.pop("n") == 2
    assert all(result[name] is data[name] for name in result)
    assert str(convention) == "forward(h, adj, graph_ids, e, num_graphs)"


class TakesSizes(Returns):
    def forward(self, edge_index: Any, num_nodes: Any, batch: Any) -> Any:
        return num_nodes


def test_how_many_nodes_there_are_is_known() -> None:
    model, data = TakesSizes(), batch()
    convention = infer_convention(model, None, False)
    assert convention(model, data) == data.num_nodes
    assert str(convention) == "forward(edge_index, num_nodes, batch)"


@pytest.mark.parametrize(
    ("edges", "filled"),
    [
        ((), set()),
        ((Continuous(2),), {"edge_attr"}),
        ((Categorical(2, encoding="index"),), {"edge_attr", "edge_type"}),
    ],
    ids=["none", "features", "types"],
)
def test_optional_edge_arguments_are_filled_where_the_graphs_have_them(
    edges: tuple[Any, ...], filled: set[str]
) -> None:
    spec, data = GraphSpec((Categorical(3),), edges), batch(edges)
    convention = infer_convention(OptionalEdges(), None, bool(edges), spec.has_edge_types)
    result = convention(OptionalEdges(), data)
    assert result["batch"] is data.batch
    for name in ("edge_attr", "edge_type"):
        assert (result[name] is data[name]) if name in filled else (result[name] == "left out")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_unweighted_graphs_have_edges_of_weight_one(dtype: torch.dtype) -> None:
    data = batch()
    data.x = data.x.to(dtype)
    convention = infer_convention(NeedsWeight(), None, False)
    weight = convention(NeedsWeight(), data)
    assert torch.equal(weight, torch.ones(data.edge_index.size(1), dtype=dtype))


def test_edges_of_every_node_to_itself_are_added_where_they_are_missing() -> None:
    batch = random_graphs(GraphSpec(class_names=("a",)), 3, 4, torch.Generator().manual_seed(0))
    data = batch.to_batch()
    nodes, edges = int(data.num_nodes), data.edge_index.size(1)
    convention = infer_convention(TakesTensors(), None, False, looped=True)
    seen = convention(TakesTensors(), data)["edge_index"]
    assert seen[:, :edges].equal(data.edge_index)
    assert seen[:, edges:].tolist() == [list(range(nodes))] * 2
    assert data.edge_index.size(1) == edges
    data.edge_index = seen
    assert convention(TakesTensors(), data)["edge_index"].size(1) == edges + nodes


def test_weights_are_the_single_feature_of_edges() -> None:
    data = batch((Continuous(1, name="weight"),))
    needed = infer_convention(NeedsWeight(), None, True, weighted=True)
    assert torch.equal(needed(NeedsWeight(), data), data.edge_attr.view(-1))
    own = infer_convention(NeedsWeight(), lambda _, given: given.edge_weight, True, weighted=True)
    assert torch.equal(own(NeedsWeight(), data), data.edge_attr.view(-1))
    assert "edge_weight" not in data
    data.edge_weight = data.edge_attr.view(-1) + 1  # of before the feature was changed
    assert torch.equal(needed(NeedsWeight(), data), data.edge_attr.view(-1))


def test_weights_of_codes_are_still_floats() -> None:
    data = batch(nodes=(Categorical(3, encoding="index"),))
    assert infer_convention(NeedsWeight(), None, False)(NeedsWeight(), data).dtype == torch.float32


def test_weights_of_the_data_are_used() -> None:
    data = batch()
    data.edge_weight = torch.rand(data.edge_index.size(1))
    convention = infer_convention(NeedsWeight(), None, False)
    assert convention(NeedsWeight(), data) is data.edge_weight


def test_models_of_one_graph() -> None:
    assert not infer_convention(OneGraph(), None, False).takes_batch


def test_the_user_has_the_last_word() -> None:
    model, data = TwoUnknown(), batch()
    convention = infer_convention(model, lambda m, d: (m, d), False)
    assert convention(model, data) == (model, data)
    assert str(convention) == "your own forward(model, data)"
    assert convention.takes_batch


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            NeedsPositions(),
            r"not supported yet \(NeedsPositions.forward takes 'positions'\)",
        ),
        (TwoUnknown(), r"cannot tell how to call TwoUnknown.forward\(left, right\)"),
        (Anything(), r"cannot tell how to call Anything.forward\(\).* names no edge_index"),
    ],
    ids=["unknown argument", "two unknown", "no names"],
)
def test_what_cannot_be_told(model: nn.Module, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        infer_convention(model, None, False)


def test_a_field_the_graphs_do_not_have() -> None:
    convention = Convention((("x", "x"), ("edge_index", "edge_index"), ("e", "edge_attr")))
    with pytest.raises(ModelError, match=r"takes 'edge_attr', which the graphs do not have; desc"):
        convention(OtherNames(), batch())


def test_a_bundle_is_the_model_in_it() -> None:
    bundle = load("shape")
    assert native_module(bundle) is bundle.model


def test_averaged_weights_are_taken_out_of_their_wrapper() -> None:
    averaged = torch.optim.swa_utils.AveragedModel(TakesTensors())
    assert native_module(averaged) is averaged.module
