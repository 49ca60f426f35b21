"""Many restarts at once, above all on a GPU: seconds of a search by phase, how busy the GPU is.

Usage:
    python benchmarks/restarts.py --restarts 1000 10000 [--watch] [--once] [--models motif]

A model's first search sets things up and is not counted. With ``--watch`` a second one is watched
by the profiler, whose kernels say how busy the GPU was; with ``--once`` the first one is, which
makes it a little slower. Results are added to benchmarks/results/speed/restarts-DEVICE.json, class
by class, so that what was measured is there if time runs out.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent


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


def watched(run: Callable[[], tuple[float, Any]]) -> tuple[float, Any, dict[str, Any]]:
    """Run under the profiler: seconds in which a kernel or copy ran on the GPU, and their number.

    Kernels that run side by side count once.
    """
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
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
    parser.add_argument("--watch", action="store_true", help="how busy the GPU is")
    parser.add_argument("--once", action="store_true", help="one run, under the profiler")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after so long")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"restarts-{given.device}.json"
    began = time.perf_counter()
    rows = json.loads(path.read_text())["found"] if path.exists() else []
    for name in given.models:
        bundle = models.load(name)
        model = RelaxedModel(GraphClassifier(bundle.model.to(given.device), bundle.spec))
        searched(model, bundle, 0, 16)
        for restarts in given.restarts:
            for target in range(min(given.classes, bundle.spec.num_classes)):
                if time.perf_counter() - began > given.seconds:
                    return
                run = partial(searched, model, bundle, target, restarts)
                if given.once:
                    took, found, seen = watched(run)
                else:
                    (took, found), seen = run(), {}
                if given.watch:
                    seen = watched(run)[2]
                if seen:
                    seen["busy"] = round(seen["kernel_seconds"] / took, 3)
                row = {"model": name, **row_of(took, found, seen)}
                rows.append(row)
                print(json.dumps(row), flush=True)
                content = {"torch": torch.__version__, "found": rows}
                path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
