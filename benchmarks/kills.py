"""Commands that are killed (SIGKILL) and given again come to what they come to undisturbed.

    python benchmarks/kills.py                                  # all, about an hour
    python benchmarks/kills.py explain sweep --moments 5
    python benchmarks/kills.py cluster

Small versions of commands run undisturbed; then once for each rename of a file, killed just before
it; then killed at moments drawn by chance; each time given again. What is on disk in the end has to
be the same, byte for byte. All of it in processes forked from this one, so that nothing is imported
twice. "overwrite" is ``explain --overwrite`` where another run lies already.

"cluster" is a sweep of 200 jobs on a local Ray cluster of three nodes, of which a worker, a node
and the driver are killed; every row is compared with a run without Ray. It also measures what the
plan in docs/sweeps.md is made of: seconds a job, overhead of Ray a job, bytes a row.

Rows go to results/kills.json; those of other commands stay there.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).parent.parent
PATHS = [str(path) for path in (ROOT / "src", ROOT, ROOT / "tests" / "cli")]
OUT = ROOT / "benchmarks" / "results" / "kills.json"
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
CHECKPOINTS, SEEDS = 10, 20  # of the sweep on a cluster
PATIENCE = 900.0


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


def differences(name: str, out: Path, reference: dict[str, bytes]) -> list[str]:
    """Give a command again that was killed, and say in which files it came to something else."""
    code = ended(run(name, out))
    found = content(out)
    # A run that was whole when it was killed is not made again.
    refused = code == 1 and name in ("explain", "audit")
    wrong = [f"exit code {code}"] if code and not (refused and found == reference) else []
    wrong += [path for path in {**reference, **found} if reference.get(path) != found.get(path)]
    return wrong


def killed(name: str, points: int, moments: int) -> dict[str, Any]:
    """Kill a command at as many renames, evenly chosen, and at as many moments."""
    chance, failures, met = random.Random(0), {}, 0
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
            if wrong := differences(name, out, reference):
                failures[f"rename {point}"] = wrong
        tried = 0
        while met < moments and tried < 5 * moments:  # what is over sooner was not killed
            out, moment = begin(f"kill{tried}"), chance.random() * taken
            tried += 1
            child = run(name, out)
            time.sleep(moment)
            os.kill(child, signal.SIGKILL)
            met += ended(child) == -signal.SIGKILL
            if wrong := differences(name, out, reference):
                failures[f"kill after {moment:.2f} of {taken:.2f} s"] = wrong
    return {
        "files compared": len(reference),
        "renames": renames,
        "killed at a rename": len(chosen),
        "killed at a moment": met,
        "over before its moment": tried - met,
        "seconds undisturbed": round(taken, 1),
        "failures": failures,
    }


def until(count: int, out: Path, driver: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """Wait until so many jobs are stored."""
    from gnninterpreter.sweep import read_results

    end = time.monotonic() + PATIENCE
    while len(rows := read_results(out).to_pylist()) < count:
        if time.monotonic() > end or driver.poll() is not None:
            raise SystemExit(f"waited in vain for {count} jobs")
        time.sleep(0.1)
    return rows


def disturbed(file: Path, out: Path, total: int) -> dict[str, Any]:
    """The sweep with a worker, a node and the driver killed."""
    from ray.cluster_utils import Cluster

    from gnninterpreter.sweep import read_results
    from tests.sweep.test_cluster import begin

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    others = [cluster.add_node(**size) for _ in range(2)]
    started = time.monotonic()
    driver = begin(file, out, cluster.address)
    try:
        os.kill(until(total // 5, out, driver)[-1]["process"], signal.SIGKILL)
        until(2 * total // 5, out, driver)
        cluster.remove_node(others[0], allow_graceful=False)
        until(3 * total // 5, out, driver)
    finally:
        driver.kill()
        driver.wait()
    before = {row["key"]: row["finished"] for row in read_results(out).to_pylist()}
    status = begin(file, out, cluster.address).wait(PATIENCE)
    seconds = time.monotonic() - started
    cluster.shutdown()
    after = {row["key"]: row for row in read_results(out).to_pylist()}
    return {
        "exit": status,
        "stored when the driver was killed": len(before),
        "of these made again": sum(after[key]["finished"] != before[key] for key in before),
        "jobs that took more than one try": sum(row["tries"] > 1 for row in after.values()),
        "rows": len(after),
        "seconds": round(seconds, 1),
    }


def nothing(number: int) -> int:
    return number


def overhead(jobs: int = 1000) -> float:
    """Milliseconds that Ray adds to a job: jobs that do nothing, on one worker."""
    from gnninterpreter.parallel import run_jobs
    from gnninterpreter.sweep import RayWorkers

    done = iter(run_jobs(nothing, range(jobs + 50), RayWorkers(jobs=1)))
    count = 0
    while count < 50:  # until the worker is there
        count += len(next(done))
    started, first = time.perf_counter(), count
    count += sum(len(batch) for batch in done)
    return 1000 * (time.perf_counter() - started) / (count - first)


def clustered() -> dict[str, Any]:
    """A sweep on a cluster, with kills, and what it costs."""
    from gnninterpreter.sweep import jobs_of, read_results, read_sweep, run_sweep
    from gnninterpreter.sweep.results import Results
    from tests.sweep.conftest import write_file
    from tests.sweep.test_cluster import rows_of

    total = CHECKPOINTS * SEEDS
    found: dict[str, Any] = {"jobs": total, "nodes": 3, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = write_file(folder, SEEDS, CHECKPOINTS)
        jobs = list(jobs_of(read_sweep(file)))  # reads the code of the package, once
        started = time.perf_counter()
        list(jobs_of(read_sweep(file)))
        listing = time.perf_counter() - started
        started, cpu = time.perf_counter(), time.process_time()
        run_sweep(jobs, folder / "alone")
        found["seconds undisturbed, one process"] = round(time.perf_counter() - started, 1)
        used = time.process_time() - cpu
        taken = sum(read_results(folder / "alone")["cpu_seconds"].to_pylist())
        alone = Results(folder / "alone")
        alone.join(0)
        size = sum(path.stat().st_size for path in alone.parts())
        found |= {
            "processor seconds undisturbed": round(used, 1),
            "processor milliseconds a job outside the job": round(1000 * (used - taken) / total, 2),
            "milliseconds to list a job": round(1000 * listing / total, 3),
            "bytes a row, joined": round(size / total),
            "killed worker, node and driver": disturbed(file, folder / "out", total),
            "same rows as undisturbed": rows_of(folder / "out") == rows_of(folder / "alone"),
            "milliseconds of Ray a job": round(overhead(), 2),
        }
    return found | {"python": platform.python_version()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [*COMMANDS, "cluster"]
    parser.add_argument("which", nargs="*", default=every, help=", ".join(every))
    parser.add_argument("--renames", type=int, default=1000, help="at most so many of them")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--out", type=Path, default=OUT)
    asked = parser.parse_args()
    if unknown := set(asked.which) - set(every):
        parser.error(f"there are {', '.join(every)} (got {', '.join(sorted(unknown))})")
    out = asked.out.absolute()
    sys.path[:0] = PATHS
    os.environ["PYTHONPATH"] = os.pathsep.join(PATHS)
    torch.set_num_threads(1)
    for module in LOADED:
        importlib.import_module(module)
    from gnninterpreter.files import write_atomically
    from gnninterpreter.search import Recipe
    from tests.tiny import quick_auto

    whole = Recipe.auto
    failures = 0
    for name in asked.which:
        # The workers of a cluster search as anybody does, so what they are compared with does, too.
        Recipe.auto = whole if name == "cluster" else staticmethod(quick_auto)
        # A cluster comes last: whoever forks must have no threads.
        row = clustered() if name == "cluster" else killed(name, asked.renames, asked.moments)
        print(name, json.dumps(row, indent=1), flush=True)
        failures += bool(row.get("failures")) or not row.get("same rows as undisturbed", True)
        rows = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {}
        write_atomically(out, json.dumps(rows | {name: row}, indent=1).encode())
    sys.exit(failures and f"{failures} of {len(asked.which)} came to something else")


if __name__ == "__main__":
    main()
