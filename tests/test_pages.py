"""The documentation is built without a warning, its notebooks run and say what the text says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("rdkit", reason="the tutorial is about molecules")
for needed in ("furo", "myst_nb", "sphinx"):
    pytest.importorskip(needed, reason="the documentation needs the extra docs")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pages")
    command = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", str(DOCS), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-3_000:]
    return out


def test_the_tutorial_tells_the_story_that_its_text_tells(pages: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (pages / "tutorial.html").read_text(encoding="utf-8"))
    first, mended = (
        float(value) for value in re.findall(r"model on the second table: (\d\.\d+)\n", text)
    )
    assert first < 0.7
    assert mended > 0.95
    cores = re.findall(r"^(\S+) +in \d+% of the class", text, re.MULTILINE)
    assert "Cl" in cores[0], "the trap is seen"
    assert "Cl" not in cores[-1]
    assert "N" in cores[-1], "and the amine once it is mended"


def test_every_page_is_reached_from_the_first(pages: Path) -> None:
    index = (pages / "index.html").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        if page.stem != "index":
            assert f'href="{page.stem}.html"' in index, page.name
