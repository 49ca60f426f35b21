"""A model comes back as it came, whatever happened in between."""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Barrier, Event, Thread
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch
from torch_geometric.utils import softmax

from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.frozen import clean_copy
from gnninterpreter.relax import RelaxedModel, probe
from gnninterpreter.relax.relaxation import active_relaxation
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.testing import random_soft_graphs

SPEC = GraphSpec((Categorical(3),))


class Lively(nn.Module):
    """A model with everything that could be left changed."""

    def __init__(self) -> None:
        super().__init__()
        self.gcn, self.gat = gnn.GCNConv(3, 4), gnn.GATConv(4, 4)
        self.frozen = nn.Linear(4, 4).requires_grad_(False)
        self.norm, self.drop = nn.BatchNorm1d(4), nn.Dropout(0.5)
        self.head = nn.Linear(4, 2)
        self.register_buffer("calls", torch.zeros(1))
        self.note = "as it was"
        self.fail: Callable[[], None] = lambda: None

    def forward(self, data: Batch) -> Tensor:
        self.calls += 1
        self.note, self.cache = "called", data.x
        x = self.norm(self.gcn(data.x, data.edge_index).relu())
        x = self.drop(self.frozen(self.gat(x, data.edge_index)))
        self.fail()
        return self.head(gnn.global_add_pool(x, data.batch))


@pytest.fixture
def model() -> Lively:
    model = Lively().train()
    model.norm.eval()
    model.head.weight.grad = torch.ones_like(model.head.weight)
    model.gcn.register_forward_hook(lambda *_: None)
    model.head.register_forward_pre_hook(lambda *_: None)
    model.gat.register_message_forward_hook(lambda *_: None)
    return model


def snapshot(model: nn.Module) -> dict[str, Any]:
    """Everything that can be seen of a model, by identity where identity matters."""
    state: dict[str, Any] = {}
    for name, module in model.named_modules():
        for key, value in vars(module).items():
            plain = not isinstance(value, dict)
            state[f"{name}.{key}"] = value if plain else {k: id(v) for k, v in value.items()}
        state[f"{name} has a forward of its own"] = "forward" in vars(module)
    for name, parameter in model.named_parameters():
        state[f"{name} gradient"] = (parameter.requires_grad, id(parameter.grad))
    for name, tensor in model.state_dict().items():
        state[f"{name} contents"] = tensor.tolist()
    return state


def softmax_holders() -> set[str]:
    """Modules that hold PyG's softmax under its name."""
    return {
        name
        for name, module in list(sys.modules.items())
        if getattr(module, "__dict__", {}).get("softmax") is softmax
    }


def soft(count: int = 3) -> Any:
    return random_soft_graphs(SPEC, count, 4, torch.Generator().manual_seed(0))


def hard() -> Any:
    return random_graphs(SPEC, 3, 4, torch.Generator().manual_seed(0))


def _train(relaxed: RelaxedModel) -> None:
    with relaxed.session():
        relaxed.classifier.model.train()
        relaxed(soft())


def _optimise(relaxed: RelaxedModel) -> None:
    graphs = soft()
    graphs.weight.requires_grad_()
    with relaxed.session():
        for _ in range(2):
            relaxed(graphs).logits.sum().backward()


def _unfreeze(relaxed: RelaxedModel) -> None:
    with relaxed.session():
        relaxed.classifier.model.requires_grad_(True)
        relaxed(soft()).logits.sum().backward()


def _nested(relaxed: RelaxedModel) -> None:
    other = RelaxedModel(relaxed.classifier, dense=False)
    with relaxed.session(), relaxed.session(), other.session():
        relaxed(soft())
        other(soft())


def _crossed(relaxed: RelaxedModel) -> None:
    """Sessions that do not end in the reverse order of their beginning."""
    other = RelaxedModel(GraphClassifier(relaxed.classifier.model, SPEC))
    first, second = relaxed.session(), other.session()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    other(soft())
    second.__exit__(None, None, None)


USES: dict[str, Callable[[RelaxedModel], object]] = {
    "one call": lambda relaxed: relaxed(soft()),
    "optimise": _optimise,
    "train mode inside": _train,
    "unfrozen inside": _unfreeze,
    "nested sessions": _nested,
    "crossed sessions": _crossed,
    "probe": probe,
    "score": lambda relaxed: relaxed.classifier.score(hard()),
    "score data": lambda relaxed: relaxed.classifier.score_data(hard().to_data_list()),
    "wrap": lambda relaxed: GraphClassifier(relaxed.classifier.model, SPEC),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_the_model_is_untouched_after_success(
    model: Lively, use: Callable[[RelaxedModel], object]
) -> None:
    holders, before = softmax_holders(), snapshot(model)
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))
    assert snapshot(model) == before
    use(relaxed)
    assert snapshot(model) == before
    assert softmax_holders() == holders
    assert active_relaxation() is None


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_the_model_is_untouched_after_an_exception_inside_its_forward(
    model: Lively, use: Callable[[RelaxedModel], object]
) -> None:
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))

    def fail() -> None:
        raise KeyError("in the middle")

    model.fail = fail
    holders, before = softmax_holders(), snapshot(model)
    with pytest.raises(Exception, match="in the middle"):
        use(relaxed)
    assert snapshot(model) == before
    assert softmax_holders() == holders
    assert active_relaxation() is None


def test_the_probe_reports_a_failure_on_soft_graphs_and_leaves_the_model_alone(
    model: Lively,
) -> None:
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))

    def fail() -> None:
        if active_relaxation() is not None:
            raise KeyError("only when soft")

    model.fail = fail
    before = snapshot(model)
    report = probe(relaxed)
    assert not report.passed
    assert "the code of Lively.forward fails on soft graphs (KeyError" in report.reason
    assert snapshot(model) == before


