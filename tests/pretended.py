"""A pretended GPU: tensors that say they are on ``cuda`` while the CPU holds and computes them.

What mixes devices fails as it does on a real one, and calls that make the host wait for an answer
are counted. So the way that a run takes on a GPU is tested where there is none. How long it takes
there, this cannot tell.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map_only

from gnninterpreter import mixing
from gnninterpreter.recording import fixed_shapes
from gnninterpreter.search.repeating import Repeated

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
# Calls whose answer, or the size of it, the host has to wait for.
WAITS = {
    "__bool__", "__float__", "__int__", "__index__", "argwhere", "cpu", "equal", "item",
    "masked_select", "nonzero", "numpy", "tolist", "unique",
}  # fmt: skip
# Calls that may go from one device to the other; places in a tensor may be told by the host.
CROSSING = {"to", "copy_", "cpu", "type_as", "__get__", "__set__", "__getitem__", "__setitem__"}
HOME = {"cpu", "numpy", "tolist"}
# They only name a device.
NAMING = {"device", "_parse_to"}


class There(Tensor):
    """A tensor on the pretended GPU."""

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _called(func, args, kwargs or {})


class PretendedGPU(TorchFunctionMode):
    """While it is on, ``cuda`` means the pretended one; it counts the calls that wait for it.

    ``recorded_waits`` are those in a step that a real one would have recorded, and ``replays`` how
    often it would have been replayed; ``replaying`` says so meanwhile.
    """

    def __init__(self) -> None:
        super().__init__()
        self.waits: Counter[str] = Counter()
        self.recorded_waits: Counter[str] = Counter()
        self.recording = self.replaying = False
        self.replays = 0

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs, name = kwargs or {}, getattr(func, "__name__", "")
        there = any(isinstance(one, There) for one in tree_leaves((args, kwargs)))
        if name in NAMING or not (there or any(map(_is_device, (*args, *kwargs.values())))):
            return func(*args, **kwargs)
        if there and (name in WAITS or (name == "__getitem__" and _asks_a_mask(args[1]))):
            self.waits[name] += 1
            if self.recording:
                self.recorded_waits[name] += 1
        return _called(func, args, kwargs)


@contextmanager
def pretended_gpu() -> Iterator[PretendedGPU]:
    """Whoever asks is told that there is a GPU."""
    gpu = PretendedGPU()

    def aside(_: Repeated, work: Callable[[], None]) -> None:
        with fixed_shapes():
            work()

    def recorded(self: Repeated) -> Callable[[], None]:
        made = False

        def replay() -> None:
            nonlocal made
            # The first time stands for the recording, too, in which the host asks for everything.
            gpu.recording, gpu.replaying, gpu.replays = True, made, gpu.replays + 1
            aside(self, self._step)
            gpu.recording, gpu.replaying, made = False, False, True

        return replay

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.cuda, "is_available", lambda: True)
        patch.setattr(torch.cuda, "device_count", lambda: 1)
        patch.setattr(torch.cuda, "mem_get_info", lambda device=None: (2**36, 2**36))
        patch.setattr(mixing, "_fused", lambda: None)
        for kind in ("accelerator", "cuda"):  # which the name of this check depends on by version
            check = f"_{kind}_graph_capture_health_check"
            patch.setattr(torch.optim.Optimizer, check, lambda _: None, raising=False)
        patch.setattr(Repeated, "_on_the_side", aside)
        patch.setattr(Repeated, "_recorded", recorded)
        with gpu:
            yield gpu


def _called(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Do it on the CPU, and let the result be where it would be."""
    name = func.__name__
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    there = any(isinstance(one, There) for one in given)
    if there and func == Tensor.device.__get__:  # type: ignore[attr-defined]
        return CUDA
    if there and func == Tensor.is_cuda.__get__:  # type: ignore[attr-defined]
        return True
    if there and name == "_has_compatible_shallow_copy_type":
        return False  # a module that is moved gets new parameters
    strict = there and name not in CROSSING and not name.startswith("index_put")
    # A single number may come from the host.
    if strict and any(not isinstance(one, There) and one.dim() for one in given):
        raise RuntimeError(f"{name}: expected all tensors to be on the same device")
    devices = [leaf for leaf in (*args, *kwargs.values()) if _is_device(leaf)]
    if devices:
        there = torch.device(devices[0]).type == "cuda"
        args = tuple(CPU if _is_device(leaf) else leaf for leaf in args)
        kwargs = {key: CPU if _is_device(leaf) else leaf for key, leaf in kwargs.items()}
    elif name in ("to", "type_as") and len(given) > 1:
        there = isinstance(given[1], There)
    elif name in ("copy_", "__setitem__"):
        there = isinstance(args[0], There)
    elif name in HOME:
        there = False
    if not there:
        args, kwargs = tree_map_only(There, lambda one: one.as_subclass(Tensor), (args, kwargs))

    def placed(found: Tensor) -> Tensor:
        if isinstance(found, There) == there:
            return found
        kind: type[Tensor] = There if there else Tensor
        return found.as_subclass(kind)

    with torch._C.DisableTorchFunctionSubclass():
        found = func(*args, **kwargs)
        if isinstance(found, torch.Size):
            return found
        if type(found).__module__ == "torch.return_types":
            return type(found)([placed(one) for one in found])
        return tree_map_only(Tensor, placed, found)


def _is_device(value: Any) -> bool:
    if isinstance(value, str):
        return value.split(":")[0] in ("cpu", "cuda")
    return isinstance(value, torch.device)


def _asks_a_mask(places: Any) -> bool:
    """Whether what is asked for has a size that depends on values."""
    each = places if isinstance(places, tuple) else (places,)
    return any(isinstance(one, Tensor) and one.dtype is torch.bool for one in each)
