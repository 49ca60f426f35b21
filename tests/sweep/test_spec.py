"""Sweep files: what they mean, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.search import Recipe
from gnninterpreter.sweep import ModelSource, SweepSpec, read_sweep


def read(folder: Path, text: str) -> SweepSpec:
    path = folder / "s.toml"
    path.write_text(text, encoding="utf-8")
    return read_sweep(path)


def test_the_least_file_has_every_default(tmp_path: Path) -> None:
    found = read(tmp_path, 'models = ["motif"]')
    assert found == SweepSpec((ModelSource("motif"),))
    assert (found.seeds, found.recipes, found.retries) == ((0,), (Recipe.auto(),), 2)


def test_checkpoints_are_found_beside_the_file_and_take_what_is_shared(tmp_path: Path) -> None:
    for name in ("b.pt", "a.pt"):
        (tmp_path / name).touch()
    found = read(
        tmp_path,
        'models = ["shape", { model = "lab:load", checkpoints = ["*.pt"], data = "lab:mine" }]\n'
        'data = "lab:graphs"\nseeds = [3, 5]\ntargets = [1, "b"]',
    )
    assert found.models == (
        ModelSource("shape", data="lab:graphs"),
        ModelSource("lab:load", str(tmp_path / "a.pt"), "lab:mine"),
        ModelSource("lab:load", str(tmp_path / "b.pt"), "lab:mine"),
    )
    assert (found.seeds, found.targets) == ((3, 5), ("1", "b"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('models = ["a"]\nsedes = 3', "unknown key 'sedes'; the keys are data, forward, gpus"),
        ('models = [{ model = "a", weights = 1 }]', "unknown key 'weights'"),
        ("seeds = 3", "models must not be empty"),
        ('models = "motif"', "models must be a list"),
        ("models = [3]", "a name or a table with 'model'"),
        ('models = ["*.safetensors"]', r"no file fits the pattern '\*.safetensors'"),
        ('models = ["*.pt"]', r"'\*\.pt' of models must end in .json or .safetensors; other files"),
        ('models = ["a"]\nkind = "train"', "kind must be one of explain, audit"),
        ('models = ["a"]\nkind = "audit"\ntargets = ["b"]', "an audit is of all classes"),
        (
            'models = ["a"]\nrestarts = 0',
            r"restarts must be at least 1 \(got 0\)",
        ),
        ('models = ["a"]\ngpus = -1', r"gpus must be a number from 0 to 100000 \(got -1\)"),
        ('models = ["a"]\nrecipes = ["none.json"]', "recipe must be auto, certain, paper or"),
        ('models = ["a"]\nrecipes = [{ spead = 3 }]', "'spead' is no setting of a recipe"),
        ('models = ["a"]\ndata = 3', r"data must be a text, as for `explain` \(got 3\)"),
        ('models = [{ model = "a", forward = [] }]', r"forward must be a text.*\(got \[\]\)"),
        ('models = ["a"]\nseeds = [true]', r"seeds must be a whole number \(got True\)"),
        ('models = ["a"]\nseeds = 1.5', r"seeds must be a whole number or a list \(got 1\.5\)"),
        (f'models = ["a"]\nseeds = [{2**63}]', "each of seeds must be at most 9223372036854775807"),
        ('models = ["a"]\nrestarts = 5000000000', "restarts must be at most 100000"),
        ('models = ["a"]\ntimeout = -1', "timeout must be a number from 0"),
        (
            'models = ["a"]\nrecipes = [{ iterations = 3 }, { iterations = 4 }]',
            "two recipes are called 'auto, changed'; give each a name of its own",
        ),
        ('models = ["a"]\nruntime_env = 3', r"runtime_env must be a table \(got 3\)"),
        ("models = [", "is no TOML"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SpecError, match=said) as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"cannot read .* \(No such file"):
        read_sweep(tmp_path / "none.toml")
