"""Presets of featurisers: columns, recognition, and what follows from a structure."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

pytest.importorskip("rdkit")

from torch_geometric.utils import from_smiles as pyg_from_smiles
from torch_geometric.utils.smiles import e_map, x_map

from gnninterpreter.chem import PRESETS, from_smiles, preset_spec, recognise, to_smiles
from gnninterpreter.chem.elements import SYMBOLS
from gnninterpreter.chem.recognition import spec_of
from gnninterpreter.errors import DataError, SpecError
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.models.task import Scores, Task
from gnninterpreter.objective import Aim, ClassTarget, Proposals, Valence
from gnninterpreter.spec import Categorical, Derived, GraphList, GraphSpec

SMILES = ("CCO", "c1ccccc1C(=O)[O-]", "CC(=O)Nc1ccc(Cl)cc1", "C[N+](C)(C)C", "c1c[nH]cc1", "CC#N")


def graphs(name: str) -> list[Data]:
    return [from_smiles(smiles, name) for smiles in SMILES]


def test_pyg_is_written_down_as_pyg_has_it() -> None:
    pyg = PRESETS["pyg"]
    for features, theirs in (
        (pyg.atoms[1:], list(x_map.values())[1:]),
        (pyg.bonds, e_map.values()),
    ):
        assert [[type(v)(v) for v in f.values] for f in features] == [list(v) for v in theirs]
    assert pyg.atoms[0].values[1:] == SYMBOLS
    for smiles in SMILES:
        mine, theirs = from_smiles(smiles, "pyg"), pyg_from_smiles(smiles)
        assert torch.equal(mine.x, theirs.x)
        assert sorted(mine.edge_attr.tolist()) == sorted(theirs.edge_attr.tolist())


def test_widths_are_those_of_the_documentation() -> None:
    widths = {name: one.widths for name, one in PRESETS.items()}
    assert widths == {"pyg": (9, 3), "ogb": (9, 3), "deepchem": (30, 11), "dgl-lifesci": (74, 12)}


def test_ethanol_by_hand() -> None:
    assert from_smiles("CCO", "ogb").x.tolist() == [
        [5, 0, 4, 5, 3, 0, 2, 0, 0], [5, 0, 4, 5, 2, 0, 2, 0, 0], [7, 0, 2, 5, 1, 0, 2, 0, 0],
    ]  # fmt: skip
    oxygen = from_smiles("CCO", "deepchem").x[2]
    # oxygen; no charge; SP3; donor and acceptor; not aromatic; two neighbours; one hydrogen
    assert oxygen.nonzero().flatten().tolist() == [2, 13, 14, 15, 19, 25]
    oxygen = from_smiles("CCO", "dgl-lifesci").x[2]
    # oxygen; degree 1; one implicit hydrogen; SP3; one hydrogen
    assert oxygen.nonzero().flatten().tolist() == [2, 44, 55, 65, 70]
    assert from_smiles("CCO", "dgl-lifesci").edge_attr[0].tolist() == [
        1.0,
        *[0.0] * 5,
        1.0,
        *[0.0] * 5,
    ]


@pytest.mark.parametrize(
    ("name", "smiles", "atom", "columns", "bond"),
    [
        # An aromatic nitrogen with a hydrogen, a charged one, and a double bond with two sides.
        ("deepchem", "c1cc[nH]c1", 3, [1, 12, 14, 16, 20, 25], [3, 4, 5, 6]),
        ("deepchem", "C[N+](=O)[O-]", 1, [1, 10, 12, 20, 24], [1, 5, 6]),
        ("deepchem", "C/C=C/Cl", 1, [0, 12, 20, 25], [1, 9]),
        ("dgl-lifesci", "c1cc[nH]c1", 3, [1, 45, 54, 64, 68, 70], [3, 4, 5, 6]),
        ("dgl-lifesci", "C[N+](=O)[O-]", 1, [1, 46, 54, 61, 64, 69], [1, 4, 6]),
        ("dgl-lifesci", "C/C=C/Cl", 1, [0, 45, 55, 64, 70], [1, 9]),
    ],
)
def test_columns_are_those_of_the_libraries(
    name: str, smiles: str, atom: int, columns: list[int], bond: list[int]
) -> None:
    """As DeepChem 2.8.0 and DGL-LifeSci 0.3.2 write them, of the second bond, too."""
    found = from_smiles(smiles, name)
    assert found.x[atom].nonzero().flatten().tolist() == columns
    assert found.edge_attr[1].nonzero().flatten().tolist() == bond


@pytest.mark.parametrize("name", list(PRESETS))
def test_featurisers_are_recognised(name: str) -> None:
    found = recognise(graphs(name))
    assert found is PRESETS[name]
    spec = GraphSpec.from_dataset(graphs(name))
    assert isinstance(spec.nodes[0], Categorical)
    assert {b.name for b in spec.derived} >= {
        "hydrogens",
        "hybridization",
        "aromatic",
        "conjugated",
    }
    assert found.title in spec.metadata["note"]
    assert [to_smiles(g, spec) for g in graphs(name)][:3] == [
        "CCO", "O=C([O-])c1ccccc1" if name in ("pyg", "ogb") else "O=C(O)c1ccccc1",
        "CC(=O)Nc1ccc(Cl)cc1",
    ]  # fmt: skip


def test_codes_may_come_as_floats_and_stay_so() -> None:
    listed = [graph.clone() for graph in graphs("pyg")]
    for graph in listed:
        graph.x, graph.edge_attr = graph.x.float(), graph.edge_attr.float()
    found = recognise(listed)
    assert found is not None
    assert found.name == "pyg"
    spec = spec_of(listed)
    assert spec is not None
    again = GraphSpec.from_json(spec.to_json())
    for read in (spec, again):
        made = dense_graphs(listed[:2], read).to_data_list()
        stored = [graph_from_json(graph_to_json(graph, read), read) for graph in made]
        for graph in (*made, *stored):
            assert graph.x.dtype == graph.edge_attr.dtype == torch.float32
        assert to_smiles(made[0], read) == to_smiles(listed[0], read)
    listed[0].x = listed[0].x + 0.5
    assert recognise(listed[:1]) is None


def test_other_numbers_are_not_taken_for_molecules() -> None:
    generator = torch.Generator().manual_seed(0)
    noise = [
        Data(
            x=torch.randint(3, (4, 9), generator=generator),
            edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]),
            edge_attr=torch.ones(4, 3, dtype=torch.long),
        )
        for _ in range(3)
    ]
    assert recognise(noise) is None
    assert not GraphSpec.from_dataset(noise).derived


def test_a_preset_that_does_not_fit_is_told() -> None:
    with pytest.raises(SpecError, match="preset must be one of pyg, ogb, deepchem, dgl-lifesci"):
        from_smiles("C", "rdkit")
    with pytest.raises(DataError, match=r"'deepchem' does not fit: .* x 30 columns .*got \[3, 9\]"):
        preset_spec("deepchem", graphs("pyg"))
    wrong = [graph.clone() for graph in graphs("ogb")]
    wrong[0].x[0, 6] = 9
    with pytest.raises(DataError, match="the column of the hybridization has code 9"):
        preset_spec("ogb", wrong)


def test_an_element_that_the_featuriser_does_not_know_is_another() -> None:
    listed = [from_smiles(text, "dgl-lifesci") for text in ("CCO", "C[Po]C")]
    spec = preset_spec("dgl-lifesci", listed)
    element = spec.nodes[0]
    assert (element.names[-1], element.width) == ("other", element.size - 1)
    assert spec.edges[0].encoding == "one-hot"
    for made, given in zip(dense_graphs(listed, spec).to_data_list(), listed, strict=True):
        assert made.x[:, : element.width].tolist() == given.x[:, : element.width].tolist()
    assert preset_spec("dgl-lifesci", listed[:1]).nodes[0].encoding == "one-hot"


def test_columns_are_computed_for_every_graph() -> None:
    spec = preset_spec("pyg", graphs("pyg"))
    made = dense_graphs(graphs("pyg"), spec).to_data_list()
    for mine, theirs in zip(made, graphs("pyg"), strict=True):
        assert mine.x.tolist() == theirs.x.tolist()
    # Two carbons less of benzoate's ring: what is left is no ring, and is not aromatic any more.
    dense = dense_graphs(graphs("pyg")[1:2], spec)
    dense.weight[0, 0] = dense.weight[0, :, 0] = 0.0
    opened = dense.to_data_list()[0]
    assert opened.x[:, 8].sum() == 0
    blocks = [b for b in spec.nodes if isinstance(b, Derived)]
    assert all(b.options["preset"] == "pyg" for b in blocks)


def test_only_atoms_of_the_data_and_rings_as_rdkit_reads_them_are_allowed() -> None:
    spec = preset_spec("pyg", graphs("pyg"))
    assert spec.metadata["atoms"] == "C Cl N N+ O O-"

    def allowed(change: tuple[int, int] | None = None, kind: int | None = None) -> bool:
        dense = dense_graphs([from_smiles("c1ccccc1C", spec)], spec)
        if change is not None:
            element, _ = change
            dense.nodes[0, 6, : spec.nodes[0].size] = 0.0
            dense.nodes[0, 6, element] = 1.0
        if kind is not None:
            assert dense.edges is not None
            dense.edges[0, 0, 1, : spec.edges[0].size] = 0.0
            dense.edges[0, 1, 0, : spec.edges[0].size] = 0.0
            dense.edges[0, 0, 1, kind] = dense.edges[0, 1, 0, kind] = 1.0
        nothing = torch.zeros(1, 2)
        aim = Aim(ClassTarget(1, "yes"), 9, 20.0)
        found = Valence().feasible(Proposals(dense, Scores(nothing, nothing, Task.MULTICLASS), aim))
        assert found is not None
        return bool(found[0])

    assert allowed()
    assert allowed((17, 0))  # chlorine
    assert not allowed((9, 0))  # fluorine, which the data does not have
    assert not allowed(kind=1)  # a single bond within the aromatic ring


def test_molecules_of_the_tu_collection_are_known_by_name() -> None:
    made = GraphList([Data(x=torch.eye(7)[:2], edge_index=torch.tensor([[0, 1], [1, 0]]))])
    made.name = "MUTAG"
    spec = spec_of(made)
    assert spec is not None
    assert spec.nodes[0].names == ("C", "N", "O", "F", "I", "Cl", "Br")
    assert "atoms of MUTAG" in spec.metadata["note"]
    made.name = "PROTEINS"
    assert spec_of(made) is None
