"""Explanations read as molecules."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.chem import drawing, is_molecular, read_molecule
from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.spec import Categorical, GraphSpec
from tests.tiny import PLAIN

SPEC = GraphSpec(nodes=(Categorical(7, ATOMS, name="atom"),), class_names=("no", "yes"))


def chain(*atoms: str) -> Data:
    ends = torch.arange(len(atoms) - 1)
    there = torch.stack([ends, ends + 1])
    x = torch.eye(7)[[ATOMS.index(atom) for atom in atoms]]
    return Data(x=x, edge_index=torch.cat([there, there.flip(0)], 1))


def test_only_graphs_of_atoms_are_molecules() -> None:
    assert is_molecular(SPEC)
    assert not is_molecular(PLAIN)
    assert read_molecule(chain("C", "C"), PLAIN) is None


def test_without_rdkit_there_is_nothing_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda _: None)
    assert read_molecule(chain("C", "C"), SPEC) is None


def test_a_possible_molecule_is_drawn() -> None:
    pytest.importorskip("rdkit")
    ethanol = read_molecule(chain("C", "C", "O"), SPEC)
    assert ethanol is not None
    assert ethanol.valid
    assert ethanol.smiles == "CCO"
    ElementTree.fromstring(ethanol.drawing)
    assert "rdkit" not in ethanol.drawing.lower()


def test_an_atom_that_may_be_any_is_a_star() -> None:
    pytest.importorskip("rdkit")
    found = read_molecule(chain("C", "N", "O"), SPEC, piece=True, free=[0])
    assert found is not None
    assert found.smiles == "*NO"
    assert "7A8591" in found.drawing


def test_atoms_may_be_numbered() -> None:
    pytest.importorskip("rdkit")
    plain, numbered = (
        read_molecule(chain("C", "C", "O"), SPEC, numbered=some) for some in ((), (0, 2))
    )
    assert plain is not None
    assert numbered is not None
    assert numbered.smiles == "CCO"
    assert numbered.drawing.count("class='note'") > plain.drawing.count("class='note'")


def test_impossible_valencies_are_said_to_be_so() -> None:
    pytest.importorskip("rdkit")
    impossible = read_molecule(chain("C", "F", "C"), SPEC)
    assert impossible is not None
    assert not impossible.valid
