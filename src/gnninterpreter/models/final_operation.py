"""How a model makes its last tensor: by a sigmoid, a softmax, a linear layer, or otherwise.

Numbers between 0 and 1 may be probabilities or logits that happen to be small. The operation that
made them settles it, whether it is a module or a function in the model's code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.overrides import TorchFunctionMode

KINDS = {
    **dict.fromkeys(("sigmoid", "sigmoid_", "expit", "special_expit"), "sigmoid"),
    "softmax": "softmax",
    "log_softmax": "log_softmax",
    **dict.fromkeys(("linear", "addmm", "matmul", "mm"), "linear"),
}
# What copies numbers, or puts several tensors side by side, changes nothing about them.
COPIES = (
    "to", "type", "float", "double", "half", "bfloat16", "clone", "contiguous", "index_select",
)  # fmt: skip
JOINS = ("cat", "concat", "stack", "hstack", "column_stack")


class OperationRecorder(TorchFunctionMode):
    """Remembers which operation made each tensor while it is active.

    Example:
        >>> import torch
        >>> with OperationRecorder() as recorder:
        ...     out = torch.sigmoid(torch.ones(3, 1)).squeeze()
        >>> recorder.kind(out)
        'sigmoid'
    """

    def __init__(self) -> None:
        super().__init__()
        self._made: dict[int, str] = {}
        # Storage that is freed may be given out again, under the same address.
        self._alive: list[Tensor] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and (place := _storage(result)):
            name = getattr(func, "__name__", "")
            # A view shares the storage of what it shows, and so do operations in place.
            if place not in self._made or name in KINDS:
                self._made[place] = self._name(name, args)
                self._alive.append(result)
        return result

    def _name(self, name: str, args: tuple[Any, ...]) -> str:
        if name in COPIES and args:
            return self.kind(args[0])
        if name in JOINS and args:
            kinds = {self.kind(part) for part in args[0]}
            return kinds.pop() if len(kinds) == 1 else "other"
        return KINDS.get(name, "other")

    def kind(self, tensor: Any) -> str:
        """Return "sigmoid", "softmax", "log_softmax", "linear" or "other"."""
        return self._made.get(_storage(tensor), "other") if isinstance(tensor, Tensor) else "other"


def _storage(tensor: Tensor) -> int:
    try:
        return tensor.untyped_storage().data_ptr()
    except (NotImplementedError, RuntimeError):  # sparse tensors have none
        return 0
