"""Columns of a featuriser computed from atoms and bonds: for SMILES, and for every graph searched.

The search asks about thousands of graphs, most of them again and again, so that what was computed
for a structure is kept. Molecules that RDKit refuses get what it says of them without judging;
that they are no answers is for the objective to say.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.elements import Atom
from gnninterpreter.chem.molecules import build, rdkit_chem
from gnninterpreter.chem.presets import PROPERTIES, UNSEEN, Preset, preset
from gnninterpreter.chem.reading import FUNCTION, reading_of
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Derived, GraphSpec
from gnninterpreter.spec.derived import register_derived

Array = NDArray[np.float64]
Bonds = tuple[tuple[int, int, str | None], ...]


def graph_of(molecule: Any, chosen: Preset) -> Data:
    """An RDKit molecule as the graph that a featuriser makes of it."""
    if any(feature.name in ("donor", "acceptor") for feature in chosen.atoms):
        _mark_hydrogen_bonding(molecule)
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
def _columns(
    blocks: tuple[Derived, ...], atoms: tuple[Atom | None, ...], bonds: Bonds, guess: bool
) -> list[Array]:
    """The columns of blocks for one structure; NaN where an atom or bond is of no known kind."""
    molecule = rebuilt(atoms, bonds, guess)
    counts = {"atoms": len(atoms), "bonds": len(bonds)}
    if any(block.name in ("donor", "acceptor") for block in blocks) and molecule is not None:
        _mark_hydrogen_bonding(molecule)
    try:
        return [_values(block, molecule, counts[block.options["of"]]) for block in blocks]
    except (RuntimeError, ValueError):  # nothing is said of a molecule that has no code
        return [_values(block, None, counts[block.options["of"]]) for block in blocks]


def _values(block: Derived, molecule: Any, count: int) -> Array:
    """The columns of one block: as a featuriser makes them, or by a table."""
    asked, lost = block.options, (np.nan,) * block.width
    of: str = asked["of"]
    columns: Callable[[Any], Sequence[float]]
    if "table" in asked:
        name = asked["property"]
        columns = defaultdict(lambda: lost, asked["table"]).__getitem__
    else:
        chosen = preset(asked["preset"])
        feature = next(one for start, _, one in chosen.placed(of) if start == asked["start"])
        name, columns = feature.name, partial(feature.row, coded=chosen.coded)
    if name in UNSEEN:
        values = [columns(UNSEEN[name])] * count
    elif molecule is None:
        values = [lost] * count
    else:
        items = molecule.GetAtoms() if of == "atoms" else molecule.GetBonds()
        values = [columns(PROPERTIES[of][name](item)) for item in items]
    return np.array(values, dtype=np.float64).reshape(-1, block.width)


def _compute(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
    """Compute the derived blocks of graphs side by side."""
    rdkit_chem("computing the features of molecules")
    reading = reading_of(spec)
    assert reading is not None
    atoms = reading.atoms_of(data, spec)
    # Nodes lie graph by graph, and so do bonds in the order of their nodes.
    bonds = sorted(reading.bonds_of(data, spec).items(), key=lambda bond: bond[0])
    firsts = [0, *accumulate(data.batch.bincount().tolist())]
    cuts = np.searchsorted([ends[0] for ends, _ in bonds], firsts).tolist()
    parts = []
    for (first, end), (start, stop) in zip(pairwise(firsts), pairwise(cuts), strict=True):
        mine = tuple((i - first, j - first, kind) for (i, j), kind in bonds[start:stop])
        parts.append(_columns(tuple(blocks), tuple(atoms[first:end]), mine, not reading.charged))
    place = {ends: k for k, (ends, _) in enumerate(bonds)}
    ends = [(min(pair), max(pair)) for pair in data.edge_index.t().tolist()]
    # What is no bond, such as a loop, has the columns behind the last, which are NaN.
    rows = {"atoms": range(len(atoms)), "bonds": [place.get(pair, len(bonds)) for pair in ends]}
    found = []
    for k, block in enumerate(blocks):
        table = np.concatenate([*(part[k] for part in parts), np.full((1, block.width), np.nan)])
        values = torch.from_numpy(table)[torch.tensor(rows[block.options["of"]], dtype=torch.long)]
        found.append(values.to(data.edge_index.device))
    return found


def register() -> None:
    """Say how columns of molecules are computed; asked for when a spec first has some."""
    register_derived(FUNCTION, _compute)
