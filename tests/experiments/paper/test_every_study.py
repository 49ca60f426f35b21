"""Every study makes its tables and figures from stored values, here from made-up ones."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.evidence.random_graphs import random_of_size
from gnninterpreter.experiments.charts import save
from gnninterpreter.experiments.paper import STUDIES, Settings
from gnninterpreter.experiments.paper.bundled import bundle
from gnninterpreter.experiments.paper.study import Outcome, StudyContext
from gnninterpreter.experiments.store import Computation, Store
from gnninterpreter.interchange import graph_to_json

pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

METRICS = (
    "probability", "std", "score", "granularity", "density", "class_density", "connected",
    "valencies", "oracle", "degree_mmd", "clustering_mmd", "spectrum_mmd", "cosine", "distinct",
    "flips", "control",
)  # fmt: skip
TABLES = {
    "statistics": ["statistics"],
    "classifiers": ["accuracy", "f1"],
    "quantitative": ["quantitative"],
    "qualitative": ["qualitative"],
    "multiple": ["multiple"],
    "random": ["random"],
    "xgnn": ["xgnn", "xgnn-reach"],
    "metrics": ["metrics"],
    "ablation": ["embedding-term", "terms-paper", "terms-gradient"],
    "verification": [
        "complete-4-means", "complete-4-counts", "house-x-means", "house-x-counts",
        "nitro-means", "nitro-counts",
    ],
    "complexity": ["complexity"],
    "bias": ["bias", "default-class"],
}  # fmt: skip
FIGURES = {"qualitative": 6, "multiple": 6, "xgnn": 2, "ablation": 5, "verification": 3,
           "complexity": 2}  # fmt: skip


def graph(dataset: str) -> dict[str, Any]:
    return graph_to_json(random_of_size(bundle(dataset).spec, 4, 4), bundle(dataset).spec)


def explained(dataset: str, measured: bool) -> dict[str, Any]:
    drawn = {"graph": graph(dataset), "logit": 3.0, "probability": 0.95, "similarity": 0.5,
             "nitro": 1}  # fmt: skip
    run = {"mean": 0.9, "std": 0.1, "nodes": 4, "reason": "plateau"}
    found = {
        "probability": {"mean": 0.9, "std": 0.1, "n": 1000}, "mode_probability": 0.95, "seed": 0,
        "seconds": 2.0, "entropy_bits": 1.5, "nodes": 4, "edges": 4, "similarity": 0.5,
        "best": graph(dataset), "modes": [{"probability": 0.95, "graph": graph(dataset)}],
        "num_modes": 1, "diversity": {"cosine": 0.5, "distance": 0.5}, "feasible": True,
        "restarts": [{}, {}], "runs": [run, run], "graphs": [drawn, drawn], "oracle": "none",
    }  # fmt: skip
    return found | ({"metrics": dict.fromkeys(METRICS, 0.5)} if measured else {})


def value(work: Computation) -> Any:
    """A made-up value of a computation, of the same form as a real one."""
    given = dict(work.arguments)
    if work.function in ("ours", "xgnn", "random"):
        return explained(given["dataset"], given["measured"])
    if work.function == "complexity":
        return [[x, 0.01 * x] for x in given["values"]]
    if work.function == "nitro":
        groups = [{"mean": [0.4, 0.6], "counts": [400, 600]}] * 6
        return {"groups": groups, "examples": [graph("mutag")] * 6}
    if work.function == "attach":
        motif = {"mean": [0.1, 0.1, 0.1, 0.1, 0.6], "counts": [50, 50, 50, 50, 300]}
        return {"source": "synthetic", "motifs": [motif] * (8 if "4" in given["name"] else 9)}
    classes = bundle(given["dataset"]).spec.class_names
    shares = [1 / len(classes)] * len(classes)
    return {
        "race": {f"{who}_seconds": [2.0, 4.0] for who in ("ours", "one", "xgnn")},
        "reach": {"probability": 0.9, "nodes": 4, "edges": 4, "graphs": 9, "complete": True},
        "sizes": {"mean_nodes": 20.0, "mean_edges": 30.0},
        "bias": [{"graphs": "path", "shares": shares, "mean": shares}],
        "examples": {name: {"graph": graph(given["dataset"]), "probability": 1.0}
                     for name in classes},
        "gabriel": {"mean": shares, "std": shares, "counts": [9] * len(classes), "true": shares,
                    "leaf": 0.5, "edges": 30.0},
    }[work.function]  # fmt: skip


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_makes_its_tables_and_figures(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Store, "fetch", lambda self, work: value(work))
    module = importlib.import_module(f"gnninterpreter.experiments.paper.studies.{name}")
    outcome: Outcome = module.study(StudyContext(Settings(quick=True), Store(tmp_path)))
    assert [table.name for table in outcome.tables] == TABLES[name]
    for table in outcome.tables:
        assert f"## {table.title}" in table.to_markdown()
        assert "nan" not in table.to_markdown()
    assert len(outcome.figures) == FIGURES.get(name, 0)
    for file, figure in list(outcome.figures.items())[:1]:
        save(figure, tmp_path / f"{file}.svg")
        assert (tmp_path / f"{file}.svg").stat().st_size > 1000
