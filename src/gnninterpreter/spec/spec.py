"""What a graph may look like: feature blocks of its nodes and edges, direction, classes.

A `GraphSpec` is the first value in the flow. The distribution takes its shape from it, the
relaxation its feature layout, the drawings their names and colours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gnninterpreter.errors import SpecError, TargetError

__all__ = ["Block", "Categorical", "Continuous", "GraphSpec"]

# Okabe and Ito's palette: told apart with every common form of colour blindness.
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#F0E442", "#999999",
)  # fmt: skip


def _per_column(bound: tuple[float, ...] | float, dim: int, label: str) -> tuple[float, ...]:
    values = (
        tuple(float(b) for b in bound) if isinstance(bound, Sequence) else (float(bound),) * dim
    )
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
            of integers, as `torch.nn.Embedding` and relation layers take them.

    Example:
        >>> Categorical(3, names=("C", "N", "O"), name="atom").width
        3
    """

    size: int
    names: tuple[str, ...] = ()
    colors: tuple[str, ...] = ()
    name: str = "type"
    encoding: str = "one-hot"

    def __post_init__(self) -> None:
        """Fill in names and colours, and check that they fit the size."""
        if self.size < 1:
            raise SpecError(f"Categorical needs at least one category (got size={self.size})")
        if self.encoding not in ("one-hot", "index"):
            raise SpecError(f"encoding must be 'one-hot' or 'index' (got {self.encoding!r})")
        names = tuple(self.names) or tuple(str(i) for i in range(self.size))
        colors = tuple(self.colors) or tuple(PALETTE[i % len(PALETTE)] for i in range(self.size))
        for label, values in (("names", names), ("colors", colors)):
            if len(values) != self.size:
                raise SpecError(
                    f"Categorical has {self.size} categories but {len(values)} {label}; "
                    "give one for each category or none"
                )
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "colors", colors)

    @property
    def width(self) -> int:
        """Number of columns the block takes in the feature matrix."""
        return self.size if self.encoding == "one-hot" else 1


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
    """

    dim: int = 1
    low: tuple[float, ...] | float = 0.0
    high: tuple[float, ...] | float = 1.0
    names: tuple[str, ...] = ()
    name: str = "value"

    def __post_init__(self) -> None:
        """Spread scalar bounds over the columns and check their order."""
        if self.dim < 1:
            raise SpecError(f"Continuous needs at least one column (got dim={self.dim})")
        low, high = _per_column(self.low, self.dim, "low"), _per_column(self.high, self.dim, "high")
        for column, (lo, hi) in enumerate(zip(low, high, strict=True)):
            if not lo <= hi:
                raise SpecError(f"column {column} of Continuous has low > high (got {lo} > {hi})")
        names = tuple(self.names) or tuple(f"{self.name} {i}" for i in range(self.dim))
        if len(names) != self.dim:
            raise SpecError(f"Continuous has {self.dim} columns but {len(names)} names")
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


Block = Categorical | Continuous

ONES = Continuous(1, 1.0, 1.0, names=("constant",), name="constant")


@dataclass(frozen=True, eq=False)
class _Frozen(Mapping[str, str]):
    """A mapping that cannot change and so has a hash; unlike a proxy it can be pickled."""

    pairs: tuple[tuple[str, str], ...]

    def __getitem__(self, key: str) -> str:
        return dict(self.pairs)[key]

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self.pairs)

    def __len__(self) -> int:
        return len(self.pairs)

    def __hash__(self) -> int:
        return hash(self.pairs)

    def __repr__(self) -> str:
        return repr(dict(self.pairs))


@dataclass(frozen=True)
class GraphSpec:
    """The graphs a classifier takes: feature blocks, direction, classes, candidate size.

    The columns of ``data.x`` are the node blocks side by side, those of ``data.edge_attr`` the edge
    blocks. Without node blocks ``x`` is one column of ones.

    Args:
        nodes: Feature blocks of the nodes.
        edges: Feature blocks of the edges; none means the model takes no edge features.
        class_names: One name for each class, in the order of the model's outputs.
        directed: Whether (i, j) and (j, i) are different edges.
        max_nodes: Most nodes an explanation may have; taken from the class statistics when omitted.

    Example:
        >>> spec = GraphSpec(nodes=(Categorical(7, names=tuple("CNOFI") + ("Cl", "Br")),),
        ...                  class_names=("nonmutagen", "mutagen"))
        >>> spec.node_width, spec.class_index("mutagen")
        (7, 1)
    """

    nodes: tuple[Block, ...] = ()
    edges: tuple[Block, ...] = ()
    class_names: tuple[str, ...] = ()
    directed: bool = False
    max_nodes: int | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the sequences and check the rules that span fields."""
        object.__setattr__(self, "nodes", tuple(self.nodes) or (ONES,))
        object.__setattr__(self, "edges", tuple(self.edges))
        object.__setattr__(self, "class_names", tuple(str(name) for name in self.class_names))
        object.__setattr__(self, "metadata", _Frozen(tuple(sorted(self.metadata.items()))))
        for block in (*self.nodes, *self.edges):
            if not isinstance(block, (Categorical, Continuous)):
                raise SpecError(
                    "feature blocks must be Categorical or Continuous "
                    f"(got {type(block).__name__}); write e.g. GraphSpec(nodes=(Categorical(7),))"
                )
        if len(set(self.class_names)) != len(self.class_names):
            raise SpecError(f"class_names must differ from each other (got {self.class_names})")
        if self.max_nodes is not None and self.max_nodes < 2:
            raise SpecError(
                f"max_nodes must be at least 2, since a graph needs an edge (got {self.max_nodes})"
            )
        for kind, blocks in (("node", self.nodes), ("edge", self.edges)):
            encodings = {b.encoding for b in blocks if isinstance(b, Categorical)}
            if "index" in encodings and (
                len(encodings) > 1 or any(isinstance(b, Continuous) for b in blocks)
            ):
                raise SpecError(
                    f"{kind} features mix index-coded categories with other columns, which one "
                    "matrix cannot hold; use one-hot coding for all of them"
                )

    @property
    def node_width(self) -> int:
        """Number of columns of ``data.x``."""
        return sum(block.width for block in self.nodes)

    @property
    def edge_width(self) -> int:
        """Number of columns of ``data.edge_attr``; 0 where there is none."""
        return sum(block.width for block in self.edges)

    @property
    def has_edge_types(self) -> bool:
        """Whether an edge is described by one integer, as relation layers take it."""
        return self.edge_width == 1 and getattr(self.edges[0], "encoding", None) == "index"

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    def class_index(self, target: str | int) -> int:
        """Return the index of a class given by name or index.

        Raises:
            TargetError: If there is no such class; the message lists those there are.
        """
        if isinstance(target, str):
            folded = {_fold(name): i for i, name in enumerate(self.class_names)}
            if _fold(target) in folded:
                return folded[_fold(target)]
            if target.lstrip("-").isdigit():
                target = int(target)
        if isinstance(target, int) and 0 <= target < self.num_classes:
            return target
        raise TargetError(
            f"there is no class {target!r}; the classes are "
            + ", ".join(f"{i} = {name}" for i, name in enumerate(self.class_names))
        )

    def with_classes(self, names: Sequence[str]) -> GraphSpec:
        """Return the same spec with other class names."""
        return replace(self, class_names=tuple(names))

    @classmethod
    def from_dataset(cls, dataset: Any, **overrides: Any) -> GraphSpec:
        """Infer the spec from a data set or a list of `torch_geometric.data.Data`.

        One-hot blocks, constant columns and value ranges are found by looking at every graph. A
        data set that knows its own spec (an attribute ``spec``) is taken at its word.

        Args:
            dataset: The graphs.
            **overrides: Fields of the spec to set by hand.
        """
        from gnninterpreter.spec.inference import infer_spec

        own = getattr(dataset, "spec", None)
        spec = own if isinstance(own, cls) else infer_spec(dataset)
        return replace(spec, **overrides) if overrides else spec

    def to_json(self) -> dict[str, Any]:
        """Return the spec as plain JSON values."""
        return {
            "nodes": [_block_to_json(block) for block in self.nodes],
            "edges": [_block_to_json(block) for block in self.edges],
            "class_names": list(self.class_names),
            "directed": self.directed,
            "max_nodes": self.max_nodes,
            "metadata": dict(self.metadata),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> GraphSpec:
        """Read what `to_json` wrote; unknown fields are refused."""
        unknown = set(values) - {
            "nodes",
            "edges",
            "class_names",
            "directed",
            "max_nodes",
            "metadata",
        }
        if unknown:
            raise SpecError(f"unknown fields in a stored spec: {sorted(unknown)}")
        return cls(
            nodes=tuple(_block_from_json(block) for block in values["nodes"]),
            edges=tuple(_block_from_json(block) for block in values["edges"]),
            class_names=tuple(values["class_names"]),
            directed=values.get("directed", False),
            max_nodes=values.get("max_nodes"),
            metadata=values.get("metadata", {}),
        )


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", " ").replace("-", " ")


def _block_to_json(block: Block) -> dict[str, Any]:
    values = {"kind": type(block).__name__.lower(), **vars(block)}
    return {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}


def _block_from_json(values: Mapping[str, Any]) -> Block:
    kinds: dict[str, Callable[..., Block]] = {"categorical": Categorical, "continuous": Continuous}
    fields = {k: tuple(v) if isinstance(v, list) else v for k, v in values.items() if k != "kind"}
    try:
        return kinds[values["kind"]](**fields)
    except (KeyError, TypeError) as error:
        raise SpecError(f"cannot read a stored feature block: {error}") from error
