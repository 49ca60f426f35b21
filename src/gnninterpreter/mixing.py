"""Mixing bits: from whole numbers to others that look random, the same on every device.

Random streams count with it; keys of graphs and codes of what lies around a node are made of it.
"""

from __future__ import annotations

from torch import Tensor

# Constants of the SplitMix64 generator, as signed 64-bit integers.
GOLDEN = 0x9E3779B97F4A7C15 - (1 << 64)
MIX_1 = 0xBF58476D1CE4E5B9 - (1 << 64)
MIX_2 = 0x94D049BB133111EB - (1 << 64)


def shift_right(x: Tensor, bits: int) -> Tensor:
    """Shift without the sign, which ``>>`` would copy in from the left."""
    return (x >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def mix(x: Tensor) -> Tensor:
    """Turn 64-bit numbers into others that look random, each into its own (SplitMix64)."""
    x = shift_right(x, 30).bitwise_xor_(x).mul_(MIX_1)
    x = shift_right(x, 27).bitwise_xor_(x).mul_(MIX_2)
    return shift_right(x, 31).bitwise_xor_(x)
