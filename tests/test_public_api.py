"""The names that users may rely on, and that importing them costs little."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest

import gnninterpreter as gi

PUBLIC = [
    "Categorical",
    "ClassStatistics",
    "Continuous",
    "Explanation",
    "ExplanationSet",
    "GraphSpec",
    "Recipe",
    "__version__",
    "datasets",
    "explain",
    "load",
    "models",
]
HEAVY = (
    "fastapi", "grakel", "IPython", "jinja2", "matplotlib", "optuna", "pandas", "ray", "rdkit",
    "rich", "safetensors", "scipy", "tqdm.notebook", "typer",
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


def test_importing_brings_nothing_heavy() -> None:
    command = "import sys, gnninterpreter; print(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    loaded = set(run.stdout.split())
    assert "torch" in loaded
    assert "gnninterpreter.api" in loaded
    assert loaded.isdisjoint(HEAVY)
    assert not any(name.startswith("gnninterpreter.cli") for name in loaded)
    assert not any(name.startswith("gnninterpreter.report") for name in loaded)


def test_importing_prints_nothing_and_leaves_torch_as_it_was() -> None:
    command = (
        "import torch; before = (torch.get_rng_state().sum(), torch.get_default_dtype(), "
        "torch.is_grad_enabled()); import gnninterpreter; after = (torch.get_rng_state().sum(), "
        "torch.get_default_dtype(), torch.is_grad_enabled()); assert before == after"
    )
    run = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)
    assert (run.returncode, run.stdout) == (0, "")
