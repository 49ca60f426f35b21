"""Elements and bonds that home-made columns do not name, read off SMILES."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

pytest.importorskip("rdkit")
from rdkit import Chem

from gnninterpreter.chem import from_smiles, problem, read_molecule, to_smiles
from gnninterpreter.chem.naming import known_molecule
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.objective.valence import allowed
from gnninterpreter.spec import Categorical, GraphSpec

ORDER = ("N", "C", "O", "Br")
BONDS = ("DOUBLE", "SINGLE", "AROMATIC")
SMILES = ("CCO", "CC(=O)N", "c1ccccc1N", "CC(=O)CC", "CCBr", "ICC")


def home_made(smiles: str, bonds: bool = True, extra: bool = False) -> Data:
    """Elements in an order of one's own, the last column for all others; bonds likewise."""
    molecule = Chem.MolFromSmiles(smiles)
    symbols = [atom.GetSymbol() for atom in molecule.GetAtoms()]
    kinds = [ORDER.index(one) if one in ORDER[:3] else 3 for one in symbols]
    x = torch.eye(4)[kinds]
    if extra:
        x = torch.cat([x, torch.rand(len(kinds), 1)], dim=1)
    ends, rows = [], []
    for bond in molecule.GetBonds():
        pair = (bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        ends += [pair, pair[::-1]]
        rows += [BONDS.index(str(bond.GetBondType()))] * 2
    made = Data(x=x, edge_index=torch.tensor(ends).t(), y=torch.tensor([0]), smiles=smiles)
    if bonds:
        made.edge_attr = torch.eye(3)[rows]
    return made


def test_categories_are_named_by_the_atoms_of_the_smiles() -> None:
    spec = GraphSpec.from_dataset([home_made(smiles) for smiles in SMILES])
    assert spec.nodes == (Categorical(4, ("N", "C", "O", "other"), name="atom"),)
    assert spec.edges == (Categorical(3, ("double", "single", "aromatic"), name="bond"),)
    assert spec.metadata["atoms"] == "C N O"
    assert "elements and kinds of bonds named by the SMILES" in spec.metadata["note"]


def test_molecules_are_recognised_whatever_was_imported_before(tmp_path: Path) -> None:
    torch.save([home_made(smiles).to_dict() for smiles in SMILES], tmp_path / "graphs.pt")
    code = """if True:
        import sys, torch
        from torch_geometric.data import Data
        import gnninterpreter as gi
        graphs = [Data(**one) for one in torch.load(sys.argv[1])]
        print(gi.GraphSpec.from_dataset(graphs).nodes[0].names)
        """
    command = [sys.executable, "-c", code, str(tmp_path / "graphs.pt")]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "('N', 'C', 'O', 'other')"


def test_elements_without_carbon_stay_categories() -> None:
    graphs = [home_made(smiles) for smiles in ("NON", "ONO", "NN", "OO")]
    assert GraphSpec.from_dataset(graphs).nodes[0].names == ("0", "1", "2")


def test_without_bonds_or_beside_numbers_elements_are_named_all_the_same() -> None:
    spec = GraphSpec.from_dataset([home_made(s, bonds=False, extra=True) for s in SMILES])
    assert spec.nodes[0].names == ("N", "C", "O", "other")
    assert spec.edges == ()
    assert "note" in spec.metadata


@pytest.mark.parametrize("bonds", [True, False])
def test_charges_with_columns_of_their_own_are_those_of_the_data(bonds: bool) -> None:
    """A nitro group has two charged atoms; a class of them is found only where they may be."""
    smiles = ("CC[N+](=O)[O-]", "CCO", "CC(=O)N", "OCC[N+](=O)[O-]", "CCN", "CCCO")
    graphs = [home_made(one, bonds) for one in smiles]
    for graph in graphs:
        atoms = Chem.MolFromSmiles(graph.smiles).GetAtoms()
        charge = torch.eye(3)[[atom.GetFormalCharge() + 1 for atom in atoms]]
        graph.x = torch.cat([graph.x, charge], dim=1)
    spec = GraphSpec.from_dataset(graphs)
    assert [block.name for block in spec.nodes] == ["atom", "charge"]
    assert spec.metadata["atoms"] == "C N N+ O O-"
    assert allowed(dense_graphs(graphs, spec)).all()
    wrong = graphs[1].clone()
    wrong.x[0, 4:] = torch.tensor([1.0, 0.0, 0.0])  # no carbon of the data is charged
    assert not allowed(dense_graphs([wrong], spec)).any()


@pytest.mark.parametrize("told", [(), ("CCO", "CCBr")])
def test_smiles_in_another_order_of_atoms_are_told(told: tuple[str, ...]) -> None:
    """Somebody has made the SMILES canonical and the graphs from what was there before."""
    graphs = [
        home_made(smiles) for smiles in (*told, "C(O)CC", "C(CC)(=O)N", "c1(N)ccccc1", "C(C)Br")
    ]
    for graph in graphs:
        graph.smiles = Chem.CanonSmiles(graph.smiles)
    spec = GraphSpec.from_dataset(graphs)
    assert not spec.nodes[0].names[0].isalpha()
    assert "SMILES, but the nodes and edges of most are not its atoms" in spec.metadata["note"]
    for graph in graphs:
        del graph.smiles
    assert "note" not in GraphSpec.from_dataset(graphs).metadata


def test_smiles_of_other_molecules_name_nothing() -> None:
    graphs = [home_made(smiles) for smiles in SMILES]
    for graph, other in zip(graphs, (*SMILES[1:], SMILES[0]), strict=True):
        graph.smiles = other
    assert known_molecule(graphs[0]) is None
    assert GraphSpec.from_dataset(graphs).nodes == (Categorical(4),)
    shuffled = [home_made(smiles) for smiles in SMILES]
    for graph in shuffled:
        graph.x = torch.eye(4)[torch.arange(len(graph.x)) % 4]
    assert GraphSpec.from_dataset(shuffled).nodes == (Categorical(4),)


@pytest.mark.parametrize("smiles", ["", "no molecule", 7, None])
def test_what_is_no_smiles_is_passed_over(smiles: object) -> None:
    graph = home_made("CCO")
    graph.smiles = smiles
    assert known_molecule(graph) is None


def test_real_molecules_are_drawn_with_bonds_that_the_features_do_not_say() -> None:
    graphs = [home_made(smiles, bonds=False) for smiles in SMILES]
    spec = GraphSpec.from_dataset(graphs)
    real = read_molecule(graphs[1], spec)
    assert real is not None
    assert (real.smiles, real.note) == ("CC(N)=O", "")
    made = graphs[1].clone()
    del made.smiles
    drawn = read_molecule(made, spec)
    assert drawn is not None
    assert drawn.smiles == "CC(N)O"
    assert "which bonds are double" in drawn.note
    bonded = GraphSpec.from_dataset([home_made(smiles) for smiles in SMILES])
    known = read_molecule(home_made("CC(=O)N"), bonded)
    assert known is not None
    assert known.note == ""


def test_hydrogens_may_be_nodes() -> None:
    graph = home_made("CCO")
    molecule = Chem.AddHs(Chem.MolFromSmiles("CCO"))
    pairs = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in molecule.GetBonds()]
    graph.x, graph.num_nodes = torch.zeros(9, 4), 9
    graph.edge_index = torch.tensor(pairs + [p[::-1] for p in pairs]).t()
    assert known_molecule(graph).GetNumAtoms() == 9


