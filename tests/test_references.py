from __future__ import annotations

import sys

import pytest
from torch import nn

from gnninterpreter.errors import CheckpointError, DataError, ModelError
from gnninterpreter.models import Bundle
from gnninterpreter.references import (
    load_checkpoint,
    load_data,
    load_forward,
    load_model,
    load_subject,
)

from .cli import lab
from .cli.conftest import HERE


@pytest.fixture(autouse=True)
def in_the_lab(monkeypatch):
    monkeypatch.chdir(HERE)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.mark.parametrize("reference", ["lab:model", "lab:half", "tests.cli.lab:model"])
def test_object_or_function(reference):
    assert isinstance(load_model(reference), nn.Module)


def test_an_object_is_not_called():
    assert load_model("tests.cli.lab:model") is lab.model


def test_a_class_is_refused_since_it_has_no_trained_weights():
    with pytest.raises(ModelError, match=r"'lab:Degrees' is a class, .* untrained; .* returns it"):
        load_model("lab:Degrees")


@pytest.mark.parametrize("name", ["shape", "is-acyclic", " Shape "])
def test_bundled_names(name):
    assert isinstance(load_model(name), Bundle)


@pytest.mark.parametrize("reference", ["lab:graphs", "lab:some_graphs", "lab:walked_through"])
def test_data(reference):
    assert len(load_data(reference)) == 6


def test_attributes_of_attributes():
    assert load_forward("lab:Degrees.forward")


def test_empty_data_is_left_to_explain():
    assert load_data("lab:no_graphs") == []


def test_the_argument_is_named():
    with pytest.raises(DataError, match="--data 'lab:nothing'"):
        load_data("lab:nothing")
    with pytest.raises(ModelError, match="--forward 'lab:nothing'"):
        load_forward("lab:nothing")


def test_the_likest_names_are_offered_functions_or_not():
    with pytest.raises(DataError, match=r"has no 'some_graph'; it has some_graphs, "):
        load_data("lab:some_graph")


def test_data_is_looked_for_before_a_model_is_made():
    with pytest.raises(DataError, match="--data 'lab:nothing'"):
        load_subject("lab:fails", "lab:nothing")


def test_a_checkpoint_is_loaded_by_a_function_that_takes_its_path(tmp_path):
    path = tmp_path / "w.pt"
    with pytest.raises(CheckpointError, match=r"there is no checkpoint .*w\.pt"):
        load_checkpoint("lab:Degrees", path)
    path.touch()
    with pytest.raises(ModelError, match="must be a function that takes the path"):
        load_checkpoint("sys:path", path)
    with pytest.raises(ModelError, match=r"failed when it was called with .*w\.pt"):
        load_checkpoint("lab:fails", path)
    with pytest.raises(ModelError, match=r"a function that returns one \(got str\)"):
        load_checkpoint("os.path:basename", path)
    with pytest.raises(ModelError, match=r"failed when it was called .* \(SystemExit: .*w\.pt\)"):
        load_checkpoint("sys:exit", path)


def test_files_of_ones_own_are_told_what_to_do_with(tmp_path):
    (tmp_path / "w.safetensors").touch()
    (tmp_path / "graphs.pt").touch()
    with pytest.raises(ModelError, match="is a file that holds no model of this package; write"):
        load_model(str(tmp_path / "w.safetensors"))
    with pytest.raises(DataError, match="is a file; write a function that reads and returns"):
        load_data(str(tmp_path / "graphs.pt"))


def test_a_script_is_named_as_a_module():
    with pytest.raises(ModelError, match=r"'\./lab\.py' is a script; .* as lab:model, from"):
        load_model("./lab.py:model")
    with pytest.raises(DataError, match=r"'lab\.py' is a script; .* as lab:NAME, from"):
        load_data("lab.py")


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("raise SystemExit(3)", r"SystemExit: 3\); what it runs, such as training, belongs below"),
        ("def model(:", r"SyntaxError: .*; mend it first"),
        ("import nosuch.thing", r"install 'nosuch', which it imports"),
    ],
)
def test_a_module_that_cannot_be_imported_says_how_to_mend_it(tmp_path, monkeypatch, text, mend):
    (tmp_path / "odd.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match=mend):
        load_model("odd:model")
    with pytest.raises(ModelError, match="run from the folder that holds it, or install it"):
        load_model("nowhere.odd:model")
