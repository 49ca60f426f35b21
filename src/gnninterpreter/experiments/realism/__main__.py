"""``python -m gnninterpreter.experiments.realism``: run where there is torch and little else.

`gnninterpreter bench realism --table` sums up and draws the file that this leaves.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from gnninterpreter.experiments.realism.compute import configs_of, realism
from gnninterpreter.experiments.realism.rows import METHODS, RealismRow, line

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and write the file, without the command line's packages."""
    parser = argparse.ArgumentParser(prog="python -m gnninterpreter.experiments.realism")
    parser.add_argument("--out", type=Path, required=True, help="JSON file of rows")
    parser.add_argument(
        "--models", default="bundled", help="names with commas, bundled, zoo, or MODEL@DATA"
    )
    parser.add_argument("--seeds", type=int, default=20, help="seeds 0 to this, less one")
    parser.add_argument("--restarts", type=int, default=8, help="restarts of each run")
    parser.add_argument("--method", default="ours", help=f"with commas: {', '.join(METHODS)}")
    parser.add_argument("--jobs", type=int, default=1, help="processes, one thread each")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    configs = configs_of(given.models, given.seeds, given.restarts, given.method)

    def tell(row: RealismRow) -> None:
        sys.stderr.write(f"{line(row)}\n")

    rows = realism(configs, given.out, given.jobs, tell)
    sys.stderr.write(f"{len(rows)} rows in {given.out}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
