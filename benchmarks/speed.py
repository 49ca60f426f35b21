"""How fast it is: beside an older version, beside the paper's algorithm, beside bare products.

Usage:
    python benchmarks/speed.py ratios --old PATH   # a checkout of the version to compare with
    python benchmarks/speed.py ratios --old PATH --whole   # all classes of a model in one call
    python benchmarks/speed.py iterations [--device cuda] [--nodes 10 200] [--samples 1 64]
    python benchmarks/speed.py recipes [--device cuda]   # each algorithm as its recipe has it
    python benchmarks/speed.py restarts --device cuda --restarts 1000

Everything runs on one thread and is timed in CPU seconds (on a GPU by the clock); the versions take
turns, class by class. Results go to benchmarks/results/speed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import torch
from subjects import CUSTOM, subject

HERE = Path(__file__).parent
BUNDLED = ("color_consistency", "cyclicity", "is_acyclic", "motif", "mutag", "shape")
WHOLE = -1
# Numbers in the adjacency matrices of a step that are measured at the most, which bounds memory.
MOST_NUMBERS = 2**25


def explain_all(
    subjects: dict[str, Any],
    restarts: int,
    device: str | None,
    targets: list[int] | None = None,
) -> list[dict[str, Any]]:
    """Explain classes of some models, all of them when none are named, and time each.

    ``WHOLE`` stands for all classes in one call, of which the time of a class is its share.
    """
    import gnninterpreter as gi
    from gnninterpreter import api

    clock = time.perf_counter if device else time.process_time
    # Older versions search for one class at a time.
    name_of_search = "search_together" if hasattr(api, "search_together") else "search"
    rows, plain, searched = [], getattr(api, name_of_search), []

    def timed(*given: Any, **named: Any) -> Any:
        at = clock()
        found = plain(*given, **named)
        searched.append(clock() - at)
        return found

    setattr(api, name_of_search, timed)
    for name, (model, options, classes) in subjects.items():
        for target in range(len(classes)) if targets is None else targets:
            asked = None if target == WHOLE else [target]
            began = clock()
            found = gi.explain(
                model, targets=asked, restarts=restarts, progress=False,
                **({"device": device} if device else {}), **options,
            )  # fmt: skip
            took = clock() - began
            best = list(found.values())
            rows.append(
                {"model": name, "class": "all" if asked is None else classes[target],
                 "explain": took / len(best), "search": sum(searched) / len(best),
                 "mean": min(one.probability.mean for one in best),
                 "nodes": max(one.num_nodes for one in best),
                 "edges": max(one.num_edges for one in best),
                 "good": sum(r.mean_probability >= 0.99 for one in best for r in one.restarts)}
            )  # fmt: skip
            searched.clear()
            print(json.dumps(rows[-1]), flush=True)
    setattr(api, name_of_search, plain)
    return rows


class Worker:
    """A version of the package in a process of its own, which explains what it is asked to."""

    def __init__(self, root: Path) -> None:
        """Start it."""
        environment = {**os.environ, "PYTHONPATH": str(root / "src"), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "speed.py"), "one"],
            env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, name: str, target: int) -> dict[str, Any]:
        """Explain one class of a model."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(name, target, file=self.process.stdin, flush=True)
        found: dict[str, Any] = json.loads(self.process.stdout.readline())
        return found


def answer_all() -> None:
    """Explain what the lines of the input name: a model and the number of a class."""
    known: dict[str, Any] = {}
    for line in sys.stdin:
        name, target = line.split()
        if name not in known:
            known[name] = subject(name)
        explain_all({name: known[name]}, 8, None, [int(target)])


