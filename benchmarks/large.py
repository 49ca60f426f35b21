"""Large things: classes that take large graphs to show, data sets of a million graphs.

Usage:
    python benchmarks/large.py nodes --nodes 100 200 500 [--recipe auto certain] [--max-memory 4GB]
    python benchmarks/large.py data --graphs 10000 100000 1000000
    python benchmarks/large.py single [--kinds sort edge]

Every row is measured in a process of its own, and added to benchmarks/results/speed/large.json.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

OUT = Path(__file__).parent / "results" / "speed" / "large.json"


def peak() -> int:
    """Most memory this process has had, in MB."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


def graph(edges: list[tuple[int, int]], kinds: list[int], width: int, label: int) -> Any:
    """A graph of nodes of some kinds."""
    import torch
    from torch_geometric.data import Data

    ends = torch.tensor(edges).t()
    x = torch.nn.functional.one_hot(torch.tensor(kinds), width).float()
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], 1), y=torch.tensor(label))


def ladders(count: int) -> list[Any]:
    """Trees of 200 to 400 nodes with a ladder on them: of 40 to 70 rungs, or of 15 at the most."""
    import networkx as nx

    rng, found = random.Random(0), []
    for number in range(count):
        size, label = rng.randint(200, 400), number % 2
        ladder = nx.ladder_graph(rng.randint(40, 70) if label else rng.randint(1, 15))
        tree = nx.random_labeled_tree(size - len(ladder), seed=rng.randint(0, 10**9))
        whole = nx.disjoint_union(tree, ladder)
        whole.add_edge(rng.randrange(len(tree)), len(tree))
        found.append(graph(list(whole.edges), [0] * size, 1, label))
    return found


def planted(count: int) -> list[Any]:
    """Trees; with a ring of five nodes of one kind; with four nodes that are all joined."""
    import networkx as nx

    rng, found = random.Random(0), []
    for number in range(count):
        size, label = rng.randint(9, 16), number % 3
        piece = [nx.empty_graph(0), nx.cycle_graph(5), nx.complete_graph(4)][label]
        whole = nx.disjoint_union(nx.random_labeled_tree(size, seed=rng.randint(0, 10**9)), piece)
        if label:
            whole.add_edge(rng.randrange(size), size)
        kinds = [rng.randint(0, 3) for _ in range(size)]
        kinds += [0 if label == 1 else rng.randint(0, 3) for _ in range(len(piece))]
        found.append(graph(list(whole.edges), kinds, 4, label))
    return found


def paths(count: int) -> Iterator[Any]:
    """Paths of 5 to 12 nodes of four kinds, a tenth of them with a triangle, as they are read."""
    rng = random.Random(0)
    for number in range(count):
        size, label = rng.randint(5, 12), int(number % 10 == 0)
        edges = [(i, i + 1) for i in range(size - 1)] + [(0, 2)] * label
        yield graph(edges, [rng.randrange(4) for _ in range(size)], 4, label)


def network(kinds: int, classes: int, kind: str = "sum") -> Any:
    """Three GIN layers, and a readout."""
    import torch
    from torch import nn
    from torch_geometric.nn import EdgePooling, GINConv, SortAggregation, global_add_pool

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            widths = [kinds, 32, 32]
            self.layers = nn.ModuleList(
                GINConv(nn.Sequential(nn.Linear(w, 32), nn.ReLU(), nn.Linear(32, 32)))
                for w in widths
            )
            self.pool = EdgePooling(32) if kind == "edge" else None
            self.sort = SortAggregation(8) if kind == "sort" else None
            self.out = nn.Linear(256 if kind == "sort" else 32, classes)

        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            for number, layer in enumerate(self.layers):
                x = layer(x, edge_index).relu()
                if self.pool is not None and number == 0:
                    x, edge_index, batch, _ = self.pool(x, edge_index, batch)
            whole = global_add_pool(x, batch) / 20 if self.sort is None else self.sort(x, batch)
            return self.out(whole)

    torch.manual_seed(0)
    return Network()


def trained(model: Any, graphs: list[Any], epochs: int) -> Any:
    """A model that has learned the labels of graphs."""
    import torch
    from torch_geometric.loader import DataLoader

    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    for _ in range(epochs):
        for batch in DataLoader(graphs, 32, shuffle=True):
            optimizer.zero_grad()
            given = model(batch.x, batch.edge_index, batch.batch)
            torch.nn.functional.cross_entropy(given, batch.y).backward()
            optimizer.step()
    return model.eval()


