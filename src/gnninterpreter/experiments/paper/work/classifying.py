"""Sets of graphs that a model classifies: random ones, tiny ones, real ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter import datasets
from gnninterpreter.evidence import class_counts, random_baseline, random_features
from gnninterpreter.experiments.paper.bundled import bundle, classifier
from gnninterpreter.experiments.paper.work.explaining import known
from gnninterpreter.fingerprints import data_fingerprint, model_fingerprint
from gnninterpreter.interchange import graph_to_json
from gnninterpreter.spec import GraphSpec

TINY: dict[str, tuple[int, tuple[tuple[int, int], ...]]] = {
    "single node": (1, ()),
    "one edge": (2, ((0, 1),)),
    "path of 3": (3, ((0, 1), (1, 2))),
    "star of 4": (4, ((0, 1), (0, 2), (0, 3))),
    "path of 5": (5, ((0, 1), (1, 2), (2, 3), (3, 4))),
}


def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model, and the real graphs where they are looked at."""
    dataset = arguments["dataset"]
    real = function == "examples" or bool(arguments.get("whole"))
    return {
        "model": model_fingerprint(dataset),
        "data": data_fingerprint(dataset) if real else None,
    }


def gabriel(dataset: str, graphs: str, nodes: int, samples: int, seed: int) -> dict[str, Any]:
    """What random graphs of a kind get from a model, and how many are of each class by rule."""
    model = classifier(dataset)
    drawn = random_baseline(model.spec, samples, nodes, seed, graphs)
    drawn = [graph for graph in drawn if graph.num_edges]
    probabilities = model.score_data(drawn).probabilities.double()
    oracle = datasets.dataset_class(dataset).oracle
    true = [oracle(graph) for graph in drawn[:200]]
    return {
        "mean": probabilities.mean(0).tolist(),
        "std": probabilities.std(0, unbiased=False).tolist(),
        "counts": class_counts(model, drawn).counts,
        "true": [true.count(c) / len(true) for c in range(model.spec.num_classes)],
        "leaf": sum(bool((graph.edge_index[0].bincount() == 1).any()) for graph in drawn)
        / len(drawn),
        "edges": sum(graph.num_edges for graph in drawn) / 2 / len(drawn),
    }


def bias(dataset: str, nodes: int, count: int, seed: int) -> list[dict[str, Any]]:
    """What a model makes of graphs without evidence, one entry for each set of them."""
    model = classifier(dataset)
    found = []
    for name, graphs in _sets(model.spec, nodes, count, seed).items():
        counted = class_counts(model, graphs)
        shares = [number / counted.total for number in counted.counts]
        found.append({"graphs": name, "shares": shares, "mean": list(counted.mean)})
    return found


def _sets(spec: GraphSpec, nodes: int, count: int, seed: int) -> dict[str, list[Data]]:
    sets = {
        f"gabriel, {nodes} nodes": random_baseline(spec, count, nodes, seed),
        f"gilbert, {nodes} nodes": random_baseline(spec, count, nodes, seed, "gilbert"),
        "gabriel, 5 to 10 nodes": random_baseline(spec, count, range(5, 11), seed),
    }
    generator = torch.Generator().manual_seed(seed)
    for name, (size, edges) in TINY.items():
        sets[name] = [random_features(spec, size, edges, generator) for _ in range(count)]
    return sets


def sizes(dataset: str, whole: bool) -> dict[str, Any]:
    """Mean numbers of nodes and edges: counted, or those kept with the bundled model."""
    if whole:
        counted = datasets.summarize(datasets.load(dataset), oracle_graphs=0)
        return {name: float(counted[name]) for name in ("mean_nodes", "mean_edges")}
    statistics = bundle(dataset).statistics
    share = statistics.count / statistics.count.sum()
    return {
        "mean_nodes": float((share * statistics.mean_nodes).sum()),
        "mean_edges": float((share * statistics.mean_edges).sum()),
    }


def examples(dataset: str) -> dict[str, Any]:
    """For each class the smallest real graph that the model recognises, with its probability."""
    model = classifier(dataset)
    found = {}
    for target, name in enumerate(model.spec.class_names):
        mine = [graph for graph in known(dataset) if int(graph.y) == target]
        if not mine:
            continue
        scores = model.score_data(mine).probabilities[:, target].tolist()
        pairs = list(zip(mine, scores, strict=True))
        sure = [pair for pair in pairs if pair[1] > 0.9] or pairs
        graph, probability = min(sure, key=lambda pair: int(pair[0].num_nodes))
        found[name] = {"graph": graph_to_json(graph, model.spec), "probability": probability}
    return found
