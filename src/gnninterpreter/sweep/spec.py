"""A sweep file: which models, classes, seeds and recipes, and with what each job may work.

Recipes are named by name, by a file, or by what differs from another.
"""

from __future__ import annotations

import glob
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from gnninterpreter.arguments import one_of, path_of, real_number, several, whole_number
from gnninterpreter.errors import SpecError
from gnninterpreter.files import read_file, read_json, write_atomically
from gnninterpreter.search import Recipe

NAMES = ("auto", "certain", "paper")
KINDS = ("explain", "audit")
ENDINGS = (".json", ".safetensors")
MOST = 100_000
WHICH = "a whole number or a list"
MOST_BYTES = 2**24


def load_recipe(given: Any, folder: Path = Path(), what: str = "recipe") -> str | Recipe:
    """Make the recipe that is meant; ``"paper"``, whose settings depend on the class, stays a name.

    Given is one of `NAMES`, the path of a file that `save_recipe` wrote, relative to the folder, or
    a table: ``base`` (a name or a file), ``name``, ``without`` (phases) and settings as for
    `change_recipe`.

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
        why = "there is no such file" if isinstance(error, FileNotFoundError) else error
        raise SpecError(
            f"{what} must be {', '.join(NAMES)} or the file of a recipe (got {str(given)!r}: {why})"
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


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from; model, data and forward are named as for `explain`.

    With a checkpoint, a file with weights, the model is ``package.module:function`` of a function
    that is called with its path and returns the model.
    """

    model: str
    checkpoint: str | None = None
    data: str | None = None
    forward: str | None = None

    def __post_init__(self) -> None:
        """Refuse what names nothing."""
        for name in ("data", "forward"):
            if not isinstance(given := getattr(self, name), (str, type(None))):
                raise SpecError(f"{name} must be a text, as for `explain` (got {given!r:.60})")

    @property
    def name(self) -> str:
        """What to call it in results."""
        return self.checkpoint or self.model


