"""Mixing bits: from whole numbers to others that look random, the same on every device.

Random streams count with it; keys of graphs and codes of what lies around a node are made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

# Constants of the SplitMix64 generator, as signed 64-bit integers.
GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
MIX_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
MIX_2 = 0x94D049BB133111EB - (1 << 64)
# The same as `mix` for one number, in the language of GPUs.
_MIX = """template <typename T> T mix(T x) {
    unsigned long long z = x;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}"""


def shift_right(x: Tensor, bits: int) -> Tensor:
    """Shift without the sign, which ``>>`` would copy in from the left."""
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def mix(x: Tensor) -> Tensor:
    """Turn 64-bit numbers into others that look random, each into its own (SplitMix64)."""
    fused = _fused() if x.is_cuda else None
    if fused is not None:
        return fused(x)
    x = shift_right(x, 30).bitwise_xor_(x).mul_(MIX_1)
    x = shift_right(x, 27).bitwise_xor_(x).mul_(MIX_2)
    return shift_right(x, 31).bitwise_xor_(x)


@lru_cache(maxsize=1)
def _fused() -> Callable[[Tensor], Tensor] | None:
    """`mix` as one operation of a GPU instead of eleven; None where it cannot be compiled."""
    made: Callable[[Tensor], Tensor] = torch.cuda.jiterator._create_jit_fn(_MIX)
    try:
        made(torch.zeros(1, dtype=torch.long, device="cuda"))
    except RuntimeError:
        return None
    return made
