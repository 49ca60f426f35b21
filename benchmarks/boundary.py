"""Boundaries between the adjacent classes of Motif, over many seeds.

Adjacent are classes between whose graphs no third one lies on at least 80% of the ways, in the
space of embeddings (GNNBoundary's test). Counted are samples with both probabilities in [.4, .6]::

    python benchmarks/boundary.py --seeds 20 --processes 2

Goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import combinations
from pathlib import Path
from typing import Any

from rows import Job, kept_rows

import gnninterpreter as gi
from gnninterpreter.evidence.boundaries import adjacency
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.models import GraphClassifier

MODEL, ADJACENT, SAMPLES, ENOUGH = "motif", 0.8, 200, 0.95


def explained(job: Job) -> dict[str, Any]:
    """The boundary between two classes, from one seed."""
    first, second, seed = job
    began = time.process_time()
    result = gi.explain(MODEL, targets=[(first, second)], seed=seed, progress=False)
    (found,) = result.values()
    seconds = time.process_time() - began
    assert result.classifier is not None
    drawn = result.classifier.score(found.sample_dense(SAMPLES))
    sure = found.target.assigned(drawn)
    best = result.classifier.score_data([found.best]).logits.softmax(-1)[0].tolist()
    checks = {check.name: check.value for check in found.evidence}
    return {
        "share": float(sure.double().mean()),
        "best": [round(best[found.target.index], 3), round(best[found.target.other], 3)],
        "nodes": found.num_nodes,
        "edges": found.num_edges,
        "verdict": str(found.verdict),
        "seconds": round(seconds, 1),
        **{name: checks.get(name) for name in ("margin", "thickness", "complexity")},
    }


def adjacencies() -> dict[str, float]:
    """Share of ways between two classes without a third one; needs the data."""
    bundle, graphs = gi.models.load(MODEL), list(gi.datasets.load(MODEL))
    classifier, names = GraphClassifier(bundle.model, bundle.spec), bundle.spec.class_names
    return {
        f"{names[a]} | {names[b]}": adjacency(classifier, graphs, a, b) or 0.0
        for a, b in combinations(range(len(names)), 2)
    }


def main() -> None:
    """Which classes are adjacent, and how often their boundary is met."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/boundary.json"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    before = read_json(given.out) if given.out.exists() else {}
    shares = before.get("adjacency") or adjacencies()
    pairs = [tuple(pair.split(" | ")) for pair, share in shares.items() if share >= ADJACENT]
    jobs = [(*pair, seed) for seed in range(given.seeds) for pair in pairs]
    rows = kept_rows(explained, jobs, given.out, given.processes, given.seconds)
    met = [row["share"] >= ENOUGH for row in rows]
    summary = {
        "adjacency": shares,
        "runs": len(rows),
        "runs with at least 95% of samples in the band": sum(met),
        "by pair": {
            " | ".join(pair): [
                sum(ok for row, ok in zip(rows, met, strict=True) if row["job"][:2] == list(pair)),
                sum(row["job"][:2] == list(pair) for row in rows),
            ]
            for pair in pairs
        },
        "median seconds": sorted(row["seconds"] for row in rows)[len(rows) // 2],
    }
    kept = {**read_json(given.out), **summary}
    write_atomically(given.out, (json.dumps(kept) + "\n").encode())
    sys.stdout.write(json.dumps(summary, indent=1) + "\n")


if __name__ == "__main__":
    main()
