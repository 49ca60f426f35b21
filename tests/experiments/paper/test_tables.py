from __future__ import annotations

import csv
import json
import math

import pytest

from gnninterpreter.experiments.paper import Row, Table, Value

pytest.importorskip("pandas")

TABLE = Table.of(
    "t",
    "Title",
    ("data set", "class"),
    (
        Row(("mutag", "mutagen"), Value(0.986, 0.057), Value(1.0, 0.0), "a | b", {"s": 2.5}),
        Row(("mutag", "nonmutagen"), None, Value(math.nan), "", {"s": None, "runs": 2}),
    ),
    "All of it.",
)


def test_markdown_has_both_figures_side_by_side():
    lines = TABLE.to_markdown().splitlines()
    assert lines[2] == "| data set | class | published | ours | s | runs | note |"
    assert lines[4] == "| mutag | mutagen | 0.986 ± 0.057 | 1.000 ± 0.000 | 2.500 |  | a \\| b |"
    assert lines[5] == "| mutag | nonmutagen |  |  |  | 2 |  |"
    assert lines[-1] == "All of it."


def test_empty_columns_are_left_out():
    table = Table.of("t", "Title", ("what",), [Row(("size",), None, Value(929.0))])
    assert table.to_markdown() == "## Title\n\n| what | ours |\n| --- | --- |\n| size | 929 |\n"


def test_csv_keeps_mean_and_deviation_apart(tmp_path):
    TABLE.write(tmp_path)
    rows = list(csv.DictReader((tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()))
    assert rows[0]["published std"] == "0.057"
    assert (rows[0]["ours"], rows[1]["published"]) == ("1.0", "")
    assert rows[1]["runs"] == "2"


def test_json_round_trip_and_files(tmp_path):
    assert TABLE.write(tmp_path) == ["t.csv", "t.json", "t.md"]
    stored = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert Table.from_json(stored).to_markdown() == TABLE.to_markdown()
    assert stored["rows"][1]["ours"] is None
    assert stored["rows"][0]["published"] == 0.986
