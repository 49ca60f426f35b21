"""Every class, label and value of the four bundled models of molecules, over many seeds.

Explaining does without RDKit, on purpose, and without data; judging needs both::

    python benchmarks/molecules.py explain --out graphs.json --seeds 20 --processes 16
    python benchmarks/molecules.py judge graphs.json --out benchmarks/results/molecules.json

The first step goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from rows import Job, kept_rows

import gnninterpreter as gi
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.interchange import graph_from_json, graph_to_json

MODELS = ("mutagenicity", "bbbp", "esol", "tox21")
SAMPLES = 20
# Structures that are known to go with activity at the aryl hydrocarbon receptor.
ALERTS = {
    "aromatic amine": "[NX3;!$(NC=O);!$(N=O)]-c",
    "two aromatic amines side by side": "[NX3;!$(NC=O)]-c:c-[NX3;!$(NC=O)]",
    "three fused aromatic rings": "[a;x3]:[a;x3]:[a]:[a;x3]:[a;x3]",
    "aromatic ring": "a",
}


def explained(job: Job) -> dict[str, Any]:
    """One target, explained from one seed."""
    model, target, seed = job
    # Nothing that follows may use it: validity has to come from the search.
    sys.modules["rdkit"] = None  # type: ignore[assignment]
    result = gi.explain(model, targets=[target], seed=seed, progress=False)
    (found,) = result.values()
    best = found.best
    value = result.classifier.score_data([best]).logits[0]
    if model != "esol":
        value = value.sigmoid() if model == "tox21" else value.softmax(-1)
    at = 0 if model == "esol" else found.target.index
    return {
        "best": graph_to_json(best, result.spec),
        "value": float(value[at]),
        "verdict": str(found.verdict),
        "samples": [graph_to_json(graph, result.spec) for graph in found.sample(SAMPLES)],
    }


def jobs(models: Sequence[str], seeds: range) -> list[Job]:
    """Every target of the models from every seed, seeds first."""
    asked = {name: gi.models.load(name).spec.class_names for name in models}
    asked = {name: ("max", "min") if name == "esol" else asked[name] for name in models}
    return [(name, target, seed) for seed in seeds for name in models for target in asked[name]]


def judge(path: Path) -> dict[str, Any]:
    """What RDKit, toxicophores and the training set say of the graphs."""
    rows = [_judged(row) for row in read_json(path)["rows"]]
    targets: dict[str, Any] = {}
    for model, target in dict.fromkeys((row["model"], row["target"]) for row in rows):
        mine = [row for row in rows if (row["model"], row["target"]) == (model, target)]
        targets[f"{model} {target}"] = _summary(mine)
    best = [row["problem"] == "" for row in rows]
    return {
        "versions": read_json(path)["versions"],
        "best": {"runs": len(rows), "valid in one piece": sum(best)},
        "samples": {
            "graphs": sum(row["samples"] for row in rows),
            "valid in one piece": sum(row["valid_samples"] for row in rows),
        },
        "training": _training("esol", rows),
        "targets": targets,
        "rows": rows,
    }


def _judged(row: dict[str, Any]) -> dict[str, Any]:
    from gnninterpreter import chem
    from gnninterpreter.chem.molecules import sanitized
    from gnninterpreter.datasets.mutagenicity import toxicophores_in

    model, target, seed = row["job"]
    spec = gi.models.load(model).spec
    best = graph_from_json(row["best"], spec)
    problem = chem.problem(best, spec)
    samples = [graph_from_json(values, spec) for values in row["samples"]]
    valid = [graph for graph in samples if not chem.problem(graph, spec)]
    found = {
        "model": model,
        "target": target,
        "seed": seed,
        "smiles": "" if problem else chem.to_smiles(best, spec),
        "problem": problem,
        "value": round(row["value"], 4),
        "verdict": row["verdict"],
        "samples": len(samples),
        "valid_samples": len(valid),
    }
    if model == "mutagenicity" and not problem:
        found["toxicophores"] = toxicophores_in(best, spec)
        found["toxic_samples"] = sum(bool(toxicophores_in(graph, spec)) for graph in valid)
    if target == "NR-AhR" and not problem:
        found["alerts"] = _alerts(sanitized(best, spec))
    return found


def _alerts(molecule: Any) -> list[str]:
    from rdkit import Chem

    return [
        name
        for name, smarts in ALERTS.items()
        if molecule.HasSubstructMatch(Chem.MolFromSmarts(smarts))
    ]


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    values = [row["value"] for row in rows]
    found: dict[str, Any] = {
        "runs": len(rows),
        "valid in one piece": sum(row["problem"] == "" for row in rows),
        "value, lowest": min(values),
        "value, median": round(statistics.median(values), 4),
        "value, highest": max(values),
        "verdicts": dict(Counter(row["verdict"] for row in rows).most_common()),
        "molecules": dict(Counter(row["smiles"] for row in rows).most_common()),
    }
    if any("toxicophores" in row for row in rows):
        found["with a toxicophore"] = sum(bool(row.get("toxicophores")) for row in rows)
        found["samples with one"] = sum(row.get("toxic_samples", 0) for row in rows)
        found["samples"] = sum(row["samples"] for row in rows)
    if any("alerts" in row for row in rows):
        found["alerts"] = dict(Counter(name for row in rows for name in row["alerts"]))
    return found


def _training(model: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Where "max" and "min" lie beside the labels and predictions of the training part."""
    data, bundle = gi.datasets.load(model), gi.models.load(model)
    graphs = [data[int(i)] for i in data.split("random", 0).train]
    with torch.no_grad():
        classifier = gi.models.GraphClassifier(bundle.model, bundle.spec, task="regression")
        said = classifier.score_data(graphs).logits[:, 0].double()
    labels = torch.cat([graph.y.view(-1) for graph in graphs]).double()
    found: dict[str, Any] = {}
    for name, values in (("labels", labels), ("predictions", said)):
        low, high = values.quantile(torch.tensor([0.05, 0.95]).double()).tolist()
        found[name] = {"5%": round(low, 3), "95%": round(high, 3)}
        for target in ("max", "min"):
            mine = [
                row["value"] for row in rows if (row["model"], row["target"]) == (model, target)
            ]
            beyond = [value > high if target == "max" else value < low for value in mine]
            found[name][f"{target} beyond"] = f"{sum(beyond)} of {len(beyond)}"
    return found


def main() -> None:
    """Explain or judge."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("step", choices=("explain", "judge"))
    parser.add_argument("graphs", nargs="?", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--models", nargs="+", default=MODELS, choices=MODELS)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    given = parser.parse_args()
    if given.step == "explain":
        wanted = jobs(given.models, range(given.seeds))
        kept_rows(explained, wanted, given.out, given.processes, given.seconds)
        return
    found = judge(given.graphs)
    write_atomically(given.out, (json.dumps(found, indent=1) + "\n").encode())
    sys.stdout.write(json.dumps({k: v for k, v in found.items() if k != "rows"}, indent=1) + "\n")


if __name__ == "__main__":
    main()
