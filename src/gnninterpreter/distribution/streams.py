"""Random numbers by counting: one independent stream for each restart, on any device.

A number depends on its stream's key and its place in the stream, and on nothing else. So restart r
draws the same numbers whatever the number of restarts beside it, a thousand streams cost one call,
and the same seed gives the same numbers on a CPU and on a GPU.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import lru_cache

import torch
from torch import Tensor

from gnninterpreter.mixing import GOLDEN, MIX_1, MIX_2, mix, shift_right

# One bit fewer than a float32 holds, so that the largest number still rounds below 1.
_BITS = 23
# Numbers that are set aside for a draw whose places are given.
SPAN = 1 << 32


def _wrapped(number: int) -> int:
    """A whole number as 64 bits have it."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@lru_cache(maxsize=32)
def _steps(count: int, device: torch.device) -> Tensor:
    """Offsets of consecutive numbers of one stream."""
    return torch.arange(count, device=device) * GOLDEN


class Streams:
    """R independent streams of random numbers.

    Args:
        seed: Seed common to all streams.
        ids: Number of streams, or their identities: stream i of one object equals stream i of
            another with the same seed and purpose.
        purpose: Keeps draws for different ends (optimisation, evaluation) apart.
        device: Where numbers are made.

    Example:
        >>> few, many = Streams(7, 2), Streams(7, 100)
        >>> torch.equal(few.uniform(3), many.uniform(3)[:2])
        True
    """

    def __init__(
        self, seed: int, ids: int | list[int], purpose: int = 0, device: torch.device | str = "cpu"
    ) -> None:
        identities = torch.arange(ids) if isinstance(ids, int) else torch.tensor(ids)
        base = mix(torch.tensor(seed) + torch.tensor(purpose + 1) * MIX_1)
        self.keys = mix(base + (identities.long() + 1) * GOLDEN).to(device)
        self.position = 0

    def fork(self, purpose: int | Tensor) -> Streams:
        """Return streams of their own for another purpose, from their beginning."""
        number = (purpose + 1) * MIX_2
        other = copy(self)
        other.keys = mix(self.keys + (_wrapped(number) if isinstance(number, int) else number))
        other.position = 0
        return other

    def advance(self) -> None:
        """Begin the next of a row of forks, in place: a step that is replayed draws anew."""
        self.keys.copy_(self.fork(1).keys)
        self.position = 0

    def select(self, which: Tensor | slice) -> Streams:
        """Return some of the streams, as far on as they are."""
        other = copy(self)
        other.keys = self.keys[which]
        return other

    @staticmethod
    def cat(parts: Sequence[Streams]) -> Streams:
        """Put streams that are as far on one after the other."""
        other = copy(parts[0])
        other.keys = torch.cat([part.keys for part in parts])
        return other

    @staticmethod
    def interleaved(parts: Sequence[Streams]) -> Streams:
        """The first stream of each of several that are as many and as far on, the second, ..."""
        other = copy(parts[0])
        other.keys = torch.stack([part.keys for part in parts], dim=1).flatten()
        return other

    def __len__(self) -> int:
        return self.keys.numel()

    def uniform(
        self, *shape: int, dtype: torch.dtype = torch.float32, places: Tensor | None = None
    ) -> Tensor:
        """Draw numbers strictly between 0 and 1, one row for each restart: ``[R, *shape]``.

        ``places`` are those among the next `SPAN` numbers of a stream; one after the other when
        omitted.
        """
        count = math.prod(shape)
        first = self.keys + _wrapped((self.position + 1) * GOLDEN)
        self.position += count if places is None else SPAN
        device = self.keys.device
        steps = _steps(count, device) if places is None else places.flatten() * GOLDEN
        bits = mix(first.unsqueeze(1) + steps)
        fraction = shift_right(bits, 64 - _BITS).to(dtype).add_(0.5).mul_(2.0**-_BITS)
        return fraction.view(len(self), *shape)

    def logistic(
        self, *shape: int, dtype: torch.dtype = torch.float32, places: Tensor | None = None
    ) -> Tensor:
        """Draw log(u / (1 - u)), the noise of a binary Concrete variable."""
        u = self.uniform(*shape, dtype=dtype, places=places)
        return u.log() - (-u).log1p()

    def gumbel(
        self, *shape: int, dtype: torch.dtype = torch.float32, places: Tensor | None = None
    ) -> Tensor:
        """Draw -log(-log(u)), the noise of a Concrete variable."""
        return -(-self.uniform(*shape, dtype=dtype, places=places).log()).log()

    def normal(
        self, *shape: int, dtype: torch.dtype = torch.float32, places: Tensor | None = None
    ) -> Tensor:
        """Draw standard normal numbers."""
        u = self.uniform(*shape, dtype=torch.float64, places=places)
        normal: Tensor = torch.special.ndtri(u)
        return normal.to(dtype)
