"""What each phase of a search adds, and what it costs: each is left out in turn.

Usage:
    python benchmarks/phases.py [--models motif mutag ...] [--seeds 1]

For every class, eight restarts on one thread: how many restarts end with a graph that is certain,
whole and typical, how large the best one is, how many bits its distributions leave open, how many
different graphs samples come from, whether a shortcut was found, and CPU seconds. Results go to
benchmarks/results/speed/phases.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent
FROM_NOTHING = ("anneal", "gradient", "local search", "iterated search")


def searched(model: Any, bundle: Any, target: int, recipe: Any, seed: int) -> dict[str, float]:
    """One search, in numbers."""
    from gnninterpreter.objective import ClassTarget
    from gnninterpreter.search import search

    began = time.process_time()
    with model.session():
        found = search(
            model.classifier, model, bundle.statistics,
            ClassTarget(target, bundle.spec.class_names[target]), recipe, 8, seed,
        )  # fmt: skip
    took = time.process_time() - began
    best = found.ranking()[0]
    return {
        "seconds": took,
        "met": int(found.evaluation.met.sum()),
        "certain samples": int((found.mean_score >= 0.99).sum()),
        "edges": float(found.evaluation.edges[best]),
        "open bits": float(found.distribution.entropy().mean()),
        "population": 0 if found.population is None else len(found.population),
        "shortcuts": 0 if found.shortcuts is None else len(found.shortcuts),
    }


def main() -> None:
    """Leave phases out, and write down what becomes of it."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.relax import RelaxedModel
    from gnninterpreter.search import Recipe

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=list(BUNDLED))
    parser.add_argument("--classes", type=int, default=99, help="at most so many of each model")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    torch.set_num_threads(1)
    whole = Recipe.auto()
    names = [phase.name for phase in whole.phases]
    recipes = {"all": whole} | {name: whole.without(name) for name in names}
    # The phases that search from nothing, all of them together.
    recipes["anneal to iterated"] = whole.without(*FROM_NOTHING)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in recipes}
    for name in given.models:
        bundle = models.load(name)
        model = RelaxedModel(GraphClassifier(bundle.model, bundle.spec))
        searched(model, bundle, 0, whole, 99)  # what only the first call does is not counted
        for target, label in enumerate(bundle.spec.class_names[: given.classes]):
            for left_out, recipe in recipes.items():
                for seed in range(given.seeds):
                    found = searched(model, bundle, target, recipe, seed)
                    rows[left_out].append({"model": name, "class": label, "seed": seed, **found})
            print(name, label, [round(rows[r][-1]["seconds"], 2) for r in recipes], flush=True)
    means = {
        left_out: {
            key: round(statistics.mean(row[key] for row in some), 3)
            for key in some[0]
            if key not in ("model", "class", "seed")
        }
        for left_out, some in rows.items()
    }
    given.out.mkdir(parents=True, exist_ok=True)
    content = {"left out": means, "runs": rows}
    (given.out / "phases.json").write_text(json.dumps(content, indent=1) + "\n")
    for left_out, found in means.items():
        print(left_out, found)


if __name__ == "__main__":
    main()
