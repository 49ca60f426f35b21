"""What a graph may look like: feature blocks of its nodes and edges, direction, classes.

A `GraphSpec` is the first value in the flow. The distribution takes its shape from it, the
relaxation its feature layout, the drawings their names and colours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gnninterpreter.arguments import several, whole_number
from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.schema import listed, record, text, truth
from gnninterpreter.spec.blocks import (
    ONES,
    Block,
    Categorical,
    Derived,
    block_from_json,
    block_to_json,
    distinct,
)

MOST_LISTED = 20

# What the one feature of edges is called that models take as ``edge_weight``.
WEIGHT = "weight"


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
    blocks. Without node blocks ``x`` is one column of ones. Blocks that share a name get numbers.

    Args:
        nodes: Feature blocks of the nodes.
        edges: Feature blocks of the edges; none means the model takes no edge features.
        class_names: One name for each class, in the order of the model's outputs.
        directed: Whether (i, j) and (j, i) are different edges.
        max_nodes: Most nodes an explanation may have; taken from the class statistics when omitted.
        attributes: Derived columns of the nodes that the model reads as attributes of their own,
            each under the name of its block (``data.random_walk_pe``).

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
    attributes: tuple[Derived, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", distinct(self.nodes) or (ONES,))
        object.__setattr__(self, "edges", distinct(self.edges))
        own = distinct(self.attributes)
        if not all(isinstance(block, Derived) for block in own):
            raise SpecError("attributes must be Derived blocks; other columns belong to nodes=")
        object.__setattr__(self, "attributes", own)
        if isinstance(self.class_names, str) or not isinstance(self.class_names, Sequence):
            raise SpecError(f"class_names must be a list of names (got {self.class_names!r})")
        object.__setattr__(self, "class_names", tuple(str(name) for name in self.class_names))
        if not all(name.strip() for name in self.class_names):
            raise SpecError(f"class_names must not be empty (got {self.class_names})")
        if not isinstance(self.metadata, Mapping):
            raise SpecError(f"metadata must be texts by name (got {self.metadata!r:.60})")
        texts = sorted((str(name), str(text)) for name, text in self.metadata.items())
        object.__setattr__(self, "metadata", _Frozen(tuple(texts)))
        if len(set(self.class_names)) != len(self.class_names):
            raise SpecError(f"class_names must differ from each other (got {self.class_names})")
        if self.max_nodes is not None:
            object.__setattr__(self, "max_nodes", whole_number("max_nodes", self.max_nodes, 2))
        for kind, blocks in (("node", self.nodes), ("edge", self.edges)):
            coded = {getattr(block, "encoding", None) == "index" for block in blocks}
            if len(coded) > 1:
                raise SpecError(
                    f"{kind} features mix integer codes with other columns, which one matrix "
                    "cannot hold; use integer codes for all of them, or for none"
                )

        if len(set(self.derived)) < len(self.derived):
            raise SpecError("two Derived blocks are the same; give each a name of its own")

    @property
    def derived(self) -> tuple[Derived, ...]:
        """All blocks that follow from the rest of a graph: of nodes, of edges, of their own."""
        blocks = (*self.nodes, *self.edges, *self.attributes)
        return tuple(block for block in blocks if isinstance(block, Derived))

    @property
    def ways(self) -> int:
        """How many columns of ``edge_index`` an edge takes: one there and one back, or one."""
        return 1 if self.directed else 2

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
    def weighted(self) -> bool:
        """Whether all that is known of an edge is its weight, as in ``data.edge_weight``."""
        return self.edge_width == 1 and self.edges[0].name == WEIGHT

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    def class_index(self, target: Any) -> int:
        """Return the index of a class given by name or number.

        A name may differ in case and in ``-``, ``_`` and spaces, where that leaves one class.
        """
        if isinstance(target, str):
            if target in self.class_names:
                return self.class_names.index(target)
            alike = [i for i, n in enumerate(self.class_names) if _fold(n) == _fold(target)]
            if len(alike) == 1:
                return alike[0]
            if alike:
                names = " and ".join(repr(self.class_names[i]) for i in alike)
                raise TargetError(f"{target!r} may be {names}; write the name exactly")
            if re.fullmatch("-?[0-9]{1,9}", target):
                target = int(target)
        try:
            return whole_number("class", target, 0, self.num_classes - 1)
        except SpecError:
            pass
        listed = [f"{i} = {name}" for i, name in enumerate(self.class_names[:MOST_LISTED])]
        more = self.num_classes - len(listed)
        raise TargetError(
            f"there is no class {target!r}; the classes are "
            + ", ".join(listed)
            + (f" and {more} more" if more else "")
        )

    def with_classes(self, names: Sequence[str]) -> GraphSpec:
        """Return the same spec with other class names."""
        return replace(self, class_names=several("class_names", names, "names"))

    def with_feature_names(self, names: Sequence[str] | Mapping[str, Sequence[str]]) -> GraphSpec:
        """Return the same spec with names for the columns of the features.

        One for each category of the first categorical block of the nodes, or, where there is none,
        one for each column of the numbers; or one for each column of all node features. Or a
        mapping from the names of blocks, of nodes or edges, to such names; where both have a block
        of one name, it is the one that they fit.
        """
        if isinstance(names, Mapping):
            blocks = (*self.nodes, *self.edges)
            words = {name: _words(f"feature_names of {name!r}", of) for name, of in names.items()}
            if unknown := [name for name in words if name not in {block.name for block in blocks}]:
                raise SpecError(
                    f"feature_names has no block to name {unknown[0]!r}; the blocks are "
                    f"{', '.join(sorted({block.name for block in blocks}))}"
                )
            fitted = {b.name for b in blocks if _fits(words.get(b.name, ()), b)}

            def named(block: Block) -> Block:
                mine = words.get(block.name)
                # Nodes and edges may each have a block of one name: words are for what they fit.
                if mine is None or (block.name in fitted and not _fits(mine, block)):
                    return block
                return replace(block, names=mine)

            nodes, edges = (tuple(map(named, of)) for of in (self.nodes, self.edges))
            return replace(self, nodes=nodes, edges=edges)
        given = _words("feature_names", names)
        free = [block for block in self.nodes if not getattr(block, "constant", False)]
        free.sort(key=lambda block: not isinstance(block, Categorical))
        if not free:
            raise SpecError("feature_names were given, but the nodes have no features to name")
        if len(given) != len(free[0].names) and len(given) == self.node_width:
            return replace(self, nodes=_column_names(self.nodes, given))
        first = replace(free[0], names=given)
        return replace(self, nodes=tuple(first if b is free[0] else b for b in self.nodes))

    @classmethod
    def from_dataset(cls, dataset: Any, features: Any = None, **overrides: Any) -> GraphSpec:
        """Infer the spec from a data set or a list of `torch_geometric.data.Data`.

        One-hot blocks, constant columns and value ranges are found by looking at every graph. A
        data set that knows its own spec (an attribute ``spec``) is taken at its word. ``features``
        is as for `explain`; overrides are fields of the spec to set by hand.
        """
        from gnninterpreter.spec.data import graph_list
        from gnninterpreter.spec.inference import infer_blocks, infer_spec
        from gnninterpreter.spec.recognition import split_derived

        own = getattr(dataset, "spec", None)
        if not isinstance(own, cls):
            dataset = graph_list(dataset)
            own = dataset.spec
        spec = own if isinstance(own, cls) else infer_spec(dataset)
        spec = spec.with_loops(getattr(dataset, "looped", False))
        if features is not None:
            spec = split_derived(graph_list(dataset), spec, features, infer_blocks)
        return replace(spec, **overrides) if overrides else spec

    @property
    def looped(self) -> bool:
        """Whether the model is to see an edge from every node to itself."""
        return bool(self.metadata.get("loops"))

    def with_loops(self, looped: bool = True) -> GraphSpec:
        """The same where graphs get an edge from every node to itself when the model sees them."""
        if not looped or self.looped:
            return self
        return replace(self, metadata={**self.metadata, "loops": "every node"})

    def to_json(self) -> dict[str, Any]:
        """Return the spec as plain JSON values."""
        own = [block_to_json(block) for block in self.attributes]
        return {
            "nodes": [block_to_json(block) for block in self.nodes],
            "edges": [block_to_json(block) for block in self.edges],
            "class_names": list(self.class_names),
            "directed": self.directed,
            "max_nodes": self.max_nodes,
            "metadata": dict(self.metadata),
            **({"attributes": own} if own else {}),
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> GraphSpec:
        """Read what `to_json` wrote; unknown fields are refused."""
        try:
            record(
                dict, nodes=listed(record(dict)), edges=listed(record(dict)),
                class_names=listed(text),
            )(values, "a stored spec")  # fmt: skip
            truth(values.get("directed", False), "directed")
            record(dict)(values.get("metadata", {}), "metadata")
        except ValueError as error:
            raise SpecError(str(error)) from error
        if unknown := set(values) - {one.name for one in fields(cls)}:
            raise SpecError(f"unknown fields in a stored spec: {sorted(unknown)}")
        blocks = {
            part: tuple(block_from_json(block) for block in values.get(part, ()))
            for part in ("nodes", "edges", "attributes")
        }
        return cls(**{**values, **blocks})


def _words(label: str, names: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in several(label, names, "names"))


def _fold(name: str) -> str:
    return name.strip().lower().replace("_", " ").replace("-", " ")


def _fits(names: Sequence[str], block: Block) -> bool:
    dummy = isinstance(block, Categorical) and block.encoding == "dummy"
    return len(names) == len(block.names) or (dummy and len(names) == block.width)


def _column_names(blocks: Sequence[Block], names: Sequence[str]) -> tuple[Block, ...]:
    """Blocks with one name for each column; a category that is a number names its block."""
    left, found = iter(names), []
    for block in blocks:
        own = tuple(next(left) for _ in range(block.width))
        index = isinstance(block, Categorical) and block.encoding == "index"
        found.append(replace(block, name=own[0]) if index else replace(block, names=own))
    return tuple(found)
