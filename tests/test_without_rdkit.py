"""Molecules are explained where RDKit is not installed, and what is missing is said."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BUNDLED = """
found = gi.explain("esol", targets="max", restarts=1, progress=False)
"""
OWN = """
from torch_geometric.data import Data

class Counting(torch.nn.Module):
    def forward(self, x, edge_index, batch):
        share = torch.zeros(int(batch.max()) + 1, x.size(1)).index_add(0, batch, x)
        return torch.stack([share[:, 0], 3 * share[:, 2]], 1)

def molecule(kinds, y):
    ends = torch.tensor([[i, i + 1] for i in range(len(kinds) - 1)]).t()
    return Data(x=torch.eye(3)[kinds], edge_index=torch.cat([ends, ends.flip(0)], 1), y=y)

data = [molecule([0, 0, 0, 1][: 3 + i % 2], 0) for i in range(6)]
data += [molecule([0, 2, 0, 2][: 3 + i % 2], 1) for i in range(6)]
spec = gi.GraphSpec.from_dataset(data).with_feature_names(["C", "N", "O"])
found = gi.explain(Counting(), data, spec=spec, targets=[1], restarts=1, progress=False)
"""
REST = """
(one,) = found.values()
assert any(note.startswith("RDKit is not installed") for note in one.notes), one.notes
page = Path(sys.argv[1]) / "page.html"
found.report(page)
assert "RDKit is not installed" in page.read_text()
assert "<svg" in found._repr_html_()
found.save(Path(sys.argv[1]) / "run")
assert [n for n in gi.load(Path(sys.argv[1]) / "run")] == list(found)
one.export(Path(sys.argv[1]) / "one.svg")
try:
    one.export(Path(sys.argv[1]) / "one.smi")
except gi.errors.MissingExtraError as error:
    assert "rdkit" in str(error)
else:
    raise AssertionError("SMILES without RDKit")
print(one.num_edges)
"""


@pytest.mark.parametrize("made", [BUNDLED, OWN], ids=["bundled", "own"])
def test_explaining_needs_no_rdkit(made: str, tmp_path: Path) -> None:
    blocked = 'import sys\nsys.modules["rdkit"] = None\nfrom pathlib import Path\nimport torch\n'
    code = f"{blocked}import gnninterpreter as gi\n{made}{REST}"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 2
