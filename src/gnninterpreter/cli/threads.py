"""How many CPU threads a command uses."""

from __future__ import annotations

from gnninterpreter.errors import SpecError

__all__ = ["use_threads"]


def use_threads(count: int) -> None:
    """Set the number of CPU threads of this process.

    Explanation graphs are small, so that handing their tensors to several threads takes longer than
    the work itself: on two busy cores a run with two threads was measured to be three times as slow
    as with one.
    """
    import torch

    if count < 1:
        raise SpecError(f"threads must be at least 1 (got {count})")
    torch.set_num_threads(count)
