"""How many samples a gradient step needs: what becomes of restarts with one, two and ten.

Usage:
    python benchmarks/samples.py [--models motif zoo-gin-sum ...] [--seeds 1]

For every class of the bundled classifiers and of the zoo, eight restarts on one thread, without
typicality, so that gradient steps are made: by the gradient alone, after walks, and with all that
follows. Counted are restarts whose samples are certain in the mean, and CPU seconds of the gradient
steps. Results go to benchmarks/results/speed/samples.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import torch
from speed import BUNDLED

HERE = Path(__file__).parent
BEFORE = {
    "gradient alone": ("gradient",),
    "after walks": ("anneal", "gradient"),
    "whole search": None,
}


@dataclass
class Total:
    """Sums over classes and seeds."""

    restarts: int = 0
    certain: int = 0
    scores: float = 0.0
    seconds: float = 0.0

    def add(self, found: Any, certain: float, seconds: float) -> None:
        """Count the restarts of one search."""
        self.restarts += len(found.mean_score)
        self.certain += int((found.mean_score >= certain).sum())
        self.scores += float(found.mean_score.sum())
        self.seconds += seconds


def known(name: str) -> tuple[Any, Any, Any]:
    """Model, spec and statistics of a bundled classifier or one of the zoo."""
    from gnninterpreter import models
    from gnninterpreter.experiments.zoo import trained

    found: Any = models.load(name) if name in BUNDLED else trained(name)
    return found.model, found.spec, found.statistics


def main() -> None:
    """Search with every number of samples, and write down what becomes of it."""
    from gnninterpreter.experiments.zoo import ZOO
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.objective import ClassTarget
    from gnninterpreter.relax import RelaxedModel
    from gnninterpreter.search import Recipe, search

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", nargs="+", default=[*BUNDLED, *ZOO])
    parser.add_argument("--samples", type=int, nargs="+", default=[1, 2, 10])
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed" / "samples.json")
    given = parser.parse_args()
    torch.set_num_threads(1)
    whole = Recipe.certain().with_phase("gradient", spares=False)
    names = [phase.name for phase in whole.phases]
    recipes = {
        kind: whole if kept is None else whole.without(*(n for n in names if n not in kept))
        for kind, kept in BEFORE.items()
    }
    totals: dict[str, dict[tuple[str, int], Total]] = defaultdict(lambda: defaultdict(Total))
    for name in given.models:
        model, spec, statistics = known(name)
        relaxed = RelaxedModel(GraphClassifier(model, spec))
        of = totals["bundled" if name in BUNDLED else "zoo"]
        for target, (kind, recipe), samples, seed in product(
            range(spec.num_classes), recipes.items(), given.samples, range(given.seeds)
        ):
            asked = ClassTarget(target, spec.class_names[target])
            own = recipe.with_phase("gradient", samples=samples)
            began = time.process_time()
            with relaxed.session():
                found = search(relaxed.classifier, relaxed, statistics, asked, own, 8, seed)
            share = found.phase_seconds["gradient"] / sum(found.phase_seconds.values())
            took = share * (time.process_time() - began)
            of[kind, samples].add(found, whole.stop_score, took)
        print(name, {key: asdict(total) for key, total in of.items()}, flush=True)
    rows = [
        {"models": group, "search": kind, "samples": samples, **asdict(total)}
        for group, of in totals.items()
        for (kind, samples), total in of.items()
    ]
    given.out.write_text(json.dumps({"torch": torch.__version__, "found": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
