"""Features as columns: categories one-hot inside the library, as the model reads them outside."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.spec.blocks import Block, Categorical, Continuous, Derived
from gnninterpreter.spec.derived import columns
from gnninterpreter.spec.spec import GraphSpec


@lru_cache(maxsize=128)
def _bounds(
    block: Continuous | Derived, dtype: torch.dtype, device: torch.device
) -> tuple[Tensor, Tensor]:
    low, high = (torch.tensor(end, dtype=dtype, device=device) for end in (block.low, block.high))
    return low, high


def bounds(block: Block, like: Tensor) -> tuple[Tensor, Tensor]:
    """Least and largest value of each column of a block without categories, where a tensor is."""
    assert not isinstance(block, Categorical)
    return _bounds(block, like.dtype, like.device)


def block_widths(blocks: Sequence[Block]) -> list[int]:
    """Number of columns that each block takes in `DenseGraphs`; categories are always one-hot."""
    return [b.size if isinstance(b, Categorical) else b.dim for b in blocks]


def dense_width(blocks: Sequence[Block]) -> int:
    """Number of columns the blocks take together."""
    return sum(block_widths(blocks))


def split_blocks(values: Tensor, blocks: Sequence[Block]) -> tuple[Tensor, ...]:
    """Cut the last dimension of dense features into one tensor for each block."""
    return torch.split(values, block_widths(blocks), dim=-1)


def encode(values: Tensor, blocks: Sequence[Block]) -> Tensor:
    """Turn dense features into the columns the model reads: one-hot as they are, or indices.

    Derived columns are zeros, for `fill` to compute.
    """
    if all(_as_it_is(block) for block in blocks):
        return values
    parts = split_blocks(values, blocks)
    return torch.cat([encode_block(p, b) for p, b in zip(parts, blocks, strict=True)], dim=-1)


def encode_block(part: Tensor, block: Block) -> Tensor:
    """The columns of one block as the model reads them."""
    if isinstance(block, Derived):
        dtype = torch.long if coded(block) else part.dtype
        return part.new_zeros(*part.shape[:-1], block.width, dtype=dtype)
    if coded(block):
        return part.argmax(dim=-1, keepdim=True)
    return part[..., : block.width]


def _as_it_is(block: Block) -> bool:
    return not isinstance(block, Derived) and getattr(block, "encoding", "one-hot") == "one-hot"


def as_read(values: Tensor, spec: GraphSpec, dtype: torch.dtype) -> Tensor:
    """Columns in the type in which the model reads them: some take codes as numbers."""
    return values.to(dtype) if spec.metadata.get("codes") == "numbers" else values


def coded(block: Block) -> bool:
    """Whether the model reads a block as integer codes."""
    return getattr(block, "encoding", None) == "index"


def categories(part: Tensor, block: Categorical) -> Tensor:
    """The category of each row of the columns of one block, [rows]."""
    return part[:, 0].long() if coded(block) else one_hot(part, block).argmax(1)


def one_hot(part: Tensor, block: Categorical) -> Tensor:
    """The columns of one block with a column for each category."""
    if coded(block):
        return torch.nn.functional.one_hot(part[:, 0].long(), block.size)
    if block.encoding == "dummy":
        return torch.cat([part, 1 - part.sum(1, keepdim=True)], dim=1)
    return part


def codes(values: Tensor, blocks: Sequence[Block]) -> list[Tensor]:
    """For each block the category of each row, [rows], or its numbers, [rows, width]."""
    return [
        categories(part, block) if isinstance(block, Categorical) else part
        for block, part in zip(blocks, columns(values, blocks), strict=True)
    ]


def rows_of(values: Tensor, blocks: Sequence[Block]) -> list[tuple[Any, ...]]:
    """For each row one entry a block: the category, or a list of numbers."""
    return list(zip(*(part.tolist() for part in codes(values, blocks)), strict=True))


def decode(values: Tensor, blocks: Sequence[Block], dtype: torch.dtype) -> Tensor:
    """The inverse of `encode`: one row for each node or edge, categories one-hot, what is free."""
    parts = []
    for block, part in zip(blocks, columns(values, blocks), strict=True):
        if not isinstance(block, Derived):
            hot = one_hot(part, block) if isinstance(block, Categorical) else part
            parts.append(hot.to(dtype))
    return torch.cat(parts, dim=1) if parts else values.new_zeros(values.size(0), 0, dtype=dtype)
