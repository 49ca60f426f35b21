from __future__ import annotations

import csv
import json
import math

from gnninterpreter.experiments.paper import Row, Table, Value

TABLE = Table(
    "t",
    "Title",
    ("data set", "class"),
    (
        Row(("mutag", "mutagen"), Value(0.986, 0.057), Value(1.0, 0.0), "a | b", {"s": 2.5}),
        Row(("mutag", "nonmutagen"), None, Value(math.nan), "", {"s": None}),
    ),
    "All of it.",
)


def test_values():
    assert str(Value(0.9863, 0.057)) == "0.986 ± 0.057"
    assert str(Value(929.0)) == "929"
    assert str(Value(0.00042)) == "4.2e-04"
    assert str(Value(19.79)) == "19.8"
    assert str(Value(math.nan)) == "none"


def test_markdown_has_both_figures_side_by_side():
    lines = TABLE.to_markdown().splitlines()
    assert lines[2] == "| data set | class | published | ours | s | note |"
    assert lines[4] == "| mutag | mutagen | 0.986 ± 0.057 | 1.000 ± 0.000 | 2.500 | a \\| b |"
    assert lines[5] == "| mutag | nonmutagen |  | none |  |  |"
    assert lines[-1] == "All of it."


def test_csv_keeps_mean_and_deviation_apart():
    rows = list(csv.DictReader(TABLE.to_csv().splitlines()))
    assert rows[0]["published_std"] == "0.057"
    assert (rows[0]["ours"], rows[1]["published"]) == ("1.0", "")


def test_json_round_trip_and_files(tmp_path):
    names = TABLE.write(tmp_path)
    assert names == ["t.csv", "t.json", "t.md"]
    stored = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    again = Table.from_json(stored)
    assert again.to_markdown() == TABLE.to_markdown()
    assert stored["rows"][1]["ours"]["mean"] is None
