"""The elements: symbols, most bonds and colours; by these names graphs are told to be molecules."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache

_TABLE = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se "
    "Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy "
    "Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf "
    "Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og"
)
SYMBOLS = tuple(_TABLE.split())
"""Symbols of the elements; that of atomic number z is at place z - 1."""

# Bonds of a neutral atom at the most, as RDKit counts them; metals are not here and have no limit.
_MOST = {
    "H": 1, "He": 0, "Be": 2, "B": 3, "C": 4, "N": 3, "O": 2, "F": 1, "Ne": 0, "Al": 3, "Si": 4,
    "P": 5, "S": 6, "Cl": 1, "Ar": 0, "Ga": 3, "Ge": 4, "As": 5, "Se": 6, "Br": 1, "Kr": 0, "In": 3,
    "Sn": 4, "Sb": 5, "Te": 6, "I": 5, "Xe": 6, "Pb": 4, "Bi": 5,
}  # fmt: skip
# Corey, Pauling and Koltun's colours, darkened where white paper would swallow them.
_COLOURS = {
    "H": "#A9B4BF", "C": "#4A4A4A", "N": "#3050F8", "O": "#E0200E", "F": "#5DB52F", "Cl": "#1FA51F",
    "Br": "#A62929", "I": "#940094", "S": "#C9A70C", "P": "#FF8000", "B": "#E08A8A",
    "Si": "#B08D57", "Se": "#D98A00", "Na": "#8C4FD0", "K": "#7A35B0", "Li": "#B455E0",
}  # fmt: skip
_METAL = "#6F8FA6"
_NAME = re.compile(
    r"(?P<open>\[)?(?P<symbol>[A-Z][a-z]?)(?:H(?P<hydrogens>\d?))?"
    r"(?P<charge>\++|-+|[+-]\d|\d[+-])?(?(open)\])"
)

MUTAG_VALENCIES: dict[str, int] = {"C": 4, "N": 5, "O": 2, "F": 1, "I": 7, "Cl": 7, "Br": 5}
"""Most bonds of each atom of MUTAG, as XGNN counts them."""


@dataclass(frozen=True)
class Atom:
    """What a name says about an atom: element, charge, and hydrogens where it counts them."""

    symbol: str
    charge: int = 0
    hydrogens: int | None = None

    @property
    def number(self) -> int:
        """Atomic number."""
        return SYMBOLS.index(self.symbol) + 1

    def __str__(self) -> str:
        sign = "+" if self.charge > 0 else "-"
        count = "" if abs(self.charge) == 1 else str(abs(self.charge))
        return self.symbol + (sign + count if self.charge else "")


@lru_cache(maxsize=1024)
def parse_atom(name: str) -> Atom | None:
    """Read the name of an atom; None where it is none.

    Example:
        >>> parse_atom("N+"), parse_atom("[NH3+]").hydrogens, parse_atom("red")
        (Atom(symbol='N', charge=1, hydrogens=None), 3, None)
    """
    found = _NAME.fullmatch(name.strip())
    if found is None or found["symbol"] not in SYMBOLS:
        return None
    sign = found["charge"] or ""
    digits = sign.strip("+-")
    charge = (int(digits) if digits else len(sign)) * (-1 if "-" in sign else 1)
    hydrogens = None if found["hydrogens"] is None else int(found["hydrogens"] or 1)
    return Atom(found["symbol"], charge, hydrogens)


def most_bonds(symbol: str, charge: int = 0) -> float:
    """Most bonds of an atom, by its element and charge; infinite for metals.

    A charged atom bonds as the neutral one with as many electrons does: N+ as C, O- as F.

    Example:
        >>> most_bonds("N"), most_bonds("N", 1), most_bonds("O", -1), most_bonds("Zn")
        (3, 4, 1, inf)
    """
    if symbol not in _MOST:
        return math.inf
    if charge < 0 and symbol in ("S", "Se", "Te"):
        return _MOST[symbol] + charge
    place = SYMBOLS.index(symbol) - charge
    return _MOST.get(SYMBOLS[place], math.inf) if 0 <= place < len(SYMBOLS) else math.inf


def colour(name: str) -> str | None:
    """The colour chemists give an atom; None where the name is that of no atom."""
    atom = parse_atom(name)
    return None if atom is None else _COLOURS.get(atom.symbol, _METAL)
