"""Tuning: settings of a recipe by Optuna, the modern form of the paper's grid search.

Trials run through the same engine and store as sweeps, so that a run that was killed goes on where
it was.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnninterpreter.arguments import path_of, real_number, whole_number
from gnninterpreter.errors import CheckpointError, GNNInterpreterError, SpecError, needs
from gnninterpreter.files import read_file, writing
from gnninterpreter.fingerprints import digest_of
from gnninterpreter.parallel import Processes, Workers
from gnninterpreter.search import Recipe
from gnninterpreter.search.serialization import to_plain
from gnninterpreter.sweep.jobs import jobs_of
from gnninterpreter.sweep.results import Results
from gnninterpreter.sweep.run import run_sweep
from gnninterpreter.sweep.spec import (
    SweepSpec,
    change_recipe,
    check_keys,
    load_recipe,
    make_spec,
    read_toml,
)

if TYPE_CHECKING:
    import optuna

__all__ = ["Trial", "TuneSpec", "read_tuning", "score", "tune"]

JOURNAL = "journal.log"
ROWS = "results"
JUDGED = ("status", "certain", "typicality", "cpu_seconds", "error")
BASE = -1
# Numpy, from which Optuna draws, takes no larger ones; each trial adds one.
MOST_SEED = 2**31
# Certainty and typicality count in steps of a hundredth, below which the next decides.
STEP = 0.01


@dataclass(frozen=True)
class Trial:
    """One recipe that was tried: what was changed, and what it came to over all jobs.

    That is the share of restarts whose graph the model is certain of, the mean percentile of the
    graphs among real ones (None where that is not known), the mean processor seconds of a job, and
    all three as one number, see `score`.
    """

    number: int
    settings: Mapping[str, Any]
    certain: float
    typicality: float | None
    seconds: float
    value: float


@dataclass(frozen=True)
class TuneSpec:
    """What to tune: the recipe to begin with, and what every recipe is tried on.

    Args:
        space: Ranges by setting; a dotted name is a phase's or a term's, see `change_recipe`. A
            list gives choices, ``{low, high}`` a range, with ``log = true`` on a log scale.
        trials: How many recipes to try, so many of them together.
    """

    sweep: SweepSpec
    base: Recipe
    space: Mapping[str, Any]
    trials: int = 20
    together: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        """Check every rule once, here."""
        if not isinstance(self.space, Mapping) or not self.space:
            raise SpecError("[space] must name at least one setting of the recipe")
        for name in ("trials", "together"):
            whole_number(name, getattr(self, name), 1)
        whole_number("seed", self.seed, 0, MOST_SEED)
        for name, given in self.space.items():
            if isinstance(given, Mapping):
                check_keys(given, {"low", "high", "log"}, f"space.{name}")
                for end in ("low", "high"):
                    real_number(f"space.{name}.{end}", given.get(end))
                ends = [given["low"], given["high"]]  # as they came: some are whole numbers
                if not ends[0] < ends[1]:
                    raise SpecError(f"space.{name} must have a low below its high (got {given!r})")
                if not isinstance(given.get("log", False), bool):
                    raise SpecError(
                        f"space.{name}.log must be true or false (got {given['log']!r})"
                    )
                if given.get("log") and not ends[0] > 0:
                    raise SpecError(f"space.{name} needs a low above 0 for log (got {given!r})")
            elif isinstance(given, list) and given:
                ends = given
            else:
                raise SpecError(
                    f"space.{name} must be a list of choices, or {{ low, high }} (got {given!r})"
                )
            for end in ends:  # A setting that is not there, or out of bounds, is told at once.
                change_recipe(self.base, nested({name: end}))


def read_tuning(path: Path) -> TuneSpec:
    """Read a file of what to tune: the keys of a sweep, and those of `TuneSpec`.

    Raises:
        SpecError: If it cannot be read, has keys that are not known, or values that do not fit.
    """
    path = path_of("path", path, SpecError)
    values = read_toml(path)
    own = {one.name for one in fields(TuneSpec)} - {"sweep"}
    shared = {one.name for one in fields(SweepSpec)} - {"kind", "recipes"} | {"data", "forward"}
    check_keys(values, own | shared, str(path))
    base = load_recipe(values.pop("base", "auto"), path.parent)
    if not isinstance(base, Recipe):
        raise SpecError("base must be 'auto', 'certain' or a file; 'paper' has settings of its own")
    given = {name: values.pop(name) for name in own & set(values)}
    space = given.pop("space", {})
    flat = dict(_flat(space)) if isinstance(space, Mapping) else space
    return TuneSpec(make_spec(values, path.parent), base, flat, **given)


def tune(
    spec: TuneSpec,
    folder: Path,
    workers: Callable[[], Workers] | int = 1,
    tell: Callable[[Trial], None] = lambda trial: None,
) -> tuple[Recipe, Trial, Trial]:
    """Try recipes, and return the best with what it came to, and what the base came to.

    May be killed at any point and called again: trials lie in a journal of Optuna's in the folder,
    and what they computed is stored as a sweep stores it. ``tell`` is called with each trial that
    is done.

    Raises:
        OutputError: If the folder cannot be written, or another run writes to it.
        SpecError: If the base gave no result.
    """
    with Results(folder).only_writer():  # A second run would take over trials of the first.
        return _tuned(spec, folder, workers, tell)


def _tuned(
    spec: TuneSpec,
    folder: Path,
    workers: Callable[[], Workers] | int,
    tell: Callable[[Trial], None],
) -> tuple[Recipe, Trial, Trial]:
    study = _study(spec, folder)
    made = workers() if callable(workers) else Processes(workers)
    try:
        (base,) = _run(spec, folder, made, {BASE: {}}, again=True)
        if base.value < 0:
            rows = Results(folder / ROWS).table(["error"])
            raise SpecError(f"base gave no result; the last error was: {rows['error'][-1]}")
        while (left := spec.trials - sum(t.state.name == "COMPLETE" for t in study.trials)) > 0:
            asked = [study.ask() for _ in range(min(left, spec.together))]
            drawn = {one.number: _suggested(one, spec.space) for one in asked}
            for trial, found in zip(asked, _run(spec, folder, made, drawn), strict=True):
                study.tell(trial, found.value)
                tell(found)
        (found,) = _run(spec, folder, made, _best(study, folder))  # which is stored by now
    finally:
        made.close(at_once=True)
    if base.value >= found.value:
        return spec.base, base, base
    tuned = change_recipe(spec.base, nested(found.settings))
    return replace(tuned, name=f"{spec.base.name}, tuned"), found, base


def _best(study: optuna.Study, folder: Path) -> dict[int, dict[str, Any]]:
    """The settings of the best trial, by its number."""
    with _readable(folder / JOURNAL):
        best = study.best_trial
        return {best.number: best.params}


def _run(
    spec: TuneSpec,
    folder: Path,
    workers: Workers,
    drawn: Mapping[int, Mapping[str, Any]],
    again: bool = False,
) -> list[Trial]:
    """Try recipes together, settings by number; what is stored of them is not computed again."""
    sweep = spec.sweep
    recipes = [change_recipe(spec.base, nested(settings)) for settings in drawn.values()]
    sweeps = [list(jobs_of(replace(sweep, recipes=(recipe,)))) for recipe in recipes]
    every = [job for jobs in sweeps for job in jobs]
    run_sweep(
        every,
        folder / ROWS,
        workers,
        retries=sweep.retries,
        timeout=sweep.timeout,
        again=again,
        keep=True,
    )
    rows = {row["key"]: row for row in Results(folder / ROWS).table(JUDGED).to_pylist()}
    return [
        _judged(number, settings, [rows[job.key] for job in jobs])
        for (number, settings), jobs in zip(drawn.items(), sweeps, strict=True)
    ]


def score(certain: float, typicality: float | None, seconds: float) -> float:
    """Certainty first, then typicality, then time, as one number to be as large as can be.

    A hundredth in the share of restarts that are certain outweighs all typicality, and a hundredth
    of typicality all time.

    Example:
        >>> score(1.0, 50.0, 2.0) > score(0.99, 100.0, 0.1)
        True
        >>> score(1.0, 50.0, 2.0) > score(1.0, 50.0, 3.0)
        True
    """
    typical = round((typicality or 0.0) / 100 / STEP) * STEP
    return round(certain / STEP) * 2.0 + typical + STEP * 0.99 / (1.0 + seconds)


def nested(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by dotted names as tables: ``{"a.b": 1}`` becomes ``{"a": {"b": 1}}``."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        group, dot, part = name.rpartition(".")
        if dot:
            found.setdefault(group, {})[part] = value
        else:
            found[name] = value
    return found


def _flat(space: Mapping[str, Any], group: str = "") -> Iterator[tuple[str, Any]]:
    for name, given in space.items():
        if isinstance(given, Mapping) and "low" not in given and "high" not in given:
            yield from _flat(given, f"{group}{name}.")
        else:
            yield f"{group}{name}", given


def _suggested(trial: optuna.Trial, space: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, given in space.items():
        if isinstance(given, list):
            found[name] = trial.suggest_categorical(name, given)
            continue
        low, high, log = given["low"], given["high"], bool(given.get("log", False))
        whole = isinstance(low, int) and isinstance(high, int)
        draw = trial.suggest_int if whole else trial.suggest_float
        found[name] = draw(name, low, high, log=log)
    return found


def _judged(number: int, settings: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Trial:
    done = [row for row in rows if row["status"] == "done"]
    if not done:
        return Trial(number, settings, 0.0, None, 0.0, -1.0)
    certain = sum(row["certain"] for row in done) / len(rows)
    placed = [row["typicality"] for row in done if row["typicality"] is not None]
    typicality = sum(placed) / len(placed) if placed else None
    seconds = sum(row["cpu_seconds"] for row in done) / len(done)
    return Trial(
        number, settings, certain, typicality, seconds, score(certain, typicality, seconds)
    )


def _study(spec: TuneSpec, folder: Path) -> optuna.Study:
    """The study of a folder; trials that a killed run left open are asked for again."""
    with needs("optuna", "tune", "tuning"):
        import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    asked = [to_plain(spec.sweep), to_plain(spec.base), dict(spec.space)]
    journal = folder / JOURNAL
    with _readable(journal):
        with writing(folder):
            if journal.exists():
                read_file(journal)
            storage = JournalStorage(JournalFileBackend(str(journal)))
        study = optuna.create_study(
            storage=storage,
            # Another file begins another study in the same journal.
            study_name=digest_of([json.dumps(asked, sort_keys=True).encode()]),
            direction="maximize",
            load_if_exists=True,
        )
        # A study that goes on must not draw again what it has drawn.
        study.sampler = optuna.samplers.TPESampler(seed=spec.seed + len(study.trials))
        for trial in study.get_trials(states=(optuna.trial.TrialState.RUNNING,)):
            study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
            study.enqueue_trial(trial.params)
    return study


@contextmanager
def _readable(journal: Path) -> Iterator[None]:
    """Whatever Optuna makes of a damaged journal becomes one sentence."""
    try:
        yield
    except (GNNInterpreterError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise CheckpointError(
            f"{journal} is damaged ({type(error).__name__}: {error!s:.80}); take it away, results "
            "stay stored beside it"
        ) from error
