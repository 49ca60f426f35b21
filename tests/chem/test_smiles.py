"""SMILES in: one molecule."""

from __future__ import annotations

import pytest
import torch

pytest.importorskip("rdkit")

from torch_geometric.utils import from_smiles as pyg_from_smiles

from gnninterpreter.chem import from_smiles, problem, to_smiles
from gnninterpreter.chem.recognition import preset_spec
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.chem.made import SPEC, UNCHARGED


@pytest.mark.parametrize(
    "smiles", ["O=[N+]([O-])c1ccccc1", "c1cc[nH]c1", "COP(=O)(O)O", "O=C[O-].[Na+]", "CC#N"]
)
def test_there_and_back(smiles: str) -> None:
    no_hydrogens = from_smiles(smiles, SPEC, hydrogens=False)
    assert to_smiles(no_hydrogens, SPEC) == smiles
    with_hydrogens = from_smiles(smiles, SPEC)  # the spec has a node for them
    assert with_hydrogens.num_nodes > no_hydrogens.num_nodes
    assert to_smiles(with_hydrogens, SPEC) == smiles


def test_a_spec_without_aromatic_bonds_gets_a_kekule_structure() -> None:
    spec = GraphSpec(
        nodes=(Categorical(2, ("C", "N")),), edges=(Categorical(2, ("single", "double")),)
    )
    benzene = from_smiles("c1ccccc1", spec)
    assert benzene.edge_attr.sum(0).tolist() == [6.0, 6.0]
    assert to_smiles(benzene, spec) == "c1ccccc1"
    with pytest.raises(DataError, match="there is no triple bond in the spec"):
        from_smiles("CC#N", spec)
    with pytest.raises(DataError, match="there is no atom Si in the spec, which has C, N"):
        from_smiles("C[Si]", spec)


def test_charges_go_where_the_spec_keeps_them() -> None:
    spec = GraphSpec(
        nodes=(
            Categorical(2, ("C", "N"), name="element"),
            Continuous(1, -1.0, 1.0, names=("formal charge",)),
        )
    )
    ammonium = from_smiles("C[N+](C)(C)C", spec)
    assert ammonium.x[:, 2].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert from_smiles("C[N+](C)(C)C", UNCHARGED, hydrogens=False).num_nodes == 5
    strange = GraphSpec(nodes=(Categorical(2, ("C", "N")), Continuous(1, name="mass")))
    with pytest.raises(DataError, match="SMILES do not say what 'mass' of an atom is"):
        from_smiles("CN", strange)


def test_featurisers_by_name() -> None:
    mine, theirs = from_smiles("C[C@H](N)C(=O)O", "pyg"), pyg_from_smiles("C[C@H](N)C(=O)O")
    assert torch.equal(mine.x, theirs.x)
    spec = preset_spec("pyg", [mine])
    again = from_smiles("CC(N)C(=O)O", spec)
    assert again.x[:, 0].tolist() == [6, 6, 7, 6, 8, 8]
    assert again.x[:, 4].tolist() == [3, 1, 2, 0, 0, 1]  # hydrogens were computed
    assert problem(again, spec) == ""


@pytest.mark.parametrize(
    ("smiles", "reason"),
    [
        ("", "the SMILES is empty"),
        ("C" * 3000, "too long"),
        ("not a molecule", "is not written as SMILES are"),
        ("C1CC", "is not written as SMILES are"),
        ("CN(C)(C)C", r"N has 4 bonds, at most 3 \(4 with a charge\)"),
        ("c1cccc1", "the aromatic ring of nodes"),
    ],
)
def test_what_rdkit_refuses(smiles: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        from_smiles(smiles, SPEC)
