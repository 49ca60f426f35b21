"""Which recipe each target is searched for with: by name, of the paper, or one of the caller's."""

from __future__ import annotations

from dataclasses import replace

from gnninterpreter.errors import SpecError, TargetError
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Target
from gnninterpreter.search.recipe import Recipe


def recipes_for(
    targets: list[Target], recipe: str | Recipe, dataset_name: str | None, every: bool
) -> tuple[list[tuple[Target, Recipe]], list[str]]:
    """Each target with its recipe; where all are meant, those without one are left out and told."""
    found, skipped = [], []
    for target in targets:
        try:
            found.append((target, _recipe(recipe, dataset_name, target.name)))
        except TargetError:  # noqa: PERF203 - a handful of classes
            if not every:
                raise
            skipped.append(target.name)
    if not found:
        raise TargetError(f"the recipe {recipe!r} has settings for none of the classes")
    names = ", ".join(skipped)
    return found, [f"left out, since the paper gives no weights for it: {names}"] if names else []


def _recipe(recipe: str | Recipe, dataset_name: str | None, target: str) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if not isinstance(recipe, str):
        recipe = repr(recipe)
    if recipe == "auto":
        return Recipe.auto()
    if recipe == "certain":
        return Recipe.certain()
    if recipe == "paper":
        if dataset_name is None:
            raise SpecError(
                "recipe 'paper' has weights for the data sets of the paper, and this model comes "
                "with none of them; use 'auto', or Recipe.paper(dataset, class) with one of its own"
            )
        return Recipe.paper(dataset_name, target)
    raise SpecError(f"recipe must be 'auto', 'certain', 'paper' or a Recipe (got {recipe!r})")


def fitted(recipe: Recipe, target: Target, statistics: ClassStatistics | None) -> Recipe:
    """The same on no more nodes than typical graphs have, which may be far fewer than allowed."""
    profile = target.profile(statistics)
    if (
        recipe.max_nodes is None
        or not recipe.typical
        or profile is None
        or profile.typicality is None
    ):
        return recipe
    return replace(recipe, max_nodes=min(recipe.max_nodes, profile.most_nodes))
