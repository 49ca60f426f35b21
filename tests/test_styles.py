"""Ten models in the styles people write them, each explained from its data and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import transforms
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GCNConv,
    GINConv,
    GINEConv,
    GPSConv,
    global_add_pool,
    global_mean_pool,
)
from torch_geometric.nn.models import AttentiveFP
from torch_geometric.utils import from_smiles

import gnninterpreter as gi
from tests.tiny import seeded

pytest.importorskip("rdkit", reason="molecules need RDKit")

from rdkit import Chem, RDLogger

from gnninterpreter.chem import PRESETS, is_molecular, problem
from gnninterpreter.chem.featurising import graph_of
from gnninterpreter.chem.molecules import sanitized
from gnninterpreter.report.page import render_page

RDLogger.DisableLog("rdApp.*")

# fmt: off
SMILES = [
    "CCO", "CCCO", "CC(C)O", "OCCO", "OCC(O)CO", "CCOCC", "COC", "CC=O", "CC(C)=O", "CC(=O)O",
    "CCC(=O)O", "CC(=O)OC", "CCN", "CCNCC", "CN(C)C", "NCCN", "CC(N)=O", "CC#N", "CCCC", "CCCCC",
    "CC(C)C", "C=CC", "CCCl", "ClCCl", "CCBr", "CCF", "c1ccccc1", "Cc1ccccc1", "Cc1ccccc1C",
    "Oc1ccccc1", "Nc1ccccc1", "Clc1ccccc1", "Brc1ccccc1", "Fc1ccccc1", "Clc1ccccc1Cl", "c1ccncc1",
    "Cc1ccncc1", "O=Cc1ccccc1", "OC(=O)c1ccccc1", "COc1ccccc1", "C1CCCCC1", "OC1CCCCC1",
    "[O-]C(=O)C", "C[N+](C)(C)C", "[O-][N+](=O)c1ccccc1", "C[N+](=O)[O-]", "CC[NH3+]",
    "[O-]c1ccccc1",
]
# fmt: on
ENDS = ("O", "N", "Cl", "Br", "C(=O)O", "OC", "c1ccccc1", "c1ccc(Cl)cc1", "c1ccc(N)cc1")
# Enough for a tenth of them to be ten.
MORE = dict.fromkeys(SMILES + [f"{'C' * n}{end}" for n in range(2, 10) for end in ENDS])
TASKS = ("aromatic", "halogen", "nitrogen")
ATOMS, CHARGES = ("C", "N", "O", "F", "Cl", "Br"), ("-1", "0", "+1")
BONDS = ("single", "double", "triple", "aromatic")


def molecule(smiles: str) -> Any:
    return Chem.MolFromSmiles(smiles)


def facts(smiles: str) -> Tensor:
    """Whether a molecule is aromatic, has a halogen, has a nitrogen."""
    atoms = [atom.GetSymbol() for atom in molecule(smiles).GetAtoms()]
    halogen = any(atom in ("F", "Cl", "Br") for atom in atoms)
    return torch.tensor([[float("c1" in smiles), float(halogen), float("N" in atoms)]])


def solubility(smiles: str) -> Tensor:
    """Carbons and halogens keep a molecule out of water, oxygens and charges take it in."""
    atoms = list(molecule(smiles).GetAtoms())
    worth = {"C": -0.5, "Cl": -0.8, "Br": -0.9, "F": -0.3, "O": 1.0, "N": 0.6}
    charge = sum(abs(atom.GetFormalCharge()) for atom in atoms)
    return torch.tensor([[sum(worth.get(a.GetSymbol(), 0.0) for a in atoms) + charge]])


def aromatic(smiles: str) -> Tensor:
    return facts(smiles)[:, :1]


def by_preset(name: str) -> Callable[[str], Data]:
    return lambda smiles: graph_of(molecule(smiles), PRESETS[name])


def pyg(smiles: str) -> Data:
    data: Data = from_smiles(smiles)
    del data["smiles"]
    return data


def one_hot(smiles: str, charges: bool = False) -> Data:
    """Atoms, charges and bonds as one-hot columns, as people write them themselves."""
    found = molecule(smiles)
    index = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in found.GetBonds()]
    kinds = [(1.0, 2.0, 3.0, 1.5).index(b.GetBondTypeAsDouble()) for b in found.GetBonds()]
    edges = torch.tensor(index + [(j, i) for i, j in index]).t().contiguous()
    x = torch.eye(len(ATOMS))[[ATOMS.index(a.GetSymbol()) for a in found.GetAtoms()]]
    if charges:
        charge = torch.eye(len(CHARGES))[[a.GetFormalCharge() + 1 for a in found.GetAtoms()]]
        x = torch.cat([x, charge], dim=1)
    return Data(x=x, edge_index=edges, edge_attr=torch.eye(len(BONDS))[kinds + kinds])


def degrees(smiles: str) -> Data:
    data = one_hot(smiles)
    del data["edge_attr"]
    found: Data = transforms.OneHotDegree(6)(data)
    return found


def walks(smiles: str) -> Data:
    found: Data = transforms.AddRandomWalkPE(4, attr_name="pe")(one_hot(smiles))
    return found


class Described(list[Data]):
    """A data set that knows what its columns mean."""

    spec = gi.GraphSpec(
        nodes=(
            gi.Categorical(len(ATOMS), ATOMS, name="atom"),
            gi.Categorical(len(CHARGES), CHARGES, name="charge"),
        ),
        edges=(gi.Categorical(len(BONDS), BONDS, name="bond"),),
        class_names=("log S",),
    )


def data_of(
    make: Callable[[str], Data],
    label: Callable[[str], Tensor],
    kind: type[list[Data]],
    listed: Iterable[str],
) -> list[Data]:
    graphs = kind()
    for smiles in listed:
        data = make(smiles)
        data.y = label(smiles)
        graphs.append(data)
    return graphs


class Coded(nn.Module):
    """Sums of embeddings of codes, as OGB's encoders have them."""

    def __init__(self, nodes: list[int], edges: list[int], outputs: int, width: int = 16) -> None:
        super().__init__()
        self.atoms = nn.ModuleList(nn.Embedding(size, width) for size in nodes)
        self.bonds = nn.ModuleList(nn.Embedding(size, width) for size in edges)
        self.conv = GINEConv(nn.Sequential(nn.Linear(width, width), nn.ReLU()))
        self.head = nn.Linear(width, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        h = torch.stack([part(x[:, i]) for i, part in enumerate(self.atoms)]).sum(0)
        e = torch.stack([part(edge_attr[:, i]) for i, part in enumerate(self.bonds)]).sum(0)
        out: Tensor = self.head(global_mean_pool(self.conv(h, edge_index, e), batch))
        return out


class Floats(nn.Module):
    """Columns as numbers, whatever they are, through two convolutions."""

    def __init__(self, columns: int, outputs: int, width: int = 16, add: bool = False) -> None:
        super().__init__()
        self.first, self.second = GCNConv(columns, width), GCNConv(width, width)
        self.head = nn.Linear(width, outputs)
        self.pool = global_add_pool if add else global_mean_pool

    def forward(self, data: Batch) -> Tensor:
        h = self.first(data.x.float(), data.edge_index).relu()
        h = self.second(h, data.edge_index).relu()
        out: Tensor = self.head(self.pool(h, data.batch))
        return out


class Isomorphism(nn.Module):
    """A GIN over one-hot atoms and degrees."""

    def __init__(self, columns: int, outputs: int, width: int = 16) -> None:
        super().__init__()
        self.conv = GINConv(nn.Sequential(nn.Linear(columns, width), nn.ReLU()))
        self.head = nn.Linear(width, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out: Tensor = self.head(global_mean_pool(self.conv(x, edge_index), batch))
        return out


class GPS(nn.Module):
    """Random-walk encodings beside the atoms, and attention over the whole graph."""

    def __init__(self, columns: int, outputs: int, width: int = 16) -> None:
        super().__init__()
        self.atoms, self.walks = nn.Linear(columns, width - 4), nn.Linear(4, 4)
        inner = GINConv(nn.Sequential(nn.Linear(width, width), nn.ReLU()))
        self.conv = GPSConv(width, inner, heads=2, norm=None, dropout=0.0)
        self.head = nn.Linear(width, outputs)

    def forward(self, data: Batch) -> Tensor:
        h = torch.cat([self.atoms(data.x), self.walks(data.pe)], dim=1)
        h = self.conv(h, data.edge_index, data.batch)
        out: Tensor = self.head(global_mean_pool(h, data.batch))
        return out


class Attentive(nn.Module):
    """AttentiveFP on codes as numbers."""

    def __init__(self, columns: int, bonds: int, outputs: int) -> None:
        super().__init__()
        self.inner = AttentiveFP(columns, 16, outputs, bonds, num_layers=2, num_timesteps=1)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        out: Tensor = self.inner(x.float(), edge_index, edge_attr.float(), batch)
        return out


class DirectedMessages(nn.Module):
    """Messages on directed edges that never go straight back, as in D-MPNN."""

    def __init__(self, columns: int, bonds: int, outputs: int, width: int = 16) -> None:
        super().__init__()
        self.start = nn.Linear(columns + bonds, width)
        self.step, self.last = nn.Linear(width, width), nn.Linear(columns + width, width)
        self.head = nn.Linear(width, outputs)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        source, target = edge_index
        begun = self.start(torch.cat([x[source], edge_attr], dim=1)).relu()
        there, back = source * len(x) + target, target * len(x) + source
        order = there.argsort()
        reverse = order[torch.searchsorted(there[order], back)]
        message = begun
        for _ in range(2):
            into = torch.zeros(len(x), message.size(1)).index_add(0, target, message)
            message = (begun + self.step(into[source] - message[reverse])).relu()
        into = torch.zeros(len(x), message.size(1)).index_add(0, target, message)
        h = self.last(torch.cat([x, into], dim=1)).relu()
        out: Tensor = self.head(global_mean_pool(h, batch))
        return out


def sizes(name: str) -> tuple[list[int], list[int]]:
    """Sizes of the vocabularies, as encoders of codes have them."""
    known = PRESETS[name]
    return [part.size for part in known.atoms], [part.size for part in known.bonds]


def masked(smiles: str) -> Tensor:
    """Three labels, half of them never measured."""
    drawn = torch.rand(1, 3, generator=torch.Generator().manual_seed(len(smiles) + hash_of(smiles)))
    return torch.where(drawn < 0.5, torch.nan, facts(smiles))


def hash_of(smiles: str) -> int:
    return sum(i * ord(letter) for i, letter in enumerate(smiles, 1))


@lru_cache(maxsize=10)
def style(name: str) -> tuple[nn.Module, list[Data]]:
    """A small trained model of a style, and its data."""
    makers: dict[str, tuple[Callable[[str], Data], Callable[[str], Tensor]]] = {
        "ogb": (by_preset("ogb"), aromatic),
        "from_smiles": (pyg, aromatic),
        "deepchem": (by_preset("deepchem"), aromatic),
        "degrees": (degrees, aromatic),
        "gps": (walks, aromatic),
        "attentive": (pyg, aromatic),
        "tox21": (pyg, masked),
        "esol": (pyg, solubility),
        "directed": (one_hot, aromatic),
        "charges": (lambda smiles: one_hot(smiles, charges=True), solubility),
    }
    listed = MORE if name in ("charges", "esol", "tox21") else SMILES
    graphs = data_of(*makers[name], Described if name == "charges" else list, listed)
    columns = graphs[0].x.size(1)
    bonds = 0 if graphs[0].edge_attr is None else graphs[0].edge_attr.size(1)
    models: dict[str, Callable[[], nn.Module]] = {
        "ogb": lambda: Coded(*sizes("ogb"), 1),
        "from_smiles": lambda: Floats(columns, 1),
        "deepchem": lambda: Floats(columns, 1),
        "degrees": lambda: Isomorphism(columns, 1),
        "gps": lambda: GPS(columns, 1),
        "attentive": lambda: Attentive(columns, bonds, 1),
        "tox21": lambda: Coded(*sizes("pyg"), 3),
        "esol": lambda: Coded(*sizes("pyg"), 1),
        "directed": lambda: DirectedMessages(columns, bonds, 1),
        "charges": lambda: Floats(columns, 1, add=True),
    }
    model = seeded(models[name])
    regression = name in ("esol", "charges")
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    generator = torch.Generator().manual_seed(0)
    for _ in range(25):
        for batch in DataLoader(graphs, 40, shuffle=True, generator=generator):
            takes_data = name in ("from_smiles", "deepchem", "gps", "charges")
            given = [batch.x, batch.edge_index, batch.edge_attr, batch.batch]
            if name == "degrees":
                del given[2]
            out = model(batch) if takes_data else model(*given)
            known = ~batch.y.isnan()
            loss = nn.functional.binary_cross_entropy_with_logits
            if regression:
                loss = nn.functional.mse_loss
            optimizer.zero_grad()
            loss(out[known], batch.y[known]).backward()
            optimizer.step()
    return model.eval(), graphs


@lru_cache(maxsize=10)
def explained(name: str) -> gi.ExplanationSet:
    model, graphs = style(name)
    left_out = ("anneal", "gradient", "local search", "iterated search", "calibrate", "shortcuts")
    recipe = gi.Recipe.auto().without(*left_out)
    recipe = recipe.with_phase("shrink", steps=8, rounds=1).with_phase("spread", steps=5)
    return gi.explain(model, graphs, restarts=1, recipe=recipe, progress=False)


MOLECULE = ["element", "charge"]
NAMED: dict[str, tuple[list[str], list[str]]] = {
    "ogb": (MOLECULE, ["class 0", "class 1"]),
    "from_smiles": (MOLECULE, ["class 0", "class 1"]),
    "deepchem": (["element"], ["class 0", "class 1"]),
    "degrees": (["type"], ["class 0", "class 1"]),
    "gps": (["type"], ["class 0", "class 1"]),
    "attentive": (MOLECULE, ["class 0", "class 1"]),
    "tox21": (MOLECULE, ["label 0", "label 1", "label 2"]),
    "esol": (MOLECULE, ["min", "max"]),
    "directed": (["type"], ["class 0", "class 1"]),
    "charges": (["atom", "charge"], ["min", "max"]),
}


@pytest.mark.parametrize("name", NAMED)
def test_each_style_is_explained_from_its_data_alone(name: str) -> None:
    blocks, targets = NAMED[name]
    result = explained(name)
    assert list(result) == targets
    free = [b.name for b in result.spec.nodes if isinstance(b, gi.Categorical)]
    assert free == blocks
    assert result.classifier is not None
    page, notebook = render_page(result), result._repr_html_()
    for explanation in result.values():
        assert explanation.target.title in page
        assert explanation.target.title in notebook
        if not explanation.num_edges:
            continue
        said = result.classifier.score_data([explanation.best]).outputs[0].tolist()
        assert said == pytest.approx(explanation.class_probabilities, abs=1e-4)
        assert explanation.said in str(explanation.summary())
    if "element" in blocks:
        told = next(line for line in result.inferred if "recognised as" in line)
        assert "computed from the molecule" in told


@pytest.mark.parametrize("name", ["ogb", "from_smiles", "deepchem", "attentive", "tox21", "esol"])
def test_molecules_are_read_as_such_and_do_not_contradict_themselves(name: str) -> None:
    result = explained(name)
    preset = PRESETS[{"ogb": "ogb", "deepchem": "deepchem"}.get(name, "pyg")]
    for explanation in result.values():
        best = explanation.best
        assert is_molecular(result.spec)
        if not problem(best, result.spec):
            again = graph_of(sanitized(best, result.spec), preset)
            assert torch.equal(again.x.float(), best.x.float())


def test_degrees_and_walks_are_those_of_the_graph_shown() -> None:
    for explanation in explained("degrees").values():
        best = explanation.best
        degree = torch.bincount(best.edge_index[0], minlength=int(best.num_nodes or 0))
        assert torch.equal(best.x[:, len(ATOMS) :].argmax(1), degree)
    for explanation in explained("gps").values():
        best = explanation.best
        bare = Data(edge_index=best.edge_index, num_nodes=best.num_nodes)
        again = transforms.AddRandomWalkPE(4, attr_name="pe")(bare)
        assert torch.allclose(again.pe, best.pe, atol=1e-5)


def test_labels_that_were_not_measured_are_neither_yes_nor_no() -> None:
    _, graphs = style("tox21")
    rows = torch.cat([graph.y for graph in graphs])
    assert 0.3 < float(rows.isnan().double().mean()) < 0.7
    result = explained("tox21")
    assert "some missing" in result.inferred[2]
    assert result.statistics is not None
    assert result.statistics.count.tolist() == (rows == 1).sum(0).tolist()


def test_values_are_told_in_their_own_scale() -> None:
    result = explained("charges")
    for name, explanation in result.items():
        assert explanation.target.title == f"{'Highest' if name == 'max' else 'Lowest'} log S"
        assert explanation.given.startswith("log S ")
        check = explanation.evidence["value among real graphs"]
        assert check.sentence.startswith(f"{explanation.said}, ")
        assert "certain" not in [one.name for one in explanation.evidence]
