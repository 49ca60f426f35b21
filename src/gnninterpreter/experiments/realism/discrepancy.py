"""PolyGraph's discrepancy between drawn and real graphs: how well a classifier tells them apart.

PolyGraph (Krimmel et al., 2025; `polygraph-benchmark` on PyPI) describes graphs in six ways by
structure alone and gives the best of six classifiers: 0 for the same, 1 for told apart always. The
classifier here is scikit-learn's logistic regression; PolyGraph's own default has weights that are
not free. The package wants older versions than ours of what it depends on, so that it has to live
in an environment of its own; this module reads the file that `realism` left there.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np

from gnninterpreter.errors import CheckpointError, needs
from gnninterpreter.experiments.realism.compute import graphs_file, structure
from gnninterpreter.experiments.realism.gins import Judge, judge_of
from gnninterpreter.experiments.subjects import Subject, subject
from gnninterpreter.files import read_json, write_atomically
from gnninterpreter.schema import anything, listed, record, text, whole

KIND = "realism discrepancies"
LEAST = 256
# Structures are a number of nodes, and the ends of each edge one after the other.
Structure = list[Any]
Measure = Callable[[Sequence[Structure], Sequence[Structure]], float]


def discrepancy_file(out: Path) -> Path:
    """Where the discrepancies of a file of rows lie."""
    return out.with_suffix(".polygraph.json")


def discrepancy(real: Sequence[Structure], drawn: Sequence[Structure]) -> float:
    """PolyGraph's discrepancy of drawn graphs to real ones.

    It compares equally many, so that the drawn ones are taken in parts as large as the real set,
    all of them at least once, and the mean over the parts is returned.
    """
    with needs("polygraph-benchmark", "polygraph", "PolyGraph's discrepancy"):
        from polygraph.metrics import StandardPGD
        from sklearn.linear_model import LogisticRegression
    size = min(len(real), len(drawn))
    kept = [_drawn(graph) for graph in real[:: max(1, len(real) // size)][:size]]
    metric = StandardPGD(kept, classifier=LogisticRegression(max_iter=1000))
    with warnings.catch_warnings():
        # A descriptor in which all graphs agree is worth a warning to it.
        warnings.simplefilter("ignore")
        found = [
            float(metric.compute([_drawn(drawn[i]) for i in part])["pgd"])
            for part in parts(len(drawn), size)
        ]
    return float(np.mean(found))


def parts(count: int, size: int) -> list[list[int]]:
    """Places 0 to ``count`` in parts of one size; the last begins again at the first.

    Example:
        >>> parts(5, 3)
        [[0, 1, 2], [3, 4, 0]]
    """
    return [
        [place % count for place in range(start, start + size)] for start in range(0, count, size)
    ]


def discrepancies(
    out: Path, models: Sequence[str] = (), measure: Measure = discrepancy
) -> list[dict[str, Any]]:
    """The discrepancy of every draw of 256 graphs that a file of rows keeps, and of controls.

    Controls are one half of the real graphs of a class against the other, and the other classes
    against it.
    """
    path = graphs_file(out)
    try:
        drawn = read_json(path)["drawn"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{path} holds no drawn graphs ({error!r}); measure realism first"
        ) from error
    rows = []
    seen: set[tuple[str, str]] = set()
    for entry in drawn:
        name, target = entry["model"], entry["target"]
        if (models and name not in models) or len(entry["structures"]) < LEAST:
            continue
        found = subject(name)
        if (name, target) not in seen:
            seen.add((name, target))
            rows += _controls(found, target, measure)
        judge = judge_of(name, found.spec.class_index(target))
        value = measure(_reference(judge, entry["structures"]), entry["structures"])
        named = {key: entry[key] for key in ("model", "target", "seed", "method")}
        rows.append({**named, "graphs": len(entry["structures"]), "discrepancy": value})
        _write(rows, out)  # After each: large graphs take minutes.
    _write(rows, out)
    return rows


def _write(rows: Sequence[dict[str, Any]], out: Path) -> None:
    content = {"kind": KIND, "rows": list(rows)}
    write_atomically(discrepancy_file(out), json.dumps(content, indent=0).encode())


def read_discrepancies(out: Path) -> list[dict[str, Any]]:
    """What `discrepancies` wrote for a file of rows; nothing where it was not measured."""
    path = discrepancy_file(out)
    if not path.exists():
        return []
    try:
        content = read_json(path)
        if content["kind"] != KIND:
            raise KeyError("kind")
        row = record(
            dict, model=text, target=text, seed=anything, method=text, graphs=whole(),
            discrepancy=anything,
        )  # fmt: skip
        return listed(row)(content["rows"], "rows")  # type: ignore[no-any-return]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path} holds no discrepancies ({error!r}); delete it") from error


def _reference(judge: Judge, drawn: Sequence[Structure]) -> list[Structure]:
    """Real graphs to compare with: whole ones, or as many pieces of the sizes that were drawn."""
    if judge.whole:
        return [structure(graph) for graph in judge.real]
    rng = np.random.default_rng(0)
    found = []
    for size in sorted(graph[0] for graph in drawn):
        pieces = judge.pieces(size)
        if pieces:
            found.append(structure(pieces[int(rng.integers(len(pieces)))]))
    return found


def _controls(found: Subject, target: str, measure: Measure) -> list[dict[str, Any]]:
    index = found.spec.class_index(target)
    judge = judge_of(found.name, index)
    if not judge.whole:
        return []
    mine = [structure(graph) for graph in judge.real]
    others = [structure(graph) for graph in found.graphs if int(graph.y) != index]
    order = np.random.default_rng(0).permutation(len(mine)).tolist()
    shuffled = [mine[i] for i in order]
    half = len(mine) // 2
    pairs = {"half against half": (shuffled[:half], shuffled[half : 2 * half])}
    pairs["other classes"] = (mine, others)
    return [
        {
            "model": found.name,
            "target": target,
            "seed": 0,
            "method": name,
            "graphs": len(two),
            "discrepancy": measure(one, two),
        }
        for name, (one, two) in pairs.items()
    ]


def _drawn(graph: Structure) -> nx.Graph:
    nodes, ends = graph
    plain = nx.Graph()
    plain.add_nodes_from(range(nodes))
    plain.add_edges_from(zip(ends[::2], ends[1::2], strict=True))
    return plain


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the draws of a file of rows."""
    parser = argparse.ArgumentParser(
        prog="python -m gnninterpreter.experiments.realism.discrepancy"
    )
    parser.add_argument("--out", type=Path, required=True, help="JSON file of rows")
    parser.add_argument("--models", default="", help="names with commas; all when omitted")
    given = parser.parse_args(arguments)
    chosen = [name for name in given.models.split(",") if name]
    for row in discrepancies(given.out, chosen):
        sys.stderr.write(
            f"{row['method']} / {row['model']} / {row['target']} / seed {row['seed']}: "
            f"{row['discrepancy']:.3f} over {row['graphs']} graphs\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
