"""The functions behind `experiments.paper.units`: arguments in, plain JSON values out.

Each module has ``model_of``, which names the model that a unit looks at, and where a recipe is at
work ``recipe_key``, which changes when that does.
"""

__all__: list[str] = []
