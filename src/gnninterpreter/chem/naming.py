"""What categories of nodes and edges mean, read off the SMILES that came with the graphs.

Home-made features say with their columns that there are nine kinds of atoms, not which. Where each
graph keeps its ``smiles``, as PyG's data sets do, its atoms tell.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.chem.columns import computed_columns
from gnninterpreter.chem.elements import SYMBOLS
from gnninterpreter.chem.molecules import rdkit_installed
from gnninterpreter.chem.reading import ORDERS, reading_of
from gnninterpreter.graphs import codes, node_rows
from gnninterpreter.spec import Block, Categorical, GraphList, GraphSpec

FIRST, MOST = 5, 5000
"""Graphs that are looked at: all of them, where the first few have SMILES."""
ENOUGH = 0.9
"""Share of them whose atoms have to be the nodes, and of a category that has to be one element."""
OTHER = "other"
CHARGES = tuple(str(charge) for charge in range(-5, 7))


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
    if spec.directed or reading_of(spec) is not None or not any(map(known_molecule, some[:FIRST])):
        return spec
    known = [(graph, molecule) for graph in some if (molecule := known_molecule(graph)) is not None]
    if len(known) < ENOUGH * len(some):
        return spec
    atoms = _named(
        spec.nodes,
        (
            (cells, [atom.GetSymbol() for atom in molecule.GetAtoms()])
            for graph, molecule in known
            for cells in [codes(node_rows(graph), spec.nodes)]
        ),
        SYMBOLS,
        "atom",
    )
    if atoms is None:
        return spec
    bonds = _named(
        spec.edges,
        (
            (codes(graph.edge_attr, spec.edges), [_kind(molecule, *ends) for ends in listed])
            for graph, molecule in known
            if spec.edges and graph.get("edge_attr") is not None
            for listed in [graph.edge_index.t().tolist()]
        ),
        tuple(ORDERS),
        "bond",
    )
    charges = (
        (codes(node_rows(graph), atoms), [str(a.GetFormalCharge()) for a in molecule.GetAtoms()])
        for graph, molecule in known
    )
    atoms = _named(atoms, charges, CHARGES, "charge") or atoms
    named = replace(spec, nodes=atoms, edges=bonds or spec.edges)
    reading = reading_of(named)
    if reading is None:  # without a column for carbon they are not taken for molecules
        return spec
    what = "elements and kinds of bonds" if bonds else "elements"
    note = f"{what} named by the SMILES of the graphs"
    made = computed_columns(known, named)
    follow = [block.name for block in made.derived if block not in spec.derived]
    if follow:
        note += f", from which {', '.join(dict.fromkeys(follow))} are computed"
    told = "; ".join(filter(None, [spec.metadata.get("note"), note]))
    seen = " ".join(sorted({str(atom) for atom in reading.atoms if atom is not None}))
    return replace(made, metadata={**spec.metadata, "note": told, "atoms": seen})


def _kind(molecule: Any, i: int, j: int) -> str:
    bond = molecule.GetBondBetweenAtoms(i, j)
    return "" if bond is None else str(bond.GetBondType()).lower()


def _named(
    blocks: tuple[Block, ...],
    rows: Iterable[tuple[list[Any], list[str]]],
    known: tuple[str, ...],
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
