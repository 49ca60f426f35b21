"""Columns of home-made features that follow from the molecule: hydrogens, hybrids, rings, masses.

What the atoms of real graphs are is known from their SMILES; a column that is the same wherever a
property is the same follows from it, by a table. Explanations then have it computed, as with the
known featurisers: an atom with the hydrogens of another would be strange to any model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.featurising import rebuilt
from gnninterpreter.chem.presets import ATOM_PROPERTIES, BOND_PROPERTIES, UNSEEN
from gnninterpreter.chem.reading import FUNCTION, Reading, reading_of
from gnninterpreter.graphs import table
from gnninterpreter.spec import Block, Categorical, Continuous, Derived, GraphSpec

LOOKED_AT = 300
AGREEING = 0.98
"""Share of atoms or bonds of which a table has to be true."""
SPARED = ("atom", "bond", "charge")
"""Blocks that are chosen: everything else follows from them."""

Rows = list[tuple[float, ...]]


def computed_columns(known: Sequence[tuple[Data, Any]], spec: GraphSpec) -> GraphSpec:
    """The spec with every column computed that follows from atoms and bonds of known molecules.

    Without kinds of bonds nothing can be computed; columns then get the names of properties.
    """
    reading = reading_of(spec)
    assert reading is not None
    some = known[:: max(1, len(known) // LOOKED_AT)]
    atoms: dict[str, list[Any]] = defaultdict(list)
    bonds: dict[str, list[Any]] = defaultdict(list)
    x, attributes = [], []
    for graph, molecule in some:
        made = _again(graph, spec, reading) if reading.bond is not None else molecule
        if made is None:
            continue
        x.append(table(graph.x))
        for name, of in ATOM_PROPERTIES.items():
            source = molecule if name in UNSEEN else made
            atoms[name] += [of(atom) for atom in source.GetAtoms()]
        if reading.bond is None:
            continue
        attributes.append(table(graph.edge_attr))
        ends = graph.edge_index.t().tolist()
        for name, of in BOND_PROPERTIES.items():
            source = molecule if name in UNSEEN else made
            bonds[name] += [of(source.GetBondBetweenAtoms(i, j)) for i, j in ends]
    nodes, edges = spec.nodes, spec.edges
    if x and reading.bond is None:
        return replace(spec, nodes=_named(nodes, torch.cat(x), atoms))
    if x:
        nodes = _replaced(nodes, torch.cat(x), atoms, "atoms")
    if attributes:
        edges = _replaced(edges, torch.cat(attributes), bonds, "bonds")
    return replace(spec, nodes=nodes, edges=edges)


def _again(graph: Data, spec: GraphSpec, reading: Reading) -> Any:
    """The molecule as it is made of a graph that was found, which has no SMILES."""
    if not bool((graph.edge_index[0] != graph.edge_index[1]).all()):
        return None
    atoms, bonds = reading.atoms_of(graph, spec), reading.bonds_of(graph, spec)
    listed = tuple((i, j, kind) for (i, j), kind in sorted(bonds.items()))
    return rebuilt(tuple(atoms), listed, not reading.charged)


def _replaced(
    blocks: tuple[Block, ...], values: Tensor, properties: dict[str, list[Any]], of: str
) -> tuple[Block, ...]:
    """The blocks, those and the columns of numbers that follow from a property computed."""
    found: list[Block] = []
    start = 0
    for block in blocks:
        part = values[:, start : start + block.width]
        start += block.width
        constant = isinstance(block, Continuous) and block.constant
        if isinstance(block, Derived) or block.name in SPARED or constant:
            found.append(block)
        elif isinstance(block, Categorical):
            coded = block.encoding == "index"
            found.append(_derived(part, properties, of, coded) or block)
        else:
            loose: list[int] = []
            for column in range(block.width):
                one = _derived(part[:, column : column + 1], properties, of, False)
                if one is None:
                    loose.append(column)
                else:
                    found += [*_numbers(block, loose), one]
                    loose = []
            found += _numbers(block, loose)
    return tuple(found)


def _named(
    blocks: tuple[Block, ...], values: Tensor, properties: dict[str, list[Any]]
) -> tuple[Block, ...]:
    """The blocks, columns of numbers named after the properties that they follow from."""
    found, start = [], 0
    for block in blocks:
        part = values[:, start : start + block.width]
        start += block.width
        if isinstance(block, Continuous) and not block.constant:
            made = [
                _derived(column, properties, "atoms", False)
                for column in torch.split(part, 1, dim=1)
            ]
            names = [
                own if one is None else one.name for own, one in zip(block.names, made, strict=True)
            ]
            block = replace(block, names=tuple(names))
        found.append(block)
    return tuple(found)


def _numbers(block: Continuous, columns: list[int]) -> list[Continuous]:
    if not columns:
        return []

    def picked(bound: float | tuple[float, ...]) -> tuple[float, ...]:
        return tuple(bound[k] if isinstance(bound, tuple) else bound for k in columns)

    names = tuple(block.names[k] for k in columns)
    low, high = picked(block.low), picked(block.high)
    return [Continuous(len(columns), low, high, names=names, name=block.name)]


def _derived(
    part: Tensor, properties: dict[str, list[Any]], of: str, coded: bool
) -> Derived | None:
    """What computes some columns; None where no property does."""
    rows: Rows = [tuple(round(value, 6) for value in row) for row in part.double().tolist()]
    usual = Counter(rows)
    if len(usual) < 2:
        return None
    best: tuple[int, str, dict[Any, tuple[float, ...]]] | None = None
    for name, values in properties.items():
        counts: dict[Any, Counter[tuple[float, ...]]] = defaultdict(Counter)
        for value, row in zip(values, rows, strict=True):
            counts[value][row] += 1
        right = sum(seen.most_common(1)[0][1] for seen in counts.values())
        told = {value: seen.most_common(1)[0][0] for value, seen in counts.items()}
        # One value for nearly all of them would be true of anything.
        if right < AGREEING * len(rows) or len(set(told.values())) < 2:
            continue
        if best is None or (len(told), -right) < (len(best[2]), -best[0]):
            best = (right, name, told)
    if best is None:
        return None
    _, name, told = best
    settings = {
        "of": of,
        "property": name,
        "table": [[value, list(row)] for value, row in sorted(told.items(), key=str)],
    }
    encoding = "index" if coded else "numbers"
    title = "number by element" if name == "element" else name  # a mass, a radius
    return Derived(FUNCTION, part.size(1), name=title, encoding=encoding, settings=settings)