def ratios(old: Path, names: list[str], whole: bool, turns: int = 2) -> dict[str, Any]:
    """Time both versions, class by class or call by call; the faster of their turns counts."""
    found: dict[str, list[dict[str, Any]]] = {"old": [], "new": []}
    workers = {"old": Worker(old), "new": Worker(HERE.parent)}
    for worker in workers.values():
        worker.ask("is_acyclic", 0)  # what only the first call does is not counted
    for name in names:
        each = range(len(subject(name)[2]) if name not in CUSTOM else 2)
        for target in (WHOLE,) if whole else each:
            rows = [{v: w.ask(name, target) for v, w in workers.items()} for _ in range(turns)]
            for version in workers:
                one = dict(rows[0][version])
                for part in ("search", "explain"):
                    one[part] = min(row[version][part] for row in rows)
                found[version].append(one)
            print({v: (some[-1]["class"], some[-1]["search"]) for v, some in found.items()})
    for worker in workers.values():
        worker.process.terminate()
    pairs = list(zip(found["old"], found["new"], strict=True))
    table = [
        {"model": a["model"], "class": a["class"], "search": a["search"] / b["search"],
         "explain": a["explain"] / b["explain"]}
        for a, b in pairs
    ]  # fmt: skip
    medians = {
        kind: {
            part: statistics.median(row[part] for row in table if (row["model"] in CUSTOM) == own)
            for part in ("search", "explain")
        }
        for kind, own in (("bundled", False), ("custom", True))
        if any((row["model"] in CUSTOM) == own for row in table)
    }
    return {"ratios": table, "medians": medians, "runs": found}


def milliseconds(run: Callable[[], Any], device: torch.device, seconds: float = 0.4) -> float:
    """Median time of one call."""
    times: list[float] = []
    clock = time.process_time if device.type == "cpu" else time.perf_counter
    while sum(times) < seconds or len(times) < (5 if sum(times) < 10 * seconds else 3):
        began = clock()
        run()
        if device.type == "cuda":
            torch.cuda.synchronize()
        times.append(clock() - began)
    return 1000 * statistics.median(times[1:])


def step_of(problem: Any, nodes: int, restarts: int, samples: int) -> Callable[[], None]:
    """One iteration of the gradient search: samples, losses, gradients, a step of the optimiser."""
    from gnninterpreter.distribution import Streams, uniform_start
    from gnninterpreter.search.gradient import Moment, RelaxedGradient

    device = problem.classifier.device
    distribution = uniform_start(
        problem.classifier.spec, nodes, Streams(0, restarts, device=device), torch.float32
    )
    streams, gradient = Streams(0, restarts, 1, device), RelaxedGradient(problem)
    parameters = distribution.latents()
    optimizer = torch.optim.Adam(parameters, lr=1e-6)

    def step() -> None:
        found = gradient(distribution, Moment(50, 100, samples, 0.2), streams)
        for parameter, slope in zip(parameters, found.gradients, strict=True):
            parameter.grad = slope
        optimizer.step()

    return step


def products_of(model: Any, nodes: int, graphs: int, device: torch.device) -> Callable[[], None]:
    """The bare products of the layers, there and back; the weights are frozen."""
    made = [attending if hasattr(layer, "heads") else summing for layer in model.convs]
    runs = [of(layer, nodes, graphs, device) for of, layer in zip(made, model.convs, strict=True)]

    def run() -> None:
        for one in runs:
            one()

    return run


def summing(layer: Any, nodes: int, graphs: int, device: torch.device) -> Callable[[], None]:
    """Those of a layer that sums over neighbours, for each kind of edge where it tells them apart.

    Adjacency times features, times the weights; and the slopes of all three.
    """
    kinds = getattr(layer, "nn", None)
    network = next(m for m in kinds.modules() if hasattr(m, "weight")) if kinds else None
    parts = network.weight.size(1) + 1 if network is not None else 1
    width = layer.in_channels
    weight = torch.randn(parts * width, layer.out_channels, device=device)
    matrices = torch.randn(graphs, nodes * parts, nodes, device=device)
    x = torch.randn(graphs, nodes, width, device=device)

    def run() -> None:
        received = torch.bmm(matrices, x)
        out = received.view(graphs * nodes, parts * width) @ weight
        back = (out @ weight.t()).view(graphs, nodes * parts, width)
        torch.bmm(back, x.transpose(1, 2))
        torch.bmm(matrices.transpose(1, 2), back)

    return run


