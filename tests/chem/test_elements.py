"""Names of atoms, and how many bonds each may have."""

from __future__ import annotations

import math

import pytest

from gnninterpreter.chem.elements import SYMBOLS, Atom, colour, most_bonds, parse_atom


@pytest.mark.parametrize(
    ("name", "atom"),
    [
        ("C", Atom("C")),
        ("Cl", Atom("Cl")),
        ("N+", Atom("N", 1)),
        ("O-", Atom("O", -1)),
        ("Fe+2", Atom("Fe", 2)),
        ("Ca2+", Atom("Ca", 2)),
        ("S--", Atom("S", -2)),
        ("[NH3+]", Atom("N", 1, 3)),
        ("OH", Atom("O", 0, 1)),
        ("Hg", Atom("Hg")),
        ("red", None),
        ("c", None),
        ("Xx", None),
        ("[N", None),
    ],
)
def test_names_of_atoms(name: str, atom: Atom | None) -> None:
    assert parse_atom(name) == atom


def test_atoms_are_written_as_they_are_read() -> None:
    assert [str(Atom("N", 1)), str(Atom("O", -1)), str(Atom("Fe", 2))] == ["N+", "O-", "Fe+2"]
    assert Atom("C").number == 6
    assert len(SYMBOLS) == 118


def test_most_bonds_are_those_of_rdkit() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    from rdkit import rdBase

    for symbol in ("H", "B", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Br", "I", "Na", "Zn"):
        for charge in (-1, 0, 1):
            allowed = -1
            for count in range(9):
                molecule = chem.RWMol()
                middle = chem.Atom(symbol)
                middle.SetFormalCharge(charge)
                molecule.AddAtom(middle)
                for _ in range(count):
                    molecule.AddBond(0, molecule.AddAtom(chem.Atom(6)), chem.BondType.SINGLE)
                with rdBase.BlockLogs():
                    if chem.SanitizeMol(molecule, catchErrors=True) == 0:
                        allowed = count
            assert min(most_bonds(symbol, charge), 8) == allowed, (symbol, charge)
    assert most_bonds("Zn") == math.inf


def test_atoms_have_colours_and_words_have_none() -> None:
    assert colour("O-") == colour("O") != colour("N")
    assert colour("red") is None
