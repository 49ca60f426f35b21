"""Small waits: imports, and data sets from the cache.

Usage:
    python benchmarks/limits.py imports|caches

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
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COMMANDS = {
    "import": ["-c", "import gnninterpreter"],
    "--help": ["-m", "gnninterpreter", "--help"],
    "models": ["-m", "gnninterpreter", "models"],
}


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


def main() -> None:
    """Do what is asked, and add it to what is known."""
    parts = {"imports": imports, "caches": caches}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=parts, nargs="+")
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
