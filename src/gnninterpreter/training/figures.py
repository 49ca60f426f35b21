"""How good a recipe is rather than one model: several seeds, on random and on scaffold splits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from gnninterpreter import datasets
from gnninterpreter.models.scores import ModelScores
from gnninterpreter.training.recipes import training_recipe
from gnninterpreter.training.trainer import train

SPLITS = ("random", "scaffold")


def measure_recipe(
    name: str,
    seeds: Sequence[int] = (0, 1, 2),
    *,
    splits: Sequence[str] = SPLITS,
    root: str | Path | None = None,
    device: str | torch.device = "cpu",
    callback: Callable[[str, int, ModelScores], None] | None = None,
) -> dict[str, Any]:
    """Train a recipe with several seeds, each with a split of its own, and sum up the test scores.

    Args:
        name: One of `RECIPES`, of a data set that has these splits.
        seeds: The seeds.
        splits: The kinds of splits.
        root: Folder for the data set.
        device: ``"cpu"`` or a CUDA device.
        callback: Called with split, seed and test scores after each.

    Returns:
        What `summed_up` makes of the scores.
    """
    recipe = training_recipe(name)
    dataset = datasets.load(recipe.dataset, root)
    found: dict[str, dict[int, ModelScores]] = {}
    for kind in splits:
        for seed in seeds:
            config = replace(recipe.config, seed=seed)
            result = train(dataset, config, device=device, split=dataset.split(kind, seed))
            found.setdefault(kind, {})[seed] = result.scores["test"]
            if callback is not None:
                callback(kind, seed, result.scores["test"])
    return summed_up(found)


def summed_up(scores: Mapping[str, Mapping[int, ModelScores]]) -> dict[str, Any]:
    """Mean, deviation and values over seeds of every figure, for each kind of split."""
    found: dict[str, Any] = {}
    for kind, by_seed in scores.items():
        rows = [one.figures for one in by_seed.values()]
        found[kind] = {"seeds": list(by_seed)}
        for figure in rows[0]:
            values = torch.tensor([row[figure] for row in rows], dtype=torch.double)
            found[kind][figure] = {
                "mean": round(float(values.mean()), 4),
                "deviation": round(float(values.std(unbiased=len(rows) > 1)), 4),
                "values": [round(value, 4) for value in values.tolist()],
            }
    return found
