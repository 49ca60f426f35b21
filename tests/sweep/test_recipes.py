"""Recipes by name, by file, and by what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.search import Recipe
from gnninterpreter.sweep import load_recipe, save_recipe
from gnninterpreter.sweep.spec import change_recipe


def test_names_and_files(tmp_path: Path) -> None:
    assert load_recipe("auto") == Recipe.auto()
    assert load_recipe("paper") == "paper"
    short = Recipe.auto(iterations=7)
    save_recipe(short, tmp_path / "r.json")
    assert load_recipe("r.json", tmp_path) == short


def test_a_table_changes_settings_phases_and_weights() -> None:
    found = load_recipe(
        {
            "base": "certain",
            "name": "mine",
            "without": ["calibrate"],
            "stop_score": 0.9,
            "gradient": {"iterations": 5},
            "size": {"discrete": 0.5},
        }
    )
    assert isinstance(found, Recipe)
    assert (found.name, found.stop_score, found.phase("gradient").iterations) == ("mine", 0.9, 5)
    assert next(w for w in found.terms if w.term.name == "size").discrete == 0.5
    assert "calibrate" not in [phase.name for phase in found.phases]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"sise": {"discrete": 1.0}}, "sise is neither a setting of a phase"),
        ({"size": {"hard": 1.0}}, "size.hard is neither"),
        ({"gradient": {"steps": 1}}, "phase 'gradient' has no setting steps"),
    ],
)
def test_settings_that_there_are_not(settings: dict[str, object], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        change_recipe(Recipe.auto(), settings)


def test_the_paper_s_recipe_has_settings_of_its_own() -> None:
    with pytest.raises(SpecError, match="change 'auto' or 'certain'"):
        load_recipe({"base": "paper", "iterations": 3})


def test_phases_to_leave_out_are_a_list() -> None:
    with pytest.raises(SpecError, match="without must be a list of phases"):
        load_recipe({"without": "calibrate"})
