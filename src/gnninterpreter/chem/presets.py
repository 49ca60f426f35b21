"""What the columns of the common featurisers mean, written down from their documentation.

A preset says for each column which property of an atom or a bond it holds, and in which order. The
element, the charge and the kind of a bond are free; everything else follows from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from gnninterpreter.chem.elements import SYMBOLS
from gnninterpreter.errors import DataError, SpecError

Property = Callable[[Any], Any]

_OF_ATOMS: dict[str, Property] = {
    "element": lambda atom: atom.GetSymbol(),
    "charge": lambda atom: atom.GetFormalCharge(),
    "chirality": lambda atom: str(atom.GetChiralTag()),
    "degree": lambda atom: atom.GetDegree(),
    "total degree": lambda atom: atom.GetTotalDegree(),
    "hydrogens": lambda atom: atom.GetTotalNumHs(),
    "valence": lambda atom: atom.GetTotalValence(),
    "implicit valence": lambda atom: atom.GetNumImplicitHs(),
    "radical electrons": lambda atom: atom.GetNumRadicalElectrons(),
    "hybridization": lambda atom: str(atom.GetHybridization()),
    "aromatic": lambda atom: int(atom.GetIsAromatic()),
    "in a ring": lambda atom: int(atom.IsInRing()),
    "donor": lambda atom: int(atom.HasProp("Donor")),
    "acceptor": lambda atom: int(atom.HasProp("Acceptor")),
}
_OF_BONDS: dict[str, Property] = {
    "bond": lambda bond: str(bond.GetBondType()),
    "stereo": lambda bond: str(bond.GetStereo()),
    "conjugated": lambda bond: int(bond.GetIsConjugated()),
    "in a ring": lambda bond: int(bond.IsInRing()),
}
PROPERTIES = {"atoms": _OF_ATOMS, "bonds": _OF_BONDS}
FREE = ("element", "charge", "bond")
UNSEEN = {"chirality": "CHI_UNSPECIFIED", "stereo": "STEREONONE"}
"""Properties that a drawing on paper does not have, and what they are in explanations."""


@dataclass(frozen=True)
class Feature:
    """One property in the columns of a featuriser: its vocabulary, and perhaps one for all else."""

    name: str
    values: tuple[Any, ...] = ()
    other: bool = False

    @property
    def free(self) -> bool:
        """Whether it is chosen rather than computed."""
        # A charge that is written as a number is computed: half charges could be chosen, too.
        return self.name in FREE and bool(self.values)

    @property
    def size(self) -> int:
        """Number of codes or columns."""
        return len(self.values) + self.other if self.values else 1

    def code(self, value: Any) -> int | None:
        """Place of a value in the vocabulary; None where it has none."""
        return self._places.get(value, len(self.values) if self.other else None)

    def row(self, value: Any, coded: bool) -> list[float]:
        """Its columns for a value, as numbers, a code, or one-hot.

        Raises:
            DataError: If there is no code for the value; one-hot columns are then all empty.
        """
        if not self.values:
            return [float(value)]
        code = self.code(value)
        if not coded:
            return [float(k == code) for k in range(self.size)]
        if code is None:
            raise DataError(f"there is no code for a {self.name} of {value}")
        return [float(code)]

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value: place for place, value in enumerate(self.values)}


@dataclass(frozen=True)
class Preset:
    """What a featuriser writes into ``x`` and ``edge_attr``.

    Args:
        name: Short name, as `preset` takes it.
        title: What to call it in a sentence.
        atoms: Properties of atoms in their order.
        bonds: Properties of bonds in their order.
        coded: Whether each property is one column of integer codes; one-hot columns elsewhere.
    """

    name: str
    title: str
    atoms: tuple[Feature, ...]
    bonds: tuple[Feature, ...]
    coded: bool = False

    def placed(self, of: str) -> list[tuple[int, int, Feature]]:
        """First column, number of columns and property, of ``"atoms"`` or ``"bonds"`` in order."""
        features = self.atoms if of == "atoms" else self.bonds
        widths = [1 if self.coded else feature.size for feature in features]
        return list(zip(accumulate(widths, initial=0), widths, features, strict=False))

    def row(self, of: str, item: Any) -> list[float]:
        """All columns of an atom or a bond."""
        read = PROPERTIES[of]
        rows = (one.row(read[one.name](item), self.coded) for _, _, one in self.placed(of))
        return [column for row in rows for column in row]

    @property
    def widths(self) -> tuple[int, int]:
        """Number of columns of ``x`` and of ``edge_attr``."""
        atoms, bonds = (sum(width for _, width, _ in self.placed(of)) for of in PROPERTIES)
        return atoms, bonds


def preset(name: str | Preset) -> Preset:
    """Look a preset up by its name."""
    if isinstance(name, Preset):
        return name
    found = PRESETS.get(str(name).strip().lower().replace("_", "-"))
    if found is None:
        raise SpecError(f"preset must be one of {', '.join(PRESETS)} (got {name!r})")
    return found


def _flag(name: str) -> Feature:
    return Feature(name, (0, 1))


def _count(name: str, most: int, **options: Any) -> Feature:
    return Feature(name, tuple(range(most + 1)), **options)


_CHIRAL = ("CHI_UNSPECIFIED", "CHI_TETRAHEDRAL_CW", "CHI_TETRAHEDRAL_CCW", "CHI_OTHER")
_MORE_CHIRAL = (
    "CHI_TETRAHEDRAL", "CHI_ALLENE", "CHI_SQUAREPLANAR", "CHI_TRIGONALBIPYRAMIDAL",
    "CHI_OCTAHEDRAL",
)  # fmt: skip
_STEREO = ("STEREONONE", "STEREOANY", "STEREOZ", "STEREOE", "STEREOCIS", "STEREOTRANS")
_HYBRIDS = ("SP", "SP2", "SP3", "SP3D", "SP3D2")
_BONDS = ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")
_RDKIT_BONDS = (
    "UNSPECIFIED", "SINGLE", "DOUBLE", "TRIPLE", "QUADRUPLE", "QUINTUPLE", "HEXTUPLE",
    "ONEANDAHALF", "TWOANDAHALF", "THREEANDAHALF", "FOURANDAHALF", "FIVEANDAHALF", "AROMATIC",
    "IONIC", "HYDROGEN", "THREECENTER", "DATIVEONE", "DATIVE", "DATIVEL", "DATIVER", "OTHER",
    "ZERO",
)  # fmt: skip
_DGL_ELEMENTS = (
    "C N O S F Si P Cl Br Mg Na Ca Fe As Al I B V K Tl Yb Sb Sn Ag Pd Co Se Ti Zn H Li Ge Cu Au "
    "Ni Cd In Mn Zr Cr Pt Hg Pb"
)


_ALL = (
    Preset(
        "pyg",
        "PyG's from_smiles",
        atoms=(
            Feature("element", ("*", *SYMBOLS)),
            Feature("chirality", _CHIRAL + _MORE_CHIRAL),
            _count("total degree", 10),
            Feature("charge", tuple(range(-5, 7))),
            _count("hydrogens", 8),
            _count("radical electrons", 4),
            Feature("hybridization", ("UNSPECIFIED", "S", *_HYBRIDS, "OTHER")),
            _flag("aromatic"),
            _flag("in a ring"),
        ),
        bonds=(Feature("bond", _RDKIT_BONDS), Feature("stereo", _STEREO), _flag("conjugated")),
        coded=True,
    ),
    Preset(
        "ogb",
        "OGB's atom and bond codes",
        atoms=(
            Feature("element", SYMBOLS, other=True),
            Feature("chirality", _CHIRAL, other=True),
            _count("total degree", 10, other=True),
            Feature("charge", tuple(range(-5, 6)), other=True),
            _count("hydrogens", 8, other=True),
            _count("radical electrons", 4, other=True),
            Feature("hybridization", _HYBRIDS, other=True),
            _flag("aromatic"),
            _flag("in a ring"),
        ),
        bonds=(
            Feature("bond", _BONDS, other=True),
            Feature("stereo", (_STEREO[0], "STEREOZ", "STEREOE", *_STEREO[4:], "STEREOANY")),
            _flag("conjugated"),
        ),
        coded=True,
    ),
    Preset(
        "deepchem",
        "DeepChem's MolGraphConvFeaturizer",
        atoms=(
            Feature("element", ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I"), other=True),
            Feature("charge"),
            Feature("hybridization", _HYBRIDS[:3]),
            Feature("donor"),
            Feature("acceptor"),
            Feature("aromatic"),
            _count("total degree", 5, other=True),
            _count("hydrogens", 4, other=True),
        ),
        bonds=(
            Feature("bond", _BONDS),
            Feature("in a ring"),
            Feature("conjugated"),
            Feature("stereo", _STEREO[:4], other=True),
        ),
    ),
    Preset(
        "dgl-lifesci",
        "DGL-LifeSci's canonical featurisers",
        atoms=(
            Feature("element", tuple(_DGL_ELEMENTS.split())),
            _count("degree", 10),
            _count("implicit valence", 6),
            Feature("charge"),
            Feature("radical electrons"),
            Feature("hybridization", _HYBRIDS),
            Feature("aromatic"),
            _count("hydrogens", 4),
        ),
        bonds=(
            Feature("bond", _BONDS),
            Feature("conjugated"),
            Feature("in a ring"),
            Feature("stereo", _STEREO),
        ),
    ),
)
PRESETS: dict[str, Preset] = {one.name: one for one in _ALL}
"""The featurisers that are known, by name."""
