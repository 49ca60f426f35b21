"""Borrowing a model: whatever is done to it in between, it comes back as it came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import nn

__all__ = ["borrowed"]

_LOCK = Lock()
_LOANS: WeakKeyDictionary[nn.Module, _Loan] = WeakKeyDictionary()


@contextmanager
def borrowed(model: nn.Module) -> Iterator[nn.Module]:
    """Put a model into evaluation mode with frozen parameters, and restore it afterwards.

    Restored, also after an exception: the mode and the plain attributes of every submodule (layers
    keep caches there), ``requires_grad`` and ``grad`` of every parameter, every buffer and its
    contents. Loans may overlap in any order, in one thread or several: the first to begin says how
    the model was, the last to end restores it.

    Example:
        >>> model = nn.Linear(2, 2).train()
        >>> with borrowed(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    with _LOCK:
        loan = _LOANS.get(model)
        if loan is None:
            loan = _LOANS[model] = _Loan(model)
        loan.holders += 1
        model.eval()
        for parameter in model.parameters():
            parameter.requires_grad_(False)
    try:
        yield model
    finally:
        with _LOCK:
            loan.holders -= 1
            if not loan.holders:
                del _LOANS[model]
                loan.restore()


class _Loan:
    """How a model was when it was lent."""

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


def _restore_attributes(now: dict[str, Any], before: dict[str, Any]) -> None:
    for name in [name for name in now if name not in before]:
        del now[name]
    for name, value in before.items():
        if now.get(name, now) is not value:
            now[name] = value
