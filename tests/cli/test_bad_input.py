"""Whatever is wrong with the input: one sentence, exit code 2, nothing written."""

from __future__ import annotations

import json

import pytest
import torch

import gnninterpreter as gi

from .conftest import OWN, QUICK

DATA = ("--data", "lab:graphs")

# What is given, and words that the sentence must contain.
CASES = {
    "unknown class": ((*OWN, "-t", "purple"), ["'purple'", "0 = class 0, 1 = class 1"]),
    "class index out of range": ((*OWN, "-t", "7"), ["class 7", "1 = class 1"]),
    "class absent from the data": (
        ("lab:model", "--data", "lab:dense_graphs", "-t", "0"),
        ["no graph of class 'class 0'"],
    ),
    "coarse dtype": (("lab:half", *DATA), ["torch.float16", "model.float()"]),
    "mixed dtypes": (("lab:mixed", *DATA), ["mixes floating-point types", "model.float()"]),
    "wrong feature width": (
        ("lab:model", "--data", "lab:wide_graphs"),
        ["3 node", "feature columns"],
    ),
    "NaN": (("lab:not_a_number", *DATA), ["NaN"]),
    "wrong shape": (("lab:one_row_for_all", *DATA), ["[1, 2]", "for 6 graphs"]),
    "strange signature": (("lab:odd", *DATA), ["Odd.forward", "forward="]),
    "spec against data": (
        ("shape", "--data", "lab:wide_graphs"),
        ["describes 1 columns of 'x'", "has 3"],
    ),
    "empty data": (("lab:model", "--data", "lab:no_graphs"), ["dataset is empty"]),
    "no data": (("lab:model",), ["'lab:model'", "--data package.module:name"]),
    "data of numbers": (("lab:model", "--data", "lab:numbers"), ["--data", "got list of int"]),
    "data not a data set": (("lab:model", "--data", "lab:answer"), ["--data", "got int"]),
    "unknown data": (("lab:model", "--data", "nothing"), ["--data 'nothing'", "shape"]),
    "model not a model": (("lab:answer", *DATA), ["MODEL", "torch.nn.Module", "got int"]),
    "weights without a class": (("lab:state_dict", *DATA), ["MODEL", "got dict"]),
    "function fails": (("lab:fails", *DATA), ["RuntimeError: the weights are not here"]),
    "function names no model": (("lab:unreadable_checkpoint", *DATA), ["'no such model'"]),
    "module missing": (("nowhere.at_all:model", *DATA), ["'nowhere.at_all'", "cannot be imported"]),
    "attribute missing": (("lab:nothing", *DATA), ["'lab' has no 'nothing'", "no_graphs"]),
    "nothing after the colon": (("lab:", *DATA), ["package.module:name", "got 'lab:'"]),
    "unknown name": (("shapes", *DATA), ["'shapes'", "shape", "package.module:name"]),
    "forward not callable": ((*OWN, "--forward", "lab:answer"), ["--forward", "got int"]),
    "checkpoint missing": (("nowhere.json",), ["nowhere.json", "cannot read"]),
    "max_nodes": ((*OWN, "--max-nodes", "1"), ["max_nodes", "at least 2", "got 1"]),
    "device unknown": ((*OWN, "--device", "abacus"), ["device 'abacus'"]),
    "paper for other data": ((*OWN, "--recipe", "paper"), ["paper", "--iterations"]),
}


def assert_one_sentence(answer: tuple[int, str, str], words: list[str]) -> None:
    code, out, err = answer
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    for word in words:
        assert word in err


