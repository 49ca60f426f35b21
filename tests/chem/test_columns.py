"""Columns of home-made features that follow from the molecule."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

pytest.importorskip("rdkit")
from rdkit import Chem

from gnninterpreter.chem import from_smiles
from gnninterpreter.chem.reading import reading_of
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import fill

SMILES = (
    "CCO", "CC(=O)N", "c1ccccc1N", "CC(=O)CC", "CCC#N", "Cc1ccncc1", "OC1CCCCC1", "NCC(=O)O",
    "C1CC1", "CN(C)C", "C[N+](C)(C)C", "CC(=O)[O-]",
)  # fmt: skip
ORDER, BONDS = "NCO", ("SINGLE", "DOUBLE", "TRIPLE", "AROMATIC")


def home_made(smiles: str, bonds: bool = True, charges: bool = False) -> Data:
    """Elements, hydrogens one-hot, the mass, an aromatic flag, noise; bonds and a ring flag."""
    molecule = Chem.MolFromSmiles(smiles)
    rows = []
    for atom in molecule.GetAtoms():
        row = [float(atom.GetSymbol() == symbol) for symbol in ORDER]
        row += [float(atom.GetTotalNumHs() == k) for k in range(4)]
        if charges:
            row += [float(atom.GetFormalCharge() == k) for k in (0, 1, -1)]
        rows.append([*row, atom.GetMass() / 10, float(atom.GetIsAromatic()), len(rows) % 3 / 7])
    ends, attributes = [], []
    for bond in molecule.GetBonds():
        pair = (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        ends += [pair, pair[::-1]]
        kind = [float(str(bond.GetBondType()) == name) for name in BONDS]
        attributes += [[*kind, float(bond.IsInRing())]] * 2
    made = Data(x=torch.tensor(rows), edge_index=torch.tensor(ends).t(), y=torch.tensor([0]))
    made.smiles = smiles
    if bonds:
        made.edge_attr = torch.tensor(attributes)
    return made


def spec_of(*smiles: str, **options: bool) -> GraphSpec:
    return GraphSpec.from_dataset([home_made(one, **options) for one in smiles])


def test_what_follows_from_atoms_and_bonds_is_computed() -> None:
    spec = spec_of(*SMILES[:10])
    names = [(type(block), block.name, block.width) for block in spec.nodes]
    assert names == [
        (Categorical, "atom", 3),
        (Derived, "hydrogens", 4),
        (Derived, "number by element", 1),
        (Derived, "aromatic", 1),
        (Continuous, "value", 1),
    ]
    assert [(type(block), block.name) for block in spec.edges] == [
        (Categorical, "bond"),
        (Derived, "in a ring"),
    ]
    assert GraphSpec.from_json(spec.to_json()) == spec
    assert "from which hydrogens, number by element, aromatic, in a ring" in spec.metadata["note"]


def test_computed_columns_are_those_of_the_featuriser() -> None:
    spec = spec_of(*SMILES[:10])
    for smiles in ("CCN", "Oc1ccccc1", "CC(C)C(=O)N"):
        real = home_made(smiles)
        emptied = real.clone()
        emptied.x[:, 3:-1], emptied.edge_attr[:, 4] = -1.0, -1.0
        made = fill(emptied, spec)
        assert torch.allclose(made.x, real.x)
        assert torch.allclose(made.edge_attr, real.edge_attr)


def test_without_kinds_of_bonds_columns_are_named() -> None:
    spec = spec_of(*SMILES[:10], bonds=False)
    assert spec.derived == ()
    assert spec.nodes[-1].names == ("number by element", "aromatic", "value 2")
    reading = reading_of(spec)
    assert reading is not None
    assert reading.aromatic is not None


def test_charges_are_chosen_where_they_are_one_hot() -> None:
    spec = spec_of(*SMILES, charges=True)
    charge = next(block for block in spec.nodes if block.name == "charge")
    assert charge == Categorical(3, ("0", "1", "-1"), name="charge")


def test_smiles_are_read_with_home_made_features() -> None:
    without_noise = [home_made(smiles) for smiles in SMILES[:10]]
    for graph in without_noise:
        graph.x = graph.x[:, :-1]
    spec = GraphSpec.from_dataset(without_noise)
    found, real = from_smiles("CC(N)C#N", spec), home_made("CC(N)C#N")
    assert torch.allclose(found.x, real.x[:, :-1])


def test_a_real_graph_that_cannot_be_computed_stays_as_it_came() -> None:
    """Four hydrogens were in no graph that the table was read off."""
    spec = spec_of(*SMILES[:10])

    class Sums(torch.nn.Module):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> object:
            rows = torch.zeros(int(batch.max()) + 1, 2).index_add(0, batch, x[:, 3:5])
            return rows + 0.0 * edge_index.sum()

    odd = home_made("C.CC")
    odd.x[0, 3] = 5.0
    model = GraphClassifier(Sums(), spec, examples=[home_made(one) for one in SMILES[:10]])
    assert model.score_data([odd]).logits.tolist() == [[5.0, 0.0]]
