"""Write ``support.md``: what can be relaxed, measured on the models that the tests run.

Run from anywhere: ``python docs/make_support_table.py``. A test compares the rows of the table with
the list of models, so that neither can change without the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from gnninterpreter.testing import discrete_error  # noqa: E402
from tests.relax.cases import CASES, Case  # noqa: E402
from tests.relax.refusals import REFUSALS  # noqa: E402

INTRODUCTION = """\
# What can be explained by gradient

Which layers the search can follow by gradient, and which it explains another way: slower, and as
valid. Look here if a run says "cannot be relaxed", or if you wonder whether your layers are exact.

A layer that is not listed is not thereby unsupported: whatever reduces over edges and nodes by
PyTorch's or PyG's scatter operations relaxes. `gnninterpreter.testing.assert_discrete_consistency`
tells for a model of your own, and the probe at the start of every run makes sure.

The tables are written by `docs/make_support_table.py` from the models in `tests/relax`; every row
is a test. Each model was run on random discrete graphs, undirected and directed, with absent nodes
among the candidates, once natively and once relaxed. *Error* is the largest absolute difference of
logits and embeddings. *Edge features* says what the layer was given of the edges: features, one
weight, one integer type. *Fast path* says whether batched matrix products compute the layer (or, in
a larger model, its layers); the others take the generic path, with the same result.
"""

REFUSED = """\
## Not relaxed

These are recognised by the probe, named in its message, and explained with the score-function
gradient on discrete samples: slower, and correct.

| Layer | Edge features | Named by the probe |
|---|---|---|
"""


def measured(case: Case) -> str:
    """The largest errors of a model in both precisions, as table cells."""
    cells = []
    for dtype in (torch.float32, torch.float64):
        errors = [
            discrete_error(case.model(dtype), case.spec(directed), dense=dense)
            for directed in (False, True)
            for dense in (False, True)
        ]
        cells.append(f"{max(errors):.0e}")
    return f" {' | '.join(cells)} |"


def render() -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    for section in dict.fromkeys(case.section for case in CASES):
        parts.append(
            f"\n## {section}\n\n"
            "| Layer | Edge features | Fast path | Error in float32 | Error in float64 |\n"
            "|---|---|---|---|---|\n"
        )
        parts += [case.row + measured(case) + "\n" for case in CASES if case.section == section]
    parts.append("\n" + REFUSED)
    parts += [refusal.row + "\n" for refusal in REFUSALS]
    return "".join(parts)


if __name__ == "__main__":
    torch.set_num_threads(1)
    target = ROOT / "docs" / "support.md"
    target.write_text(render(), encoding="utf-8")
    print(f"wrote {target}")