def attending(layer: Any, nodes: int, graphs: int, device: torch.device) -> Callable[[], None]:
    """Those of a layer that attends: values, scores of edges, attention times values, all slopes.

    Every head has an attention of its own for each pair, and so does every edge a score.
    """
    heads, width, columns = layer.heads, layer.out_channels, layer.edge_dim
    weight = torch.randn(layer.in_channels, heads * width, device=device)
    by_edge = torch.randn(columns, heads, device=device)
    x = torch.randn(graphs * nodes, layer.in_channels, device=device)
    edges = torch.randn(graphs * nodes * nodes, columns, device=device)

    def run() -> None:
        values = (x @ weight).view(graphs * heads, nodes, width)
        scores = edges @ by_edge
        attention = scores.view(graphs * heads, nodes, nodes)
        out = torch.bmm(attention, values)
        torch.bmm(out, values.transpose(1, 2))
        torch.bmm(attention.transpose(1, 2), out)
        scores @ by_edge.t()
        values.view(graphs * nodes, heads * width) @ weight.t()

    return run


def as_written(classifier: Any, nodes: int, samples: int) -> Callable[[], None]:
    """The paper's algorithm for one restart: K passes over the complete graph, then a step."""
    from torch_geometric.data import Batch
    from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

    spec, device = classifier.spec, classifier.device
    pairs = torch.triu_indices(nodes, nodes, 1, device=device)
    edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
    logits = torch.randn(pairs.size(1), device=device, requires_grad=True)
    kinds = [
        torch.randn(count, block.width, device=device, requires_grad=True)
        for count, blocks in ((nodes, spec.nodes), (pairs.size(1), spec.edges))
        for block in blocks
    ]
    optimizer = torch.optim.SGD([logits, *kinds], lr=1e-6)

    def loss() -> torch.Tensor:
        u = torch.rand_like(logits).clamp(1e-6, 1 - 1e-6)
        weight = ((logits + torch.logit(u)) / 0.2).sigmoid()
        rows = [torch.nn.functional.gumbel_softmax(kind, 0.2) for kind in kinds]
        data = Batch(x=rows[0], edge_index=edge_index, batch=edge_index.new_zeros(nodes))
        if spec.edges:
            data.edge_attr = torch.cat([rows[1], rows[1]])
        data._num_graphs = 1
        set_masks(classifier.model, torch.cat([weight, weight]), edge_index, apply_sigmoid=False)
        scores = classifier.call(data)
        clear_masks(classifier.model)
        return -scores.logits[0, 0] - torch.cosine_similarity(scores.embedding, scores.embedding)[0]

    def step() -> None:
        optimizer.zero_grad()
        torch.stack([loss() for _ in range(samples)]).mean().backward()
        optimizer.step()

    return step


def iterations(
    device: torch.device, sizes: list[int], counts: list[int], draws: list[int]
) -> Iterator[dict[str, Any]]:
    """Time of an iteration, of its products, and of the paper's algorithm, for bundled models."""
    for name, (nodes, samples) in product(BUNDLED, product(sizes, draws)):
        model, problem = asked(name, nodes, device)
        paper = milliseconds(as_written(problem.classifier, nodes, samples), device)
        for restarts in counts:
            if device.type == "cpu" and restarts * samples * nodes**2 > MOST_NUMBERS:
                continue
            with problem.relaxed.session():
                ours = milliseconds(step_of(problem, nodes, restarts, samples), device)
            floor = milliseconds(products_of(model, nodes, restarts * samples, device), device)
            yield {
                "model": name, "nodes": nodes, "restarts": restarts, "samples": samples,
                "ms": ours, "floor_ms": floor, "over_floor": ours / floor,
                "as_written_ms": paper, "faster": paper * restarts / ours,
            }  # fmt: skip


