"""``python -m gnninterpreter.experiments``: benches where there is torch and little else.

`gnninterpreter bench NAME --table` sums up and draws the file that this leaves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from gnninterpreter.experiments import realism, robustness


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the file, without the command line's packages."""
    parser = argparse.ArgumentParser(prog="python -m gnninterpreter.experiments")
    parser.add_argument("bench", choices=("robustness", "realism"))
    parser.add_argument("--out", type=Path, required=True, help="JSON file of rows")
    parser.add_argument(
        "--models", default="bundled", help="names with commas, bundled, zoo, or MODEL@DATA"
    )
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0 to this, less one")
    parser.add_argument("--restarts", type=int, default=8, help="restarts of each run")
    parser.add_argument("--recipe", default="auto", help="of robustness: auto or paper")
    parser.add_argument(
        "--method", default="ours", help=f"of realism, with commas: {', '.join(realism.METHODS)}"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    asked = given.models, given.seeds, given.restarts

    def tell(row: object) -> None:
        sys.stderr.write(f"{row}\n")

    if given.bench == "robustness":
        configs = robustness.configs_of(*asked, given.recipe)
        robustness.BENCH.measure(configs, given.out, given.jobs, tell)
    else:
        realism.realism(realism.configs_of(*asked, given.method), given.out, given.jobs, tell)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
