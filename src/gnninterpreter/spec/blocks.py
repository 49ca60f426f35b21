"""Feature blocks: what the columns of a node's or an edge's features mean."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from gnninterpreter.arguments import one_of, several, whole_number
from gnninterpreter.errors import SpecError

# Okabe and Ito's palette: told apart with every common form of colour blindness.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#999999",
)  # fmt: skip
# Looked at before anything of that size is made.
MOST_COLUMNS = 100_000
# What a node or edge is that is none of the kinds with a column of their own.
NONE = "none"


def _per_column(bound: tuple[float, ...] | float, dim: int, label: str) -> tuple[float, ...]:
    try:
        values = (
            tuple(float(b) for b in bound) if isinstance(bound, Sequence) else (float(bound),) * dim
        )
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise SpecError(f"'{label}' of Continuous must be numbers (got {bound!r})") from None
    if len(values) != dim:
        raise SpecError(f"Continuous has {dim} columns but {len(values)} values for '{label}'")
    return values


@dataclass(frozen=True)
class Categorical:
    """One choice among ``size`` categories for each node or edge.

    Args:
        size: Number of categories.
        names: One name for each category; numbers are used when omitted.
        colors: One CSS colour for each category; a colour-blind-safe palette when omitted.
        name: What the choice is about, for legends ("atom", "colour").
        encoding: How the model reads it: ``"one-hot"`` is ``size`` columns, ``"index"`` one column
            of integers, as `torch.nn.Embedding` and relation layers take them. ``"dummy"`` is
            one-hot without a column for the last category, which is a row of zeros and is called
            "none" where it is given no name.
        read: Whether the model goes by it; what it does not read is no part of a node's kind. Specs
            of the same graphs are equal whatever a model reads of them.

    Example:
        >>> Categorical(3, names=("C", "N", "O"), name="atom").width
        3
        >>> Categorical(4, names=("C", "N", "O"), encoding="dummy").names
        ('C', 'N', 'O', 'none')
    """

    size: int
    names: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    name: str = "type"
    encoding: str = "one-hot"
    read: bool = field(default=True, compare=False)

    def __post_init__(self) -> None:
        one_of("encoding", self.encoding, ("one-hot", "index", "dummy"))
        least = 2 if self.encoding == "dummy" else 1  # one with a column, and none
        size = whole_number("size of Categorical", self.size, least, MOST_COLUMNS)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "read", bool(self.read))
        names = several("names", self.names, "names")
        if self.encoding == "dummy" and len(names) in (0, size - 1):
            names = (*(names or map(str, range(size - 1))), NONE)
        names = names or tuple(map(str, range(size)))
        colors = several("colors", self.colors, "colours") or tuple(
            PALETTE[i % len(PALETTE)] for i in range(self.size)
        )
        for label, values in (("names", names), ("colors", colors)):
            if len(values) != self.size:
                raise SpecError(
                    f"Categorical has {self.size} categories but {len(values)} {label}; "
                    "give one for each category or none"
                )
            object.__setattr__(self, label, tuple(str(value) for value in values))

    @property
    def width(self) -> int:
        """Number of columns the block takes in the feature matrix."""
        return {"one-hot": self.size, "index": 1, "dummy": self.size - 1}[self.encoding]


@dataclass(frozen=True)
class Continuous:
    """``dim`` real numbers for each node or edge, each between its ``low`` and its ``high``.

    A column whose bounds are equal is a constant: the model reads it and nothing is learned for it.

    Args:
        dim: Number of columns.
        low: Lower bound, one for all columns or one for each.
        high: Upper bound, likewise.
        names: One name for each column.
        name: What the numbers are about, for legends.
        whole: For each column whether it holds whole numbers alone, as flags and charges do; none
            does when omitted.
        read: For each column whether the model goes by it; all of them when omitted.
    """

    dim: int = 1
    low: tuple[float, ...] | float = 0.0
    high: tuple[float, ...] | float = 1.0
    names: tuple[str, ...] = ()
    name: str = "value"
    whole: tuple[bool, ...] = ()
    read: tuple[bool, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        dim = whole_number("dim of Continuous", self.dim, 1, MOST_COLUMNS)
        object.__setattr__(self, "dim", dim)
        low, high = _per_column(self.low, self.dim, "low"), _per_column(self.high, self.dim, "high")
        for column, (lo, hi) in enumerate(zip(low, high, strict=True)):
            if not lo <= hi:
                raise SpecError(f"column {column} of Continuous has low > high (got {lo} > {hi})")
            if not (math.isfinite(lo) and math.isfinite(hi)):
                raise SpecError(
                    f"column {column} of Continuous needs finite bounds (got {lo}, {hi})"
                )
        names = several("names", self.names, "names") or tuple(
            f"{self.name} {i}" for i in range(self.dim)
        )
        if len(names) != self.dim:
            raise SpecError(f"Continuous has {self.dim} columns but {len(names)} names")
        for label, usual in (("whole", False), ("read", True)):
            given = several(label, getattr(self, label), "truth values")
            marks = tuple(bool(one) for one in given)
            if len(marks) not in (0, self.dim):
                raise SpecError(
                    f"Continuous has {self.dim} columns but {len(marks)} values of '{label}'"
                )
            object.__setattr__(self, label, marks if (not usual) in marks else ())
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "names", names)

    @property
    def width(self) -> int:
        """Number of columns the block takes in the feature matrix."""
        return self.dim

    @property
    def constant(self) -> bool:
        """Whether every column has equal bounds, so that there is nothing to learn."""
        return self.low == self.high


@dataclass(frozen=True)
class Derived:
    """Columns that follow from the rest of a graph: degrees, encodings, rings, hydrogens.

    They are never chosen, searched or stored. `gnninterpreter.spec.derived` computes them anew
    wherever a graph is shown or given to the model, so that they cannot contradict its edges.

    Args:
        function: Name of what computes them, as given to `register_derived`.
        width: Number of columns.
        names: One name for each column.
        name: What the columns are about; where the model reads them as an attribute of their own
            (``GraphSpec(attributes=...)``), the name of that attribute.
        encoding: ``"numbers"``, or ``"index"`` for integer codes beside other integer codes.
        settings: What the function is to know: plain JSON values by name.

    Example:
        >>> Derived("degree one-hot", 4, settings={"max_degree": 3}).options
        {'max_degree': 3}
    """

    function: str
    width: int = 1
    names: tuple[str, ...] = ()
    name: str = ""
    encoding: str = "numbers"
    settings: Any = ()

    # What code for numbers reads off a block: nothing here is free.
    dim: ClassVar[int] = 0
    low: ClassVar[tuple[float, ...]] = ()
    high: ClassVar[tuple[float, ...]] = ()
    constant: ClassVar[bool] = True
    whole: ClassVar[tuple[bool, ...]] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.function, str) or not self.function:
            raise SpecError(f"function of Derived must be a name (got {self.function!r})")
        width = whole_number("width of Derived", self.width, 1, MOST_COLUMNS)
        object.__setattr__(self, "width", width)
        if self.encoding not in ("numbers", "index"):
            raise SpecError(
                f"encoding of Derived must be 'numbers' or 'index' (got {self.encoding!r})"
            )
        name = self.name or self.function
        counted = (name,) if self.width == 1 else tuple(f"{name} {i}" for i in range(self.width))
        names = tuple(map(str, several("names", self.names, "names"))) or counted
        if len(names) != self.width:
            raise SpecError(f"Derived has {self.width} columns but {len(names)} names")
        try:
            given = dict(self.settings).items()
            settings = tuple(sorted((str(key), _frozen(value)) for key, value in given))
            hash(settings)
        except (TypeError, ValueError):
            raise SpecError(
                f"settings of Derived must be plain values by name (got {self.settings!r})"
            ) from None
        for label, value in (("name", name), ("names", names), ("settings", settings)):
            object.__setattr__(self, label, value)

    @property
    def options(self) -> dict[str, Any]:
        """The settings by name."""
        return dict(self.settings)


def _frozen(value: Any) -> Any:
    return tuple(_frozen(one) for one in value) if isinstance(value, (list, tuple)) else value


Block = Categorical | Continuous | Derived

ONES = Continuous(1, 1.0, 1.0, names=("constant",), name="constant")


def distinct(blocks: Any) -> tuple[Block, ...]:
    """Check feature blocks, and number the names that several of them or of their columns share.

    Exported graphs keep features by name, so that of two with one name only one would be left.
    """
    titles: set[str] = set()
    columns: set[str] = set()
    result: list[Block] = []
    for block in tuple(blocks) if isinstance(blocks, Sequence) else (blocks,):
        if isinstance(block, Categorical):
            name = _free(block.name, titles | columns)
            columns.add(name)
            result.append(block if name == block.name else replace(block, name=name))
        elif isinstance(block, (Continuous, Derived)):
            name, names = _free(block.name, titles), []
            for column in block.names:
                names.append(_free(column, columns))
                columns.add(names[-1])
            same = (name, tuple(names)) == (block.name, block.names)
            result.append(block if same else replace(block, name=name, names=tuple(names)))
        else:
            raise SpecError(
                "feature blocks must be Categorical, Continuous or Derived "
                f"(got {type(block).__name__}); write e.g. GraphSpec(nodes=(Categorical(7),))"
            )
        titles.add(name)
    return tuple(result)


def _free(name: Any, taken: set[str]) -> str:
    number, free = 1, str(name)
    while free in taken:
        number += 1
        free = f"{name} {number}"
    return free


def block_to_json(block: Block) -> dict[str, Any]:
    """Return a block as plain JSON values."""
    values = {"kind": type(block).__name__.lower(), **vars(block)}
    if isinstance(block, Derived):
        values["settings"] = block.options
    elif block.read in (True, ()):
        values.pop("read", None)
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def block_from_json(values: Mapping[str, Any]) -> Block:
    """Read what `block_to_json` wrote; unknown fields are refused."""
    kinds: dict[str, Callable[..., Block]] = {
        kind.__name__.lower(): kind for kind in (Categorical, Continuous, Derived)
    }
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k != "kind"}
    try:
        return kinds[values["kind"]](**fields)
    except (KeyError, TypeError) as error:
        raise SpecError(f"cannot read a stored feature block: {error}") from error
