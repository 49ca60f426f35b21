"""Tables of SMILES, as laboratories keep them."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("rdkit")

from rdkit import rdBase

from gnninterpreter.chem import is_valid, read_smiles
from gnninterpreter.errors import DataError
from tests.chem.made import SPEC

# Only newer ones say why.
WHY = ": unclosed ring" if hasattr(rdBase, "CaptureErrorLog") else ""


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
        "1 of them in several parts, and they stay so",
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
    monkeypatch.setattr("gnninterpreter.chem.tables.MOST_BYTES", 100)
    with gzip.open(tmp_path / "t.csv.gz", "wt") as file:
        file.write("smiles,y\n" + "C,1\n" * 100)
    with pytest.raises(DataError, match="unpacked it has more than 100 bytes"):
        read_smiles(tmp_path / "t.csv.gz", "y")


@pytest.mark.parametrize(
    ("text", "label", "reason"),
    [
        ("smiles,y\n", "y", "has no rows below its first"),
        ("smiles,y\nC,1\n", "z", "has no column 'z'; it has smiles, y"),
        (
            "molecule,y\nC,1\n",
            "y",
            "no columns with 'smiles' in the name; say which of molecule, y",
        ),
        ("smiles,y\nC,\nCC,\n", "y", "every label in y of .* is missing"),
        ("smiles,y\nC1CC,1\n", "y", "no molecule in .* can be read; row 2: 'C1CC'"),
        ("smiles,y\nC,-nan\n", "y", "every label in y of .* is missing"),
        ("smiles,y\nC,1e300\nCC,inf\n", "y", r"row 2: y is 1e300, beyond 1e\+18"),
        ("", "y", "has no rows below its first"),
        ("smiles,y,y\nC,1,0\n", "y", "has 2 columns 'y'; rename all but one"),
        ("a_smiles,smiles_b,y\nC,C,1\n", "y", "has 2 columns with 'smiles' in the name"),
        ("PK\x03\x04", "y", "it is a workbook; save it as CSV"),
        ("smiles,x\nC,1,2\n", "y", "it has smiles, x$"),
    ],
)
def test_bad_tables(tmp_path: Path, text: str, label: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        read_smiles(table(tmp_path / "bad.csv", text), label, "pyg")
    with pytest.raises(DataError, match="cannot read the table"):
        read_smiles(tmp_path / "nowhere.csv", label, "pyg")


@pytest.mark.parametrize(
    "text",
    [
        "smiles;y\r\nC;1,5\r\nCC;-2\r\n",
        "smiles\ty\nC\t1.5\nCC\t-2\n",
        "\ufeffid, Canonical_SMILES , Y \n1,C,1.5\n2,CC,-2\n",
        "a_smiles,SMILES,y\nO,C,1.5\nO,CC,-2\n",
    ],
)
def test_separators_and_names_as_programs_write_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())
    read = read_smiles(path, "y")
    assert [float(graph.y) for graph in read.graphs] == [1.5, -2.0]
    assert [graph.smiles for graph in read.graphs] == ["C", "CC"]


def test_a_column_of_any_name_may_hold_the_smiles(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "structure,smiles of salt,y\nC,CO,1\n")
    assert read_smiles(path, "y", column="Structure").graphs[0].smiles == "C"


def test_other_encodings_are_told(tmp_path: Path) -> None:
    for encoding in ("utf-16", "latin-1"):
        (tmp_path / "t.csv").write_text("smiles,y,\xb5\nC,1,2\n", encoding=encoding)
        with pytest.raises(DataError, match="is not UTF-8; save it as CSV in UTF-8"):
            read_smiles(tmp_path / "t.csv", "y")


def test_a_word_among_numbers_costs_its_row(tmp_path: Path) -> None:
    read = read_smiles(table(tmp_path / "t.csv", "smiles,y\nC,1.5\n\nCC,<5\nCCC,2\n"), "y")
    assert [float(graph.y) for graph in read.graphs] == [1.5, 2.0]
    assert read.lines[1:] == ["1 row left out", "  row 4: y is '<5', which is no number"]


def test_words_are_numbered_as_the_model_numbers_them(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "smiles,y\nC,inactive\nCC,active\n")
    plain = read_smiles(path, "y")
    assert plain.graphs.class_names == ("active", "inactive")
    assert "numbered by alphabet: active is 0, inactive is 1; where the model" in plain.lines[-1]
    order = ("inactive", "active")
    for read in (
        read_smiles(path, "y", class_names=order),
        read_smiles(path, "y", replace(SPEC, class_names=order)),
    ):
        assert read.graphs.class_names == order
        assert [int(graph.y) for graph in read.graphs] == [0, 1]
        assert read.lines == ["2 molecules read"]
    with pytest.raises(DataError, match="'active' is not among the class names"):
        read_smiles(path, "y", class_names=("no", "yes"))
