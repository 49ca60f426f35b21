"""Audits every bundled model and keeps what was found under ``benchmarks/results/audit``.

Run as ``python benchmarks/audit.py [NAME ...]``; it takes a minute or so for each model.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch

import gnninterpreter as gi
from gnninterpreter.audit import audit

OUT = Path(__file__).parent / "results" / "audit"


def main(names: list[str]) -> None:
    torch.set_num_threads(1)
    OUT.mkdir(parents=True, exist_ok=True)
    for name in names or gi.models.bundled_names():
        found = audit(gi.models.load(name), seed=0, progress=False)
        values = found.to_json(with_graphs=False)
        (OUT / f"{name}.json").write_text(json.dumps(values) + "\n", encoding="utf-8")
        print(f"{name}: {found.counts()}")
        for finding in found.findings:
            print(f"  {finding.severity}: {finding.title}. {finding.sentence}")


if __name__ == "__main__":
    main(sys.argv[1:])
