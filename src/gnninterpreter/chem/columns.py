"""Columns of home-made features that follow from the molecule: hydrogens, hybrids, rings, masses.

What the atoms of real graphs are is known from their SMILES; a column that is the same wherever a
property is the same follows from it, by a table. Explanations then have it computed, as with the
known featurisers: an atom with the hydrogens of another would be strange to any model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.featurising import rebuilt
from gnninterpreter.chem.presets import PROPERTIES, UNSEEN
from gnninterpreter.chem.reading import FUNCTION, Reading, reading_of
from gnninterpreter.graphs import table
from gnninterpreter.spec import Block, Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import columns

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
    some = [
        (graph, molecule, made)
        for graph, molecule in known[:: max(1, len(known) // LOOKED_AT)]
        if (made := _again(graph, spec, reading) if reading.bond is not None else molecule)
    ]
    if not some:
        return spec

    def told(of: str, key: str) -> tuple[Tensor, dict[str, list[Any]]]:
        """The columns of all atoms or bonds, and each of their properties."""
        properties = {
            name: [
                read(item)
                for graph, molecule, made in some
                for item in _items(molecule if name in UNSEEN else made, graph, of)
            ]
            for name, read in PROPERTIES[of].items()
        }
        return torch.cat([table(graph[key]) for graph, _, _ in some]), properties

    if reading.bond is None:
        return replace(spec, nodes=_named(spec.nodes, *told("atoms", "x")))
    nodes = _replaced(spec.nodes, *told("atoms", "x"), "atoms")
    edges = _replaced(spec.edges, *told("bonds", "edge_attr"), "bonds")
    return replace(spec, nodes=nodes, edges=edges)


def _items(molecule: Any, graph: Data, of: str) -> Iterable[Any]:
    """The atom of each node, or the bond of each edge."""
    if of == "atoms":
        return list(molecule.GetAtoms())
    return [molecule.GetBondBetweenAtoms(i, j) for i, j in graph.edge_index.t().tolist()]


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
    for block, part in zip(blocks, columns(values, blocks), strict=True):
        if isinstance(block, Derived) or block.name in SPARED or getattr(block, "constant", False):
            found.append(block)
        elif isinstance(block, Categorical):
            coded = block.encoding == "index"
            found.append(_derived(part, properties, of, coded) or block)
        else:
            made: list[Any] = [
                _derived(one, properties, of, False) for one in torch.split(part, 1, dim=1)
            ]
            for loose, run in groupby(enumerate(made), lambda one: one[1] is None):
                places, computed = zip(*run, strict=True)
                found += [_numbers(block, places)] if loose else computed
    return tuple(found)


def _named(
    blocks: tuple[Block, ...], values: Tensor, properties: dict[str, list[Any]]
) -> tuple[Block, ...]:
    """The blocks, columns of numbers named after the properties that they follow from."""
    found: list[Block] = []
    for block, part in zip(blocks, columns(values, blocks), strict=True):
        if isinstance(block, Continuous) and not block.constant:
            each = torch.split(part, 1, dim=1)
            made = [_derived(one, properties, "atoms", False) for one in each]
            pairs = zip(block.names, made, strict=True)
            block = replace(block, names=tuple(one.name if one else own for own, one in pairs))
        found.append(block)
    return tuple(found)


def _numbers(block: Continuous, places: Sequence[int]) -> Continuous:
    """Some columns of a block."""
    bounds: Any = (block.low, block.high)
    low, high = (tuple(bound[k] for k in places) for bound in bounds)
    names = tuple(block.names[k] for k in places)
    return Continuous(len(places), low, high, names=names, name=block.name)


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
