"""The names that users may rely on, and that importing them costs little."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import gnninterpreter as gi

PUBLIC = [
    "Categorical",
    "ClassStatistics",
    "Continuous",
    "Derived",
    "Explanation",
    "ExplanationSet",
    "GraphSpec",
    "Recipe",
    "__version__",
    "compare",
    "datasets",
    "explain",
    "load",
    "models",
    "register_derived",
    "training",
]
# Not pandas: torch_geometric imports it wherever it is installed.
HEAVY = (
    "fastapi", "grakel", "IPython", "matplotlib", "optuna", "ray", "rdkit",
    "rich", "safetensors", "scipy", "typer",
)  # fmt: skip


def test_the_public_names_are_these() -> None:
    assert sorted(gi.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(gi, name) is not None


def packages() -> list[str]:
    found = pkgutil.walk_packages(gi.__path__, "gnninterpreter.")
    return [entry.name for entry in found if entry.ispkg]


@pytest.mark.parametrize("name", packages())
def test_every_package_says_what_it_offers(name: str) -> None:
    package = importlib.import_module(name)
    assert package.__doc__
    for public in package.__all__:
        assert hasattr(package, public), public


def test_unknown_names_are_refused_and_known_ones_listed() -> None:
    assert set(PUBLIC) <= set(dir(gi))
    with pytest.raises(AttributeError, match="has no attribute 'explian'"):
        _ = gi.explian


# In a fresh interpreter, first nothing but the package, then all that it offers.
COMMAND = """
import sys
import gnninterpreter
assert "torch" not in sys.modules
import torch
def state():
    return torch.initial_seed(), torch.get_default_dtype(), torch.is_grad_enabled()
before = state()
for name in gnninterpreter.__all__:
    getattr(gnninterpreter, name)
assert state() == before
print(*sorted(sys.modules))
"""


def test_importing_is_light_silent_and_leaves_torch_as_it_was() -> None:
    source = str(Path(gi.__file__).parents[1])
    run = subprocess.run(
        [sys.executable, "-c", COMMAND],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("\n") == 1
    loaded = set(run.stdout.split())
    assert {"torch", "networkx", "gnninterpreter.api"} <= loaded
    assert loaded.isdisjoint(HEAVY), loaded & set(HEAVY)
    for drawing in ("gnninterpreter.cli", "gnninterpreter.report"):
        assert drawing not in loaded
