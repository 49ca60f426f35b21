"""What RDKit says of structures: asked once, looked up afterwards."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_mean_pool

pytest.importorskip("rdkit")
from gnninterpreter.chem import from_smiles, preset_spec, structures
from gnninterpreter.chem.featurising import described
from gnninterpreter.errors import ModelError
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.valence import allowed, meant
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec.derived import completed, completed_each, fill

SMILES = ("CCO", "c1cc[nH]c1CC", "C[N+](C)(C)CC#N", "O=C1CCCC1", "Cc1ccccc1[N+](=O)[O-]")
GRAPHS = [from_smiles(one, "pyg") for one in SMILES]
SPEC = preset_spec("pyg", GRAPHS)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many atoms each structure has that RDKit is asked about, from now on."""
    found: list[int] = []
    judged = structures.judged

    def counted(atoms: list[object], *rest: object) -> object:
        found.append(len(atoms))
        return judged(atoms, *rest)

    described(SPEC)._known.clear()
    monkeypatch.setattr(structures, "judged", counted)
    return found


def broken(graph: Data) -> Data:
    """The same molecule with every bond aromatic."""
    made = graph.clone()
    made.edge_attr[:, 0] = 12
    return made


def test_whether_it_is_a_molecule_and_its_columns_are_asked_once(asked: list[int]) -> None:
    dense = dense_graphs(GRAPHS, SPEC)
    assert bool(allowed(dense).all())
    made = dense.to_batch()
    fill(made, SPEC)
    assert sorted(asked) == sorted(len(graph.x) for graph in GRAPHS)
    assert torch.equal(made.x, torch.cat([graph.x for graph in GRAPHS]))


def test_what_is_refused_is_read_only_if_its_columns_are_asked_for(asked: list[int]) -> None:
    dense = dense_graphs([broken(GRAPHS[0])], SPEC)
    assert not bool(allowed(dense).any())
    assert len(asked) == 1
    (said,) = described(SPEC)._known.values()
    assert said.numbers is None
    rows = [dense.to_batch().x for _ in range(2)]
    assert len(asked) == 2
    assert torch.equal(*rows)
    assert bool(rows[0][:, 6].any())  # it has a hybridization all the same


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    known = described(SPEC)
    monkeypatch.setattr(structures, "MOST", 2)
    for graph in GRAPHS:
        dense_graphs([graph], SPEC).to_batch()
    assert len(known._known) <= 3


def test_columns_of_many_graphs_are_those_of_each() -> None:
    blank = [graph.clone() for graph in GRAPHS]
    for graph in blank:
        graph.x[:, 1:3] = 0
        graph.edge_attr[:, 2] = 0
    alone = [completed(graph, SPEC) for graph in blank]
    for one, other in zip(alone, completed_each(blank, SPEC), strict=True):
        assert torch.equal(one.x, other.x)
        assert torch.equal(one.edge_attr, other.edge_attr)
    assert not torch.equal(blank[0].x, alone[0].x)


def test_repeated_and_looped_edges_are_no_new_bonds() -> None:
    graph = GRAPHS[0].clone()
    more = torch.tensor([[0, 0], [1, 0]])
    graph.edge_index = torch.cat([graph.edge_index, more], dim=1)
    graph.edge_attr = torch.cat([graph.edge_attr, graph.edge_attr[:2]])
    made = completed(graph, SPEC)
    assert torch.equal(made.x, GRAPHS[0].x)
    assert made.edge_attr[-1, 2] == -1  # a loop is no bond, so nothing is known of it


def test_codes_that_no_molecule_of_the_data_has_are_not_tried() -> None:
    atoms, bonds = meant(SPEC)
    names = SPEC.nodes[0].names
    assert {names[k] for k in atoms[: len(names)].nonzero().flatten()} == {"C", "N", "O"}
    kinds = SPEC.edges[0].names
    assert {kinds[k] for k in bonds[: len(kinds)].nonzero().flatten()} == {
        "single", "double", "triple", "aromatic",
    }  # fmt: skip
    dense = dense_graphs(GRAPHS[:1], SPEC)
    space = MoveSpace(SPEC, dense.num_candidates, dense.weight.device)
    _, changes, kind_changes, _ = torch.split(space.possible(dense), list(space.sizes), dim=1)
    # Three atoms may be two other elements and have one other charge, or two (N+, O-).
    charges = int(atoms[len(names) :].sum())
    assert int(changes.sum()) == 3 * (2 + charges - 1)
    assert int(kind_changes.sum()) == 2 * 3


def test_numbers_are_those_of_properties() -> None:
    known = described(SPEC)
    dense_graphs(GRAPHS[:1], SPEC).to_batch()
    words = known.vocabularies["atoms"]
    place = words.names.index("hydrogens")
    cells = known.reading.atom_cells(GRAPHS[0], SPEC).numpy()
    bonds = known.reading.bond_cells(GRAPHS[0], SPEC).numpy()
    (said,) = known.said_of(cells, bonds[np.lexsort(bonds.T[1::-1])], [3], [2])
    assert said.numbers is not None
    found = [words.said[number] for number in said.numbers[0]]
    assert [one[place] for one in found if one is not None] == [3, 2, 1]


class Linear(torch.nn.Module):
    """A model that was trained on ``data.x.float()`` and takes nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.atoms, self.bonds = torch.nn.Linear(9, 4), torch.nn.Linear(3, 4)
        self.last = torch.nn.Linear(4, 2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        h = self.atoms(x)
        h = h.index_add(0, edge_index[1], self.bonds(edge_attr) * h[edge_index[0]])
        return self.last(global_mean_pool(h, batch))


def test_a_model_that_takes_floats_gets_whole_codes_as_such() -> None:
    model = Linear()
    with pytest.raises(ModelError, match="dtype"):
        GraphClassifier(model, SPEC, examples=GRAPHS)
    found = GraphClassifier.connect(model, SPEC, examples=GRAPHS)
    assert any("given to it as floats" in line for line in found.describe())
    whole = Batch.from_data_list(GRAPHS)
    wanted = model(whole.x.float(), whole.edge_index, whole.edge_attr.float(), whole.batch)
    assert torch.allclose(found.score_data(GRAPHS).logits, wanted, atol=1e-6)
    every = [(number, (1 << len(graph.x)) - 1) for number, graph in enumerate(GRAPHS)]
    assert torch.allclose(Parts(found, GRAPHS).logits(every), wanted, atol=1e-6)


def test_other_faults_of_a_model_are_told_as_they_are() -> None:
    with pytest.raises(ModelError, match="shapes cannot be multiplied"):
        GraphClassifier.connect(torch.nn.Sequential(torch.nn.Linear(7, 2)), SPEC, forward=_wrong)


def _wrong(model: torch.nn.Module, data: Batch) -> Tensor:
    found: Tensor = model(data.x.float())
    return global_mean_pool(found, data.batch)


def test_threads_agree_on_what_a_number_means() -> None:
    words = structures.Vocabulary("atoms", ())
    words._read = [lambda item: item]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            numbers = list(pool.map(lambda _: [words.number(i) for i in range(3000)], range(8)))
    finally:
        sys.setswitchinterval(before)
    assert all(found == numbers[0] for found in numbers)
    assert [words.said[number] for number in numbers[0]] == [(i,) for i in range(3000)]
