"""Columns of a featuriser computed from atoms and bonds: for SMILES, and for every graph searched.

The search asks about thousands of graphs, most of them again and again, so that what was computed
for a structure is kept. Molecules that RDKit refuses get what it says of them without judging;
that they are no answers is for the objective to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.elements import Atom
from gnninterpreter.chem.molecules import build, rdkit_chem
from gnninterpreter.chem.presets import (
    ATOM_PROPERTIES,
    BOND_PROPERTIES,
    UNSEEN,
    Feature,
    Preset,
    preset,
)
from gnninterpreter.chem.reading import FUNCTION, reading_of
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Derived, GraphSpec
from gnninterpreter.spec.derived import register_derived

Array = NDArray[np.float64]
Bonds = tuple[tuple[int, int, str | None], ...]


def featurise(molecule: Any, chosen: Preset) -> tuple[Array, Array]:
    """The columns of each atom and of each bond of an RDKit molecule."""
    if any(feature.name in ("donor", "acceptor") for feature in chosen.atoms):
        _mark_hydrogen_bonding(molecule)
    atoms = _rows(molecule.GetAtoms(), chosen.atoms, ATOM_PROPERTIES, chosen.coded)
    bonds = _rows(molecule.GetBonds(), chosen.bonds, BOND_PROPERTIES, chosen.coded)
    return atoms, bonds


def graph_of(molecule: Any, chosen: Preset) -> Data:
    """An RDKit molecule as the graph that a featuriser makes of it."""
    atoms, bonds = featurise(molecule, chosen)
    dtype = torch.long if chosen.coded else torch.float32
    ends = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule.GetBonds()]
    index = torch.tensor(ends, dtype=torch.long).reshape(-1, 2).t()
    attributes = torch.from_numpy(bonds).to(dtype)
    return Data(
        x=torch.from_numpy(atoms).to(dtype),
        edge_index=torch.cat([index, index.flip(0)], dim=1),
        edge_attr=torch.cat([attributes, attributes]),
        num_nodes=molecule.GetNumAtoms(),
    )


def _rows(
    items: Any, features: Sequence[Feature], properties: dict[str, Any], coded: bool
) -> Array:
    rows = []
    for item in items:
        row: list[float] = []
        for feature in features:
            value = properties[feature.name](item)
            code = feature.code(value) if feature.values else None
            if not feature.values:
                row.append(float(value))
            elif coded:
                if code is None:
                    raise DataError(f"there is no code for a {feature.name} of {value}")
                row.append(float(code))
            else:
                # A value that is not in the vocabulary leaves all columns empty.
                row += [float(k == code) for k in range(feature.size)]
        rows.append(row)
    width = len(features) if coded else sum(feature.size for feature in features)
    return np.array(rows, dtype=np.float64).reshape(-1, width)


@lru_cache(maxsize=1)
def _feature_factory() -> Any:
    from rdkit import RDConfig
    from rdkit.Chem import ChemicalFeatures

    features: Any = ChemicalFeatures
    return features.BuildFeatureFactory(str(Path(RDConfig.RDDataDir) / "BaseFeatures.fdef"))


def _mark_hydrogen_bonding(molecule: Any) -> None:
    for found in _feature_factory().GetFeaturesForMol(molecule):
        if found.GetFamily() in ("Donor", "Acceptor"):
            molecule.GetAtomWithIdx(found.GetAtomIds()[0]).SetBoolProp(found.GetFamily(), True)


@lru_cache(maxsize=50_000)
def _computed(
    name: str, atoms: tuple[Atom | None, ...], bonds: Bonds, guess: bool
) -> tuple[Array, Array]:
    """All columns of one structure; NaN where an atom or bond is of no known kind."""
    chosen = preset(name)
    widths = chosen.widths
    molecule = rebuilt(atoms, bonds, guess)
    if molecule is not None:
        with suppress(DataError, RuntimeError, ValueError):
            return featurise(molecule, chosen)
    return np.full((len(atoms), widths[0]), np.nan), np.full((len(bonds), widths[1]), np.nan)


def rebuilt(atoms: tuple[Atom | None, ...], bonds: Bonds, guess: bool) -> Any:
    """The RDKit molecule of a structure, allowed or not; None where it cannot even be built."""
    known = [atom for atom in atoms if atom is not None]
    if len(known) < len(atoms):
        return None
    from rdkit import Chem, rdBase

    try:
        molecule = build(known, {(i, j): kind for i, j, kind in bonds}, guess=guess)
        with rdBase.BlockLogs():
            if Chem.SanitizeMol(molecule, catchErrors=True) != Chem.SanitizeFlags.SANITIZE_NONE:
                molecule.UpdatePropertyCache(strict=False)
                Chem.FastFindRings(molecule)
                Chem.SetConjugation(molecule)
                Chem.SetHybridization(molecule)
    except (DataError, RuntimeError, ValueError):
        return None
    return molecule


@lru_cache(maxsize=50_000)
def _looked_up(
    blocks: tuple[Derived, ...], atoms: tuple[Atom | None, ...], bonds: Bonds, guess: bool
) -> tuple[Array, Array]:
    """The columns of `_computed`, by the tables of home-made features, those of bonds after all."""
    columns: dict[str, list[Array]] = {"atoms": [], "bonds": []}
    counts = {"atoms": len(atoms), "bonds": len(bonds)}
    molecule = rebuilt(atoms, bonds, guess)
    for block in blocks:
        asked = block.options
        of, name, rows = asked["of"], asked["property"], dict(asked["table"])
        lost = (np.nan,) * block.width
        if name in UNSEEN:  # a drawing on paper does not have it
            most = rows.get({"chirality": "CHI_UNSPECIFIED", "stereo": "STEREONONE"}[name], lost)
            values = [most] * counts[of]
        elif molecule is None:
            values = [lost] * counts[of]
        elif of == "atoms":
            read = ATOM_PROPERTIES[name]
            values = [rows.get(read(atom), lost) for atom in molecule.GetAtoms()]
        else:
            read = BOND_PROPERTIES[name]
            values = [rows.get(read(bond), lost) for bond in molecule.GetBonds()]
        columns[of].append(np.array(values, dtype=np.float64).reshape(-1, block.width))
    nodes, edges = (
        np.concatenate(part, axis=1) if part else np.zeros((counts[of], 0))
        for of, part in columns.items()
    )
    return nodes, edges


def _compute(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
    """Compute the derived blocks of graphs side by side."""
    rdkit_chem("computing the features of molecules")
    reading = reading_of(spec)
    assert reading is not None
    home_made = "table" in blocks[0].options
    name = blocks[0].options.get("preset", "")
    widths = [
        sum(block.width for block in blocks if block.options["of"] == of)
        for of in ("atoms", "bonds")
    ]
    if not home_made:
        widths = list(preset(name).widths)
    count = int(data.num_nodes or 0)
    atoms = reading.atoms_of(data, spec)
    kinds = reading.bonds_of(data, spec)
    sizes = data.batch.bincount().tolist() if count else []
    listed: list[list[tuple[int, int, str | None]]] = [[] for _ in sizes]
    firsts = np.concatenate([[0], np.cumsum(sizes)]).astype(int).tolist()
    owner = data.batch.tolist()
    for (i, j), kind in kinds.items():
        first = firsts[owner[i]]
        listed[owner[i]].append((i - first, j - first, kind))
    node_table = np.zeros((count, widths[0]))
    of_bond: dict[tuple[int, int], Array] = {}
    for number, size in enumerate(sizes):
        first = firsts[number]
        mine = tuple(sorted(listed[number], key=lambda bond: bond[:2]))
        own = tuple(atoms[first : first + size])
        if home_made:
            x, attributes = _looked_up(tuple(blocks), own, mine, not reading.charged)
        else:
            x, attributes = _computed(name, own, mine, not reading.charged)
        node_table[first : first + size] = x
        for (i, j, _), row in zip(mine, attributes, strict=True):
            of_bond[i + first, j + first] = row
    ends = data.edge_index.t().tolist()
    nothing = np.full(widths[1], np.nan)
    rows = [of_bond.get((min(i, j), max(i, j)), nothing) for i, j in ends]
    edge_table = np.stack(rows) if rows else np.zeros((0, widths[1]))
    tables = {"atoms": torch.from_numpy(node_table), "bonds": torch.from_numpy(edge_table)}
    found, ends_at = [], {"atoms": 0, "bonds": 0}
    for block in blocks:
        of = block.options["of"]
        start = block.options.get("start", ends_at[of])
        ends_at[of] = start + block.width
        found.append(tables[of][:, start : ends_at[of]].to(data.edge_index.device))
    return found


def register() -> None:
    """Say how columns of molecules are computed; asked for when a spec first has some."""
    register_derived(FUNCTION, _compute)
