"""Commands that are killed and given again: at every rename, and at any moment.

``python -m tests.killing '{COMMAND: [POINTS, KILLS]}'`` runs small versions of commands: each
undisturbed; then for each of some renames once more, killed just before it, and again to the end;
then killed at moments drawn by chance. What is on disk in the end has to be the same, byte for
byte. It prints what it did as JSON. All of it in processes forked from this one, so that nothing is
imported twice.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import torch

HERE = Path(__file__).parent
OWN = ("lab:model", "--data", "lab:graphs", "--restarts", "1", "--iterations", "5", "--quiet")
# Imported once, before anything is forked.
LOADED = (
    "gnninterpreter.audit",
    "gnninterpreter.cli.app",
    "gnninterpreter.cli.output",
    "gnninterpreter.references",
    "gnninterpreter.experiments.paper.work.classifying",
    "gnninterpreter.experiments.robustness",
    "gnninterpreter.report",
    "gnninterpreter.sweep",
    "gnninterpreter.training.recipes",
    "pandas",
)
RENAMES = ("replace", "rename")


def _train(out: Path) -> list[str]:
    from gnninterpreter.training import recipes

    whole = recipes.training_recipe("is_acyclic")
    short = replace(whole, config=replace(whole.config, max_epochs=3, warmup=1, patience=5))
    recipes.training_recipe = lambda name: short
    return ["train", "is_acyclic", "--out", f"{out}", "--root", f"{out.parent / 'data'}"]


def _bench(out: Path) -> list[str]:
    from gnninterpreter.experiments.robustness import compute
    from tests.experiments.robustness.test_robustness import RUN

    compute.explain_once = lambda **given: {"row": asdict(replace(RUN, **given))}
    return ["bench", "robustness", "--models=mutag", "--seeds=2", f"--out={out / 'runs.json'}"]


def _sweep(out: Path) -> list[str]:
    from gnninterpreter import sweep
    from tests.sweep.conftest import write_file

    sweep.make_workers = lambda *given: 1
    file = write_file(out.parent, 3)
    return ["sweep", f"{file}", "--out", f"{out}", "--quiet"]


COMMANDS: dict[str, Callable[[Path], list[str]]] = {
    "explain": lambda out: ["explain", *OWN, "--out", f"{out}"],
    "overwrite": lambda out: ["explain", *OWN, "--out", f"{out}", "--overwrite"],
    "audit": lambda out: ["audit", *OWN, "--hosts", "2", "--out", f"{out}"],
    "train": _train,
    "bench": _bench,
    "paper": lambda out: ["paper", "classifiers", "--quick", "--quiet", "--out", f"{out}"],
    "sweep": _sweep,
}


def run(name: str, out: Path, die_at: int | None = None) -> int:
    """Start a command in a process of its own, to die just before a rename; return its number."""
    child = os.fork()
    if child:
        return child
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        # What took how long would differ.
        time.perf_counter = time.process_time = time.monotonic = lambda: 0.0
        seen = 0

        def counted(rename: Callable[..., None]) -> Callable[..., None]:
            def instead(*arguments: object, **more: object) -> None:
                nonlocal seen
                if seen == die_at:
                    os._exit(137)
                seen += 1
                rename(*arguments, **more)

            return instead

        for rename in RENAMES:
            setattr(os, rename, counted(getattr(os, rename)))
        from gnninterpreter.cli.app import app

        try:
            app(COMMANDS[name](out), standalone_mode=False)
        finally:
            (out.parent / f"{out.name}.renames").write_text(str(seen))
        os._exit(0)
    except BaseException as error:
        (out.parent / f"{out.name}.error").write_text(repr(error))
        os._exit(1)


def ended(child: int) -> int:
    """Wait for a process, and return how it ended."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def content(out: Path) -> dict[str, bytes]:
    """Every file in a folder and beside it, but for what a killed writer may leave behind."""
    beside = [path for path in out.parent.glob(f".{out.name}.*") if path.is_dir()]
    files = [path for place in (out, *beside) for path in sorted(place.rglob("*"))]
    return {
        str(path.relative_to(out.parent)).replace(out.name, "OUT"): said_by(path)
        for path in files
        if path.is_file() and path.suffix != ".tmp"
    }


def said_by(path: Path) -> bytes:
    """What a file holds, but for where and when a part of a sweep was made."""
    if path.suffix != ".parquet":
        return path.read_bytes()
    import pyarrow.parquet as pq

    from tests.sweep.test_cluster import FREE

    return repr(pq.read_table(path).drop_columns(list(FREE)).to_pylist()).encode()


def differences(folder: Path, name: str, out: Path, reference: dict[str, bytes]) -> list[str]:
    """Give a command again that was killed, and say in which files it came to something else."""
    code = ended(run(name, out))
    found = content(out)
    # A run that was whole when it was killed is not made again.
    refused = code == 1 and name in ("explain", "audit")
    wrong = [f"exit code {code}"] if code and not (refused and found == reference) else []
    wrong += [path for path in {**reference, **found} if reference.get(path) != found.get(path)]
    return wrong


def main(name: str, points: int, kills: int) -> dict[str, object]:
    """Kill a command at as many renames, evenly chosen, and at as many moments."""
    chance, failures = random.Random(0), {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def begin(label: str) -> Path:
            if name == "overwrite":  # another run is there already
                shutil.copytree(folder / "before", folder / label)
            return folder / label

        if name == "overwrite":
            assert ended(run("explain", folder / "before")) == 0
        assert ended(run(name, begin("warm"))) == 0, (folder / "warm.error").read_text()
        started = time.monotonic()
        assert ended(run(name, begin("whole"))) == 0
        taken = time.monotonic() - started
        reference = content(folder / "whole")
        renames = int((folder / "whole.renames").read_text())
        assert content(folder / "warm") == reference, "undisturbed runs differ"
        chosen = sorted({int((i + 0.5) * renames / points) for i in range(points)})
        for point in chosen:
            out = begin(f"point{point}")
            assert ended(run(name, out, die_at=point)) == 137
            if wrong := differences(folder, name, out, reference):
                failures[f"rename {point}"] = wrong
        for number in range(kills):
            out, moment = begin(f"kill{number}"), chance.random() * taken
            child = run(name, out)
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
            ended(child)
            if wrong := differences(folder, name, out, reference):
                failures[f"kill after {moment:.2f} of {taken:.2f} s"] = wrong
    return {"renames": renames, "points": len(chosen), "kills": kills, "failures": failures}


if __name__ == "__main__":
    torch.set_num_threads(1)
    for module in LOADED:
        importlib.import_module(module)
    from gnninterpreter.search import Recipe
    from tests.tiny import quick_auto

    Recipe.auto = staticmethod(quick_auto)
    os.chdir(HERE / "cli")
    sys.path.insert(0, str(HERE / "cli"))
    wanted = json.loads(sys.argv[1])
    print(json.dumps({name: main(name, *numbers) for name, numbers in wanted.items()}))
