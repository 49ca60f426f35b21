"""What home-made features mean, read off the SMILES that came with the graphs.

Their columns say that there are nine kinds of atoms, not which. Where each graph keeps its
``smiles``, as PyG's data sets do, its atoms tell. A column that is the same wherever a property is
the same follows from it, by a table, and explanations have it computed, as with the known
featurisers: an atom with the hydrogens of another would be strange to any model.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.elements import SYMBOLS, Atom, most_bonds
from gnninterpreter.chem.molecules import rdkit_installed
from gnninterpreter.chem.presets import PROPERTIES, UNSEEN
from gnninterpreter.chem.reading import FUNCTION, LENT, ORDERS, Reading, reading_of
from gnninterpreter.chem.structures import judged
from gnninterpreter.graphs import table
from gnninterpreter.spec import Block, Categorical, Continuous, Derived, GraphList, GraphSpec
from gnninterpreter.spec.derived import columns
from gnninterpreter.spec.encoding import codes

FIRST, MOST = 5, 5000
"""Graphs that are looked at: all of them, where the first few have SMILES."""
ENOUGH = 0.9
"""Share of them whose atoms have to be the nodes, and of a category that has to be one element."""
OTHER = "other"
"""The category of all elements that have none of their own."""
LOOKED_AT = 300
AGREEING = 0.98
"""Share of atoms or bonds of which a table has to be true."""

Rows = list[tuple[float, ...]]
_WORDS: dict[str, tuple[str, Callable[[Any], str], Collection[str]]] = {
    "atom": ("atoms", lambda atom: str(atom.GetSymbol()), SYMBOLS),
    "charge": ("atoms", lambda atom: str(atom.GetFormalCharge()), [str(q) for q in range(-5, 7)]),
    "bond": ("bonds", lambda bond: "" if bond is None else str(bond.GetBondType()).lower(), ORDERS),
}
"""What is chosen, all else follows from it: where it is told, how it is read, its words."""


def known_molecule(graph: Data) -> Any:
    """The RDKit molecule of a graph's ``smiles``; None where its atoms are not the nodes."""
    smiles = graph.get("smiles")
    if not isinstance(smiles, str) or not smiles or not rdkit_installed():
        return None
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return None
    ends = graph.edge_index.t().tolist()
    pairs = {(min(i, j), max(i, j)) for i, j in ends if i != j}
    for tried in (molecule, Chem.AddHs(molecule)):
        bonds = {tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))) for b in tried.GetBonds()}
        if tried.GetNumAtoms() == graph.num_nodes and bonds == pairs:
            return tried
    return None


def name_by_smiles(graphs: GraphList, spec: GraphSpec) -> GraphSpec:
    """The spec with elements and kinds of bonds named, where the graphs tell them by SMILES."""
    some = graphs[:MOST]
    if spec.directed or reading_of(spec) is not None:
        return spec
    if not any(map(known_molecule, some[:FIRST])):
        return _told_apart(spec, some[:FIRST])
    known = [(graph, molecule) for graph in some if (molecule := known_molecule(graph)) is not None]
    if len(known) < ENOUGH * len(some):
        return _told_apart(spec, some)

    def named(blocks: tuple[Block, ...], name: str) -> tuple[Block, ...] | None:
        """The blocks with the one named that tells this property of atoms or bonds."""
        of, read, words = _WORDS[name]
        key = "x" if of == "atoms" else "edge_attr"
        rows = (
            (codes(graph[key], blocks), [read(item) for item in _items(molecule, graph, of)])
            for graph, molecule in known
            if blocks and graph.get(key) is not None
        )
        return _named(blocks, rows, words, name)

    atoms = named(spec.nodes, "atom")
    if atoms is None:
        return spec
    bonds = named(spec.edges, "bond")
    nodes = named(atoms, "charge") or atoms
    told = replace(spec, nodes=nodes, edges=bonds or spec.edges)
    reading = reading_of(told)
    if reading is None:  # without a column for carbon they are not taken for molecules
        return spec
    what = "elements and kinds of bonds" if bonds else "elements"
    note = f"{what} named by the SMILES of the graphs"
    made = computed_columns(known, told)
    follow = [block.name for block in made.derived if block not in spec.derived]
    if follow:
        note += f", from which {', '.join(dict.fromkeys(follow))} are computed"
    said = "; ".join(filter(None, [spec.metadata.get("note"), note]))
    seen = {str(atom) for atom in reading.atoms if atom is not None}
    if reading.charged:
        every = (atom for graph, _ in known for atom in reading.atoms_of(graph, told))
        seen |= {str(atom) for atom in every if atom is not None}
    else:
        seen |= _lending(molecule for _, molecule in known)
    metadata = {**spec.metadata, "note": said, "atoms": " ".join(sorted(seen))}
    return replace(made, metadata=metadata)


