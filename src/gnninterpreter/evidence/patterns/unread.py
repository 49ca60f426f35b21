"""Columns that a model does not read, without which kinds of nodes and edges, and cores, are told.

Data often has an id, a region or a date beside what a model goes by. If these were part of a node's
kind, hardly two nodes would be of one kind, and no core would lie in many graphs. So the model is
asked: a column is shuffled among the nodes, or edges, of real graphs. It is not read where this
moves outputs by less than they usually differ from graph to graph, and hardly ever changes what the
model says; nor may any of its values do so, put in at one place: what decides only where a rare
kind is there is read. Columns may stand in for each other, or do together what none does alone; so
those that are left out are also shuffled together.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.evidence.patterns.real import chosen
from gnninterpreter.graphs import edge_rows, node_rows, table
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec
from gnninterpreter.spec.data import node_count

# Real graphs that are shuffled, or fewer where the model takes them one by one; fewest that must
# change with it, and most columns that are looked at.
GRAPHS, SINGLY, FEWEST, COLUMNS = 200, 40, 20, 40
# Graphs that a value is put into, and most values of a column, the rarest.
FILLED, VALUES_TRIED = 60, 24
# How far outputs may move in 95% of the graphs, in standard deviations over real graphs, and twice
# as far in 99%: what decides a few graphs is read. Values count as they are; classes and labels
# where they change, which may happen to this share of the graphs.
MOVED, VALUES, TURNED = 1.0, 0.5, 0.1
QUANTILES, SHARES = (0.95, 0.99), (1.0, 0.5)
# Moves that are rounding.
NOTHING = 1e-3
# An output that varies less than this share of what the others do says the same of all graphs.
STILL = 0.05


@dataclass(frozen=True)
class Column:
    """One choice, or one number, of nodes or edges.

    Args:
        edges: Whether edges have it.
        block: Number of its block.
        place: Which number of the block it is; None for a choice.
        start: Where it begins in the features.
        width: How many columns of the features it takes.
        name: What it is called.
    """

    edges: bool
    block: int
    place: int | None
    start: int
    width: int
    name: str

    @property
    def columns(self) -> slice:
        """Where it stands in the features."""
        return slice(self.start, self.start + self.width)


@dataclass(frozen=True)
class Shift:
    """How far outputs move, in standard deviations, and the share of graphs that turn.

    Values do not turn: ``turned`` is None.
    """

    moved: float
    turned: float | None

    @property
    def small(self) -> bool:
        """Whether that is as good as nothing."""
        if self.turned is None:
            return self.moved <= VALUES
        return self.moved <= MOVED and self.turned <= TURNED


class Changed:
    """Asks a model about real graphs some columns of which are changed.

    Args:
        classifier: The model.
        graphs: Real graphs.
        seed: Of every draw.
    """

    def __init__(self, classifier: GraphClassifier, graphs: Sequence[Data], seed: int = 0) -> None:
        """Score the graphs as they are."""
        self.classifier, self.graphs, self.seed = classifier, graphs, seed
        self.outputs, self.said = self._asked(graphs)
        spread = self.outputs.std(dim=0)
        self.spread = spread.clamp_min(STILL * float(spread.max()))

    def shuffled(self, columns: Sequence[Column]) -> Shift | None:
        """What the model makes of some columns shuffled; None where hardly a graph changes."""
        made = [copy(graph) for graph in self.graphs]
        changed = torch.zeros(len(made), dtype=torch.bool)
        for number, column in enumerate(columns):
            # Each in an order of its own, so that what goes along with another no longer does.
            generator = torch.Generator().manual_seed(self.seed + number)
            cells = _Cells(made, column, self.classifier.spec)
            order = torch.randperm(len(cells.values), generator=generator)
            changed |= cells.put(cells.values[order])
        return self._shift(made, changed)

    def values(self, column: Column) -> Tensor:
        """The least and largest of a number that there are, or the rarest of several kinds."""
        values = _Cells(self.graphs, column, self.classifier.spec).values
        known, count = torch.unique(values, dim=0, return_counts=True)
        tried: Tensor = known[count.argsort(stable=True)[:VALUES_TRIED]]
        return tried if column.place is None else torch.stack([known[0], known[-1]])

    def decided(self, column: Column, values: Tensor) -> bool:
        """Whether one of some values, at one place of each graph, makes a difference."""
        cells = _Cells(self.graphs, column, self.classifier.spec)
        generator = torch.Generator().manual_seed(self.seed)
        place = torch.randperm(len(cells.owner), generator=generator)
        last = torch.zeros(len(self.graphs), dtype=torch.long)
        last.scatter_reduce_(0, cells.owner, place, "amax")
        here = (place == last[cells.owner]).unsqueeze(1)
        for value in values:
            made = [copy(graph) for graph in self.graphs]
            cells = _Cells(made, column, self.classifier.spec)
            shift = self._shift(made, cells.put(torch.where(here, value, cells.values)))
            if shift is not None and not shift.small:
                return True
        return False

    def _shift(self, made: Sequence[Data], changed: Tensor) -> Shift | None:
        if int(changed.sum()) < FEWEST:
            return None
        outputs, said = self._asked(made)
        moved = ((outputs - self.outputs).abs() / self.spread)[changed].amax(dim=1)
        at, shares = moved.new_tensor(QUANTILES), moved.new_tensor(SHARES)
        usual = float((moved.nan_to_num(nan=0.0).quantile(at) * shares).max())
        if said is None or self.said is None:
            return Shift(usual, None)
        turned = (said != self.said)[changed].double().mean(dim=0)
        return Shift(usual, float(turned.max()))

    def _asked(self, graphs: Sequence[Data]) -> tuple[Tensor, Tensor | None]:
        """Outputs, those of classes beside their mean, and what they say; a row for each graph."""
        outputs = self.classifier.score_data(graphs).logits.double().cpu()
        if self.classifier.task is Task.REGRESSION:
            return outputs, None
        if not self.classifier.task.exclusive:
            return outputs, outputs > 0
        return outputs - outputs.mean(dim=1, keepdim=True), outputs.argmax(dim=1, keepdim=True)


class _Cells:
    """One column of some graphs: its value at each node, or at each edge, both ways of it alike.

    Attributes:
        values: The values, a row for each node or edge.
        owner: The graph of each.
    """

    def __init__(self, graphs: Sequence[Data], column: Column, spec: GraphSpec) -> None:
        self.graphs, self.column, self.weighted = graphs, column, spec.weighted
        self._rows = [(edge_rows if column.edges else node_rows)(graph) for graph in graphs]
        self._sizes = [len(own) for own in self._rows]
        self._table = torch.cat([table(own) for own in self._rows])
        place = torch.arange(len(self._table))
        self._cell = _pairs(graphs) if column.edges and not spec.directed else place
        first = torch.full((int(self._cell.max()) + 1,), len(place))
        first.scatter_reduce_(0, self._cell, place, "amin")
        self.values = self._table[first, column.columns]
        self.owner = torch.arange(len(graphs)).repeat_interleave(torch.tensor(self._sizes))[first]

    def put(self, values: Tensor) -> Tensor:
        """Put other values into the graphs; which of them change by it."""
        made, column = self._table.clone(), self.column
        made[:, column.columns] = values[self._cell]
        for graph, before, own in zip(
            self.graphs, self._rows, torch.split(made, self._sizes), strict=True
        ):
            name = "x" if not column.edges else "edge_attr" if "edge_attr" in graph else "edge_type"
            graph[name] = own.view_as(before)
            if column.edges and self.weighted and "edge_weight" in graph:
                graph.edge_weight = own.view_as(graph.edge_weight)
        new = torch.split((made != self._table).any(dim=1), self._sizes)
        return torch.stack([own.any() for own in new])


def without_unread(
    classifier: GraphClassifier, graphs: Sequence[Data], seed: int = 0
) -> tuple[GraphSpec, list[str]]:
    """The spec of a model with the columns marked that it does not read, and lines about them.

    Args:
        classifier: The model.
        graphs: Real graphs.
        seed: The same seed draws the same.
    """
    spec, columns = classifier.spec, columns_of(classifier.spec)
    # A model that is noisy by itself moves whatever is shuffled.
    if not 0 < len(columns) <= COLUMNS or classifier.noisy:
        return spec, []
    drawn = chosen(graphs, GRAPHS if classifier.batched else SINGLY, abs(seed))
    some = [copy(graph).cpu() for graph in drawn if graph.num_nodes and graph.num_edges]
    if len(some) < FEWEST:
        return spec, []
    try:
        with classifier.frozen():
            never, seldom, shift = _left_out(classifier, columns, some, abs(seed))
    except GNNInterpreterError:  # it fails on such graphs, which says nothing about columns
        return spec, []
    return _marked(spec, [*never, *seldom]), [*_said(never, None), *_said(seldom, shift)]


def _left_out(
    classifier: GraphClassifier, columns: Sequence[Column], graphs: Sequence[Data], seed: int
) -> tuple[list[Column], list[Column], Shift | None]:
    """Columns that are never read, those that hardly are, and what all of them do together."""
    every = Changed(classifier, graphs, seed)
    few = Changed(classifier, graphs[: FILLED if classifier.batched else FEWEST], seed)
    alone: dict[Column, Shift] = {}
    for column in columns:
        shift = every.shuffled([column])
        small = shift is not None and shift.small
        if shift and small and not few.decided(column, every.values(column)):
            alone[column] = shift
    left: list[Column] = []
    together = None
    for column in sorted(alone, key=lambda one: alone[one].moved):
        shift = every.shuffled([*left, column])
        if shift is not None and shift.small:
            left, together = [*left, column], shift
    never = [one for one in alone if one in left and alone[one].moved <= NOTHING]
    return never, [one for one in alone if one in left and one not in never], together


def columns_of(spec: GraphSpec) -> list[Column]:
    """All that may vary: each choice as a whole, each number by itself."""
    found = []
    for edges, blocks in ((False, spec.nodes), (True, spec.edges)):
        start = 0
        for number, block in enumerate(blocks):
            if isinstance(block, Categorical):
                found.append(Column(edges, number, None, start, block.width, block.name))
            elif isinstance(block, Continuous):
                for place, name in enumerate(block.names):
                    found.append(Column(edges, number, place, start + place, 1, name))
            start += block.width
    return found


def _marked(spec: GraphSpec, columns: Sequence[Column]) -> GraphSpec:
    parts: list[list[Block]] = [list(spec.nodes), list(spec.edges)]
    for column in columns:
        blocks, block = parts[column.edges], parts[column.edges][column.block]
        if isinstance(block, Categorical):
            blocks[column.block] = replace(block, read=False)
        elif isinstance(block, Continuous):
            marks = list(block.read or (True,) * block.dim)
            marks[column.place or 0] = False
            blocks[column.block] = replace(block, read=tuple(marks))
    return replace(spec, nodes=tuple(parts[0]), edges=tuple(parts[1]))


def _said(columns: Sequence[Column], shift: Shift | None) -> list[str]:
    """What is said of columns that are not read, or hardly, in a line."""
    if not columns:
        return []
    parts = []
    for whose in (False, True):
        names = [f"'{column.name}'" for column in columns if column.edges == whose]
        if names:
            parts.append(f"{_listed(names)} of {'edges' if whose else 'nodes'}")
    rest = "cores and kinds are told without " + ("it" if len(columns) == 1 else "them")
    if shift is None:
        return [f"the model does not read {_listed(parts)}: shuffling changes no output; {rest}"]
    said = "moves outputs a little, and changes what it says of no real graph"
    if shift.turned is None:
        said = f"moves 95% of values by at most {shift.moved:.2f} of their standard deviation"
    elif shift.turned:
        said = f"changes what it says of {shift.turned:.1%} of real graphs"
    return [f"the model hardly reads {_listed(parts)}: shuffling {said}; {rest}"]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


def _pairs(graphs: Sequence[Data]) -> Tensor:
    """A number for each edge of all graphs, the same for both of its directions."""
    ends, start = [], 0
    for graph in graphs:
        ends.append(graph.edge_index.sort(dim=0).values + start)
        start += node_count(graph)
    numbers: Tensor = torch.unique(torch.cat(ends, dim=1), dim=1, return_inverse=True)[1]
    return numbers
