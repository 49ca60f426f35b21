"""Large things and small waits: a million graphs, 500 candidate nodes, imports, caches.

Usage:
    python benchmarks/limits.py imports|caches|nodes|stream [--graphs 1000000] [--nodes 500]

Each adds its part to benchmarks/results/speed/limits.json.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMMANDS = {
    "import": ["-c", "import gnninterpreter"],
    "--help": ["-m", "gnninterpreter", "--help"],
    "models": ["-m", "gnninterpreter", "models"],
}


def peak() -> float:
    """Most memory this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def imports(_: Any) -> dict[str, Any]:
    """CPU seconds of a fresh process, beside PyTorch Geometric's own; the least of three."""

    def took(arguments: list[str]) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    asked = {"torch_geometric alone": ["-c", "import torch_geometric"], **COMMANDS}
    return {name: round(min(took(a) for _ in range(3)), 2) for name, a in asked.items()}


def caches(_: Any) -> dict[str, Any]:
    """CPU seconds to load the data sets that are built on the Rome graphs, once they are made."""
    from gnninterpreter.datasets import load
    from gnninterpreter.spec import graph_list

    found = {}
    for name in ("motif", "cyclicity", "shape", "color_consistency"):
        load(name)
        began = time.process_time()
        data = load(name)
        read = time.process_time()
        graphs = graph_list(data)
        found[name] = {
            "graphs": len(graphs), "load": round(read - began, 3),
            "as a list": round(time.process_time() - read, 3),
        }  # fmt: skip
    return found


def nodes(given: Any) -> dict[str, Any]:
    """A search on many candidate nodes, without anything known of real graphs."""
    import gnninterpreter as gi
    from gnninterpreter import models

    bundle = models.load("motif")
    began = time.process_time()
    found = gi.explain(
        bundle.model, spec=bundle.spec, targets=[1], restarts=1, progress=False,
        recipe=gi.Recipe.certain(max_nodes=given.nodes, iterations=5),
    )  # fmt: skip
    best = next(iter(found.values()))
    return {
        "nodes": given.nodes, "seconds": round(time.process_time() - began, 1),
        "peak_mb": round(peak()), "probability": best.probability.mean,
    }  # fmt: skip


def rings(count: int) -> Iterator[Any]:
    """Rings of four to thirteen nodes with a random chord, one after the other."""
    import torch
    from torch_geometric.data import Data

    for number in range(count):
        size = 4 + number % 10
        ends = torch.arange(size)
        ring = torch.stack([ends, (ends + 1) % size])
        chord = torch.tensor([[0], [2 + number % (size - 3)]])
        pairs = torch.cat([ring, chord], 1)
        yield Data(
            x=torch.ones(size, 1), edge_index=torch.cat([pairs, pairs.flip(0)], 1),
            y=torch.tensor([number % 2]),
        )  # fmt: skip


def stream(given: Any) -> dict[str, Any]:
    """Statistics of a model over graphs that are made as they are read."""
    import torch
    from torch_geometric.nn import GraphConv

    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.models.statistics import ClassStatistics
    from gnninterpreter.spec import GraphSpec
    from gnninterpreter.testing import TinyClassifier

    torch.manual_seed(0)
    spec = GraphSpec.from_dataset(list(rings(20)))
    model = GraphClassifier(TinyClassifier(GraphConv(1, 16), 16, num_classes=2), spec)
    marks: dict[int, float] = {}

    def progress(read: int) -> None:
        if read % 100_000 == 0:
            marks[read] = round(peak())
            print(read, marks[read], "MB", round(time.process_time() - began), "s", flush=True)

    began = time.process_time()
    found = ClassStatistics.from_dataset(model, rings(given.graphs), progress=progress)
    return {
        "graphs": int(found.count.sum()), "seconds": round(time.process_time() - began),
        "peak_mb_by_graphs": marks, "peak_mb": round(peak()),
    }  # fmt: skip


def main() -> None:
    """Do what is asked, and add it to what is known."""
    parts = {"imports": imports, "caches": caches, "nodes": nodes, "stream": stream}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=parts, nargs="+")
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--nodes", type=int, default=500)
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "limits.json"
    for name in given.what:
        found = parts[name](given)
        known = json.loads(path.read_text()) if path.exists() else {}
        path.write_text(json.dumps({**known, name: found}, indent=1) + "\n")
        print(name, json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
