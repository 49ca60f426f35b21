"""What a core or a shortcut is: a small graph, what is said of it, where real ones have it.

A value that runs keep; what needs data that was not at hand is None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any

import networkx as nx
import torch
from torch_geometric.data import Data

from gnninterpreter.equality import ByValue
from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.evidence.patterns.causes import Effect
from gnninterpreter.evidence.patterns.choices import digits, with_free
from gnninterpreter.evidence.patterns.matching import Undecided, find
from gnninterpreter.evidence.patterns.typed import Range, Typed, typed_graphs, varying_columns
from gnninterpreter.evidence.thresholds import CAUSING, CLEARLY, COVERING, FAR, LIFT
from gnninterpreter.graphs import attribute_names, to_networkx
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.schema import listed, number, optional, record, text, truth, whole
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.data import node_count

ANY_KIND = {"kind": "any"}


@dataclass(frozen=True, eq=False, repr=False)
class Core(ByValue):
    """A small graph that makes the model certain by itself.

    Args:
        graph: The graph; a core was cut out of a real one.
        spec: What its features mean.
        probability: How far the model gives it what was asked for, by itself.
        certain: Whether that is as much as is asked for.
        coverage: Share of the real graphs of the class, as the model sees it, that hold it.
        lift: How many times more often than other graphs do (half a graph is added to both
            counts, so that it stays finite); None where there are no others.
        matched: How many graphs of the class hold it.
        total: For how many graphs of the class it is known.
        others: How many other graphs hold it.
        rest: For how many other graphs it is known.
        undecided: For how many graphs it is not, since the limit was reached first.
        necessity: Mean fall of the probability when it is taken out of graphs that hold it.
        sufficiency: Share of other graphs that the model gives to the class once it is joined.
        said: What the model says of it by itself, in words.
        open: For each node whether its kind may be any: the graph then shows one of those found.
            Empty where all kinds count.
        free: For each node the blocks of categories that may be any where others of it count; the
            graph shows some that were found. Empty without any.
        ranges: Where numbers of its nodes and edges have to lie; all others may be any, and the
            graph shows some that were found.
    """

    graph: Data
    spec: GraphSpec
    probability: float
    certain: bool
    coverage: float | None = None
    lift: float | None = None
    matched: int | None = None
    total: int | None = None
    others: int | None = None
    rest: int | None = None
    undecided: int | None = None
    necessity: Effect | None = None
    sufficiency: Effect | None = None
    said: str = ""
    open: tuple[bool, ...] = ()
    free: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[Range, ...] = ()

    def __post_init__(self) -> None:
        """Check that shares are shares, and that there is a mark for each node or none."""
        for name in ("open", "free"):
            own = getattr(self, name)
            if own and len(own) != self.num_nodes:
                raise GNNInterpreterError(
                    f"{name} must have one entry for each of the {self.num_nodes} nodes "
                    f"(got {len(own)})"
                )
        known = {block for block, _, _ in digits(self.spec.nodes)}
        if not known.issuperset(block for own in self.free for block in own):
            raise GNNInterpreterError(
                f"free must name blocks of categories that nodes have (got {self.free})"
            )
        for name in ("probability", "coverage"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise GNNInterpreterError(f"{name} must lie between 0 and 1 (got {value})")

    def __repr__(self) -> str:
        free = f" ({sum(self.open)} of any kind)" if self.open else ""
        parts = [f"{self.num_nodes} nodes{free}, {self.num_edges} edges", self.said or "not judged"]
        parts += [*self.freedoms, *self.conditions]
        if self.coverage is not None:
            parts.append(f"in {self.coverage:.0%} of its class")
        if self.lift is not None:
            parts.append(f"{self.lift:.1f} times as often as elsewhere")
        return f"{type(self).__name__}({', '.join(parts)})"

    @property
    def num_nodes(self) -> int:
        """Number of nodes."""
        return node_count(self.graph)

    @property
    def num_edges(self) -> int:
        """Number of edges, an undirected one counted once."""
        return int(self.graph.num_edges) // self.spec.ways

    @property
    def makes(self) -> bool:
        """Whether nearly all of the class hold it, and hardly any other graph does.

        Where others do now and then, it is a cause: the model turns with it, and away without it.
        """
        out, put = self.necessity, self.sufficiency
        # So many times as much as other nodes, whatever values it is measured in.
        needed = out is not None and out.value > LIFT * max(out.control or 0.0, 0.0)
        cause = needed and put is not None and put.clearly(CLEARLY)
        least = CAUSING if cause else FAR
        return (self.coverage or 0.0) >= COVERING and (self.lift or 0.0) >= least

    @property
    def typed(self) -> Typed:
        """What other graphs are matched by."""
        own = typed_graphs([self.graph.cpu()], self.spec)[0]
        opened = own.opened(node for node, any_ in enumerate(self.open) if any_)
        return replace(with_free(opened, self.free, self.spec.nodes), ranges=self.ranges)

    @property
    def freedoms(self) -> list[str]:
        """What may be any at its nodes where something else counts: "any shape of node 0"."""
        names = attribute_names(self.spec.nodes)
        return [
            f"any {names[block][0]} of node {node}"
            for node, blocks in enumerate(self.free)
            for block in blocks
        ]

    @property
    def conditions(self) -> list[str]:
        """Where its numbers have to lie, in words: "temperature of node 0 at least 1.4"."""
        found = []
        for one in self.ranges:
            blocks = self.spec.nodes if len(one.nodes) == 1 else self.spec.edges
            what = "node" if len(one.nodes) == 1 else "edge"
            column = varying_columns(blocks)[one.column]
            where = f"{column_name(blocks, column)} of {what} {'-'.join(map(str, one.nodes))}"
            low, high = one.low, one.high
            if is_whole(blocks, column):
                low, high = (
                    None if b is None else step(b) for b, step in ((low, ceil), (high, floor))
                )
            if low is not None and high is not None:
                found.append(f"{where} from {low:.3g} to {high:.3g}")
            elif low is not None:
                found.append(f"{where} at least {low:.3g}")
            else:
                found.append(f"{where} at most {high:.3g}")
        return found

    def found_in(self, noun: str = "graphs of the class") -> str:
        """How many real graphs hold it, in words."""
        if self.matched is None or self.total is None:
            return f"not checked how many {noun} contain this"
        open_ = f", not decided for {self.undecided:,}" if self.undecided else ""
        return f"{self.matched:,} of {self.total:,} {noun} contain this{open_}"

    def held_by(self, graph: Data) -> bool | None:
        """Whether a graph contains it; None where matching took too long to tell."""
        if not graph.num_nodes:
            return False
        try:
            return find(self.typed, typed_graphs([graph.cpu()], self.spec)[0]) is not None
        except Undecided:
            return None

    def with_(self, **changes: Any) -> Core:
        """The same with some fields changed."""
        return replace(self, **changes)

    def to(self, device: torch.device | str) -> Core:
        """The same with its graph on another device."""
        return replace(self, graph=self.graph.clone().to(device))

    def to_json(self) -> dict[str, Any]:
        """The core as plain JSON values."""
        values = {n: v for n, v in vars(self).items() if n not in ("graph", "spec")}
        for name in ("necessity", "sufficiency"):
            values[name] = None if values[name] is None else vars(values[name])
        values["ranges"] = [{**vars(one), "nodes": list(one.nodes)} for one in self.ranges]
        values |= {"open": list(self.open), "free": [list(own) for own in self.free]}
        return {"graph": graph_to_json(self.graph, self.spec), **values}


def core_check(spec: GraphSpec, dtype: torch.dtype = torch.float32) -> Callable[[Any, str], Core]:
    """A check that reads what `Core.to_json` wrote; see `gnninterpreter.schema`."""
    effect = optional(record(Effect, value=number(), control=optional(number()), graphs=whole()))
    count, blocks = optional(whole()), listed(listed(whole()))
    check = record(
        lambda **values: Core(spec=spec, **values),
        graph=lambda value, where: graph_from_json(value, spec, dtype=dtype),
        probability=number(0, 1),
        certain=truth,
        coverage=optional(number(0, 1)),
        lift=optional(number(0)),
        matched=count,
        total=count,
        others=count,
        rest=count,
        undecided=count,
        necessity=effect,
        sufficiency=effect,
        said=text,
        open=optional(lambda value, where: tuple(listed(truth)(value, where)), ()),
        free=optional(lambda value, where: tuple(map(tuple, blocks(value, where))), ()),
        ranges=optional(lambda value, where: tuple(listed(_range)(value, where)), ()),
    )
    # Runs of before kinds could be open, or numbers counted, do not say it.
    new = {"open": None, "free": None, "ranges": None}
    return lambda value, where: check({**new, **value} if isinstance(value, dict) else value, where)


_range = record(
    Range,
    nodes=lambda value, where: tuple(listed(whole())(value, where)),
    column=whole(),
    low=optional(number()),
    high=optional(number()),
)


def is_whole(blocks: Sequence[Block], column: int) -> bool:
    """Whether a column of features holds whole numbers alone."""
    marks: list[bool] = []
    for block in blocks:
        marks += getattr(block, "whole", ()) or [False] * block.width
    return marks[column]


def column_name(blocks: Sequence[Block], column: int) -> str:
    """What a column of features is called."""
    names: list[str] = []
    for block in blocks:
        index = isinstance(block, Categorical) and block.encoding == "index"
        names += [block.name] if index else block.names[: block.width]
    return names[column]


def with_names(
    graph: Data,
    spec: GraphSpec,
    open_: Sequence[bool] = (),
    free: Sequence[Sequence[int]] = (),
) -> nx.Graph:
    """A graph with what the model reads of it named; of open kinds only `ANY_KIND` is said.

    Of nodes some blocks of which are ``free``, the others are named.
    """
    named = to_networkx(graph, spec, read_only=True)
    for node, any_ in enumerate(open_):
        if any_:
            named.nodes[node].clear()
            named.nodes[node].update(ANY_KIND)
    for node, blocks in enumerate(free):
        for block in blocks:
            named.nodes[node].pop(attribute_names(spec.nodes)[block][0], None)
    return named


def storable(graph: Data, spec: GraphSpec, dtype: torch.dtype) -> Data | None:
    """A graph as a run that was stored and read again holds it; None where none can.

    Those cannot that are larger than a run may hold or have features the spec does not allow.
    """
    plain = Data(**{k: v for k, v in graph.to_dict().items() if k == "x"})
    # Loops say nothing that the spec could express.
    kept = graph.edge_index[0] != graph.edge_index[1]
    plain.edge_index, plain.num_nodes = graph.edge_index[:, kept], graph.num_nodes
    if spec.edges:
        given = graph.get("edge_attr")
        plain.edge_attr = (graph.get("edge_type") if given is None else given)[kept]
    label = graph.get("y")
    if torch.is_tensor(label) and label.numel() == 1 and float(label) in range(spec.num_classes):
        plain.y = label
    try:
        return graph_from_json(graph_to_json(plain.cpu(), spec), spec, dtype=dtype)
    except (DataError, IndexError, AttributeError, TypeError):
        return None
