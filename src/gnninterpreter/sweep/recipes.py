"""Recipes as sweep files name them: by name, by a file, or by what differs from another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gnninterpreter.arguments import several
from gnninterpreter.errors import SpecError
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.search import Recipe

NAMES = ("auto", "certain", "paper")


def load_recipe(given: Any, folder: Path = Path(), what: str = "recipe") -> str | Recipe:
    """Make the recipe that is meant; ``"paper"``, whose settings depend on the class, stays a name.

    Args:
        given: One of `NAMES`, the path of a file that `save_recipe` wrote, or a table: ``base`` (a
            name or a file), ``name``, ``without`` (phases) and settings as for `change_recipe`.
        folder: What paths are relative to.
        what: What to call it where it is refused.

    Raises:
        SpecError: If there is no such recipe, or it has no such setting.
    """
    if isinstance(given, Mapping):
        settings = dict(given)
        base = load_recipe(settings.pop("base", "auto"), folder)
        if not isinstance(base, Recipe):
            raise SpecError("recipe 'paper' has settings of its own; change 'auto' or 'certain'")
        name = str(settings.pop("name", f"{base.name}, changed"))
        base = base.without(*several("without", settings.pop("without", ()), "phases"))
        return replace(change_recipe(base, settings), name=name)
    if not isinstance(given, (str, Path)):
        raise SpecError(f"{what} must be a name, a file or a table (got {given!r:.60})")
    if given == "paper":
        return "paper"
    if given in NAMES:
        return getattr(Recipe, given)()  # type: ignore[no-any-return]
    path = folder / str(given)
    try:
        return Recipe.from_json(read_json(path))
    except (OSError, ValueError) as error:
        raise SpecError(
            f"{what} must be {', '.join(NAMES)} or the file of a recipe (got {str(given)!r}: "
            f"{error})"
        ) from error


def save_recipe(recipe: Recipe, path: Path) -> Path:
    """Write a recipe to a file that `load_recipe` and ``explain --recipe`` take."""
    return write_atomically(path, (json.dumps(recipe.to_json(), indent=1) + "\n").encode())


def change_recipe(recipe: Recipe, settings: Mapping[str, Any]) -> Recipe:
    """The recipe with other settings: its own, or of the one phase that has them (`Recipe.with_`).

    By the name of a phase they are a table of its settings; by the name of a term, a table of its
    weights (``soft``, ``discrete``, ``guide``).
    """
    phases = {phase.name for phase in recipe.phases}
    for name, value in settings.items():
        if not isinstance(value, Mapping):
            recipe = recipe.with_(**{name: value})
        elif name in phases:
            recipe = recipe.with_phase(name, **value)
        else:
            recipe = _weighed(recipe, name, value)
    return recipe


def _weighed(recipe: Recipe, name: str, weights: Mapping[str, Any]) -> Recipe:
    terms = {weighted.term.name: weighted for weighted in recipe.terms}
    unknown = set(weights) - {"soft", "discrete", "guide"}
    if name not in terms or unknown:
        phases = ", ".join(phase.name for phase in recipe.phases)
        raise SpecError(
            f"{'.'.join([name, *sorted(unknown)])} is neither a setting of a phase ({phases}) nor "
            f"a weight (soft, discrete, guide) of a term ({', '.join(terms)}) of the recipe"
        )
    changed = replace(terms[name], **weights)
    return replace(
        recipe, terms=tuple(changed if one is terms[name] else one for one in recipe.terms)
    )
