"""Many restarts at once, above all on a GPU: seconds of a search by phase, how busy the GPU is.

Usage:
    python benchmarks/restarts.py --restarts 1000 10000 [--together] [--models motif]

Class by class, or with ``--together`` all classes of a model as `explain` searches for them on a
GPU, some at a time. A model's first search sets things up and is not counted. A second run is
watched by the profiler, whose kernels say how busy the GPU was; with ``--once`` the first one is.
Results go to benchmarks/results/speed/restarts-DEVICE.json, class by class, so that what was
measured is there if time runs out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent


def searched(
    model: Any, bundle: Any, targets: list[int], restarts: int, threads: int | None
) -> tuple[float, list[Any]]:
    """Search for some classes; seconds by the clock, and what was found."""
    from gnninterpreter.objective import ClassTarget
    from gnninterpreter.search import Recipe, search_each

    names = bundle.spec.class_names
    wanted = [(ClassTarget(target, names[target]), Recipe.auto()) for target in targets]
    began = time.perf_counter()
    asked = (model.classifier, model, bundle.statistics, wanted, restarts, 0)
    found = list(search_each(*asked, threads=threads))
    if model.classifier.device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - began, found


def row_of(took: float, found: list[Any], watched: dict[str, Any]) -> dict[str, Any]:
    """What is written down; seconds a class."""
    phases: dict[str, float] = {}
    for one in found:
        for name, seconds in one.phase_seconds.items():
            phases[name] = phases.get(name, 0.0) + seconds / len(found)
    return {
        "class": ", ".join(one.target.name for one in found),
        "classes": len(found),
        "restarts": len(found[0].reasons),
        "seconds": round(took / len(found), 3),
        **watched,
        "phases": {name: round(value, 3) for name, value in phases.items() if value > 0.002},
        "good": sum(int((one.mean_score >= 0.99).sum()) for one in found),
        "met": sum(int(one.evaluation.met.sum()) for one in found),
        "edges": round(sum(float(one.evaluation.edges.mean()) for one in found) / len(found), 2),
        "population": sum(0 if one.population is None else len(one.population) for one in found),
    }


def watched(run: Callable[[], tuple[float, list[Any]]]) -> tuple[float, list[Any], dict[str, Any]]:
    """Run under the profiler: seconds in which a kernel or copy ran on the GPU, and their number.

    Kernels that run side by side count once.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as recorded:
        took, found = run()
    on_gpu = torch.autograd.DeviceType.CUDA
    events = recorded.profiler.kineto_results.events()
    spans = [(e.start_ns(), e.duration_ns()) for e in events if e.device_type() == on_gpu]
    busy, end = 0, 0
    for start, duration in sorted(spans):
        busy += max(start + duration - max(start, end), 0)
        end = max(end, start + duration)
    return took, found, {"kernel_seconds": round(busy / 1e9, 3), "kernels": len(spans)}


def main() -> None:
    """Measure, and write down."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.relax import RelaxedModel

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", nargs="+", default=list(BUNDLED))
    parser.add_argument("--restarts", type=int, nargs="+", default=[1000])
    parser.add_argument("--classes", type=int, default=99, help="at most so many of each model")
    parser.add_argument("--together", action="store_true", help="all classes of a model at once")
    parser.add_argument("--threads", type=int, help="classes at a time; as `explain` has it if not")
    parser.add_argument("--once", action="store_true", help="one run, under the profiler")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after so long")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"restarts-{given.device}.json"
    began, on_gpu = time.perf_counter(), given.device == "cuda"
    rows = json.loads(path.read_text())["found"] if path.exists() else []
    for name in given.models:
        bundle = models.load(name)
        model = RelaxedModel(GraphClassifier(bundle.model.to(given.device), bundle.spec))
        every = list(range(min(given.classes, bundle.spec.num_classes)))
        searched(model, bundle, every[:1], 16, None)
        for restarts in given.restarts:
            for targets in [every] if given.together else [[one] for one in every]:
                if time.perf_counter() - began > given.seconds:
                    return
                ask = (model, bundle, targets, restarts, given.threads if given.together else 1)
                took, found, seen = 0.0, [], {}
                if not (given.once and on_gpu):
                    took, found = searched(*ask)
                if on_gpu:
                    again, found, seen = watched(lambda ask=ask: searched(*ask))
                    took = took or again
                    seen["busy"] = round(seen["kernel_seconds"] / took, 3)
                row = {"model": name, **row_of(took, found, seen)}
                rows.append(row)
                print(json.dumps(row), flush=True)
                content = {"torch": torch.__version__, "found": rows}
                path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
