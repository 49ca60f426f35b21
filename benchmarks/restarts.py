"""Many restarts at once, above all on a GPU: seconds of a search by phase, how busy the GPU is.

Usage:
    python benchmarks/restarts.py --restarts 1000 10000 [--watch] [--models motif]
    python benchmarks/restarts.py --restarts 1000 --together --watch
    python benchmarks/restarts.py --restarts 1000 --models motif --processes 3
    python benchmarks/restarts.py --restarts 8 --device pretended [--together]

A first search of so many restarts sets things up: ``first`` is its seconds, ``seconds`` the median
of ``--times`` more, ``each`` of them. How busy the GPU is, the driver tells (``utilization``: share
of the time in which a kernel ran, in samples). With ``--watch`` the profiler watches one more
search of each model's first class (``kernel_seconds``: seconds in which a kernel or copy ran);
``busy`` is their share of the seconds of a search that is not watched. That comes last of all: a
process that has used the profiler once asks its GPU for everything more slowly from then on.

With ``--together`` all classes of a model are one batch as far as they can be, and seconds are
those of a class. With ``--processes`` as many search for all classes side by side, as in a sweep.
Where there is no GPU, a pretended one counts what the host asks it for, a class (``operations``:
recorded steps count once before, once while they are recorded and one for each time they are
replayed), and how often it waits. Results are added to
benchmarks/results/speed/restarts-DEVICE.json as they come.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from speed import BUNDLED
from torch.utils._python_dispatch import TorchDispatchMode

HERE = Path(__file__).parent
# Seconds between two looks at how busy the GPU is.
LOOK_EVERY = 0.05
SECONDS = ("seconds", "first", "each", "phases")
# They only read a tensor in another way, and ask the GPU for nothing.
VIEWS = {
    "_unsafe_view", "alias", "as_strided", "detach", "diagonal", "expand", "permute", "select",
    "slice", "split", "split_with_sizes", "squeeze", "t", "transpose", "unbind", "unsqueeze",
    "view",
}  # fmt: skip


def loaded(name: str, device: str) -> tuple[Any, Any, list[Any]]:
    """A relaxed model, what is known of real graphs, and its targets; with a search behind it."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.objective.asking import targets_of
    from gnninterpreter.relax import RelaxedModel

    bundle = models.load(name)
    bundle.model.to(device)
    classifier = GraphClassifier(bundle, bundle.spec)
    targets = targets_of(None, classifier.spec, classifier.task, bundle.statistics)
    model = RelaxedModel(classifier)
    searched(model, bundle.statistics, targets[:1], 16)
    return model, bundle.statistics, targets


def searched(
    model: Any, statistics: Any, targets: list[Any], restarts: int
) -> tuple[float, list[Any]]:
    """Search for targets, together as far as they can be; seconds, and what was found."""
    from gnninterpreter.search import Recipe, groups, search_together

    wanted, found = [(target, Recipe.auto()) for target in targets], []
    began = time.perf_counter()
    with model.session():
        for group in groups(model.classifier, statistics, wanted):
            asked, recipe = [target for target, _ in group], group[0][1]
            found += search_together(
                model.classifier, model, statistics, asked, recipe, restarts, seed=0
            )
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter() - began, found


