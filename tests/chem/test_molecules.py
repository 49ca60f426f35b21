"""Graphs as molecules: mended, judged with the reason, and named."""

from __future__ import annotations

import sys

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.chem import is_valid, problem, to_rdkit, to_smiles
from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.mutag import ATOMS, MUTAG
from gnninterpreter.errors import DataError, MissingExtraError
from gnninterpreter.spec import Categorical, GraphSpec
from tests.chem.made import NITROBENZENE, PYRROLE, SPEC, UNCHARGED, graph
from tests.tiny import PLAIN

AMMONIUM = ("N+ C C C C", "0-1 0-2 0-3 0-4")
PHOSPHATE = ("P O O O O C", "0=1 0-2 0-3 0-4 4-5")
SALT = ("C O O- Na+", "0=1 0-2")


@pytest.fixture(autouse=True)
def _rdkit() -> None:
    pytest.importorskip("rdkit")


@pytest.mark.parametrize(
    ("written", "smiles"),
    [
        (NITROBENZENE, "O=[N+]([O-])c1ccccc1"),
        (PYRROLE, "c1cc[nH]c1"),
        (AMMONIUM, "C[N+](C)(C)C"),
        (PHOSPHATE, "COP(=O)(O)O"),
        (("C H H H O H", "0-1 0-2 0-3 0-4 4-5"), "CO"),
    ],
)
def test_molecules_by_hand(written: tuple[str, str], smiles: str) -> None:
    assert problem(graph(*written), SPEC) == ""
    assert to_smiles(graph(*written), SPEC) == smiles


def test_a_salt_is_a_molecule_in_two_pieces() -> None:
    salt = graph(*SALT)
    assert problem(salt, SPEC) == "it is in 2 pieces"
    assert problem(salt, SPEC, whole=False) == ""
    assert to_smiles(salt, SPEC) == "O=C[O-].[Na+]"


@pytest.mark.parametrize(
    ("atoms", "bonds", "reason"),
    [
        ("N C C C C C", "0-1 0-2 0-3 0-4 0-5", r"N has 5 bonds, at most 3 \(4 with a charge\)"),
        ("O- C C", "0-1 0-2", "O- has 2 bonds, at most 1"),
        ("C C C", "0#1 0=2", "C has 5 bonds, at most 4 "),
        ("C C C", "0:1 1-2", "is aromatic but in no ring"),
        ("C C C C C", "0:1 1:2 2:3 3:4 4:0", "the aromatic ring of nodes 0, 1, 2, 3, 4 has no"),
    ],
)
def test_the_reason_is_said(atoms: str, bonds: str, reason: str) -> None:
    made = graph(atoms, bonds)
    assert not is_valid(made, SPEC)
    with pytest.raises(DataError, match=f"this graph is no molecule: .*{reason}"):
        to_smiles(made, SPEC)


def test_charges_that_the_data_leaves_out_are_guessed() -> None:
    nitro = graph("C C C C C C N O O", "0:1 1:2 2:3 3:4 4:5 5:0 0-6 6=7 6=8", UNCHARGED)
    assert to_smiles(nitro, UNCHARGED) == "O=[N+]([O-])c1ccccc1"
    ammonium = graph("N C C C C", "0-1 0-2 0-3 0-4", UNCHARGED)
    assert to_smiles(ammonium, UNCHARGED) == "C[N+](C)(C)C"
    pyridinium = graph("N C C C C C C", "0:1 1:2 2:3 3:4 4:5 5:0 0-6", UNCHARGED)
    assert to_smiles(pyridinium, UNCHARGED) == "C[n+]1ccccc1"
    borate = graph("B C C C C", "0-1 0-2 0-3 0-4", UNCHARGED)
    assert to_smiles(borate, UNCHARGED) == "C[B-](C)(C)C"


def test_without_bond_types_bonds_are_single_but_for_nitro_groups() -> None:
    def plain(atoms: str, *edges: tuple[int, int]) -> Data:
        x = torch.eye(7)[[ATOMS.index(atom) for atom in atoms.split()]]
        return undirected_graph(len(x), list(edges), 0, x=x)

    nitro = plain("C N O O", (0, 1), (1, 2), (1, 3))
    assert to_smiles(nitro, MUTAG.spec) == "C[N+](=O)[O-]"
    assert not is_valid(plain("N C C C C", (0, 1), (0, 2), (0, 3), (0, 4)), MUTAG.spec)


def test_what_is_no_molecule_is_told() -> None:
    with pytest.raises(DataError, match="only graphs whose nodes are named after elements"):
        to_rdkit(undirected_graph(2, [(0, 1)], 0), PLAIN)
    with pytest.raises(DataError, match="x must have the 9 columns of the spec"):
        to_rdkit(undirected_graph(2, [(0, 1)], 0), SPEC)
    vague = GraphSpec(nodes=(Categorical(3, ("C", "N", "other")),))
    assert problem(graph("C other", "0-1", vague), vague) == "node 1 is of no known element"


def test_missing_rdkit_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gnninterpreter\[chem\]'"):
        to_rdkit(graph(*PYRROLE), SPEC)
