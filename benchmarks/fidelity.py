"""How much of a model rules over patterns account for: 70% of the graphs to learn, 30% to compare.

What the model says is compared, not the labels, so that graphs the model was trained on count like
others; none of those compared on was used to find patterns or to choose rules::

    python benchmarks/fidelity.py --out benchmarks/results/fidelity.json
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gnninterpreter as gi
from gnninterpreter.evidence.patterns import RealGraphs, fidelity_of
from gnninterpreter.evidence.patterns.fidelity import FORMS
from gnninterpreter.evidence.patterns.frequent import gather_patterns
from gnninterpreter.files import write_atomically
from gnninterpreter.models.classifier import GraphClassifier

LEARNED = 0.7


def measured(model: str, seed: int) -> list[dict[str, Any]]:
    """Fidelity of rules and of points on one split."""
    bundle, data = gi.models.load(model), gi.datasets.load(model)
    classifier = GraphClassifier.connect(bundle.model, bundle.spec)
    order = np.random.default_rng(seed).permutation(len(data)).tolist()
    cut = int(LEARNED * len(order))
    real, held_out = (
        RealGraphs(classifier, [data[i] for i in part]) for part in (order[:cut], order[cut:])
    )
    patterns = list(gather_patterns(real, 200))
    rows = []
    for form in FORMS:
        found = fidelity_of(real, held_out, form=form, patterns=patterns)
        rows.append(
            {
                "model": model,
                "seed": seed,
                "form": form,
                "fidelity": found.value,
                "larger_class": found.larger_class,
                "graphs": found.graphs,
                "patterns": len(found.patterns),
                "coverage": {
                    bundle.spec.class_names[one.target]: one.coverage for one in found.classes
                },
                "curve": list(found.curve),
            }
        )
    return rows


def main() -> None:
    """Measure and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["mutagenicity", "bbbp"])
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    rows = [
        row
        for model in given.models
        for seed in range(given.seeds)
        for row in measured(model, seed)
    ]
    write_atomically(given.out, json.dumps({"rows": rows}, indent=1).encode())


if __name__ == "__main__":
    main()
