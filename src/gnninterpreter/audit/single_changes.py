"""Every single change of a discrete graph, and what it does in words.

A change is: take out an edge (a node that loses its last one goes with it); add an edge between two
nodes; hang a new node on one (both with every category that the new edge and the new node may
have); give a node or an edge another category. To take out a node is as many changes as it has
edges. Numbers as features stay as they are. A molecule stays one, of atoms that occur in the data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import islice, product

import torch
from torch import Tensor

from gnninterpreter.batches import present_nodes, widened
from gnninterpreter.chem.reading import Reading, reading_of
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective.valence import allowed
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import Block, Categorical
from gnninterpreter.spec.encoding import dense_width, split_blocks

# Features of a new node or edge with more combinations than these are not all tried.
MOST_OPTIONS = 32


@dataclass(frozen=True)
class SingleChanges:
    """All graphs that are one change away from a graph; none of them is empty.

    ``before`` is the graph on one more node, for each kind of new node and new edge; ``owner`` says
    which of those each changed graph comes from, and ``move`` what was done, in the numbers of
    ``space``.
    """

    graphs: DenseGraphs
    space: MoveSpace
    before: DenseGraphs
    owner: Tensor
    move: Tensor

    def words(self, index: int) -> str:
        """Say what a change does; nodes have the numbers they have in the graph."""
        return _words(self.space, self.before[int(self.owner[index])], int(self.move[index]))


def single_changes(graph: DenseGraphs) -> SingleChanges:
    """Make every single change of one discrete graph."""
    wide = widened(graph, graph.num_candidates + 1)
    space = MoveSpace(wide.spec, wide.num_candidates, wide.weight.device)
    reading = reading_of(wide.spec)
    atom = (lambda chosen: True) if reading is None else partial(_occurs, reading)
    nodes = _options(wide.spec.nodes, wide.nodes[0, -1], atom)
    edges: list[Tensor | None] = [None]
    if wide.edges is not None:
        bond = (lambda chosen: True) if reading is None else partial(_binds, reading)
        edges = [*_options(wide.spec.edges, wide.edges[0, -1, 0], bond)]
    variants = [_variant(wide, node, edge) for node in nodes for edge in edges]
    before = DenseGraphs.cat(variants)
    possible = space.possible(before)
    target, source = pair_ends(space.num_candidates, wide.spec.directed, wide.weight.device)
    pairs, present, last = space.sizes[0], present_nodes(wide)[0], wide.num_candidates - 1
    there = wide.weight[0, target, source].gt(0.5)
    hangs = (target == last) | (source == last)
    usable = (present[target] & present[source]) | (hangs & (present[target] | present[source]))
    for number in range(len(before)):
        node = number // len(edges)
        # Only what is new depends on the variant; everything else is done once.
        fits = usable & (hangs | (node == 0)) & (~there | (number == 0))
        if number:
            possible[number, pairs:] = False
        possible[number, :pairs] &= fits
        possible[number, -space.num_candidates :] = False
    owner, move = possible.nonzero(as_tuple=True)
    changed = space.apply(before[owner], move)
    full = ~changed.empty & _of_data(changed, reading) & allowed(changed)
    return SingleChanges(changed[full], space, before, owner[full], move[full])


def _atom(reading: Reading, element: int, charge: int) -> bool:
    """Whether an atom of the data has these categories of element and, if any, of charge."""
    atom = reading.charged_atom(element, charge) if _charges(reading) else reading.atoms[element]
    return atom is not None and (not reading.seen or str(atom) in reading.seen)


def _charges(reading: Reading) -> int:
    """How many categories charges have; none where they are numbers, or not told."""
    column = reading.charge
    return 0 if column is None or column.values is None else len(column.values)


def _occurs(reading: Reading, chosen: tuple[int, ...]) -> bool:
    """Whether some categories of a node are an atom of the data."""
    place = reading.charge.place if reading.charge and _charges(reading) else reading.atom
    return _atom(reading, chosen[reading.atom], chosen[place])


def _of_data(graphs: DenseGraphs, reading: Reading | None) -> Tensor:
    """Whether all atoms of each graph occur in the data, [B]."""
    present = present_nodes(graphs)
    if reading is None:
        return present.any(dim=1)
    blocks = split_blocks(graphs.nodes, graphs.spec.nodes)
    element = blocks[reading.atom].argmax(-1)
    charge = torch.zeros_like(element)
    if reading.charge is not None and _charges(reading):
        charge = blocks[reading.charge.place].argmax(-1)
    known = torch.tensor(
        [
            [_atom(reading, e, q) for q in range(max(_charges(reading), 1))]
            for e in range(len(reading.atoms))
        ],
        device=element.device,
    )
    return (known[element, charge] | ~present).all(dim=1)


def _binds(reading: Reading, chosen: tuple[int, ...]) -> bool:
    """Whether some categories of an edge are a bond."""
    return reading.bond is None or reading.kinds[chosen[reading.bond]] is not None


def _options(
    blocks: tuple[Block, ...], row: Tensor, fits: Callable[[tuple[int, ...]], bool]
) -> list[Tensor]:
    """A row of features with every combination of categories that fits."""
    choices = [range(b.size) if isinstance(b, Categorical) else range(1) for b in blocks]
    found = []
    for chosen in islice(filter(fits, product(*choices)), MOST_OPTIONS):
        made = row.clone()
        for block, part, category in zip(blocks, split_blocks(made, blocks), chosen, strict=True):
            if isinstance(block, Categorical):
                part.zero_()[category] = 1.0
        found.append(made)
    return found


def _variant(graph: DenseGraphs, node: Tensor, edge: Tensor | None) -> DenseGraphs:
    """The graph with given features for its last node and for every edge that is not there."""
    nodes = graph.nodes.clone()
    nodes[:, -1] = node
    edges = graph.edges
    if edges is not None and edge is not None:
        edges = torch.where(graph.weight.gt(0.5).unsqueeze(3), edges, edge.expand_as(edges))
    return DenseGraphs(graph.spec, graph.weight, nodes, edges)


def _words(space: MoveSpace, graph: DenseGraphs, move: int) -> str:
    pairs, node_changes, _, _ = space.sizes
    target, source = pair_ends(space.num_candidates, graph.spec.directed, graph.weight.device)
    if move < pairs:
        return _edge_words(graph, int(source[move]), int(target[move]))
    move -= pairs
    if move < node_changes:
        width = graph.nodes.size(2)
        return f"give node {move // width} the {_category(graph.spec.nodes, move % width)}"
    assert graph.edges is not None, "what is left are categories of edges"
    pair, column = divmod(move - node_changes, graph.edges.size(3))
    kind = _category(graph.spec.edges, column)
    return f"give the edge {_ends(graph, int(source[pair]), int(target[pair]))} the {kind}"


def _edge_words(graph: DenseGraphs, source: int, target: int) -> str:
    present = present_nodes(graph)[0]
    if bool(graph.weight[0, target, source] > 0.5):
        return f"take out the edge {_ends(graph, source, target)}"
    kind = "" if graph.edges is None else _told(graph.spec.edges, graph.edges[0, target, source])
    if bool(present[source]) and bool(present[target]):
        return f"add an edge {_ends(graph, source, target)}{kind}"
    old, new = (source, target) if bool(present[source]) else (target, source)
    made = _told(graph.spec.nodes, graph.nodes[0, new])
    return f"hang a new node{made} on node {old}" + (f" by an edge{kind}" if kind else "")


def _ends(graph: DenseGraphs, source: int, target: int) -> str:
    if graph.spec.directed:
        return f"from node {source} to node {target}"
    return f"between nodes {source} and {target}"


def _told(blocks: tuple[Block, ...], row: Tensor) -> str:
    """The categories of a row in brackets, nothing where it has none."""
    parts = zip(blocks, split_blocks(row, blocks), strict=True)
    told = [f"{b.name} {b.names[int(p.argmax())]}" for b, p in parts if isinstance(b, Categorical)]
    return f" ({', '.join(told)})" if told else ""


def _category(blocks: tuple[Block, ...], column: int) -> str:
    """What a column of dense features stands for; only categories are changed."""
    names: list[str] = []
    for block in blocks:
        own = block.names if isinstance(block, Categorical) else [""] * dense_width([block])
        names += [f"{block.name} {name}" for name in own]
    return names[column]
