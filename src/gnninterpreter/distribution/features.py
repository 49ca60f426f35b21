"""Features of nodes and edges: from the latent numbers of one block to its values."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

from gnninterpreter.distribution.streams import Streams
from gnninterpreter.spec import Block, Categorical
from gnninterpreter.spec.encoding import bounds

# Which numbers of a stream are drawn, by how many each draw takes; see `draw_places`.
Places = Callable[[int], Tensor]
# Categories up to which a softmax along the other dimension is the faster one on a CPU.
FEW = 16
# Shares nearer to a bound than this are at it, so that latents stay small.
MARGIN = 1e-4


def categorical_bits(logits: Tensor) -> Tensor:
    """Entropy of each choice in bits, [..., k] to [...]."""
    nats = -(logits.softmax(-1) * logits.log_softmax(-1)).sum(-1)
    return nats / math.log(2)


def _within_bounds(block: Block, latent: Tensor) -> Tensor:
    """The value behind the latent number of a continuous feature; bounds are reached exactly.

    A flag is 0 or 1 in every real graph, and a model may well notice 0.0001.
    """
    low, high = bounds(block, latent)
    share = (latent.sigmoid() - MARGIN) / (1 - 2 * MARGIN)
    return low + (high - low) * share.clamp(0.0, 1.0)


def _settled(block: Block, latent: Tensor) -> Tensor:
    """The same on a discrete graph, where whole numbers are whole."""
    values = _within_bounds(block, latent)
    if isinstance(block, Categorical) or not block.whole:
        return values
    # Zero is added since a small negative number rounds to -0.
    return torch.where(whole_columns(block.whole, values.device), values.round() + 0.0, values)


@lru_cache(maxsize=32)
def whole_columns(whole: tuple[bool, ...], device: torch.device) -> Tensor:
    """Which columns hold whole numbers; kept, since a GPU would wait for it."""
    return torch.tensor(whole, device=device)


def latent_of(block: Block, value: Tensor) -> Tensor:
    """The latent number behind a continuous value; 0 where bounds are equal."""
    low, high = bounds(block, value)
    share = (value - low) / (high - low).clamp_min(torch.finfo(value.dtype).tiny)
    latent = torch.logit(MARGIN + (1 - 2 * MARGIN) * share.clamp(0.0, 1.0))
    return torch.where(high > low, latent, torch.zeros_like(share))


def relaxed_values(
    block: Block, latent: Tensor, samples: int, temperature: float, streams: Streams, places: Places
) -> Tensor:
    """K Concrete samples of a block's values, [R, K, ...]; a continuous one is its number."""
    if not isinstance(block, Categorical):
        return _within_bounds(block, latent).unsqueeze(1).expand(-1, samples, -1, -1)
    noise = streams.gumbel(
        samples, *latent.shape[1:], dtype=latent.dtype, places=places(latent.size(2))
    )
    return _softmax((latent.unsqueeze(1) + noise) / temperature)


def drawn_values(
    block: Block, latent: Tensor, samples: int, streams: Streams, places: Places, jitter: float
) -> Tensor:
    """K discrete draws of a block's values, [R, K, ...]; a continuous one with some jitter."""
    if not isinstance(block, Categorical):
        latent = latent.unsqueeze(1).expand(-1, samples, -1, -1)
        if jitter:
            noise = streams.normal(
                *latent.shape[1:], dtype=latent.dtype, places=places(latent.size(3))
            )
            latent = latent + jitter * noise
        return _settled(block, latent)
    # One number for each choice, set against the cumulated probabilities: a Gumbel for every
    # category would cost as many times more. The last category takes what rounding has left over.
    u = streams.uniform(samples, *latent.shape[1:-1], 1, dtype=latent.dtype, places=places(1))
    ends = _softmax(latent).cumsum(-1)
    ends[..., -1] = torch.inf
    reached = (u < ends.unsqueeze(1)).to(latent.dtype)
    return reached.diff(dim=-1, prepend=torch.zeros_like(u))


def most_probable_values(block: Block, latent: Tensor) -> Tensor:
    """The most probable value of each choice, as columns."""
    if not isinstance(block, Categorical):
        return _settled(block, latent)
    return torch.nn.functional.one_hot(latent.argmax(dim=-1), block.size).to(latent.dtype)


def _softmax(logits: Tensor) -> Tensor:
    """Softmax over the last dimension; over the last but one where categories are few.

    On a CPU the vector units take the elements of a row side by side, and a row of six fills none.
    """
    if logits.size(-1) > FEW:
        return logits.softmax(dim=-1)
    return logits.transpose(-1, -2).softmax(dim=-2).transpose(-1, -2)
