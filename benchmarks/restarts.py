"""Many restarts at once, above all on a GPU: seconds of a search by phase, how busy the GPU is.

Usage:
    python benchmarks/restarts.py --restarts 1000 10000 [--watch] [--models motif]
    python benchmarks/restarts.py --restarts 1000 --models motif --processes 3

A model's first search sets things up and is not counted. How busy the GPU is, the driver tells
(``utilization``: share of the time in which a kernel ran, in samples); with ``--watch`` a second
search of each model's first class is watched by the profiler (``kernel_seconds``: seconds in which
a kernel or copy ran). With ``--processes`` as many search for all classes side by side, as in a
sweep. Results are added to benchmarks/results/speed/restarts-DEVICE.json as they come.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent
# Seconds between two looks at how busy the GPU is.
LOOK_EVERY = 0.05


def loaded(name: str, device: str) -> tuple[Any, Any]:
    """A relaxed model and its bundle, with a search behind it."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.relax import RelaxedModel

    bundle = models.load(name)
    model = RelaxedModel(GraphClassifier(bundle.model.to(device), bundle.spec))
    searched(model, bundle, 0, 16)
    return model, bundle


def searched(model: Any, bundle: Any, target: int, restarts: int) -> tuple[float, Any]:
    """Search for one class; seconds by the clock, and what was found."""
    from gnninterpreter.objective import ClassTarget
    from gnninterpreter.search import Recipe, search

    asked = ClassTarget(target, bundle.spec.class_names[target])
    began = time.perf_counter()
    with model.session():
        found = search(
            model.classifier, model, bundle.statistics, asked, Recipe.auto(), restarts, 0
        )
    if model.classifier.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began, found


def row_of(took: float, found: Any, seen: dict[str, Any]) -> dict[str, Any]:
    """What is written down."""
    return {
        "class": found.target.name, "restarts": len(found.reasons),
        "seconds": round(took, 3), **seen,
        "phases": {k: round(v, 3) for k, v in found.phase_seconds.items() if v > 0.002},
        "good": int((found.mean_score >= 0.99).sum()), "met": int(found.evaluation.met.sum()),
        "edges": round(float(found.evaluation.edges.mean()), 2),
        "population": 0 if found.population is None else len(found.population),
    }  # fmt: skip


class _Rates(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


def looked_at(run: Callable[[], tuple[float, Any]]) -> tuple[float, Any, dict[str, Any]]:
    """Run, and ask the driver meanwhile how busy the GPU is; nothing where there is none."""
    try:
        driver, handle = ctypes.CDLL("libnvidia-ml.so.1"), ctypes.c_void_p()
    except OSError:
        return *run(), {}
    driver.nvmlInit_v2()
    driver.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle))
    rates, percent, done = _Rates(), [], threading.Event()

    def look() -> None:
        while not done.wait(LOOK_EVERY):
            if driver.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(rates)) == 0:
                percent.append(rates.gpu)

    looking = threading.Thread(target=look)
    looking.start()
    took, found = run()
    done.set()
    looking.join()
    share = sum(percent) / max(len(percent), 1) / 100
    return took, found, {"utilization": round(share, 3)}


def watched(run: Callable[[], tuple[float, Any]]) -> dict[str, Any]:
    """Run under the profiler: seconds in which a kernel or copy ran on the GPU, and their number.

    Kernels that run side by side count once.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        took, _ = run()
    on_gpu = torch.autograd.DeviceType.CUDA
    events = recorded.profiler.kineto_results.events()
    spans = [(e.start_ns(), e.duration_ns()) for e in events if e.device_type() == on_gpu]
    busy, end = 0, 0
    for start, duration in sorted(spans):
        busy += max(start + duration - max(start, end), 0)
        end = max(end, start + duration)
    return {
        "kernel_seconds": round(busy / 1e9, 3), "kernels": len(spans),
        "watched_seconds": round(took, 3),
    }  # fmt: skip


def one_of_several(name: str, device: str, restarts: int, begin: Any, done: Any) -> None:
    """Search for all classes of a model, when all others are ready too."""
    model, bundle = loaded(name, device)
    begin.wait()
    began = time.time()
    for target in range(bundle.spec.num_classes):
        searched(model, bundle, target, restarts)
    done.put((began, time.time(), bundle.spec.num_classes))


def side_by_side(name: str, device: str, restarts: int, processes: int) -> dict[str, Any]:
    """Seconds a class where several processes share the GPU."""
    context = multiprocessing.get_context("spawn")
    begin, done = context.Barrier(processes), context.Queue()
    asked = (name, device, restarts, begin, done)
    running = [context.Process(target=one_of_several, args=asked) for _ in range(processes)]
    for process in running:
        process.start()
    began, ended, classes = zip(*(done.get() for _ in running), strict=True)
    for process in running:
        process.join()
    took = max(ended) - min(began)
    return {
        "model": name, "class": "all", "restarts": restarts, "processes": processes,
        "searches": sum(classes), "seconds": round(took / sum(classes), 3),
    }  # fmt: skip


def main() -> None:
    """Measure, and write down."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", nargs="+", default=list(BUNDLED))
    parser.add_argument("--restarts", type=int, nargs="+", default=[1000])
    parser.add_argument("--classes", type=int, default=99, help="at most so many of each model")
    parser.add_argument("--watch", action="store_true", help="first classes under the profiler too")
    parser.add_argument("--processes", type=int, default=1, help="so many side by side")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"restarts-{given.device}.json"
    rows = json.loads(path.read_text())["found"] if path.exists() else []

    def write(row: dict[str, Any]) -> None:
        rows.append(row)
        print(json.dumps(row), flush=True)
        path.write_text(json.dumps({"torch": torch.__version__, "found": rows}, indent=1) + "\n")

    for name in given.models:
        if given.processes > 1:
            for restarts in given.restarts:
                write(side_by_side(name, given.device, restarts, given.processes))
            continue
        model, bundle = loaded(name, given.device)
        for restarts in given.restarts:
            for target in range(min(given.classes, bundle.spec.num_classes)):
                run = partial(searched, model, bundle, target, restarts)
                took, found, seen = looked_at(run)
                if given.watch and target == 0:
                    seen |= watched(run)
                    seen["busy"] = round(seen["kernel_seconds"] / took, 3)
                write({"model": name, **row_of(took, found, seen)})


if __name__ == "__main__":
    main()
