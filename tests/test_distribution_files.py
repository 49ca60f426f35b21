"""What would be released: both files are built, checked, and hold what they should."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_the_descriptions_can_be_shown(built: Path) -> None:
    pytest.importorskip("twine")
    files = [str(path) for path in built.iterdir()]
    command = [sys.executable, "-m", "twine", "check", "--strict", *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_wheel_brings_the_models_and_the_pages(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "gnninterpreter/models/checkpoints/motif.safetensors" in names
    assert "gnninterpreter/report/assets/page.css" in names
    assert "gnninterpreter/web/assets/live.html" in names
    assert "gnninterpreter/py.typed" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/", "benchmarks/"))]


def test_the_source_can_test_itself(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        names = {name.split("/", 1)[-1] for name in packed.getnames()}
    assert {"Makefile", "constraints.txt", "tests/test_api.py", "docs/conf.py"} <= names
    assert not [name for name in names if name.startswith("docs/_build")]
