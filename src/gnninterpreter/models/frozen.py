"""A frozen model: whatever is done to it in between, it comes back as it came.

The same lock guards everything that is put on a model for a while (hooks, other forwards) and the
copying of a model, so that a copy never carries what belongs to somebody else's run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from threading import RLock, get_ident
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

from gnninterpreter.arguments import device_of
from gnninterpreter.errors import SpecError

MODEL_LOCK = RLock()
_STATES: WeakKeyDictionary[nn.Module, _State] = WeakKeyDictionary()


@contextmanager
def frozen(model: nn.Module) -> Iterator[nn.Module]:
    """Put a model into evaluation mode with frozen parameters, and restore it afterwards.

    Restored, also after an exception: the mode and the plain attributes of every submodule (layers
    keep caches there), ``requires_grad`` and ``grad`` of every parameter, every buffer and its
    contents. Contexts may overlap in any order, in one thread or several: the first to begin says
    how the model was, the last to end restores it. Compiled layers compute uncompiled, since each
    new size of graph would be compiled anew.

    Example:
        >>> model = nn.Linear(2, 2).train()
        >>> with frozen(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    with MODEL_LOCK:
        state = _STATES.get(model)
        if state is None or model.training:
            state = _STATES[model] = state or _State(model)
            model.eval()
            for parameter in model.parameters():
                parameter.requires_grad_(False)
            for module in model.modules():
                _uncompile(module)
        state.holders += 1
    try:
        yield model
    finally:
        with MODEL_LOCK:
            state.holders -= 1
            if not state.holders:
                del _STATES[model]
                state.restore()


@contextmanager
def on_device(model: nn.Module, device: str | torch.device | None) -> Iterator[None]:
    """Use a model on another device, and move it back; where it is for None."""
    if device is None:
        yield
        return
    wanted = device_of(device)
    home = next((p.device for p in (*model.parameters(), *model.buffers())), torch.device("cpu"))
    try:
        try:
            model.to(wanted)
        except (RuntimeError, NotImplementedError) as error:
            raise SpecError(
                f"device {device!r} cannot hold the model ({error}); use 'cpu' or 'cuda'"
            ) from error
        yield
    finally:
        model.to(home)


def clean_copy(model: nn.Module) -> nn.Module:
    """Copy a model as it is when nobody uses it, also while another thread does.

    Without what `hooked` and the relaxation put on it for a while, and with the attributes, buffers
    and ``requires_grad`` from before it was frozen. The user's hooks stay.
    """
    with MODEL_LOCK:
        state = _STATES.get(model)
        copied = deepcopy(model) if state is None else state.copy_of(model)
        for module in copied.modules():
            for hooks in (module._forward_hooks, module._forward_pre_hooks):
                for key in [key for key, hook in hooks.items() if isinstance(hook, Temporary)]:
                    del hooks[key]
    return copied


class Temporary:
    """A function that is put on a model for a while; a copy of the model goes without it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return self._function(*args, **kwargs)

    def __deepcopy__(self, memo: dict[int, Any]) -> Temporary:
        """What it holds belongs to a run, not to the model."""
        return self


Hook = tuple[nn.Module, str, Callable[..., Any]]


@contextmanager
def hooked(hooks: Sequence[Hook]) -> Iterator[None]:
    """Listen to modules while the context lasts, in the thread that opened it.

    ``function(args)`` is called before a module with ``"input"`` runs, ``function(args, output)``
    after one with ``"output"``; what they return, if anything, takes the place of either.
    """
    thread = get_ident()

    def listener(function: Callable[..., Any]) -> Temporary:
        def listen(_: nn.Module, *values: Any) -> Any:
            # Another thread may run the same model meanwhile; its tensors are none of ours.
            return function(*values) if get_ident() == thread else None

        return Temporary(listen)

    with MODEL_LOCK:
        handles = [
            module.register_forward_pre_hook(listener(function))
            if side == "input"
            else module.register_forward_hook(listener(function))
            for module, side, function in hooks
        ]
    try:
        yield
    finally:
        with MODEL_LOCK:
            for handle in handles:
                handle.remove()


class _State:
    """How a model was before it was frozen."""

    def __init__(self, model: nn.Module) -> None:
        self.holders = 0
        self._attributes = [(module, dict(vars(module))) for module in model.modules()]
        self._gradients = [(p, p.requires_grad, p.grad) for p in model.parameters()]
        self._buffers = [
            (module, name, buffer, buffer.clone())
            for module in model.modules()
            for name, buffer in module._buffers.items()
            if buffer is not None
        ]

    def restore(self) -> None:
        """Put everything back, touching only what has changed."""
        for module, before in self._attributes:
            _restore_attributes(vars(module), before)
        for parameter, requires_grad, grad in self._gradients:
            parameter.requires_grad_(requires_grad)
            parameter.grad = grad
        with torch.no_grad():
            for module, name, buffer, saved in self._buffers:
                module._buffers[name] = buffer
                # Batch statistics moved by a stray training step would be a lasting change.
                if not torch.equal(buffer, saved):
                    buffer.copy_(saved)

    def copy_of(self, model: nn.Module) -> nn.Module:
        """Copy the model as it was, reading nothing that another thread may be writing."""
        memo: dict[int, Any] = {
            id(module): type(module).__new__(type(module)) for module, _ in self._attributes
        }
        memo |= {id(buffer): saved.clone() for _, _, buffer, saved in self._buffers}
        for module, before in self._attributes:
            vars(memo[id(module)]).update(deepcopy(before, memo))
        for parameter, requires_grad, _ in self._gradients:
            memo[id(parameter)].requires_grad_(requires_grad)
        copied: nn.Module = memo[id(model)]
        return copied


def _restore_attributes(now: dict[str, Any], before: dict[str, Any]) -> None:
    for name in [name for name in now if name not in before]:
        del now[name]
    for name, value in before.items():
        if now.get(name, now) is not value:
            now[name] = value


def _uncompile(module: nn.Module) -> None:
    """Let a compiled layer compute as it was written; restored with the other attributes."""
    if module.__dict__.get("_compiled_call_impl") is not None:
        module._compiled_call_impl = None
    inner = module._modules.get("_orig_mod")
    if inner is not None and type(module).__name__ == "OptimizedModule":
        module.__dict__["forward"] = inner.__call__
