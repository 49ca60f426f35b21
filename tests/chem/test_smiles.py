"""SMILES in: one, and a table of them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch

pytest.importorskip("rdkit")

from rdkit import rdBase
from torch_geometric.utils import from_smiles as pyg_from_smiles

from gnninterpreter.chem import from_smiles, is_valid, problem, read_smiles, to_smiles
from gnninterpreter.chem.recognition import preset_spec
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.chem.made import SPEC, UNCHARGED

# Only newer ones say why.
WHY = ": unclosed ring" if hasattr(rdBase, "CaptureErrorLog") else ""


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
        ("C1CC", f"is not written as SMILES are{WHY}"),
        ("CN(C)(C)C", r"N has 4 bonds, at most 3 \(4 with a charge\)"),
        ("c1cccc1", "the aromatic ring of nodes"),
    ],
)
def test_what_rdkit_refuses(smiles: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        from_smiles(smiles, SPEC)


def table(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_goes_on_after_a_bad_row(tmp_path: Path) -> None:
    text = "name,SMILES,active\na,CCO,1\nb,C1CC,0\nc,[Na+].[Cl-],0\nd,CC,\ne,[Fe+2],1\n"
    read = read_smiles(table(tmp_path / "some.csv", text), "active", "pyg")
    assert [int(graph.y) for graph in read.graphs] == [1, 0, 1]
    assert [(one.row, one.smiles) for one in read.refused] == [(3, "C1CC"), (5, "CC")]
    assert read.lines == [
        "3 molecules read",
        "2 rows left out",
        f"  row 3: 'C1CC' is not written as SMILES are{WHY}",
        "  row 5: no label",
        "1 molecules are in several parts, and stay so",
    ]
    assert read.graphs.name == "some"
    assert all(is_valid(g, read.graphs.spec) for g in read.graphs[:1])


def test_labels_of_every_kind(tmp_path: Path) -> None:
    words = table(tmp_path / "words.csv", "smiles,kind\nC,toxic\nCC,safe\n")
    read = read_smiles(words, "kind", SPEC)
    assert read.graphs.class_names == ("safe", "toxic")
    assert [int(graph.y) for graph in read.graphs] == [1, 0]
    with gzip.open(tmp_path / "more.csv.gz", "wt") as file:
        file.write("smiles,a,b,logS\nC,1,,-2.5\nCC,,0,0.5\n")
    several = read_smiles(tmp_path / "more.csv.gz", ["a", "b"], "pyg")
    assert several.graphs[0].y.shape == (1, 2)
    assert bool(several.graphs[0].y.isnan()[0, 1])
    value = read_smiles(tmp_path / "more.csv.gz", "logS", "pyg")
    assert [float(graph.y) for graph in value.graphs] == [-2.5, 0.5]


@pytest.mark.parametrize("word", ["nan", "-NaN", "NA", "n/a", "#N/A", "null", " "])
def test_words_for_no_label(tmp_path: Path, word: str) -> None:
    read = read_smiles(table(tmp_path / "t.csv", f"\nsmiles,y\nC,1\nCC,{word}\nCCC,0\n"), "y")
    assert [int(graph.y) for graph in read.graphs] == [1, 0]
    assert [(one.row, one.reason) for one in read.refused] == [(3, "no label")]


def test_a_small_file_that_unpacks_to_a_large_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnninterpreter.chem.smiles.MOST_BYTES", 100)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("smiles,y\n" + "C,1\n" * 100)
    with pytest.raises(DataError, match="unpacked it has more than 100 bytes"):
        read_smiles(tmp_path / "t.csv.gz", "y")


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ("smiles,y\n", "y", "has no rows below its first"),
        ("smiles,y\nC,1\n", "z", "has no column 'z'; it has smiles, y"),
        ("molecule,y\nC,1\n", "y", "has no column 'smiles'"),
        ("smiles,y\nC,\nCC,\n", "y", "every label in y of .* is missing"),
        ("smiles,y\nC1CC,1\n", "y", "no molecule in .* can be read; row 2: 'C1CC'"),
        ("smiles,y\nC,-nan\n", "y", "every label in y of .* is missing"),
        ("smiles,y\nC,1e300\nCC,0\n", "y", r"must be numbers between -1e\+18 and 1e\+18"),
        ("smiles,y\nC,1e39\nCC,0.5\n", "y", r"must be numbers between -1e\+18 and 1e\+18"),
        ("smiles,x\nC,1,2\n", "y", "it has smiles, x$"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, label: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read_smiles(table(tmp_path / "bad.csv", text), label, "pyg")
    with pytest.raises(DataError, match="cannot read the table"):
        read_smiles(tmp_path / "nowhere.csv", label, "pyg")