def row_of(
    took: float, found: list[Any], seen: dict[str, Any], first: float, each: list[float]
) -> dict[str, Any]:
    """What is written down; numbers are those of a class."""
    count = len(found)

    def mean(read: Callable[[Any], float]) -> float:
        return sum(map(read, found)) / count

    seconds = [one.phase_seconds for one in found]
    phases = {name: sum(each[name] for each in seconds) / count for name in seconds[0]}
    return {
        "class": ", ".join(one.target.name for one in found), "restarts": len(found[0].reasons),
        "seconds": round(took / count, 3), "first": round(first / count, 3),
        "each": [round(one / count, 3) for one in each], **seen,
        "phases": {name: round(part, 3) for name, part in phases.items() if part > 0.002},
        "good": mean(lambda one: int((one.mean_score >= one.certain).sum())),
        "met": mean(lambda one: int(one.evaluation.met.sum())),
        "edges": round(mean(lambda one: float(one.evaluation.edges.mean())), 2),
        "population": mean(lambda one: 0 if one.population is None else len(one.population)),
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


class _Asked(TorchDispatchMode):
    """Counts what the host asks for, but for what a replayed step does."""

    def __init__(self, gpu: Any) -> None:
        super().__init__()
        self.gpu, self.operations = gpu, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ not in VIEWS and not self.gpu.replaying:
            self.operations += 1
        return func(*args, **(kwargs or {}))


def counted(gpu: Any, run: Callable[[], tuple[float, Any]]) -> tuple[float, Any, dict[str, Any]]:
    """Run on a pretended GPU, and count what the host asks it for, and waits for, a class."""
    before, replays = gpu.waits.total(), gpu.replays
    with _Asked(gpu) as asked:
        took, found = run()
    operations = asked.operations + gpu.replays - replays
    told = {"operations": operations, "waits": gpu.waits.total() - before}
    return took, found, {name: round(number / len(found)) for name, number in told.items()}


@contextmanager
def pretended() -> Iterator[Any]:
    """The pretended GPU of the tests."""
    sys.path.insert(0, str(HERE.parent))
    from tests.pretended import pretended_gpu

    with pretended_gpu() as gpu:
        yield gpu


def one_of_several(name: str, device: str, restarts: int, begin: Any, done: Any) -> None:
    """Search for all classes of a model, when all others are ready too."""
    model, statistics, targets = loaded(name, device)
    begin.wait()
    began = time.time()
    for target in targets:
        searched(model, statistics, [target], restarts)
    done.put((began, time.time(), len(targets)))


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
    parser.add_argument("--device", default="cuda", help="cuda, cpu or pretended")
    parser.add_argument("--models", nargs="+", default=list(BUNDLED))
    parser.add_argument("--restarts", type=int, nargs="+", default=[1000])
    parser.add_argument("--classes", type=int, default=99, help="at most so many of each model")
    parser.add_argument("--times", type=int, default=3, help="searches that are timed")
    parser.add_argument("--watch", action="store_true", help="first classes under the profiler too")
    parser.add_argument("--together", action="store_true", help="all classes of a model at once")
    parser.add_argument("--processes", type=int, default=1, help="so many side by side")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"restarts-{given.device}.json"
    rows = json.loads(path.read_text())["found"] if path.exists() else []

    to_watch: list[tuple[dict[str, Any], Callable[[], tuple[float, Any]], float]] = []

    def save(row: dict[str, Any]) -> None:
        print(json.dumps(row), flush=True)
        path.write_text(json.dumps({"torch": torch.__version__, "found": rows}, indent=1) + "\n")

    def write(row: dict[str, Any]) -> None:
        rows.append(row)
        save(row)

    for name in given.models:
        if given.processes > 1:
            for restarts in given.restarts:
                write(side_by_side(name, given.device, restarts, given.processes))
            continue
        pretends = given.device == "pretended"
        with pretended() if pretends else nullcontext() as gpu:
            model, statistics, targets = loaded(name, "cuda" if pretends else given.device)
            targets = targets[: given.classes]
            each = [targets] if given.together else [[target] for target in targets]
            for restarts in given.restarts:
                for place, asked in enumerate(each):
                    run = partial(searched, model, statistics, asked, restarts)
                    if pretends:
                        took, found, seen = counted(gpu, run)
                        row = {"model": name, **row_of(took, found, seen, took, [])}
                        # How long it takes there means nothing.
                        write({key: row[key] for key in row if key not in SECONDS})
                        continue
                    first, _ = run()
                    runs = [looked_at(run) for _ in range(given.times)]
                    each_took = [took for took, _, _ in runs]
                    took, (_, found, seen) = median(each_took), runs[-1]
                    write({"model": name, **row_of(took, found, seen, first, each_took)})
                    if given.watch and place == 0:
                        to_watch.append((rows[-1], run, took))
    for row, run, took in to_watch:
        row |= watched(run)
        row["busy"] = round(row["kernel_seconds"] / took, 3)
        save(row)


if __name__ == "__main__":
    main()
