from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch, Data

from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import TinyClassifier
from tests.tiny import seeded

SPEC = GraphSpec((Categorical(3),))


def drawn(spec: GraphSpec = SPEC, count: int = 4, **options: Any) -> DenseGraphs:
    return random_graphs(spec, count, 5, torch.Generator().manual_seed(1), **options)


def tiny(**options: Any) -> TinyClassifier:
    return TinyClassifier(gnn.GCNConv(3, 4), 4, **options).eval()


class Changed(nn.Module):
    """A tiny classifier whose output is changed before it is returned."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.body, self.change = tiny(), change

    def forward(self, data: Batch) -> Any:
        return self.change(self.body(data))


class TestScores:
    def test_probabilities(self) -> None:
        scores = Scores(torch.tensor([[0.0, 2.0]]), torch.zeros(1, 1))
        assert scores.probabilities[0].tolist() == pytest.approx([0.1192029, 0.8807971])
        assert torch.allclose(scores.log_probabilities.exp(), scores.probabilities)


class TestWhatIsFoundOut:
    def test_a_plain_model(self) -> None:
        classifier = GraphClassifier(tiny(), SPEC)
        assert classifier.describe() == [
            "called as forward(data)",
            "output: raw logits",
            "task: multiclass (no labels to go by)",
            "embedding: input of `head`",
        ]
        assert classifier.batched
        assert classifier.spec.class_names == ("class 0", "class 1", "class 2")
        assert classifier.dtype == torch.float32

    def test_class_names_are_kept(self) -> None:
        spec = SPEC.with_classes(["a", "b", "c"])
        assert GraphClassifier(tiny(), spec).spec is spec

    @pytest.mark.parametrize(
        ("change", "kind"),
        [
            (lambda out: out.softmax(1), "output: probabilities"),
            (lambda out: out.log_softmax(1), "output: log-probabilities"),
            (lambda out: (out, out), "output: raw logits"),
            (lambda out: {"logits": out}, "output: raw logits"),
        ],
        ids=["probabilities", "log-probabilities", "tuple", "dict"],
    )
    def test_kinds_of_output(self, change: Any, kind: str) -> None:
        model = Changed(change)
        classifier = GraphClassifier(model, SPEC)
        assert kind in classifier.describe()
        expected = model.body(drawn().to_batch()).softmax(1)
        assert torch.allclose(classifier.score(drawn()).probabilities, expected, atol=1e-6)

    @pytest.mark.parametrize("squeeze", [False, True], ids=["column", "squeezed"])
    def test_binary_models(self, squeeze: bool) -> None:
        model = Changed(lambda out: 5 * (out[:, :1].squeeze() if squeeze else out[:, :1]))
        classifier = GraphClassifier(model, SPEC.with_classes(["no", "yes"]))
        assert "output: one logit for each graph" in classifier.describe()[1]
        logit = 5 * model.body(drawn().to_batch())[:, 0]
        assert torch.allclose(classifier.probability(drawn(), 1), logit.sigmoid(), atol=1e-6)
        # The last chunk may hold a single graph, whose score is squeezed to a number.
        single = classifier.score(drawn(), chunk=3).probabilities[:, 1]
        assert torch.allclose(single, logit.sigmoid(), atol=1e-6)

    def test_the_users_forward(self) -> None:
        model = tiny()
        classifier = GraphClassifier(model, SPEC, forward=lambda m, data: -m(data))
        assert "called as your own forward(model, data)" in classifier.describe()
        native = model(drawn().to_batch())
        assert torch.allclose(classifier.score(drawn()).logits, -native)

    def test_the_users_embedding(self) -> None:
        classifier = GraphClassifier(
            tiny(), SPEC, embedding=lambda m, data: gnn.global_add_pool(data.x, data.batch)
        )
        assert "embedding: your own callable" in classifier.describe()
        counted = classifier.score(drawn()).embedding.sum(1)
        assert torch.equal(counted, drawn().num_nodes)

    def test_an_embedding_by_name(self) -> None:
        classifier = GraphClassifier(tiny(), SPEC, embedding="head")
        scores = classifier.score(drawn())
        assert torch.equal(scores.embedding, scores.logits)

    def test_without_any_embedding_the_scores_stand_in(self) -> None:
        class Bare(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.weight = nn.Parameter(torch.rand(3, 2))

            def forward(self, data: Batch) -> Tensor:
                return gnn.global_add_pool(data.x @ self.weight, data.batch)

        classifier = GraphClassifier(Bare(), SPEC)
        assert "embedding: the class scores themselves" in classifier.describe()
        scores = classifier.score(drawn())
        assert torch.equal(scores.embedding, scores.logits)

    def test_graphs_that_influence_each_other_are_scored_one_by_one(self) -> None:
        class Centred(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.body = tiny()

            def forward(self, data: Batch) -> Tensor:
                out = self.body(data)
                return out - out.mean(0) + out.sum()

        classifier = GraphClassifier(Centred(), SPEC)
        assert not classifier.batched
        assert "influence each other: scored one by one" in classifier.describe()[-1]
        graphs = drawn()
        alone = torch.cat([Centred.forward(classifier.model, g) for g in _batches(graphs)])
        assert torch.allclose(classifier.score(graphs).logits, alone)

    def test_models_without_a_batch_vector(self) -> None:
        class Single(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.conv = gnn.GCNConv(3, 2)

            def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
                return self.conv(x, edge_index).mean(0)

        model = seeded(Single)
        classifier = GraphClassifier(model, SPEC)
        assert "takes no batch vector" in classifier.describe()[-1]
        expected = torch.stack([model(g.x, g.edge_index) for g in _batches(drawn())])
        assert torch.allclose(classifier.score(drawn()).logits, expected)


def _batches(graphs: DenseGraphs) -> list[Batch]:
    return [graphs[b].to_batch() for b in range(len(graphs))]


class TestScoring:
    def test_scores_are_those_of_the_native_model(self) -> None:
        model, graphs = tiny(), drawn(count=7)
        scores = GraphClassifier(model, SPEC).score(graphs, chunk=3)
        assert torch.allclose(scores.logits, model(graphs.to_batch()), atol=1e-6)
        assert scores.embedding.shape == (7, 12)
        assert not scores.logits.requires_grad

    def test_scores_do_not_depend_on_the_mode_of_the_model(self) -> None:
        model = TinyClassifier(gnn.GCNConv(3, 4), 4, norm=nn.Dropout(0.9))
        classifier = GraphClassifier(model.train(), SPEC)
        first, again = classifier.score(drawn()), classifier.score(drawn())
        assert torch.equal(first.logits, again.logits)
        assert model.training

    def test_empty_graphs_are_not_asked_about(self) -> None:
        graphs = drawn()
        weight = graphs.weight.clone()
        weight[1] = 0
        graphs = DenseGraphs(SPEC, weight, graphs.nodes)
        classifier = GraphClassifier(tiny(), SPEC)
        scores = classifier.score(graphs)
        assert scores.logits.isnan().any(1).tolist() == [False, True, False, False]
        assert scores.embedding.isnan().any(1).tolist() == [False, True, False, False]
        assert classifier.probability(graphs, 0)[1] == 0
        assert (classifier.probability(graphs, 0)[[0, 2, 3]] > 0).all()

    def test_only_empty_graphs(self) -> None:
        graphs = DenseGraphs(SPEC, torch.zeros(2, 4, 4), torch.ones(2, 4, 3) / 3)
        classifier = GraphClassifier(tiny(), SPEC)
        assert classifier.probability(graphs, 2).tolist() == [0.0, 0.0]

    def test_data_is_scored_as_it_is(self) -> None:
        classifier = GraphClassifier(tiny(), SPEC)
        data = drawn(count=5).to_data_list()
        for k, graph in enumerate(data):
            graph.y, graph.name = torch.zeros(k), "differs in shape"
        expected = classifier.score(drawn(count=5))
        for chunk in (2, 512):
            scores = classifier.score_data(data, chunk=chunk)
            assert torch.allclose(scores.logits, expected.logits, atol=1e-6)
            assert torch.allclose(scores.embedding, expected.embedding, atol=1e-6)

    def test_data_takes_the_dtype_of_the_model(self) -> None:
        spec = GraphSpec((Categorical(3),), (Continuous(1),))
        model = TinyClassifier(gnn.GATConv(3, 4, edge_dim=1), 4, edge="edge_attr").double()
        classifier = GraphClassifier(model, spec, examples=drawn(spec).to_data_list())
        assert classifier.score_data(drawn(spec).to_data_list()).logits.dtype == torch.float64

    def test_data_without_features_has_ones(self) -> None:
        model = TinyClassifier(gnn.GCNConv(1, 4), 4).eval()
        classifier = GraphClassifier(model, GraphSpec())
        edge_index = torch.tensor([[0, 1], [1, 0]])
        bare = classifier.score_data([Data(edge_index=edge_index, num_nodes=2)]).logits
        ones = classifier.score_data([Data(x=torch.ones(2, 1), edge_index=edge_index)]).logits
        assert torch.equal(bare, ones)

    def test_integer_edge_features_are_types_by_any_name(self) -> None:
        class Relations(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.conv = gnn.RGCNConv(3, 2, 2)

            def forward(
                self, x: Tensor, edge_index: Tensor, edge_type: Tensor, batch: Tensor
            ) -> Tensor:
                return gnn.global_add_pool(self.conv(x, edge_index, edge_type), batch)

        spec = GraphSpec((Categorical(3),), (Categorical(2, encoding="index"),))
        graphs = drawn(spec)
        data = graphs.to_data_list()
        for graph in data:
            del graph.edge_type
        classifier = GraphClassifier(Relations(), spec, examples=data)
        expected = classifier.score(graphs).logits
        assert torch.allclose(classifier.score_data(data).logits, expected, atol=1e-6)

    def test_a_model_that_is_never_the_same_twice_is_said_to_be(self) -> None:
        class Dropping(TinyClassifier):
            def forward(self, *given: Any, **named: Any) -> Tensor:
                return nn.functional.dropout(super().forward(*given, **named), 0.5)

        torch.manual_seed(0)
        model = Dropping(gnn.GCNConv(3, 4), 4)
        noisy = GraphClassifier(model, SPEC, forward=lambda model, data: model(data))
        assert noisy.noisy
        assert noisy.batched  # the batch makes no more of a difference than time does
        assert any("another score each time" in line for line in noisy.describe())
        plain = GraphClassifier(tiny(), SPEC)
        assert not any("each time" in line for line in plain.describe())

    def test_calls_keep_gradients(self) -> None:
        classifier = GraphClassifier(tiny(), SPEC)
        batch = drawn().to_batch()
        batch.x.requires_grad_()
        with classifier.frozen():
            scores = classifier.call(batch)
        scores.logits.sum().backward()
        assert batch.x.grad is not None
        assert batch.x.grad.any()


class TestBadInput:
    def test_no_model(self) -> None:
        with pytest.raises(ModelError, match=r"model must be a torch.nn.Module \(got dict\); load"):
            GraphClassifier({"weight": 1}, SPEC)  # type: ignore[arg-type]

    def test_wrong_feature_width(self) -> None:
        message = (
            r"the model failed on graphs with 4 node and 0 edge feature columns, called as "
            r"forward\(data\): RuntimeError: .*Check that the spec describes the data"
        )
        with pytest.raises(ModelError, match=message):
            GraphClassifier(tiny(), GraphSpec((Categorical(4),)))

    def test_an_attribute_that_searched_graphs_do_not_have(self) -> None:
        class Global(torch.nn.Module):
            def forward(self, data: Data) -> torch.Tensor:
                return data.temperature

        with pytest.raises(ModelError, match=r"have no 'temperature': pass forward=.*data\.temp"):
            GraphClassifier(Global(), SPEC)

    @pytest.mark.parametrize("value", [torch.nan, torch.inf])
    def test_scores_that_are_not_finite(self, value: float) -> None:
        with pytest.raises(ModelError, match="NaN or infinite scores on ordinary graphs; check"):
            GraphClassifier(Changed(lambda out: out * value), SPEC)

    @pytest.mark.parametrize("value", [torch.nan, torch.inf])
    def test_weights_that_are_not_finite_are_named(self, value: float) -> None:
        model = tiny()
        with torch.no_grad():
            model.head.bias[0] = value
        with pytest.raises(ModelError, match=r"weights `head\.bias` of the model are NaN or inf"):
            GraphClassifier(model, SPEC)

    @pytest.mark.parametrize(
        ("change", "got"),
        [
            (lambda out: out.unsqueeze(2), r"a tensor of shape \[12, 3, 1\] for 12 graphs"),
            (lambda out: out[:-1], r"a tensor of shape \[11, 3\]"),
            (lambda out: out.argmax(1), r"a tensor of shape \[12\]"),
            (lambda out: None, "a NoneType"),
        ],
        ids=["dimensions", "rows", "labels", "nothing"],
    )
    def test_wrong_shapes(self, change: Any, got: str) -> None:
        with pytest.raises(ModelError, match=f"the model returned {got}"):
            GraphClassifier(Changed(change), SPEC)

    def test_class_names_that_disagree_with_the_model(self) -> None:
        message = r"scores for 3 classes but the spec names 2 \(a, b\); give one name for each"
        with pytest.raises(ModelError, match=message):
            GraphClassifier(tiny(), SPEC.with_classes(["a", "b"]))
        with pytest.raises(ModelError, match="steps between ordered classes pass forward="):
            GraphClassifier(tiny(), SPEC.with_classes(["none", "few", "some", "many"]))

    def test_mixed_precision(self) -> None:
        model = tiny()
        model.head.double()
        message = r"mixes floating-point types \(torch.float32, torch.float64\); call model.float"
        with pytest.raises(ModelError, match=message):
            GraphClassifier(model, SPEC)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
    def test_coarse_precision(self, dtype: torch.dtype) -> None:
        with pytest.raises(ModelError, match=f"the model is in {dtype}, too coarse for a gradient"):
            GraphClassifier(tiny().to(dtype), SPEC)

    def test_arguments_that_are_not_part_of_a_graph(self) -> None:
        class Asks(nn.Module):
            def forward(self, x: Tensor, edge_index: Tensor, positions: Tensor) -> Tensor:
                return x

        with pytest.raises(ModelError, match=r"Asks.forward takes 'positions'"):
            GraphClassifier(Asks(), SPEC)

    def test_edge_features_the_spec_does_not_have(self) -> None:
        class Asks(nn.Module):
            def forward(
                self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor
            ) -> Tensor:
                return x

        with pytest.raises(ModelError, match=r"takes 'edge_attr', which the graphs do not have"):
            GraphClassifier(Asks(), SPEC)

    def test_an_unknown_embedding(self) -> None:
        with pytest.raises(ModelError, match="embedding='body': the model has no such module"):
            GraphClassifier(tiny(), SPEC, embedding="body")

    def test_an_embedding_of_nodes(self) -> None:
        with pytest.raises(ModelError, match=r"embedding='convs.0' gives shape .* for 12 graphs"):
            GraphClassifier(tiny(), SPEC, embedding="convs.0")

    def test_a_callable_that_gives_no_embedding(self) -> None:
        with pytest.raises(ModelError, match=r"embedding= gives shape .* where one row for each"):
            GraphClassifier(tiny(), SPEC, embedding=lambda model, data: data.x)

    def test_an_embedding_of_another_kind(self) -> None:
        with pytest.raises(ModelError, match=r"embedding must be the name .* \(got int\)"):
            GraphClassifier(tiny(), SPEC, embedding=3)  # type: ignore[arg-type]

    @pytest.mark.parametrize(
        ("spec", "message"),
        [
            (GraphSpec((Categorical(4),)), "describes 4 columns of 'x' but the data has 3"),
            (
                GraphSpec((Categorical(3),), (Continuous(2),)),
                "describes 2 columns of 'edge_attr' but the data has 0",
            ),
        ],
        ids=["nodes", "edges"],
    )
    def test_a_spec_that_disagrees_with_the_data(self, spec: GraphSpec, message: str) -> None:
        with pytest.raises(SpecError, match=message):
            GraphClassifier(tiny(), spec, examples=drawn().to_data_list())

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([0.0, 0.0, 0.0], r"columns 0 to 2 of 'x' are one-hot, .* write Categorical\(4, enc"),
            ([1.0, 1.0, 0.0], "are one choice, but rows of the data set several"),
            ([0.5, 0.5, 0.0], "or hold other numbers"),
        ],
    )
    def test_columns_that_are_not_one_hot(self, row: list[float], message: str) -> None:
        data = drawn().to_data_list()
        data[-1].x[0] = torch.tensor(row)
        with pytest.raises(SpecError, match=message):
            GraphClassifier(tiny(), SPEC, examples=data)

    def test_edge_features_the_model_does_not_read_may_be_left_out(self) -> None:
        data = drawn(GraphSpec((Categorical(3),), (Continuous(2),))).to_data_list()
        assert GraphClassifier(tiny(), SPEC, examples=data).spec.edges == ()

    def test_examples_without_nodes_are_no_examples(self) -> None:
        none = Data(x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.long))
        assert GraphClassifier(tiny(), SPEC, examples=[none]).batched

    @pytest.mark.parametrize("mode", [True, False], ids=["train", "eval"])
    def test_a_model_that_is_refused_comes_back_as_it_came(self, mode: bool) -> None:
        model = tiny().train(mode)
        with pytest.raises(ModelError):
            GraphClassifier(model, GraphSpec((Categorical(4),)))
        assert model.training is mode
        assert all(parameter.requires_grad for parameter in model.parameters())
