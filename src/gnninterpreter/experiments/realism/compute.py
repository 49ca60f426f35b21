"""Measuring: rows that are stored are not computed again, and a file holds those asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.errors import MissingExtraError, SpecError
from gnninterpreter.experiments.metrics.likeness import likeness
from gnninterpreter.experiments.realism.gins import judge_of
from gnninterpreter.experiments.realism.methods import Answer, answer
from gnninterpreter.experiments.realism.rows import (
    ABLATIONS,
    BENCH,
    METHODS,
    PLACED,
    RealismConfig,
    RealismRow,
)
from gnninterpreter.experiments.subjects import Subject, names_of, subject, targets_of
from gnninterpreter.files import write_atomically
from gnninterpreter.isomorphism import distinct
from gnninterpreter.parallel import Workers
from gnninterpreter.spec.data import node_count

SAMPLES, DRAWN = 50, 256
# XGNN trains a policy for each seed, and graphs drawn for PolyGraph take room.
XGNN_SEEDS, KEPT_SEEDS = 3, 3
depends_on = BENCH.depends_on


def configs_of(
    models: str, seeds: int, restarts: int = 8, methods: str = "ours"
) -> list[RealismConfig]:
    """Every class of some models, from seeds 0 on (XGNN: three at the most), by some methods.

    Names have commas between. Of models ``bundled`` and ``zoo`` stand for all of each; of methods
    ``all`` for all but ablations, and ``ablation`` for ours and these.
    """
    groups = {
        "all": tuple(name for name in METHODS if name not in ABLATIONS),
        "ablation": ("ours", "certain", *ABLATIONS),
    }
    chosen = groups.get(methods) or tuple(methods.split(","))
    for method in chosen:
        if method not in METHODS:
            raise SpecError(f"method must be one of {', '.join(METHODS)} (got {method!r})")
    return [
        RealismConfig(name, target, seed, method, restarts)
        for method in chosen
        for name in names_of(models)
        for target in targets_of(name, method)
        for seed in range(min(seeds, XGNN_SEEDS) if method == "xgnn" else seeds)
    ]


def realism(
    configs: Iterable[RealismConfig],
    out: Path,
    jobs: int | Workers = 1,
    tell: Callable[[RealismRow], None] | None = None,
) -> list[RealismRow]:
    """Do what `Bench.measure` does, and keep graphs drawn from the first seeds, for PolyGraph."""
    rows, stored = BENCH.measure(
        configs, out, jobs, tell, prepare=lambda name: subject(name).graphs
    )
    kept = [
        {k: value["row"][k] for k in ("model", "target", "seed", "method")}
        | {"structures": value["structures"]}
        for value in stored
        if value["structures"]
    ]
    drawn = json.dumps({"kind": "realism graphs", "drawn": kept})
    write_atomically(graphs_file(out), drawn.encode())
    return rows


def graphs_file(out: Path) -> Path:
    """Where the graphs drawn for a file of rows lie."""
    return out.with_suffix(".graphs.json")


def measure_once(model: str, target: str, seed: int, method: str, restarts: int) -> dict[str, Any]:
    """Explain one class once by one method and hold it against real graphs, as JSON values."""
    config = RealismConfig(model, target, seed, method, restarts)
    found = subject(model)
    kept = DRAWN if seed < KEPT_SEEDS else SAMPLES
    said = answer(found, config, kept)
    structures = [structure(graph) for graph in said.samples] if seed < KEPT_SEEDS else []
    return {"row": asdict(_row(found, config, said)), "structures": structures}


def _row(found: Subject, config: RealismConfig, said: Answer) -> RealismRow:
    target = found.spec.class_index(config.target)
    profile = found.statistics.profile(target)
    bar = 0.99 if profile is None else profile.certain
    samples = said.samples[:SAMPLES]
    there = [graph for graph in samples if graph.num_edges]
    given = found.classifier.score_data(there).probabilities[:, target].tolist() if there else []
    scored = iter(given)
    sure = [bool(graph.num_edges) and next(scored) >= bar for graph in samples]
    best, drawn = said.placed or (said.best, samples)
    judge = said.judge or judge_of(found.name, target)
    first, *rest = judge.places([best, *drawn[:SAMPLES]])
    if judge.whole:
        first_whole, *rest_whole = [place or 0.0 for place in (first, *rest)]
    else:
        first_whole, *rest_whole = judge.places_whole([said.best, *samples])
    placed = [place is not None and place >= PLACED for place in rest]
    core = None if said.core is None else _share(found, [said.core], target)
    agrees = _share(found, [said.best], target)
    valid = _valid(found, [said.best])
    return RealismRow(
        **asdict(config),
        rule_best=None if agrees is None else agrees == 1.0,
        rule_core=None if core is None else core == 1.0,
        rule_modes=_share(found, said.modes, target),
        rule_samples=_share(found, samples, target),
        place_best=first,
        place_samples=_mean(placed) if any(p is not None for p in rest) else None,
        compared_with="whole graphs" if judge.whole else "pieces",
        place_best_whole=first_whole,
        place_samples_whole=_mean([place >= PLACED for place in rest_whole]),
        certain_samples=_mean(sure),
        good_samples=_mean([a and b for a, b in zip(sure, placed, strict=True)]),
        distinct50=len(distinct(samples, found.spec)),
        mean_probability=said.probability,
        certain_bar=bar,
        feasible=said.feasible,
        nodes=node_count(said.best),
        edges=int(said.best.edge_index.size(1)) // found.spec.ways,
        real_median_nodes=judge_of(found.name, target).median_nodes,
        copy=found.is_real(said.best),
        copy_samples=_mean([found.is_real(graph) for graph in samples]),
        valid=None if valid is None else valid == 1.0,
        valid_samples=_valid(found, samples),
        validation_score=likeness(found.classifier, found.statistics, said.best, target).score,
        seconds=said.seconds,
        verdict=said.verdict,
        bits=said.bits,
    )


def _share(found: Subject, graphs: Sequence[Data], target: int) -> float | None:
    """Share of graphs that the rule gives to a class; None where there is no rule or no graph."""
    if found.oracle is None or not graphs:
        return None
    oracle = found.oracle
    return _mean([graph.edge_index.numel() > 0 and oracle(graph) == target for graph in graphs])


def _valid(found: Subject, graphs: Sequence[Data]) -> float | None:
    """Share of graphs that are molecules; None for other graphs, and without RDKit."""
    from gnninterpreter.chem import is_valid

    if not found.molecules or not graphs:
        return None
    try:
        return _mean([is_valid(graph, found.spec) for graph in graphs])
    except MissingExtraError:
        return None


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0


def structure(graph: Data) -> list[Any]:
    """Number of nodes, and the ends of each edge one after the other."""
    pairs = sorted({(min(u, v), max(u, v)) for u, v in graph.edge_index.t().tolist()})
    return [node_count(graph), [end for pair in pairs for end in pair]]
