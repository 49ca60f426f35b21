"""`explain` from outside: any way to write a model, the same seed, the model back, bad input."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, TopKPooling, global_max_pool, global_mean_pool

import gnninterpreter as gi
from gnninterpreter.errors import (
    DataError,
    GNNInterpreterError,
    ModelError,
    OutputError,
    SpecError,
    TargetError,
)
from gnninterpreter.explanation import Explanation
from gnninterpreter.models import Bundle
from gnninterpreter.search import Snapshot
from tests.tiny import MeanDegree, fit, seeded, shapes, trained_shapes

DISCRETE = ("anneal", "local search", "iterated search", "calibrate")

QUICK = gi.Recipe.auto(iterations=15, check_every=5, start="density")
SPEC = gi.GraphSpec(class_names=("sparse", "dense"), max_nodes=6)


def explain(model: Any, dataset: Any = None, **keywords: Any) -> gi.ExplanationSet:
    chosen: dict[str, Any] = {"recipe": QUICK, "restarts": 2, "progress": False, "seed": 0}
    return gi.explain(model, dataset, **{**chosen, **keywords})


# --- every way to write a model -----------------------------------------------------------------


class TakesData(MeanDegree):
    def forward(self, data: Batch) -> Tensor:
        return self.scores(data.x, data.edge_index, data.batch)


class TakesEdgeAttr(MeanDegree):
    """Counts only edges of the second kind."""

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        degree = self.conv(x, edge_index, edge_attr[:, 1])
        return self.head(global_mean_pool(degree, batch))


class TakesEdgeWeight(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_mean_pool(self.conv(x, edge_index, edge_weight), batch))


class ReturnsTuple(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        return self.scores(x, edge_index, batch), {"attention": x}


class ReturnsDict(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        return {"loss": torch.zeros(()), "logits": self.scores(x, edge_index, batch)}


class ReturnsLogProbabilities(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.scores(x, edge_index, batch).log_softmax(dim=1)


class ReturnsProbabilities(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.scores(x, edge_index, batch).softmax(dim=1)


class OneLogit(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        scores = self.scores(x, edge_index, batch)
        return scores[:, 1:] - scores[:, :1]


class OneFlatLogit(OneLogit):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch).squeeze(-1)


class OneProbability(OneLogit):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch).sigmoid()


class OddNames(MeanDegree):
    def forward(self, this: Tensor, that: Tensor, those: Tensor) -> Tensor:
        return self.scores(this, that, those)


WITH_EDGES = gi.GraphSpec(edges=(gi.Categorical(2),), class_names=("sparse", "dense"), max_nodes=6)


@pytest.mark.parametrize(
    ("make", "spec", "keywords", "said"),
    [
        (MeanDegree, SPEC, {}, "called as forward(x, edge_index, batch)"),
        (TakesData, SPEC, {}, "called as forward(data)"),
        (TakesEdgeAttr, WITH_EDGES, {}, "called as forward(x, edge_index, edge_attr, batch)"),
        (TakesEdgeWeight, SPEC, {}, "called as forward(x, edge_index, edge_weight, batch)"),
        (ReturnsTuple, SPEC, {}, "output: raw logits"),
        (ReturnsDict, SPEC, {}, "output: raw logits"),
        (ReturnsLogProbabilities, SPEC, {}, "output: log-probabilities"),
        (ReturnsProbabilities, SPEC, {}, "output: probabilities"),
        (OneLogit, SPEC, {}, "output: one logit for each graph"),
        (OneFlatLogit, SPEC, {}, "output: one logit for each graph"),
        (OneProbability, SPEC, {}, "output: one probability for each graph"),
        (
            OddNames,
            SPEC,
            {"forward": lambda model, data: model(data.x, data.edge_index, data.batch)},
            "called as your own forward(model, data)",
        ),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_however_a_model_is_written_its_class_is_found(
    make: Callable[[], nn.Module], spec: gi.GraphSpec, keywords: dict[str, Any], said: str
) -> None:
    model = make()
    result = explain(model, spec=spec, targets="dense", **keywords)
    assert any(line.startswith(said) for line in result.inferred), result.inferred
    found = result["dense"]
    assert found.probability.mean > 0.95
    assert found.gradient == "relaxed"
    degree = 2 * found.num_edges / found.num_nodes
    assert degree > 2
    if spec.edges:
        assert found.best.edge_attr[:, 1].mean() > 0.5


def test_samples_go_into_the_native_model_as_they_are() -> None:
    model = MeanDegree()
    found = explain(model, spec=SPEC)["dense"]
    batch = Batch.from_data_list(found.sample(300))
    assert batch.num_graphs == 300
    with torch.no_grad():
        native = model(batch.x, batch.edge_index, batch.batch).softmax(1)[:, 1].mean()
        best = model(found.best.x, found.best.edge_index, torch.zeros(found.num_nodes).long())
    assert float(native) == pytest.approx(found.probability.mean, abs=0.02)
    assert float(best.softmax(1)[0, 1]) == pytest.approx(found.mode_probability, abs=1e-5)


def test_a_model_in_double_precision() -> None:
    found = explain(MeanDegree().double(), spec=SPEC, targets=1)["dense"]
    assert found.best.x.dtype == torch.float64
    assert found.probability.mean > 0.95


def test_edge_features_that_the_model_ignores_are_left_out() -> None:
    result = explain(MeanDegree(), spec=WITH_EDGES, targets=1)
    assert result.spec.edges == ()
    assert result["dense"].best.edge_attr is None
    assert "edge features: none" in " ".join(result.inferred)
    kept = explain(TakesEdgeAttr(), spec=WITH_EDGES, targets=1)
    assert kept.spec.edges == WITH_EDGES.edges


@pytest.mark.parametrize("gradient", ["relaxed", "score-function"])
@pytest.mark.parametrize("start", ["density", "uniform"])
def test_two_candidate_nodes_are_enough(gradient: str, start: str) -> None:
    small = gi.GraphSpec(class_names=("sparse", "dense"), max_nodes=2)
    recipe = gi.Recipe.auto(iterations=3, start=start)
    found = explain(MeanDegree(), spec=small, targets=0, gradient=gradient, recipe=recipe)[0]
    assert (found.num_nodes, found.num_edges) == (2, 1)


# --- the same again -----------------------------------------------------------------------------


def assert_same(one: Explanation, other: Explanation) -> None:
    for a, b in zip(one.distribution.latents(), other.distribution.latents(), strict=True):
        assert torch.equal(a, b)
    first, second = one.summary(), other.summary()
    assert first.pop("seconds") > 0
    assert second.pop("seconds") > 0
    # More is known where the data is at hand.
    told = {"notes", "evidence", "verdict", "cores", "shortcuts", "exemplars"}
    assert {k: v for k, v in first.items() if k not in told} == {
        k: v for k, v in second.items() if k not in told
    }


@lru_cache(maxsize=1)
def shapes_result() -> gi.ExplanationSet:
    model, graphs = trained_shapes()
    return explain(model, graphs)


def test_the_same_seed_gives_the_same_explanations_to_the_bit() -> None:
    model, graphs = trained_shapes()
    again = explain(model, graphs)
    assert list(again) == list(shapes_result()) == ["class 0", "class 1", "class 2"]
    for name, found in shapes_result().items():
        assert_same(found, again[name])


def test_another_seed_gives_something_else() -> None:
    model, graphs = trained_shapes()
    other = explain(model, graphs, targets=1, seed=1)[1]
    assert other.seed == 1
    before = shapes_result()[1].distribution.edge_logits
    assert not torch.equal(other.distribution.edge_logits, before)


def test_a_class_comes_out_the_same_alone_and_among_others() -> None:
    model, graphs = trained_shapes()
    assert_same(explain(model, graphs, targets="class 2")[2], shapes_result()[2])


def test_a_bundle_or_statistics_stand_in_for_the_data() -> None:
    model, graphs = trained_shapes()
    spec = gi.GraphSpec.from_dataset(graphs)
    statistics = gi.ClassStatistics.from_dataset(model, graphs)
    bundle = Bundle(model, spec, statistics, {}, "shapes")
    by_bundle = explain(bundle, targets=0)
    assert by_bundle.model_name == "shapes"
    assert_same(by_bundle[0], shapes_result()[0])
    by_hand = explain(model, spec=spec, class_statistics=statistics, targets=0)
    assert_same(by_hand[0], shapes_result()[0])


def test_the_global_generator_is_left_alone() -> None:
    model = MeanDegree()
    before = torch.get_rng_state()
    explain(model, spec=SPEC, targets=1)
    assert torch.equal(torch.get_rng_state(), before)


def test_what_was_done_can_be_repeated_from_the_metadata() -> None:
    result = shapes_result()
    assert result.model_name == "Shapes"
    assert result.metadata["seed"] == 0
    assert result.metadata["restarts"] == 2
    assert result.metadata["recipe"] == "auto"
    call = result.metadata["recipe_call"]
    assert call == "gi.Recipe.auto(check_every=5, iterations=15)"
    stored = gi.Recipe.from_json(result.metadata["recipes"][0])
    assert stored == gi.Recipe.auto(check_every=5, iterations=15)
    assert result.metadata["probe"]["passed"] is True
    assert result.metadata["versions"]["torch"] == torch.__version__
    assert result.metadata["device"] == "cpu"


@pytest.mark.parametrize(
    ("targets", "expected"),
    [
        (None, ["sparse", "dense"]),
        ("dense", ["dense"]),
        (0, ["sparse"]),
        (["1", 0, "DENSE"], ["dense", "sparse"]),
    ],
)
def test_targets_by_name_or_index(targets: Any, expected: list[str]) -> None:
    recipe = gi.Recipe.auto(iterations=1).without(*DISCRETE)
    assert list(explain(MeanDegree(), spec=SPEC, targets=targets, recipe=recipe)) == expected


def test_a_saved_run_says_the_same(tmp_path: Any) -> None:
    result = shapes_result()
    again = gi.load(result.save(tmp_path / "run"))
    assert again.summary() == result.summary()
    for one, other in zip(again[1].sample(10), result[1].sample(10), strict=True):
        assert torch.equal(one.edge_index, other.edge_index)


# --- the model comes back as it came ------------------------------------------------------------


class Kept(nn.Module):
    """Dropout, batch statistics, a frozen parameter, a gradient and a hook: all to be kept."""

    def __init__(self) -> None:
        super().__init__()
        self.degree = MeanDegree()
        self.norm = nn.BatchNorm1d(2)
        self.drop = nn.Dropout(0.5)
        self.degree.head.bias.requires_grad_(False)
        self.degree.head.weight.grad = torch.full_like(self.degree.head.weight, 3.0)
        self.calls = 0
        self.degree.head.register_forward_hook(self.count)
        self.train()
        self.drop.eval()

    def count(self, *_: Any) -> None:
        self.calls += 1

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.drop(self.norm(self.degree.scores(x, edge_index, batch)))


def state(model: nn.Module) -> dict[str, Any]:
    return {
        "values": {k: v.tolist() for k, v in model.state_dict().items()},
        "modes": [module.training for module in model.modules()],
        "wants": [p.requires_grad for p in model.parameters()],
        "gradients": [None if p.grad is None else p.grad.tolist() for p in model.parameters()],
        "hooks": [
            (list(m._forward_hooks), list(m._forward_pre_hooks), "forward" in vars(m))
            for m in model.modules()
        ],
    }


@pytest.mark.parametrize("gradient", ["relaxed", "score-function"])
def test_the_model_comes_back_as_it_came(gradient: str) -> None:
    model = seeded(Kept)
    before = state(model)
    explain(model, spec=SPEC, gradient=gradient, device="cpu")
    assert state(model) == before


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("phase", ["anneal", "calibrate"])
def test_also_after_an_error_in_the_middle(error: type[BaseException], phase: str) -> None:
    model = seeded(Kept)
    before = state(model)

    def fail(look: Snapshot) -> None:
        if look.phase == phase:
            raise error("enough")

    with pytest.raises(error, match="enough"):
        explain(model, spec=SPEC, callbacks=[fail])
    assert state(model) == before


# --- progress and callbacks ---------------------------------------------------------------------


class Told:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        self.heard.append(("begin", model, *classes))

    def begin_class(self, name: str) -> None:
        self.heard.append(("begin class", name))

    def look(self, look: Snapshot) -> bool | None:
        self.heard.append(look.phase)
        return None

    def end_class(self, explanation: Explanation) -> None:
        self.heard.append(("end class", explanation.name))

    def end(self) -> None:
        self.heard.append("end")


def test_progress_is_told_in_order() -> None:
    told = Told()
    explain(MeanDegree(), spec=SPEC, progress=told)
    heard = list(dict.fromkeys(told.heard))
    assert heard[0] == ("begin", "MeanDegree", "sparse", "dense")
    names = [entry for entry in heard if isinstance(entry, tuple)][1:]
    assert names == [
        ("begin class", "sparse"),
        ("end class", "sparse"),
        ("begin class", "dense"),
        ("end class", "dense"),
    ]
    assert {"anneal", "local search", "calibrate"} <= {e for e in heard if isinstance(e, str)}
    assert told.heard[-1] == "end"


def test_progress_ends_also_after_an_error() -> None:
    told = Told()

    def fail(look: Snapshot) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        explain(MeanDegree(), spec=SPEC, progress=told, callbacks=[fail])
    assert told.heard[-1] == "end"
    assert told.heard.count("end") == 1


def test_a_callback_stops_the_search() -> None:
    looks: list[int] = []

    def stop(look: Snapshot) -> bool:
        if look.phase == "gradient":
            looks.append(look.iteration)
        return look.phase == "gradient"

    recipe = gi.Recipe.auto(iterations=20, check_every=5).with_phase("gradient", spares=False)
    found = explain(MeanDegree(), spec=SPEC, targets=1, recipe=recipe, callbacks=[stop])[1]
    assert looks == [5]
    assert {restart.iterations for restart in found.restarts} == {5}


# --- models that cannot be relaxed --------------------------------------------------------------


class Pooled(nn.Module):
    """Keeps the highest scoring nodes, which no soft weight can do."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GraphConv(1, 16)
        self.pool = TopKPooling(16, ratio=0.6)
        self.second = GraphConv(16, 16)
        self.head = nn.Linear(32, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.first(data.x, data.edge_index).relu()
        x, edge_index, _, batch, _, _ = self.pool(x, data.edge_index, None, data.batch)
        x = self.second(x, edge_index).relu()
        both = torch.cat([global_mean_pool(x, batch), global_max_pool(x, batch)], dim=1)
        logits: Tensor = self.head(both)
        return logits


@lru_cache(maxsize=1)
def trained_pooled() -> tuple[nn.Module, list[Data]]:
    graphs = shapes(range(4, 14))
    return fit(seeded(Pooled), graphs, epochs=60), graphs


def test_a_model_that_cannot_be_relaxed_is_explained_by_the_score_function() -> None:
    model, graphs = trained_pooled()
    result = explain(model, graphs, restarts=3, recipe=gi.Recipe.auto(iterations=60))
    said = " ".join(result.inferred)
    assert "cannot be relaxed: `pool` (TopKPooling)" in said
    assert "score-function gradient" in said
    assert result.metadata["probe"]["passed"] is False
    for target, found in enumerate(result.values()):
        assert found.gradient == "score-function"
        assert found.probability.mean >= 0.95
        with torch.no_grad():
            native = model(Batch.from_data_list([found.best])).softmax(1)
        assert float(native[0, target]) > 0.95


def test_insisting_on_the_relaxed_gradient_is_refused_with_the_reason() -> None:
    model, graphs = trained_pooled()
    with pytest.raises(ModelError, match=r"gradient='relaxed' was asked for.*`pool` \(TopKPool"):
        explain(model, graphs, gradient="relaxed")


def test_the_score_function_can_be_asked_for() -> None:
    result = explain(MeanDegree(), spec=SPEC, targets=1, gradient="score-function")
    assert result["dense"].gradient == "score-function"
    assert "score-function gradient, as asked for" in result.inferred
    assert result["dense"].probability.mean > 0.9


# --- bad input ----------------------------------------------------------------------------------


class NotANumber(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) * torch.nan


class OneRowForAll(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch).sum(dim=0, keepdim=True)


class NothingAtAll(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Any:
        return None


def labelled(labels: tuple[int, ...] = (0, 1)) -> list[Data]:
    return [graph for graph in shapes(range(4, 6)) if int(graph.y) in labels]


def three_classes() -> gi.GraphSpec:
    return gi.GraphSpec(class_names=("sparse", "dense", "rare"))


class Three(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return nn.functional.pad(super().forward(x, edge_index, batch), (0, 1))


def bare(graph: Data) -> Data:
    return Data(x=graph.x, edge_index=graph.edge_index)


BAD: dict[str, tuple[type[GNNInterpreterError], str, Callable[[], object]]] = {
    "unknown class": (
        TargetError,
        r"there is no class 'wheel'; the classes are 0 = sparse, 1 = dense",
        lambda: explain(MeanDegree(), spec=SPEC, targets="wheel"),
    ),
    "unknown index": (
        TargetError,
        r"there is no class 2; the classes are 0 = sparse, 1 = dense",
        lambda: explain(MeanDegree(), spec=SPEC, targets=[0, 2]),
    ),
    "no targets": (
        TargetError,
        r"targets is empty; name at least one",
        lambda: explain(MeanDegree(), spec=SPEC, targets=[]),
    ),
    "class absent from the data": (
        TargetError,
        r"the data has no graph of class 'rare', .*; add some",
        lambda: explain(Three(), labelled(), spec=three_classes(), targets="rare"),
    ),
    "half precision": (
        ModelError,
        r"the model is in torch.float16, .*; call model.float\(\) first",
        lambda: explain(MeanDegree().half(), spec=SPEC),
    ),
    "mixed precision": (
        ModelError,
        r"the model mixes floating-point types \(torch.float32, torch.float64\); call model.float",
        lambda: explain(nn.ModuleList([MeanDegree(), MeanDegree().double()]), spec=SPEC),
    ),
    "wrong feature width": (
        ModelError,
        r"the model failed on graphs with 1 node and 0 edge feature columns.*Check that the spec",
        lambda: explain(MeanDegree(4), labelled()),
    ),
    "a file to resume from": (
        OutputError,
        r"resume .*test_api\.py cannot be written \(Not a directory\); choose another folder",
        lambda: explain(MeanDegree(), spec=SPEC, resume=__file__),
    ),
    "NaN": (
        ModelError,
        r"the model returned NaN or infinite scores on ordinary graphs; check its weights",
        lambda: explain(NotANumber(), spec=SPEC),
    ),
    "wrong shape": (
        ModelError,
        r"the model returned a tensor of shape \[1, 2\] for 12 graphs, .*; pass forward=",
        lambda: explain(OneRowForAll(), spec=SPEC),
    ),
    "no output": (
        ModelError,
        r"the model returned a NoneType for 12 graphs",
        lambda: explain(NothingAtAll(), spec=SPEC),
    ),
    "odd signature": (
        ModelError,
        r"cannot tell how to call OddNames.forward\(this, that, those\).*; pass forward=",
        lambda: explain(OddNames(), spec=SPEC),
    ),
    "too few class names": (
        ModelError,
        r"the model returns scores for 3 classes but the spec names 2",
        lambda: explain(Three(), spec=SPEC),
    ),
    "no model": (
        ModelError,
        r"model must be a torch.nn.Module \(got dict\); load the weights",
        lambda: explain({"weight": 1}, spec=SPEC),
    ),
    "a class of models": (
        ModelError,
        r"\(got the class MeanDegree\); make one of it and load its weights first",
        lambda: explain(MeanDegree, spec=SPEC),
    ),
    "no function": (
        ModelError,
        r"forward must be a function forward\(model, data\) \(got 'forward'\)",
        lambda: explain(MeanDegree(), spec=SPEC, forward="forward"),
    ),
    "unknown embedding": (
        ModelError,
        r"embedding='readout': the model has no such module; it has conv",
        lambda: explain(MeanDegree(), spec=SPEC, embedding="readout"),
    ),
    "spec and data disagree": (
        SpecError,
        r"the spec describes 7 columns of 'x' but the data has 1; GraphSpec",
        lambda: explain(MeanDegree(7), labelled(), spec=gi.GraphSpec(nodes=(gi.Categorical(7),))),
    ),
    "neither spec nor data": (
        SpecError,
        r"neither dataset nor spec was given.*; pass the training data, or spec=GraphSpec",
        lambda: explain(MeanDegree()),
    ),
    "empty data": (
        DataError,
        r"dataset is empty; give the graphs the model was trained on",
        lambda: explain(MeanDegree(), []),
    ),
    "data of another kind": (
        DataError,
        r"dataset must be a data set or a list of graphs \(got int\)",
        lambda: explain(MeanDegree(), 5),
    ),
    "graphs of another kind": (
        DataError,
        r"dataset must hold graphs of type torch_geometric.data.Data, .* \(got a str at place 0\)",
        lambda: explain(MeanDegree(), ["graph"], spec=SPEC),
    ),
    "a single graph": (
        DataError,
        r"dataset must be a data set or a list of graphs \(got Data\); put a single graph",
        lambda: explain(MeanDegree(), labelled()[0]),
    ),
    "labels of some graphs": (
        DataError,
        r"every graph of the dataset needs one class label in 'y' \(got none\), or none; leave 'y'",
        lambda: explain(MeanDegree(), [*labelled(), bare(labelled()[0])]),
    ),
    "statistics of another model": (
        SpecError,
        r"class_statistics is for 3 classes and embeddings of 8 numbers but the model has 2 and 1",
        lambda: explain(
            MeanDegree(),
            spec=SPEC,
            class_statistics=gi.ClassStatistics.from_dataset(*trained_shapes()),
        ),
    ),
    "max_nodes in the spec": (
        SpecError,
        r"max_nodes must be at least 2 \(got 1\)",
        lambda: gi.GraphSpec(max_nodes=1),
    ),
    "max_nodes in the recipe": (
        SpecError,
        r"max_nodes must be at least 2 \(got 0\)",
        lambda: gi.Recipe.auto(max_nodes=0),
    ),
    "no restarts": (
        SpecError,
        r"restarts must be at least 1 \(got 0\)",
        lambda: explain(MeanDegree(), spec=SPEC, restarts=0),
    ),
    "half a restart": (
        SpecError,
        r"restarts must be a whole number \(got 2.5\)",
        lambda: explain(MeanDegree(), spec=SPEC, restarts=2.5),
    ),
    "a seed in words": (
        SpecError,
        r"seed must be a whole number \(got 'lucky'\)",
        lambda: explain(MeanDegree(), spec=SPEC, seed="lucky"),
    ),
    "a seed out of range": (
        SpecError,
        r"seed must be at most 9223372036854775807",
        lambda: explain(MeanDegree(), spec=SPEC, seed=2**63),
    ),
    "unknown gradient": (
        SpecError,
        r"gradient must be one of auto, relaxed, score-function \(got 'exact'\)",
        lambda: explain(MeanDegree(), spec=SPEC, gradient="exact"),
    ),
    "unknown recipe": (
        SpecError,
        r"recipe must be 'auto', 'certain', 'paper' or a Recipe \(got 'fast'\)",
        lambda: explain(MeanDegree(), spec=SPEC, recipe="fast"),
    ),
    "the paper's recipe for other data": (
        SpecError,
        r"recipe 'paper' has weights for the data sets of the paper, .* none of them; use 'auto'",
        lambda: explain(MeanDegree(), spec=SPEC, recipe="paper"),
    ),
    "unknown device": (
        SpecError,
        r"device 'gpu' is not known; use 'cpu' or 'cuda'",
        lambda: explain(MeanDegree(), spec=SPEC, device="gpu"),
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_in_one_sentence(name: str) -> None:
    kind, message, call = BAD[name]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


def test_cuda_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SpecError, match=r"device 'cuda' was asked for, but there is no CUDA here"):
        explain(MeanDegree(), spec=SPEC, device="cuda")


def test_more_cuda_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(SpecError, match="asked for, but the last one here is 'cuda:1'"):
        explain(MeanDegree(), spec=SPEC, device="cuda:2")


def test_classes_that_the_data_lacks_are_left_out_unless_asked_for() -> None:
    recipe = gi.Recipe.auto(iterations=1).without(*DISCRETE)
    result = explain(Three(), labelled(), spec=three_classes(), recipe=recipe)
    assert list(result) == ["sparse", "dense"]
