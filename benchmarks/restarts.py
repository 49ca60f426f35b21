"""Many restarts at once, above all on a GPU: seconds of a search by phase, how busy the GPU is.

Usage:
    python benchmarks/restarts.py --restarts 1000 10000 [--classes 99 1] [--profile motif]

A model's first search sets things up and is not counted. Results go to
benchmarks/results/speed/restarts-DEVICE.json, class by class, so that what was measured is there if
time runs out.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent


def one(model: Any, bundle: Any, target: int, restarts: int, profile: bool) -> dict[str, Any]:
    """Search for one class, and tell how long it took."""
    from gnninterpreter.objective import ClassTarget
    from gnninterpreter.search import Recipe, search

    classifier = model.classifier
    on_gpu = classifier.device.type == "cuda"
    names = bundle.spec.class_names

    def run() -> Any:
        with model.session():
            asked = ClassTarget(target, names[target])
            found = search(classifier, model, bundle.statistics, asked, Recipe.auto(), restarts, 0)
        if on_gpu:
            torch.cuda.synchronize()
        return found

    began = time.perf_counter()
    found = run()
    took = time.perf_counter() - began
    row = {
        "class": names[target], "restarts": restarts, "seconds": round(took, 3),
        "phases": {k: round(v, 3) for k, v in found.phase_seconds.items() if v > 0.002},
        "good": int((found.mean_score >= 0.99).sum()),
        "met": int(found.evaluation.met.sum()),
        "edges": round(float(found.evaluation.edges.mean()), 2),
        "population": 0 if found.population is None else len(found.population),
    }  # fmt: skip
    if on_gpu and profile:
        busy, launches = measured(run)
        row |= {
            "kernel_seconds": round(busy, 3),
            "busy": round(busy / took, 3),
            "kernels": launches,
        }
    return row


def measured(run: Any) -> tuple[float, int]:
    """Seconds that kernels and copies ran on the GPU, and how many they were."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as recorded:
        run()
    events = recorded.profiler.kineto_results.events()
    spans = [e.duration_ns() for e in events if e.device_type() == torch.autograd.DeviceType.CUDA]
    return sum(spans) / 1e9, len(spans)


def main() -> None:
    """Measure, and write down."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.relax import RelaxedModel

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", nargs="+", default=list(BUNDLED))
    parser.add_argument("--restarts", type=int, nargs="+", default=[1000])
    parser.add_argument(
        "--classes", type=int, nargs="+", default=[99],
        help="at most so many of each model, for each number of restarts",
    )  # fmt: skip
    parser.add_argument("--profile", nargs="+", default=(), help="models: their first class")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin nothing after so long")
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / f"restarts-{given.device}.json"
    began, rows = time.perf_counter(), []
    most = given.classes + given.classes[-1:] * len(given.restarts)
    for name in given.models:
        bundle = models.load(name)
        model = RelaxedModel(GraphClassifier(bundle.model.to(given.device), bundle.spec))
        one(model, bundle, 0, 16, False)
        for place, restarts in enumerate(given.restarts):
            for target in range(min(most[place], bundle.spec.num_classes)):
                if time.perf_counter() - began > given.seconds:
                    return
                profile = name in given.profile and target == 0 and place == 0
                row = {"model": name, **one(model, bundle, target, restarts, profile)}
                rows.append(row)
                print(json.dumps(row), flush=True)
                content = {"torch": torch.__version__, "found": rows}
                path.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
