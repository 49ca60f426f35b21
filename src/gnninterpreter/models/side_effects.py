"""What a model changes besides returning something: the graph it is given, or its own weights."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from gnninterpreter.errors import ModelError


def written_by(
    model: nn.Module, data: Batch, run: Callable[[Batch], Tensor]
) -> tuple[Tensor, tuple[str, ...]]:
    """Run a model once; return what it gives, and which fields of the batch it has overwritten.

    One that changes its own weights is refused, and they are put back.
    """
    given = copy(data)
    before = {key: value.clone() for key, value in given if isinstance(value, Tensor)}
    for key, value in before.items():
        given[key] = value
    versions = {key: value._version for key, value in before.items()}
    weights = [(name, p, p.detach().clone()) for name, p in model.named_parameters()]
    result = run(given)
    changed = [name for name, p, old in weights if not torch.equal(p, old)]
    if changed:
        for _, p, old in weights:
            p.data.copy_(old)
        raise ModelError(
            f"the model changes its own weights when it is called (`{changed[0]}`), so that its "
            "answers depend on what it was asked before; make forward leave them alone"
        )
    written = tuple(
        key
        for key, value in before.items()
        if given.get(key) is not value or value._version != versions[key]
    )
    return result, written