def _told_apart(spec: GraphSpec, graphs: Sequence[Data]) -> GraphSpec:
    """The spec, which says so where the nodes of graphs are not the atoms of their SMILES."""
    if not rdkit_installed() or not any(isinstance(graph.get("smiles"), str) for graph in graphs):
        return spec
    note = (
        "graphs have SMILES, but the nodes and edges of most are not its atoms and bonds in that "
        "order, so that columns get no names and nothing is drawn as a molecule: keep the SMILES "
        "that a graph was made from (a canonical one may have another order)"
    )
    said = "; ".join(filter(None, [spec.metadata.get("note"), note]))
    return replace(spec, metadata={**spec.metadata, "note": said})


def _lending(molecules: Iterable[Any]) -> set[str]:
    """Atoms with a charge that only their neighbours tell, such as quaternary nitrogen."""
    found = set()
    for atom in (atom for molecule in molecules for atom in molecule.GetAtoms()):
        symbol, charge = atom.GetSymbol(), atom.GetFormalCharge()
        if charge and charge == LENT.get(symbol) and atom.GetDegree() > most_bonds(symbol):
            found.add(str(Atom(symbol, charge)))
    return found


def _named(
    blocks: tuple[Block, ...],
    rows: Iterable[tuple[list[Any], list[str]]],
    known: Collection[str],
    name: str,
) -> tuple[Block, ...] | None:
    """The blocks with the one named whose categories are these words, one each; None if none is."""
    counts: dict[int, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    places = [k for k, block in enumerate(blocks) if isinstance(block, Categorical)]
    for cells, words in rows:
        for place in places:
            for code, word in zip(cells[place].tolist(), words, strict=True):
                counts[place][code][word] += 1
    for place, found in counts.items():
        block = blocks[place]
        assert isinstance(block, Categorical)
        best = {code: words.most_common(1)[0] for code, words in found.items()}
        meant = {
            code: word
            for code, (word, count) in best.items()
            if word in known and count >= ENOUGH * found[code].total()
        }
        # One category, the last of a list, may stand for all others.
        if len(set(meant.values())) == len(meant) >= max(2, len(found) - 1):
            names = tuple(meant.get(code, OTHER) for code in range(block.size))
            named = Categorical(block.size, names, name=name, encoding=block.encoding)
            return (*blocks[:place], named, *blocks[place + 1 :])
    return None


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
        return replace(spec, nodes=_titled(spec.nodes, *told("atoms", "x")))
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
    return judged(atoms, listed, not reading.charged)[0]


def _replaced(
    blocks: tuple[Block, ...], values: Tensor, properties: dict[str, list[Any]], of: str
) -> tuple[Block, ...]:
    """The blocks, those and the columns of numbers that follow from a property computed."""
    found: list[Block] = []
    for block, part in zip(blocks, columns(values, blocks), strict=True):
        if isinstance(block, Derived) or block.name in _WORDS or getattr(block, "constant", False):
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


def _titled(
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
    whole = tuple(block.whole[k] for k in places if block.whole)
    return Continuous(len(places), low, high, names=names, name=block.name, whole=whole)


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