@pytest.mark.parametrize(("arguments", "words"), CASES.values(), ids=CASES.keys())
def test_one_sentence_and_nothing_written(cli, tmp_path, arguments, words):
    folder = tmp_path / "run"
    assert_one_sentence(cli("explain", *arguments, *QUICK, "--out", folder), words)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "value"), [("--restarts", "0"), ("--iterations", "0"), ("--threads", "0")]
)
def test_numbers_below_one(cli, option, value):
    name = option.removeprefix("--")
    assert_one_sentence(cli("explain", *OWN, option, value), [name, "at least 1", "got 0"])


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_cuda_where_there_is_none(cli, tmp_path):
    answer = cli("explain", *OWN, *QUICK, "--device", "cuda", "--out", tmp_path / "run")
    assert_one_sentence(answer, ["'cuda'", "no CUDA here", "'cpu'"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", ["--seed", "--restarts", "--recipe"])
def test_values_of_the_wrong_kind(cli, option):
    code, out, err = cli("explain", *OWN, option, "seven")
    assert (code, out) == (2, "")
    assert option in err
    assert "Traceback" not in err


class TestOutputFolder:
    def test_is_a_file(self, cli, tmp_path):
        file = tmp_path / "file"
        file.write_text("mine")
        assert_one_sentence(cli("explain", *OWN, *QUICK, "--out", file), ["file"])
        assert file.read_text() == "mine"

    def test_lies_below_a_file(self, cli, tmp_path):
        (tmp_path / "file").write_text("mine")
        folder = tmp_path / "file" / "run"
        assert_one_sentence(cli("explain", *OWN, *QUICK, "--out", folder), ["cannot be written"])

    def test_is_checked_before_the_work(self, cli, tmp_path):
        (tmp_path / "run.json").write_text("{}")
        # The model would fail; that the folder is named shows which of the two came first.
        answer = cli("explain", "lab:fails", *DATA, "--out", tmp_path)
        assert_one_sentence(answer, ["already holds a run", "--overwrite"])

    def test_of_the_demo(self, cli, tmp_path):
        (tmp_path / "run.json").write_text("{}")
        assert_one_sentence(cli("demo", "--out", tmp_path), ["already holds a run"])
        assert (tmp_path / "run.json").read_text() == "{}"


class TestCheckpoint:
    @pytest.fixture
    def saved(self, tmp_path):
        return gi.models.load("is_acyclic").save(tmp_path, "mine")

    def test_truncated_weights(self, cli, saved):
        weights = saved.with_suffix(".safetensors")
        weights.write_bytes(weights.read_bytes()[:1000])
        assert_one_sentence(cli("explain", saved, *QUICK), ["mine.safetensors"])

    def test_truncated_description(self, cli, saved):
        saved.write_text(saved.read_text()[:100])
        assert_one_sentence(cli("explain", saved, *QUICK), ["mine.json", "truncated"])

    def test_foreign_description(self, cli, saved):
        saved.write_text(json.dumps({"weights": [1, 2]}))
        assert_one_sentence(cli("explain", saved, *QUICK), ["is no model that"])

    def test_newer_schema(self, cli, saved):
        saved.write_text(json.dumps({**json.loads(saved.read_text()), "schema": 99}))
        assert_one_sentence(cli("explain", saved, *QUICK), ["schema 99"])

    def test_weights_missing(self, cli, saved):
        saved.with_suffix(".safetensors").unlink()
        assert_one_sentence(cli("explain", saved, *QUICK), ["cannot read the weights"])

    def test_pickle(self, cli, tmp_path):
        torch.save({"weight": torch.ones(1)}, tmp_path / "model.pt")
        answer = cli("explain", tmp_path / "model.pt", *QUICK)
        assert_one_sentence(answer, ["model.pt", "package.module:name"])


def test_module_that_breaks_when_imported(cli, tmp_path, monkeypatch):
    (tmp_path / "breaks.py").write_text("raise RuntimeError('not\\ntoday')\n")
    monkeypatch.chdir(tmp_path)
    answer = cli("explain", "breaks:model", *QUICK)
    assert_one_sentence(answer, ["'breaks'", "RuntimeError: not today"])


def test_interrupted(cli, tmp_path):
    code, out, err = cli("explain", "lab:interrupts", *DATA, "--out", tmp_path / "run")
    assert (code, out, err) == (130, "", "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_fault_of_ours_keeps_its_traceback(cli, monkeypatch):
    def breaks(*_: object, **__: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("gnninterpreter.api.explain", breaks)
    with pytest.raises(RuntimeError, match="a bug"):
        cli("explain", *OWN)