def nodes(count: int, recipe: str, max_memory: str | None) -> dict[str, Any]:
    """Explain a class that shows in large graphs alone, with so many candidate nodes allowed."""
    import gnninterpreter as gi

    data = ladders(400)
    model, before = trained(network(1, 2), data, 30), peak()
    began = time.process_time()
    found = gi.explain(
        model, data, targets=[1], progress=False, max_memory=max_memory,
        recipe=getattr(gi.Recipe, recipe)(max_nodes=count),
    )  # fmt: skip
    took, one = time.process_time() - began, next(iter(found.values()))
    page = OUT.parent / "large.html"
    began = time.process_time()
    found.report(page)
    size = page.stat().st_size
    page.unlink()
    return {
        "seconds": round(took), "search": round(one.seconds), "peak_mb": peak(),
        "before_mb": before,
        "probability": round(one.probability.mean, 3), "graph": [one.num_nodes, one.num_edges],
        "reason": one.reason, "candidates": one.max_nodes,
        "report_seconds": round(time.process_time() - began, 1), "report_kb": size // 1000,
    }  # fmt: skip


def data(count: int, what: str) -> dict[str, Any]:
    """Read graphs that are made as they are read: bare, by the model, by the library."""
    import torch
    from torch_geometric.data import Batch

    import gnninterpreter as gi
    from gnninterpreter.models.statistics import ClassStatistics
    from gnninterpreter.spec import graph_list

    model, before = trained(network(4, 2), list(paths(2000)), 3), peak()
    began, more = time.process_time(), {}
    if what == "made":
        for _ in paths(count):
            pass
    elif what == "forward":
        rest = paths(count)
        with torch.no_grad():
            while part := list(islice(rest, 512)):
                batch = Batch.from_data_list(part)
                model(batch.x, batch.edge_index, batch.batch)
    elif what == "read":
        kept = graph_list(paths(count))
        more = {"read": kept.read, "kept": len(kept)}
    elif what == "statistics":
        known = ClassStatistics.from_dataset(model, paths(count))
        more = {"counted": known.count.tolist()}
    else:
        found = gi.explain(model, paths(count), progress=False)
        more = {"certain": [round(one.probability.mean, 3) for one in found.values()]}
    seconds = round(time.process_time() - began, 1)
    return {"seconds": seconds, "peak_mb": peak(), "before_mb": before, **more}


def single(kind: str) -> dict[str, Any]:
    """Explain models that choose or sort nodes, and cannot be relaxed."""
    import gnninterpreter as gi

    graphs = planted(600)
    model = trained(network(4, 3, kind), graphs, 20)
    began = time.process_time()
    found = gi.explain(model, graphs, progress=False)
    return {
        "seconds": round(time.process_time() - began, 1),
        "certain": [round(one.probability.mean, 3) for one in found.values()],
    }  # fmt: skip


def main() -> None:
    """Measure each row in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("nodes", "data", "single"))
    parser.add_argument("--nodes", type=int, nargs="+", default=[100, 200, 500])
    parser.add_argument("--recipe", nargs="+", default=["auto", "certain"])
    parser.add_argument("--max-memory")
    parser.add_argument("--graphs", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    steps = ["made", "forward", "read", "statistics", "explain"]
    parser.add_argument("--steps", nargs="+", default=steps)
    parser.add_argument("--kinds", nargs="+", default=["sort", "edge"])
    parser.add_argument("--row", help=argparse.SUPPRESS)
    given = parser.parse_args()
    call = {"nodes": nodes, "data": data, "single": single}[given.what]
    if given.row is not None:
        print(json.dumps(call(*json.loads(given.row))), flush=True)
        return
    rows: list[tuple[Any, ...]] = {
        "nodes": [(n, r, given.max_memory) for n, r in product(given.nodes, given.recipe)],
        "data": list(product(given.graphs, given.steps)),
        "single": [(kind,) for kind in given.kinds],
    }[given.what]
    for row in rows:
        command = [sys.executable, __file__, given.what, "--row", json.dumps(row)]
        limited = {**os.environ, "OMP_NUM_THREADS": "1"}
        ran = subprocess.run(command, check=True, capture_output=True, text=True, env=limited)
        found = json.loads(ran.stdout.splitlines()[-1])
        known = json.loads(OUT.read_text()) if OUT.exists() else {}
        known.setdefault(given.what, {})[" ".join(str(part) for part in row if part)] = found
        OUT.write_text(json.dumps(known, indent=1) + "\n")
        print(*row, json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