@pytest.mark.parametrize("held", [False, True])
def test_without_bonds_nitrogen_has_four_neighbours_where_the_data_has_such(held: bool) -> None:
    smiles = ["CCO", "CC(=O)N", "CCCN", "CN(C)C", "OCCN", "CCCC", "CCN"]
    smiles += ["C[N+](C)(C)C", "CC[N+](C)(C)C"] if held else ["CCCO"]
    graphs = []
    for one in smiles:
        atoms = [atom.GetSymbol() for atom in Chem.MolFromSmiles(one).GetAtoms()]
        x = torch.tensor([[float(atom == symbol) for symbol in "NCO"] for atom in atoms])
        index = from_smiles(one, "pyg").edge_index
        graphs.append(Data(x=x, edge_index=index, y=torch.tensor([0]), smiles=one))
    spec = GraphSpec.from_dataset(graphs)
    four = Data(x=torch.eye(3)[[0, 1, 1, 1, 1]], edge_index=star(4), num_nodes=5)
    assert bool(allowed(dense_graphs([four], spec))) is held
    assert (problem(four, spec) == "") is held
    assert not held or to_smiles(four, spec) == "C[N+](C)(C)C"


def star(arms: int) -> torch.Tensor:
    index = torch.tensor([[0] * arms, list(range(1, arms + 1))])
    return torch.cat([index, index.flip(0)], dim=1)
