"""``python -m gnninterpreter.experiments.paper``: compute where there is torch and little else.

`gnninterpreter paper` draws from what this leaves in the folder ``cache``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from gnninterpreter.experiments.paper import STUDIES, Settings
from gnninterpreter.experiments.paper.compute import CACHE, compute, list_computations
from gnninterpreter.experiments.store import Store


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute what some studies need, or list it."""
    parser = argparse.ArgumentParser(
        prog="python -m gnninterpreter.experiments.paper", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=Path("paper"), help="folder of the results")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--quick", action="store_true", help="the small version")
    parser.add_argument("--seed", type=int, default=0, help="first of the seeds")
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=list(STUDIES), metavar="NAME")
    parser.add_argument("--skip", nargs="+", choices=STUDIES, default=[], metavar="NAME")
    parser.add_argument("--list", action="store_true", help="list what there is to compute")
    given = parser.parse_args(arguments)
    wanted = [name for name in given.only if name not in given.skip]
    torch.set_num_threads(1)
    settings, store = Settings(given.quick, given.seed), Store(given.out / CACHE)
    if given.list:
        _say("\n".join(list_computations(wanted, settings, store)))
        return 0
    compute(wanted, settings, store, jobs=given.jobs, say=_say)
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
