"""Figures over seeds: means and deviations by hand, and a recipe measured from end to end."""

from __future__ import annotations

import pytest

from gnninterpreter.errors import DataError
from gnninterpreter.models.scores import RegressionScores
from gnninterpreter.training import recipes
from gnninterpreter.training.figures import measure_recipe, summed_up
from tests.models.toy import toy_config


def test_means_and_deviations():
    scores = {seed: RegressionScores(rmse, 0.5, 0.75, 10) for seed, rmse in ((0, 1.0), (4, 2.0))}
    found = summed_up({"random": scores})
    assert found["random"]["seeds"] == [0, 4]
    assert found["random"]["RMSE"] == {"mean": 1.5, "deviation": 0.7071, "values": [1.0, 2.0]}
    assert found["random"]["MAE"]["deviation"] == 0.0


def test_a_recipe_is_measured_with_every_seed(tmp_path, monkeypatch):
    from gnninterpreter.datasets.is_acyclic import IsAcyclic

    monkeypatch.setattr(IsAcyclic, "default_graphs", 40)
    recipe = recipes.TrainingRecipe("is_acyclic", toy_config(max_epochs=1))
    monkeypatch.setitem(recipes.RECIPES, "toy", lambda: recipe)
    told = []
    found = measure_recipe(
        "toy", (0, 1), splits=("random",), root=tmp_path, callback=lambda *one: told.append(one[:2])
    )
    assert told == [("random", 0), ("random", 1)]
    assert len(found["random"]["accuracy"]["values"]) == 2
    with pytest.raises(DataError, match="has only the split 'random'"):
        measure_recipe("toy", (0,), splits=("scaffold",), root=tmp_path)
