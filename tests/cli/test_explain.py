from __future__ import annotations

import json

import pytest

import gnninterpreter as gi

from .conftest import OWN, QUICK


def without_times(document: dict) -> dict:
    for entry in document["classes"]:
        entry.pop("seconds")
    return document


def test_own_model_every_class(cli):
    code, out, err = cli("explain", *OWN, *QUICK)
    assert code == 0
    assert "class 0" in out
    assert "class 1" in out
    assert "verdict" in out
    assert "explaining Degrees" in err
    assert "called as forward(x, edge_index, batch)" in err
    assert err.count("probability") == 2


def test_a_class_is_named_by_name_or_index(cli):
    by_index = cli("explain", *OWN, *QUICK, "--json", "--target", "1")
    by_name = cli("explain", *OWN, *QUICK, "--json", "--target", "class_1")
    one, other = (json.loads(answer[1]) for answer in (by_index, by_name))
    assert [entry["class"] for entry in one["classes"]] == ["class 1"]
    assert without_times(one) == without_times(other)


def test_several_targets_in_their_order(cli):
    _, out, _ = cli("explain", *OWN, *QUICK, "--json", "-t", "1", "-t", "0")
    assert [entry["target"]["index"] for entry in json.loads(out)["classes"]] == [1, 0]


def test_json_is_the_only_thing_on_standard_output(cli):
    code, out, err = cli(
        "explain", "lab:talkative", "--data", "lab:graphs", *QUICK, "--json", "-t", "1"
    )
    assert code == 0
    document = json.loads(out)
    assert document["model"] == "Talkative"
    assert document["classes"][0]["probability"]["mean"] > 0.9
    assert "I am called" in err


def test_quiet_shows_no_progress(cli):
    code, out, err = cli("explain", *OWN, *QUICK, "-t", "1", "--quiet")
    assert (code, err) == (0, "")
    assert "class 1" in out


def test_seed_decides(cli):
    def run(seed: int) -> dict:
        _, out, _ = cli("explain", *OWN, *QUICK, "--json", "-q", "-t", "1", "--seed", seed)
        return without_times(json.loads(out))

    assert run(3) == run(3)
    assert run(3)["classes"] != run(4)["classes"]


def test_options_reach_the_search(cli):
    _, out, _ = cli(
        "explain", *OWN, "-q", "--json", "-t", "1", "--restarts", 3, "--iterations", 20,
        "--max-nodes", 5,
    )  # fmt: skip
    (entry,) = json.loads(out)["classes"]
    assert len(entry["restarts"]) == 3
    assert entry["max_nodes"] == 5
    assert max(restart["iterations"] for restart in entry["restarts"]) <= 20


def test_own_forward(cli):
    code, _, err = cli(
        "explain", "lab:odd", "--data", "lab:graphs", "--forward", "lab:odd_forward", *QUICK,
        "-t", "1",
    )  # fmt: skip
    assert code == 0
    assert "your own forward(model, data)" in err


def test_not_converging_is_a_result(cli):
    code, out, _ = cli(
        "explain", "lab:never_dense", "--data", "lab:graphs", *QUICK, "-t", "1", "-q"
    )
    assert code == 0
    assert "not reached" in out
    assert "class 1: The model gives samples only" in out


def test_out_writes_a_run_and_a_report(cli, tmp_path):
    folder = tmp_path / "deep" / "run"
    code, out, _ = cli("explain", *OWN, *QUICK, "-t", "1", "-q", "--out", folder)
    assert code == 0
    assert str(folder / "report.html") in out
    assert (folder / "report.html").read_text().lstrip().lower().startswith("<!doctype html")
    loaded = gi.load(folder)
    assert list(loaded) == ["class 1"]
    assert loaded["class 1"].num_edges > 0
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_json_with_out_names_the_report_on_standard_error(cli, tmp_path):
    code, out, err = cli("explain", *OWN, *QUICK, "-t", "1", "-q", "--json", "--out", tmp_path)
    assert code == 0
    assert json.loads(out)["classes"]
    assert err == f"report: {tmp_path / 'report.html'}\n"


def test_overwrite_replaces_a_run(cli, tmp_path):
    run = ("explain", *OWN, *QUICK, "-q", "--out", tmp_path)
    assert cli(*run, "-t", "1")[0] == 0
    before = (tmp_path / "run.json").read_bytes()
    code, _, err = cli(*run, "-t", "0")
    assert code == 2
    assert "already holds a run" in err
    assert (tmp_path / "run.json").read_bytes() == before
    assert cli(*run, "-t", "0", "--overwrite")[0] == 0
    assert list(gi.load(tmp_path)) == ["class 0"]


def test_bundled_model_needs_no_data_whatever_the_case_of_its_name(cli):
    code, out, _ = cli("explain", "Is_Acyclic", "-t", "cyclic", *QUICK, "-q")
    assert code == 0
    assert "cyclic" in out


def test_saved_bundle(cli, tmp_path):
    path = gi.models.load("is_acyclic").save(tmp_path, "mine")
    code, out, _ = cli("explain", path, "-t", "cyclic", *QUICK, "-q")
    assert code == 0
    assert "cyclic" in out


def test_molecules_from_a_table_of_smiles(cli, tmp_path):
    Chem = pytest.importorskip("rdkit.Chem")
    table = tmp_path / "some.csv"
    rows = [
        "CCO,yes",
        "CCC,no",
        "C1CC,no",
        "CC=O,yes",
        "CCN,no",
        "CCCO,yes",
        "CC(C)C,no",
        "COC,yes",
    ]
    table.write_text("\n".join(["smiles,oxygen", *rows]) + "\n")
    run = ("explain", "lab:oxygens", "--smiles", table)
    code, out, err = cli(*run, "--label", "oxygen", *QUICK, "-t", "yes", "--json")
    assert code == 0
    assert "row 4: 'C1CC' is not written as SMILES are" in err
    assert "features recognised as PyG's from_smiles" in err
    (entry,) = json.loads(out)["classes"]
    assert entry["class"] == "yes"
    code, out, _ = cli(*run, "--label", "oxygen", *QUICK, "-t", "yes")
    assert code == 0
    told = next(line for line in out.splitlines() if line.startswith("yes: prototype "))
    formula = Chem.MolFromSmiles(told.split()[2].rstrip(","))
    assert "O" in {atom.GetSymbol() for atom in formula.GetAtoms()}
    for arguments, said in (
        (run, "--smiles needs --label COLUMN"),
        (("explain", "lab:oxygens", "--label", "oxygen"), "add --smiles FILE"),
        ((*run, "--label", "oxygen", "--smiles-column", "mol"), "has no column 'mol'"),
        (
            (*run, "--label", "oxygen", "--class-names", "without,with"),
            "'no' is not among the class names (without, with)",
        ),
        ((*run, "--label", "oxygen", "--data", "lab:graphs"), "give --data or --smiles, not both"),
        ((*run, "--label", "oxygen", "--preset", "rdkit"), "preset must be one of pyg, ogb"),
    ):
        code, _, err = cli(*arguments)
        assert code == 2
        assert said in err
