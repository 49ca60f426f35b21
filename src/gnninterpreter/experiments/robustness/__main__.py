"""``python -m gnninterpreter.experiments.robustness``: run where there is torch and little else.

`gnninterpreter bench robustness --table` sums up and draws the file that this leaves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import torch

from gnninterpreter.experiments.robustness.compute import configs_of, robustness
from gnninterpreter.experiments.robustness.runs import WANTED, Run

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Do runs and write their file, without the command line's packages."""
    parser = argparse.ArgumentParser(prog="python -m gnninterpreter.experiments.robustness")
    parser.add_argument("--out", type=Path, required=True, help="JSON file of runs")
    parser.add_argument("--models", default="bundled", help="names with commas, bundled or zoo")
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0 to this, less one")
    parser.add_argument("--restarts", type=int, default=8, help="restarts of each run")
    parser.add_argument("--recipe", default="auto", help="auto or paper")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    configs = configs_of(given.models, given.seeds, given.restarts, given.recipe)

    def tell(run: Run) -> None:
        sys.stderr.write(f"{' '.join(map(str, astuple(run.config)))}: {run.mean:.4f}\n")

    runs = robustness(configs, given.out, given.jobs, tell)
    sys.stderr.write(
        f"{sum(not run.missed for run in runs)} of {len(runs)} runs reached {WANTED}\n"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