@dataclass(frozen=True)
class SweepSpec:
    """What a sweep consists of: every model with every class, seed and recipe.

    Args:
        kind: ``"explain"``, a job for each class, or ``"audit"``, a job for each model.
        targets: Classes to explain; all when empty.
        recipes: Recipes; ``"paper"`` is a name, since its settings depend on the class.
        hosts: Graphs that patterns are joined to in an audit.
        retries: How often a job that failed is tried again.
        timeout: Seconds after which a try has failed; none when 0.
        gpus: GPUs of each job, as are the threads; a part of one where several jobs share it.
        runtime_env: What Ray prepares on other machines (``working_dir``, ``pip``, ...).
    """

    models: tuple[ModelSource, ...]
    kind: str = "explain"
    targets: tuple[str, ...] = ()
    seeds: tuple[int, ...] = (0,)
    recipes: tuple[str | Recipe, ...] = field(default_factory=lambda: (Recipe.auto(),))
    restarts: int = 8
    hosts: int = 60
    retries: int = 2
    timeout: float = 0.0
    threads: int = 1
    gpus: float = 0.0
    runtime_env: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check every rule once, here."""
        one_of("kind", self.kind, KINDS)
        for name in ("models", "seeds", "recipes"):
            if not getattr(self, name):
                raise SpecError(f"{name} must not be empty; without any there is nothing to do")
        for name, least in (("restarts", 1), ("hosts", 1), ("retries", 0), ("threads", 1)):
            whole_number(name, getattr(self, name), least, MOST)
        for seed in self.seeds:
            whole_number("each of seeds", seed, -(2**63))
        named: dict[str, str | Recipe] = {}
        for recipe in self.recipes:  # Rows tell recipes apart by their names.
            name = getattr(recipe, "name", str(recipe))
            if named.setdefault(name, recipe) != recipe:
                raise SpecError(f"two recipes are called {name!r}; give each a name of its own")
        for name in ("gpus", "timeout"):
            real_number(name, getattr(self, name), 0, MOST)
        if not isinstance(self.runtime_env, Mapping):
            raise SpecError(f"runtime_env must be a table (got {self.runtime_env!r:.60})")
        if self.kind == "audit" and self.targets:
            raise SpecError("targets are for kind 'explain'; an audit is of all classes")


def read_sweep(path: Path) -> SweepSpec:
    """Read a sweep file. Paths in it are relative to its folder.

    Raises:
        SpecError: If it cannot be read, has keys that are not known, or values that do not fit.
    """
    path = path_of("path", path, SpecError)
    values = read_toml(path)
    check_keys(values, {one.name for one in fields(SweepSpec)} | {"data", "forward"}, str(path))
    return make_spec(values, path.parent)


def make_spec(values: Mapping[str, Any], folder: Path) -> SweepSpec:
    """Make a spec of the plain values of a file."""
    given = dict(values)
    names = {"data", "forward"} & set(given)
    shared = {name: given.pop(name) for name in names}
    given["models"] = tuple(_models(given.get("models", []), shared, folder))
    if "seeds" in given:
        seeds = given["seeds"]
        counted = isinstance(seeds, int) and whole_number("seeds", seeds, 1, MOST)
        given["seeds"] = tuple(range(counted) if counted else _list(seeds, "seeds", WHICH))
    if "targets" in given:
        given["targets"] = tuple(str(target) for target in _list(given["targets"], "targets"))
    if "recipes" in given:
        given["recipes"] = tuple(load_recipe(r, folder) for r in _list(given["recipes"], "recipes"))
    return SweepSpec(**given)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(read_file(path, MOST_BYTES).decode("utf-8"))
    except OSError as error:
        raise SpecError(f"cannot read {path} ({error.strerror}); give a TOML file") from error
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{path} is no TOML: {error}") from error


def check_keys(values: Mapping[str, Any], known: set[str], where: str) -> None:
    """Refuse keys that are not known."""
    unknown = sorted(set(values) - known)
    if unknown:
        raise SpecError(
            f"{where} has the unknown key {unknown[0]!r}; the keys are {', '.join(sorted(known))}"
        )


def _list(value: Any, name: str, what: str = "a list") -> list[Any]:
    if not isinstance(value, list):
        raise SpecError(f"{name} must be {what} (got {value!r:.60})")
    return value


def _models(given: Any, shared: Mapping[str, Any], folder: Path) -> Iterator[ModelSource]:
    for one in _list(given, "models"):
        table = {"model": one} if isinstance(one, str) else one
        if not isinstance(table, Mapping) or not isinstance(table.get("model"), str):
            raise SpecError(f"each of models must be a name or a table with 'model' (got {one!r})")
        check_keys(table, {"model", "checkpoints", "data", "forward"}, "a table of models")
        rest = {**shared, **{key: table[key] for key in ("data", "forward") if key in table}}
        if "checkpoints" in table:
            for pattern in _list(table["checkpoints"], "checkpoints"):
                for path in _files(pattern, folder):
                    yield ModelSource(table["model"], path, **rest)
        elif Path(table["model"]).suffix in ENDINGS:
            for path in _files(table["model"], folder):
                yield ModelSource(path, **rest)
        elif glob.has_magic(table["model"]):
            raise SpecError(
                f"the pattern {table['model']!r} of models must end in {' or '.join(ENDINGS)}; "
                "other files are checkpoints of a table, beside the function that loads them"
            )
        else:
            yield ModelSource(table["model"], **rest)


def _files(pattern: Any, folder: Path) -> list[str]:
    """Files of a pattern, absolute; a plain path may be missing, which only its jobs suffer for."""
    if not isinstance(pattern, str) or "\0" in pattern:
        raise SpecError(f"checkpoints must be paths or patterns of paths (got {pattern!r:.60})")
    whole = str((folder / pattern).absolute())
    if not glob.has_magic(pattern):
        return [whole]
    found = sorted(glob.glob(whole, recursive=True))
    if not found:
        raise SpecError(f"no file fits the pattern {pattern!r} of models (looked in {folder})")
    return found
