from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

from gnninterpreter.models.frozen import Temporary, clean_copy, frozen, hooked


def make() -> nn.Sequential:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Dropout(), nn.Linear(3, 2))
    model[3].requires_grad_(False)
    return model


def test_the_model_is_frozen_and_in_evaluation_mode() -> None:
    model = make().train()
    with frozen(model) as same:
        assert same is model
        assert not any(module.training for module in model.modules())
        assert not any(parameter.requires_grad for parameter in model.parameters())


def test_modes_are_restored_one_by_one() -> None:
    model = make().train()
    model[1].eval()
    with frozen(model):
        model.train()
    assert [module.training for module in model.modules()] == [True, True, False, True, True]


def test_requires_grad_and_gradients_are_restored() -> None:
    model = make()
    model(torch.rand(4, 2)).sum().backward()
    model[0].weight.grad = kept = torch.ones(3, 2)
    with frozen(model):
        model.requires_grad_(True)
        model(torch.rand(4, 2)).sum().backward()
        assert model[3].weight.grad is not None
    assert [p.requires_grad for p in model.parameters()] == [True] * 4 + [False] * 2
    assert model[0].weight.grad is kept
    assert model[3].weight.grad is None


def test_gradients_added_in_place_stay_away() -> None:
    """Frozen parameters collect nothing, so that their gradients stay as they are."""
    model = make()
    model[0].weight.grad = torch.ones(3, 2)
    x = torch.rand(4, 2, requires_grad=True)
    with frozen(model):
        model(x).sum().backward()
    assert torch.equal(model[0].weight.grad, torch.ones(3, 2))


def test_buffers_are_restored_whether_changed_or_replaced() -> None:
    model = make().train()
    before = {name: buffer.clone() for name, buffer in model.named_buffers()}
    same = dict(model.named_buffers())
    with frozen(model):
        model.train()
        model(torch.rand(8, 2))
        model[1].running_var = torch.full((3,), 9.0)
    for name, buffer in model.named_buffers():
        assert buffer is same[name]
        assert torch.equal(buffer, before[name])


def test_plain_attributes_are_restored() -> None:
    """A layer that caches its first graph would answer for that one ever after."""
    model = GCNConv(2, 2, cached=True)
    edge_index = torch.tensor([[0, 1], [1, 0]])
    data = Data(x=torch.rand(2, 2), edge_index=edge_index)
    model.note = "mine"
    with frozen(model):
        model(data.x, data.edge_index)
        model.note, model.other = "changed", 1
        assert model._cached_edge_index is not None
    assert model._cached_edge_index is None
    assert model.note == "mine"
    assert not hasattr(model, "other")


def test_hooks_stay() -> None:
    model, calls = make(), []
    handle = model[0].register_forward_hook(lambda *_: calls.append(1))
    with frozen(model):
        model(torch.rand(2, 2))
    model(torch.rand(2, 2))
    assert len(calls) == 2
    handle.remove()


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_everything_is_restored_after_an_exception(error: type[BaseException]) -> None:
    model = make().train()

    def fail() -> None:
        with frozen(model):
            model[1].running_mean.fill_(5.0)
            raise error

    with pytest.raises(error):
        fail()
    assert model.training
    assert model[0].weight.requires_grad
    assert not model[1].running_mean.any()


def test_contexts_may_be_nested() -> None:
    model = make().train()
    with frozen(model):
        with frozen(model):
            pass
        assert not model.training
        assert not model[0].weight.requires_grad
    assert model.training
    assert model[0].weight.requires_grad


def test_a_nested_context_freezes_again() -> None:
    model = make()
    with frozen(model):
        model.train()
        with frozen(model):
            assert not model.training


def test_contexts_may_end_in_any_order() -> None:
    model = make().train()
    first, second = frozen(model), frozen(model)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not model.training
    second.__exit__(None, None, None)
    assert model.training
    assert model[0].weight.requires_grad


def test_hooks_of_a_run_listen_and_go() -> None:
    model, heard = make().eval(), []
    hooks = [
        (model[0], "input", lambda args: heard.append(args[0].shape)),
        (model[0], "output", lambda args, output: heard.append(output.shape)),
    ]
    with hooked(hooks):
        model(torch.rand(4, 2))
    model(torch.rand(4, 2))
    assert heard == [(4, 2), (4, 3)]
    assert not model[0]._forward_hooks
    assert not model[0]._forward_pre_hooks


def test_hooks_hear_nothing_of_other_threads() -> None:
    model, heard = make().eval(), []
    with hooked([(model[0], "output", lambda args, output: heard.append(1))]):
        thread = threading.Thread(target=model, args=(torch.rand(4, 2),))
        thread.start()
        thread.join()
    assert heard == []


def test_a_copy_is_as_the_model_was_before_it_was_frozen() -> None:
    model, calls = make().train(), []
    model[1].eval()
    model[0].register_forward_hook(lambda *_: calls.append(1))
    listen: Any = lambda *_: calls.append(2)  # noqa: E731
    with frozen(model), hooked([(model[0], "output", listen), (model[0], "input", listen)]):
        model[3].__dict__["forward"] = Temporary(listen)
        copied = clean_copy(model)
        del model[3].__dict__["forward"]
    assert [module.training for module in copied.modules()] == [True, True, False, True, True]
    assert [p.requires_grad for p in copied.parameters()] == [True] * 4 + [False] * 2
    assert copied[0].weight is not model[0].weight
    copied(torch.rand(4, 2))
    assert calls == [1]


def test_a_copy_of_a_model_that_nobody_uses() -> None:
    model = make().train()
    copied = clean_copy(model)
    assert copied.training
    assert torch.equal(copied[0].weight, model[0].weight)