def test_the_model_is_untouched_after_an_exception_inside_a_session(model: Lively) -> None:
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))
    holders, before = softmax_holders(), snapshot(model)

    def interrupt() -> None:
        with relaxed.session():
            relaxed(soft())
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert snapshot(model) == before
    assert softmax_holders() == holders
    with relaxed.session():
        assert relaxed.fast_layers == ["gcn"]


def test_the_model_is_untouched_after_an_exception_in_an_inner_session(model: Lively) -> None:
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))
    before = snapshot(model)
    expected = relaxed(soft()).logits
    with relaxed.session():
        with pytest.raises(ZeroDivisionError), relaxed.session():
            raise ZeroDivisionError
        # The outer session goes on.
        assert not model.training
        assert torch.equal(relaxed(soft()).logits, expected)
    assert snapshot(model) == before


def test_within_a_session_the_model_is_frozen_and_in_evaluation_mode(model: Lively) -> None:
    relaxed = RelaxedModel(GraphClassifier(model, SPEC))
    with relaxed.session():
        assert not any(module.training for module in model.modules())
        assert not any(parameter.requires_grad for parameter in model.parameters())
        scores = relaxed(soft())
        assert not scores.logits.requires_grad


def test_within_a_session_the_model_still_answers_natively(model: Lively) -> None:
    classifier = GraphClassifier(model, SPEC)
    relaxed = RelaxedModel(classifier)
    expected = classifier.score(hard()).logits
    with relaxed.session():
        relaxed(soft())
        assert torch.equal(classifier.score(hard()).logits, expected)
        assert torch.equal(model(hard().to_batch()), expected)


def test_sessions_of_both_paths_overlap_without_mixing(model: Lively) -> None:
    classifier = GraphClassifier(model.double(), SPEC)
    graphs = random_soft_graphs(SPEC, 3, 4, torch.Generator().manual_seed(0), dtype=torch.float64)
    dense, generic = RelaxedModel(classifier), RelaxedModel(classifier, dense=False)
    expected = dense(graphs).logits, generic(graphs).logits
    with generic.session(), dense.session():
        assert torch.equal(dense(graphs).logits, expected[0])
        assert torch.equal(generic(graphs).logits, expected[1])


@pytest.mark.parametrize("shared", [True, False], ids=["one relaxed model", "one each"])
def test_two_threads_share_a_model(model: Lively, shared: bool) -> None:
    classifier = GraphClassifier(model, SPEC)
    both = [RelaxedModel(classifier)] * 2 if shared else [RelaxedModel(classifier) for _ in "ab"]
    holders, before = softmax_holders(), snapshot(model)
    expected = [both[0](soft(count)).logits for count in (2, 3)]
    started, finished = Barrier(2, timeout=60), Barrier(2, timeout=60)
    wrong: list[object] = []

    def work(which: int) -> None:
        try:
            for _ in range(10):
                with both[which].session():
                    started.wait()
                    logits = both[which](soft(2 + which)).logits
                    if not torch.equal(logits, expected[which]):
                        wrong.append(logits)
                # The two end in turn, so that each is the first to leave half of the time.
                finished.wait()
        except Exception as error:
            wrong.append(error)
            started.abort()
            finished.abort()

    threads = [Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert snapshot(model) == before
    assert softmax_holders() == holders


def test_another_thread_sees_the_native_layers(model: Lively) -> None:
    classifier = GraphClassifier(model, SPEC)
    relaxed = RelaxedModel(classifier)
    expected = classifier.score(hard()).logits
    seen: list[Tensor] = []
    with relaxed.session():
        relaxed(soft())
        thread = Thread(target=lambda: seen.append(classifier.score(hard()).logits))
        thread.start()
        thread.join()
    assert torch.equal(seen[0], expected)


def test_copies_made_meanwhile_carry_nothing_of_it(model: Lively) -> None:
    """Scoring and explaining in two threads, while a third copies the model again and again."""
    classifier = GraphClassifier(model, SPEC)
    relaxed = RelaxedModel(classifier)
    graphs = random_graphs(SPEC, 3, 5, torch.Generator().manual_seed(0))
    before, expected = snapshot(model), classifier.score(graphs)
    ended, troubles = Event(), []

    def work(ask: Callable[[], Any]) -> None:
        try:
            while not ended.is_set():
                assert torch.allclose(ask().embedding, expected.embedding, atol=1e-5)
        except Exception as error:
            troubles.append(error)
            ended.set()

    soft = random_graphs(SPEC, 3, 5, torch.Generator().manual_seed(0))
    soft.weight.requires_grad_()
    threads = [
        Thread(target=work, args=(lambda: classifier.score(graphs),)),
        Thread(target=work, args=(lambda: relaxed(soft),)),
    ]
    for thread in threads:
        thread.start()
    try:
        copies = [clean_copy(model) for _ in range(60)]
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert troubles == []
    assert snapshot(model) == before
    for copied in copies:
        for (name, mine), theirs in zip(model.named_modules(), copied.modules(), strict=True):
            assert set(vars(theirs)) == set(vars(mine)), name
            assert theirs.training is mine.training
            assert len(theirs._forward_hooks) == len(mine._forward_hooks)
            assert len(theirs._forward_pre_hooks) == len(mine._forward_pre_hooks)
        assert not copied.calls
        assert [p.requires_grad for p in copied.parameters()] == [
            p.requires_grad for p in model.parameters()
        ]
    again = GraphClassifier(copies[-1], SPEC).score(graphs)
    assert torch.equal(again.logits, expected.logits)
