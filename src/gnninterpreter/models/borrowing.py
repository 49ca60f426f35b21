"""Borrowing a model: whatever is done to it in between, it comes back as it came."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

__all__ = ["borrowed"]


@contextmanager
def borrowed(model: nn.Module) -> Iterator[nn.Module]:
    """Put a model into evaluation mode with frozen parameters, and restore it afterwards.

    Restored, also after an exception: the mode of every submodule, ``requires_grad`` and ``grad`` of
    every parameter, the contents of every buffer.

    Example:
        >>> model = nn.Linear(2, 2).train()
        >>> with borrowed(model):
        ...     model.training
        False
        >>> model.training
        True
    """
    modes = {module: module.training for module in model.modules()}
    gradients = {p: (p.requires_grad, p.grad) for p in model.parameters()}
    buffers = {buffer: buffer.clone() for buffer in model.buffers()}
    try:
        model.eval()
        for parameter in gradients:
            parameter.requires_grad_(False)
        yield model
    finally:
        for module, mode in modes.items():
            module.training = mode
        for parameter, (requires_grad, grad) in gradients.items():
            parameter.requires_grad_(requires_grad)
            parameter.grad = grad
        with torch.no_grad():
            for buffer, saved in buffers.items():
                # Batch statistics moved by a stray training step would be a lasting change.
                if not torch.equal(buffer, saved):
                    buffer.copy_(saved)