def by_recipes(device: torch.device, counts: list[int]) -> Iterator[dict[str, Any]]:
    """The same for both algorithms as their recipes have them, on the paper's candidate nodes.

    They take turns; the fastest of three counts. What the bare products alone would allow with as
    many samples as the paper draws stands beside it.
    """
    from gnninterpreter.search import Recipe
    from gnninterpreter.search.paper_settings import PAPER_SIZES

    paper, ours = (
        recipe.phase("gradient").samples
        for recipe in (Recipe.paper("mutag", "mutagen"), Recipe.auto())
    )
    for name, restarts in product(BUNDLED, counts):
        nodes = PAPER_SIZES[name][0]
        model, problem = asked(name, nodes, device)
        written = as_written(problem.classifier, nodes, paper)
        step = step_of(problem, nodes, restarts, ours)
        products = products_of(model, nodes, restarts * paper, device)
        turns = []
        for _ in range(3):
            turns.append({"as_written_ms": milliseconds(written, device)})
            with problem.relaxed.session():
                turns[-1]["ms"] = milliseconds(step, device)
            turns[-1]["products_ms"] = milliseconds(products, device)
        row = {key: min(turn[key] for turn in turns) for key in turns[0]}
        yield {
            "model": name, "nodes": nodes, "restarts": restarts, **row,
            "faster": row["as_written_ms"] * restarts / row["ms"],
            "at_best_with_as_many_samples": row["as_written_ms"] * restarts / row["products_ms"],
        }  # fmt: skip


def asked(name: str, nodes: int, device: torch.device) -> tuple[Any, Any]:
    """A bundled model, and the search for its first class on so many candidate nodes."""
    from gnninterpreter import models
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.objective import Aim, ClassTarget
    from gnninterpreter.relax import RelaxedModel
    from gnninterpreter.search import Problem, Recipe

    bundle = models.load(name)
    model = bundle.model.to(device)
    classifier = GraphClassifier(model, bundle.spec)
    target = ClassTarget(0, bundle.spec.class_names[0])
    aim = Aim(target, nodes, 2.0 * nodes, target.profile(bundle.statistics))
    return model, Problem(classifier, RelaxedModel(classifier), Recipe.certain().objective, aim)


def main() -> None:
    """Do what is asked, and write it down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("ratios", "one", "iterations", "recipes", "restarts"))
    parser.add_argument("--old", type=Path, help="checkout of the version to compare with")
    parser.add_argument("--whole", action="store_true", help="all classes of a model in one call")
    parser.add_argument("--models", nargs="+", default=[*BUNDLED, *CUSTOM])
    parser.add_argument("--device", default=None)
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 25, 50])
    parser.add_argument("--restarts", type=int, nargs="+", default=[64])
    parser.add_argument("--samples", type=int, nargs="+", default=[10])
    parser.add_argument("--out", type=Path, default=HERE / "results" / "speed")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.what == "one":
        answer_all()
        return
    if given.what == "ratios":
        found: Any = ratios(given.old, given.models, given.whole)
    elif given.what in ("iterations", "recipes"):
        device = torch.device(given.device or "cpu")
        found = []
        rows = iterations(device, given.nodes, given.restarts, given.samples)
        for row in rows if given.what == "iterations" else by_recipes(device, given.restarts):
            found.append(row)
            print(json.dumps(row), flush=True)
    else:
        named = {name: subject(name) for name in BUNDLED}
        found = {r: explain_all(named, r, given.device) for r in given.restarts}
    given.out.mkdir(parents=True, exist_ok=True)
    name = given.what + (f"-{given.device}" if given.device else "") + "-whole" * given.whole
    content = {"torch": torch.__version__, "found": found}
    (given.out / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
