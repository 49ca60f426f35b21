"""Columns of a featuriser computed from atoms and bonds: of SMILES, and of graphs searched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.molecules import rdkit_chem
from gnninterpreter.chem.presets import UNSEEN, Preset, preset
from gnninterpreter.chem.reading import FUNCTION, reading_of
from gnninterpreter.chem.structures import (
    UNKNOWN,
    Array,
    Structures,
    Vocabulary,
    mark_hydrogen_bonding,
    structures_of,
)
from gnninterpreter.spec import Derived, GraphSpec
from gnninterpreter.spec.derived import register_derived

Columns = Callable[[Any], Sequence[float]]


def graph_of(molecule: Any, chosen: Preset) -> Data:
    """An RDKit molecule as the graph that a featuriser makes of it."""
    if any(feature.name in ("donor", "acceptor") for feature in chosen.atoms):
        mark_hydrogen_bonding(molecule)
    bonds = list(molecule.GetBonds())
    dtype = torch.long if chosen.coded else torch.float32
    rows = [chosen.row("atoms", atom) for atom in molecule.GetAtoms()]
    attributes = torch.tensor([chosen.row("bonds", bond) for bond in bonds], dtype=dtype)
    attributes = attributes.reshape(-1, chosen.widths[1])
    ends = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    index = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()
    return Data(
        x=torch.tensor(rows, dtype=dtype).reshape(-1, chosen.widths[0]),
        edge_index=torch.cat([index, index.flip(0)], dim=1),
        edge_attr=torch.cat([attributes, attributes]),
        num_nodes=molecule.GetNumAtoms(),
    )


def _compute(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
    """Compute the derived blocks of graphs side by side."""
    rdkit_chem("computing the features of molecules")
    known = described(spec)
    reading = known.reading
    atoms = reading.atom_cells(data, spec).cpu().numpy()
    # Nodes lie graph by graph, and so do bonds in the order of their nodes, each of them once.
    bonds = reading.bond_cells(data, spec).cpu().numpy()
    bonds = bonds[np.unique(_keys(bonds, len(atoms)), return_index=True)[1]]
    sizes = data.batch.bincount().tolist()
    firsts = np.cumsum([0, *sizes])
    owner = np.searchsorted(firsts, bonds[:, 0], side="right") - 1
    local = bonds.copy()
    local[:, :2] -= firsts[owner, None]
    counts = np.bincount(owner, minlength=len(sizes)).tolist()
    said = [one.numbers for one in known.said_of(atoms, local, sizes, counts)]
    nothing = (np.full(0, UNKNOWN), np.full(1, UNKNOWN))
    whole = [np.concatenate(each) for each in zip(*filter(None, said), nothing, strict=True)]
    # What is no bond, such as a loop, has the number behind the last, of which nothing is said.
    ends = np.sort(data.edge_index.t().cpu().numpy(), axis=1)
    rows = {"atoms": whole[0], "bonds": whole[1][_places(bonds, ends, len(atoms))]}
    return [
        torch.from_numpy(_table(block, known)[rows[block.options["of"]]]).to(data.edge_index.device)
        for block in blocks
    ]


def _keys(bonds: Array, nodes: int) -> Array:
    return np.asarray(bonds[:, 0] * nodes + bonds[:, 1])


def _places(bonds: Array, ends: Array, nodes: int) -> Array:
    """The place of each pair of ends among bonds in order; behind the last where it is none."""
    listed, asked = _keys(bonds, nodes), _keys(ends, nodes)
    place = np.searchsorted(listed, asked)
    found = place < len(listed)
    found[found] = listed[place[found]] == asked[found]
    return np.where(found, place, len(listed))


@lru_cache(maxsize=64)
def described(spec: GraphSpec) -> Structures:
    """The structures of a spec, with the properties that its columns follow from."""
    reading = reading_of(spec)
    assert reading is not None
    names: dict[str, set[str]] = {"atoms": set(), "bonds": set()}
    for block in spec.derived:
        if block.function == FUNCTION:
            names[block.options["of"]].add(_property(block)[0])
    return structures_of(reading, *(tuple(sorted(names[of] - UNSEEN.keys())) for of in names))


def _property(block: Derived) -> tuple[str, Columns]:
    """The property that a block follows from, and how: as a featuriser makes it, or by a table."""
    asked = block.options
    if "table" in asked:
        lost = (np.nan,) * block.width
        return asked["property"], defaultdict(lambda: lost, asked["table"]).__getitem__
    chosen = preset(asked["preset"])
    feature = next(one for start, _, one in chosen.placed(asked["of"]) if start == asked["start"])
    return feature.name, partial(feature.row, coded=chosen.coded)


def _table(block: Derived, known: Structures) -> NDArray[np.float64]:
    """The columns of a block by the number of an atom or a bond; NaN where they do not exist."""
    words = known.vocabularies[block.options["of"]]
    return _extended(block, words, len(words.said))


@lru_cache(maxsize=256)
def _extended(block: Derived, words: Vocabulary, count: int) -> NDArray[np.float64]:
    name, columns = _property(block)
    place = None if name in UNSEEN else words.names.index(name)

    def row(said: tuple[Any, ...] | None) -> Sequence[float]:
        if place is None:
            return columns(UNSEEN[name])
        with suppress(ValueError):  # there may be no code for it
            if said is not None:
                return columns(said[place])
        return (np.nan,) * block.width

    rows = [row(said) for said in words.said[:count]]
    return np.array(rows, dtype=np.float64).reshape(count, block.width)


def register() -> None:
    """Say how columns of molecules are computed; asked for when a spec first has some."""
    register_derived(FUNCTION, _compute)
