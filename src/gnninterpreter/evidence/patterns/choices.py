"""Kinds of which only some choices count: "red, whatever its shape".

Of nodes with several columns of categories a kind numbers all of them together, one digit for each
column. A pattern may leave some of these open at some of its nodes. What counts there is then a
tuple of digits, and the kind fits that has these.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from gnninterpreter.evidence.patterns.typed import ANY, Kind, Typed
from gnninterpreter.spec import Block, Categorical

# Columns and choices, of all nodes of a pattern, beyond which nodes are open as a whole or not.
COLUMNS, MOST = 3, 24

Choice = tuple[int, int]
"""A node, and which of its columns; `WHOLE` stands for all of them."""
WHOLE = -1


def digits(blocks: Sequence[Block]) -> list[tuple[int, int, int]]:
    """Of each column that kinds are made of: its block, the weight of its digit, and its size."""
    found: list[tuple[int, int, int]] = []
    weight = 1
    for number, block in reversed(list(enumerate(blocks))):
        if isinstance(block, Categorical) and block.read:
            found.insert(0, (number, weight, block.size))
            weight *= block.size
    return [one for one in found if one[2] > 1]


def choices(typed: Typed, blocks: Sequence[Block]) -> list[Choice]:
    """All that may be left open in a pattern: each column of each node, or each node as a whole."""
    columns = len(digits(blocks))
    if not 2 <= columns <= COLUMNS or columns * len(typed) > MOST:
        return [(node, WHOLE) for node in range(len(typed))]
    return [(node, column) for node in range(len(typed)) for column in range(columns)]


def opened(typed: Typed, open_: Collection[Choice], blocks: Sequence[Block]) -> Typed:
    """A pattern of kinds with some of its choices left open."""
    known = digits(blocks)
    kinds: list[Kind] = []
    for node, kind in enumerate(typed.kinds):
        free = {column for other, column in open_ if other == node}
        if WHOLE in free or (free and len(free) == len(known)):
            kinds.append(ANY)
        elif free and isinstance(kind, int):
            left = [one for column, one in enumerate(known) if column not in free]
            kinds.append(tuple((weight, size, kind // weight % size) for _, weight, size in left))
        else:
            kinds.append(kind)
    return replace(typed, kinds=tuple(kinds))


def free_blocks(typed: Typed, blocks: Sequence[Block]) -> tuple[tuple[int, ...], ...]:
    """For each node of a pattern the blocks that may be any where others count; empty without."""
    if not any(isinstance(kind, tuple) for kind in typed.kinds):
        return ()
    found = []
    for kind in typed.kinds:
        said = {weight for weight, _, _ in kind} if isinstance(kind, tuple) else None
        found.append(tuple(
            block for block, weight, _ in digits(blocks) if said is not None and weight not in said
        ))  # fmt: skip
    return tuple(found)


def with_free(typed: Typed, free: Sequence[Sequence[int]], blocks: Sequence[Block]) -> Typed:
    """A pattern of kinds with the blocks open that `free_blocks` names."""
    numbers = [block for block, _, _ in digits(blocks)]
    open_ = [(node, numbers.index(block)) for node, own in enumerate(free) for block in own]
    return opened(typed, open_, blocks) if open_ else typed


def loose(typed: Typed) -> int:
    """How many nodes of a pattern have a kind that is open, or some of it."""
    return sum(kind == ANY or isinstance(kind, tuple) for kind in typed.kinds)


def kinds_of(typed: Typed) -> list[int]:
    """The kinds of a real graph, all of which are said."""
    return [kind for kind in typed.kinds if isinstance(kind, int)]
