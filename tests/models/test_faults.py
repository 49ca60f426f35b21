"""Models and data that people really have, each of which once failed or was read wrongly."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch, Data
from torch_geometric.explain.config import ModelConfig

from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.outputs import OutputKind
from gnninterpreter.models.task import Task
from gnninterpreter.relax import RelaxedModel, probe
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import TinyClassifier

SPEC = GraphSpec((Categorical(3),))
NAN = float("nan")


def drawn(spec: GraphSpec = SPEC, count: int = 4, seed: int = 1) -> DenseGraphs:
    return random_graphs(spec, count, 5, torch.Generator().manual_seed(seed))


def labelled(label: Callable[[int], Any], count: int = 20) -> list[Data]:
    graphs = drawn(count=count).to_data_list()
    for k, graph in enumerate(graphs):
        graph.y = torch.tensor(label(k))
    return graphs


class Readout(nn.Module):
    """Sums over nodes, a linear layer, then whatever is asked for."""

    def __init__(self, outputs: int, end: Callable[[Tensor], Any] = lambda out: out) -> None:
        super().__init__()
        self.conv, self.head, self.end = gnn.GCNConv(3, 4), nn.Linear(4, outputs), end

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        pooled = gnn.global_add_pool(self.conv(x, edge_index), batch)
        return self.end(self.head(pooled))


class TestTasks:
    @pytest.mark.parametrize(
        ("outputs", "end", "label", "task", "kind", "names"),
        [
            (2, None, lambda k: k % 2, Task.MULTICLASS, "logits", ("class 0", "class 1")),
            (1, None, lambda k: k % 2, Task.BINARY, "logits", ("class 0", "class 1")),
            (1, torch.sigmoid, lambda k: k % 2, Task.BINARY, "probabilities", None),
            (
                3,
                torch.sigmoid,
                lambda k: [1.0, NAN if k else 0.0, k % 2],
                Task.MULTILABEL,
                "probabilities",
                ("label 0", "label 1", "label 2"),
            ),
            (2, None, lambda k: [1.0, k % 2], Task.MULTILABEL, "logits", ("label 0", "label 1")),
            (1, None, lambda k: k / 7 - 1, Task.REGRESSION, "logits", ("value",)),
            (2, None, lambda k: [k / 7, 2.0], Task.REGRESSION, "logits", ("value 0", "value 1")),
        ],
    )
    def test_outputs_and_labels_tell_the_task(
        self, outputs: int, end: Any, label: Any, task: Task, kind: str, names: Any
    ) -> None:
        model = Readout(outputs, end or nn.Identity())
        classifier = GraphClassifier(model, SPEC, examples=labelled(label))
        assert classifier.task is task
        assert classifier.reader.kind.value == kind
        assert classifier.spec.class_names == (names or ("class 0", "class 1"))
        assert any(line.startswith(f"task: {task} (") for line in classifier.describe())
        assert classifier.score(drawn()).task is task
        assert classifier.score_data(drawn().to_data_list()).task is task
        assert RelaxedModel(classifier)(drawn()).task is task

    def test_multilabel_probabilities_are_those_of_the_model(self) -> None:
        model = Readout(3, torch.sigmoid)
        classifier = GraphClassifier(
            model, SPEC, examples=labelled(lambda k: [1.0, 0.0, float(k % 2)])
        )
        batch = drawn().to_batch()
        expected = model(batch.x, batch.edge_index, batch.batch)
        assert torch.allclose(classifier.score(drawn()).probabilities, expected, atol=1e-6)

    def test_small_logits_on_the_examples_are_no_probabilities(self) -> None:
        """Logits in [0, 1] on the data, from a sum that is larger on larger graphs."""

        class Sums(nn.Module):
            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
                return 0.15 * gnn.global_add_pool(x[:, :1], batch)

        edge_index = torch.tensor([[0, 1], [1, 0]])
        graphs = [
            Data(x=torch.eye(3)[[k % 3, 0]], edge_index=edge_index, y=torch.tensor([k % 2]))
            for k in range(12)
        ]
        classifier = GraphClassifier(Sums(), SPEC, examples=graphs)
        assert classifier.reader.kind is OutputKind.LOGITS

    def test_a_last_linear_layer_gives_logits_however_small(self) -> None:
        model = Readout(1)
        nn.init.zeros_(model.head.weight)
        nn.init.constant_(model.head.bias, 0.5)
        classifier = GraphClassifier(model, SPEC, examples=labelled(lambda k: k % 2))
        assert classifier.reader.kind is OutputKind.LOGITS

    def test_names_of_the_user_win(self) -> None:
        graphs = labelled(lambda k: [1.0, float(k % 2)])
        options: dict[str, Any] = {"examples": graphs, "class_names": ("toxic", "class 1")}
        assert GraphClassifier(Readout(2), SPEC, **options).spec.class_names == ("toxic", "class 1")
        options = {"examples": labelled(lambda k: k / 3), "class_names": ("logS",)}
        assert GraphClassifier(Readout(1), SPEC, **options).spec.class_names == ("logS",)

    def test_class_numbers_of_the_spec_give_way_to_the_task(self) -> None:
        spec = SPEC.with_classes([f"class {i}" for i in range(20)])
        classifier = GraphClassifier(Readout(1), spec, examples=labelled(lambda k: k))
        assert classifier.spec.class_names == ("value",)

    def test_a_task_is_known_where_the_spec_goes_without_labels(self) -> None:
        graphs = labelled(lambda k: [1.0, float(k % 2)])
        spec = GraphClassifier(Readout(2), SPEC, examples=graphs).spec
        again = GraphSpec.from_json(spec.to_json())
        assert GraphClassifier(Readout(2), again).task is Task.MULTILABEL

    def test_a_config_is_kept_with_the_spec(self) -> None:
        config = ModelConfig("binary_classification", "graph", "raw")
        classifier = GraphClassifier(Readout(1, torch.sigmoid), SPEC, task=config)
        assert classifier.reader.kind is OutputKind.LOGITS
        again = GraphClassifier(Readout(1, torch.sigmoid), classifier.spec)
        assert again.reader.kind is OutputKind.LOGITS

    def test_node_level_models(self) -> None:
        model = gnn.GCN(3, 8, num_layers=2, out_channels=4)
        with pytest.raises(ModelError, match="node-level models are not supported yet"):
            GraphClassifier(model, SPEC)

    def test_node_level_models_without_a_batch_vector(self) -> None:
        class Nodes(nn.Module):
            def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
                return x[:, 0]

        with pytest.raises(ModelError, match="node-level models are not supported yet"):
            GraphClassifier(Nodes(), SPEC)

    def test_other_levels(self) -> None:
        config = ModelConfig("multiclass_classification", "node", "raw")
        with pytest.raises(ModelError, match="task_level 'node' is not supported yet"):
            GraphClassifier(Readout(2), SPEC, task=config)


class TestEdgeFeatures:
    class Insists(nn.Module):
        """Asks for edge features and does not look at them."""

        def __init__(self) -> None:
            super().__init__()
            self.body = Readout(2)

        def forward(
            self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor
        ) -> Tensor:
            assert edge_attr.size(0) == edge_index.size(1)
            out: Tensor = self.body(x, edge_index, batch)
            return out

    @pytest.mark.parametrize(
        ("edges", "expected"),
        [
            (
                (Categorical(2),),
                (Continuous(2, (1.0, 0.0), (1.0, 0.0), ("0", "1"), "type"),),
            ),
            ((Continuous(1, 2.0, 5.0),), (Continuous(1, 2.0, 2.0),)),
            (
                (Categorical(4, encoding="index"),),
                (Categorical(1, encoding="index"),),
            ),
        ],
        ids=["one-hot", "number", "index"],
    )
    def test_an_argument_that_is_required_and_ignored(
        self, edges: tuple[Any, ...], expected: tuple[Any, ...]
    ) -> None:
        spec = GraphSpec((Categorical(3),), edges)
        graphs = drawn(spec).to_data_list()
        classifier = GraphClassifier.connect(self.Insists(), spec, examples=graphs)
        assert classifier.spec.edges == expected
        graph = drawn(classifier.spec, 1)
        native = classifier.model(*_arguments(graph.to_batch()))
        assert torch.allclose(classifier.score(graph).logits, native)
        assert classifier.score_data(graphs).logits.shape == (4, 2)
        assert probe(RelaxedModel(classifier)).passed

    def test_features_that_are_not_asked_for_are_left_out(self) -> None:
        spec = GraphSpec((Categorical(3),), (Categorical(2),))
        assert GraphClassifier.connect(Readout(2), spec).spec.edges == ()

    def test_features_that_are_read_stay(self) -> None:
        spec = GraphSpec((Categorical(3),), (Continuous(1),))
        model = TinyClassifier(gnn.GATConv(3, 4, edge_dim=1), 4, edge="edge_attr")
        assert GraphClassifier.connect(model, spec).spec.edges == spec.edges


def _arguments(batch: Batch) -> tuple[Tensor, ...]:
    return batch.x, batch.edge_index, batch.edge_attr, batch.batch


class TestModels:
    def test_compiled_models_are_unwrapped(self) -> None:
        model = Readout(2)
        assert GraphClassifier(torch.compile(model, backend=_never), SPEC).model is model

    def test_models_compiled_in_place_compute_as_they_were_written(self) -> None:
        model = Readout(2)
        model.compile(backend=_never)
        classifier = GraphClassifier(model, SPEC)
        assert torch.isfinite(classifier.score(drawn()).logits).all()
        assert model._compiled_call_impl is not None

    def test_compiled_layers_compute_as_they_were_written(self) -> None:
        model = Readout(2)
        expected = GraphClassifier(model, SPEC).score(drawn()).logits
        model.conv = torch.compile(model.conv, backend=_never)
        before = dict(vars(model.conv))
        classifier = GraphClassifier(model, SPEC)
        assert torch.equal(classifier.score(drawn()).logits, expected)
        assert vars(model.conv) == before

    def test_parallel_models_are_unwrapped(self) -> None:
        model = Readout(2)
        assert GraphClassifier(nn.DataParallel(model), SPEC).model is model

    @pytest.mark.parametrize("mode", [True, False])
    def test_torchscript(self, mode: bool) -> None:
        with warnings.catch_warnings():  # which older ones do not give
            warnings.simplefilter("ignore", DeprecationWarning)
            scripted = torch.jit.script(nn.Linear(3, 2)).train(mode)
        with pytest.raises(ModelError, match="TorchScript model cannot be looked into; pass the P"):
            GraphClassifier(scripted, SPEC)
        assert scripted.training is mode

    def test_weights_that_are_not_there(self) -> None:
        lazy = nn.Sequential(nn.LazyLinear(2))
        for model in (lazy, Readout(2).to("meta")):
            with pytest.raises(ModelError, match="has layers without weights"):
                GraphClassifier(model, SPEC)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
    def test_outputs_in_another_precision(self, dtype: torch.dtype) -> None:
        model = Readout(2, lambda out: out.to(dtype))
        classifier = GraphClassifier(model, SPEC)
        for scores in (
            classifier.score(drawn()),
            classifier.score_data(drawn().to_data_list()),
            RelaxedModel(classifier)(drawn()),
        ):
            assert scores.logits.dtype == torch.float32
            assert scores.embedding.dtype == torch.float32
        assert GraphClassifier(Readout(1, lambda out: out.sigmoid().to(dtype)), SPEC).reader.kind

    def test_errors_on_later_graphs_are_the_models(self) -> None:
        class Small(Readout):
            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
                if int(batch.bincount().max()) > 6:
                    raise IndexError("too large for me")
                return super().forward(x, edge_index, batch)

        classifier = GraphClassifier(Small(2), SPEC)
        large = random_graphs(SPEC, 1, 9, torch.Generator().manual_seed(0), density=1.0)
        for ask in (classifier.score, lambda g: classifier.score_data(g.to_data_list())):
            with pytest.raises(ModelError, match=r"failed on graphs .* IndexError: too large for"):
                ask(large)

    def test_a_transposed_adjacency_is_made_for_models_that_ask_for_it(self) -> None:
        class Sparse(Readout):
            def forward(  # type: ignore[override]
                self, x: Tensor, adj_t: Tensor, batch: Tensor
            ) -> Any:
                return self.head(
                    gnn.global_add_pool(adj_t.to_dense() @ x[:, :1].repeat(1, 4), batch)
                )

        spec = GraphSpec((Categorical(3),), directed=True)
        with pytest.warns(UserWarning, match="Sparse CSR tensor support is in beta"):
            classifier = GraphClassifier(Sparse(2), spec)
        batch = drawn(spec).to_batch()
        received = torch.zeros(batch.num_nodes, 4).index_add(
            0, batch.edge_index[1], batch.x[batch.edge_index[0], :1].repeat(1, 4)
        )
        pooled = gnn.global_add_pool(received, batch.batch)
        expected = classifier.model.head(pooled)
        assert torch.allclose(classifier.score(drawn(spec)).logits, expected, atol=1e-5)


def _never(*_: Any) -> Any:
    raise AssertionError("compiled after all")


class TestSideEffects:
    def test_features_that_are_overwritten(self) -> None:
        class Overwrites(Readout):
            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
                x.mul_(2.0)
                return super().forward(x, edge_index, batch)

        model = Overwrites(2)
        classifier = GraphClassifier(model, SPEC)
        graphs = drawn()
        kept = graphs.nodes.clone()
        first = classifier.score(graphs).logits
        assert torch.allclose(RelaxedModel(classifier)(graphs).logits, first, atol=1e-5)
        assert torch.equal(graphs.nodes, kept)
        data = graphs.to_data_list()
        assert torch.allclose(classifier.score_data(data[:1]).logits, first[:1], atol=1e-5)
        assert torch.allclose(classifier.score_data(data[:1]).logits, first[:1], atol=1e-5)

    def test_features_that_are_overwritten_after_use_have_no_gradient(self) -> None:
        class Wipes(Readout):
            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
                # The sum of squares needs x for its gradient.
                out = super().forward(x * x, edge_index, batch)
                x.zero_()
                return out

        report = probe(RelaxedModel(GraphClassifier(Wipes(2), SPEC)))
        assert not report.passed
        assert report.reason.startswith("its gradient cannot be computed (one of the variables")

    def test_fields_that_are_replaced(self) -> None:
        class Replaces(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.body = Readout(2)

            def forward(self, data: Batch) -> Tensor:
                data.x = data.x * 2
                out: Tensor = self.body(data.x, data.edge_index, data.batch)
                return out

        model = Replaces()
        classifier = GraphClassifier(model, SPEC)
        batch = drawn().to_batch()
        expected = model.body(batch.x * 2, batch.edge_index, batch.batch)
        assert torch.allclose(classifier.score(drawn()).logits, expected, atol=1e-5)
        assert classifier.batched

    def test_weights_that_a_model_changes(self) -> None:
        class Learns(Readout):
            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
                with torch.no_grad():
                    self.head.bias.add_(1.0)
                return super().forward(x, edge_index, batch)

        model = Learns(2)
        before = model.head.bias.detach().clone()
        with pytest.raises(
            ModelError, match=r"changes its own weights when it is called .`head.bias`"
        ):
            GraphClassifier(model, SPEC)
        assert torch.equal(model.head.bias, before)


class TestExamples:
    def test_graphs_of_one_node_do_not_pass_for_their_embedding(self) -> None:
        none = torch.zeros(2, 0, dtype=torch.long)
        single = [Data(x=torch.eye(3)[[k % 3]], edge_index=none) for k in range(12)]
        classifier = GraphClassifier(Readout(2), SPEC, examples=single)
        assert str(classifier.point) == "input of `head`"
        assert classifier.score_data(single).logits.shape == (12, 2)

    def test_as_many_edges_as_graphs(self) -> None:
        """An edge-level tensor must not pass for the embedding either."""

        class OfEdges(Readout):
            def __init__(self) -> None:
                super().__init__(2)
                self.edges = nn.Linear(3, 3)

            def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
                self.edges(x[edge_index[0]])
                return super().forward(x, edge_index, batch)

        one = torch.tensor([[0], [1]])
        graphs = [Data(x=torch.eye(3)[[k % 3, 0]], edge_index=one) for k in range(12)]
        classifier = GraphClassifier(
            OfEdges(), GraphSpec(SPEC.nodes, directed=True), examples=graphs
        )
        assert str(classifier.point) == "input of `head`"

    def test_whole_numbers_that_are_numbers_reach_the_model_as_floats(self) -> None:
        x = torch.tensor([[0], [98421]])
        graph = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), y=torch.tensor([1]))
        spec = GraphSpec.from_dataset([graph])
        model = TinyClassifier(gnn.GCNConv(1, 4), 4)
        classifier = GraphClassifier(model, spec, examples=[graph])
        assert "whole numbers in 'x' go up to 98421" in classifier.describe()[-1]

    @pytest.mark.parametrize("spec", [5, None, "spec"])
    def test_another_thing_for_a_spec(self, spec: Any) -> None:
        with pytest.raises(SpecError, match="spec must be a GraphSpec"):
            GraphClassifier(Readout(2), spec)
