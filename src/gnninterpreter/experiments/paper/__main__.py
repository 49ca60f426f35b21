"""``python -m gnninterpreter.experiments.paper``: compute where there is torch and little else.

`gnninterpreter paper` draws from what this leaves in the folder ``cache``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import torch

from gnninterpreter.experiments.paper import STUDIES, Settings, compute, units_of

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the units of some studies, or list them."""
    parser = argparse.ArgumentParser(
        prog="python -m gnninterpreter.experiments.paper", description=__doc__
    )
    parser.add_argument("--out", default="paper", help="folder of the results")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    parser.add_argument("--quick", action="store_true", help="the small version")
    parser.add_argument("--seed", type=int, default=0, help="first of the seeds")
    parser.add_argument("--only", nargs="+", choices=STUDIES, default=list(STUDIES), metavar="NAME")
    parser.add_argument("--skip", nargs="+", choices=STUDIES, default=[], metavar="NAME")
    parser.add_argument("--units", action="store_true", help="list what there is to compute")
    given = parser.parse_args(arguments)
    wanted = [name for name in given.only if name not in given.skip]
    torch.set_num_threads(1)
    if given.units:
        works = units_of(wanted, Settings(given.quick, given.seed))
        for work in works:
            _say(f"{work.cost:7.1f} s  {work.name}")
        _say(
            f"{len(works)} units, about {sum(work.cost for work in works) / 60:.0f} minutes of CPU"
        )
        return 0
    compute(given.out, quick=given.quick, jobs=given.jobs, only=wanted, seed=given.seed, say=_say)
    return 0


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    raise SystemExit(main())
