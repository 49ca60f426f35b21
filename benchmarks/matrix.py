"""Runs the suite on every Python that is found, and on the lowest versions that are claimed.

    python benchmarks/matrix.py                      # all that are found
    python benchmarks/matrix.py 3.12 lowest          # some
    python benchmarks/matrix.py 3.12 --core          # what meets other packages most
    python benchmarks/matrix.py 3.12 --tests tests/relax

Needs Python 3.11 itself. Each gets an environment of its own below ``.matrix``; the table goes to
``docs/versions.md``. Tests that need a browser are left out. Mind that a torch not built for
the CPU alone brings several gigabytes of GPU libraries.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import tomllib

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "versions.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")
CLAIMED = ("chem", "report", "web", "sweep", "tune", "tracking")
# What goes through torch, PyG, networkx, rdkit and the like, without searches and studies.
CORE = [
    *(f"tests/{name}" for name in ("spec", "models", "distribution", "objective", "chem")),
    *(f"tests/{name}" for name in ("explanation", "sweep", "test_api.py", "test_tracking.py")),
    *(f"tests/relax/test_{name}.py" for name in ("dense", "probe", "reductions")),
    *(f"tests/web/test_{name}.py" for name in ("guard", "targets")),
    *(f"tests/cli/test_{name}.py" for name in ("app", "output", "progress")),
    *(f"tests/test_{name}.py" for name in ("graphs", "interchange", "isomorphism", "files")),
    *(f"tests/test_{name}.py" for name in ("fingerprints", "equality", "public_api", "layout")),
]
SHOWN = ("torch", "torch_geometric", "numpy", "networkx", "rdkit")
BEGIN, END = "<!-- matrix.py -->\n", "<!-- end of matrix.py -->\n"


def found(version: str) -> str | None:
    """The interpreter of a version: on the path, or beside others that pyenv keeps."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    kept = [p / "bin/python" for p in sorted(pyenv.glob(f"{version}.*"), reverse=True)]
    for name in (*(str(path) for path in kept), f"python{version}"):
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", "import venv"]).returncode == 0:
            return path
    return None


def lowest() -> list[str]:
    """What is required and what tests need, each at the lowest version that is claimed."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = project["dependencies"] + [need for extra in CLAIMED for need in extras[extra]]
    plain = {need for need in wanted if not need.startswith("gnninterpreter")}
    return sorted(re.sub(r">=", "==", need) for need in plain)


def install(name: str, python: str, folder: Path) -> Path:
    """An environment with the package and its tests; made once."""
    own = folder / "bin/python"
    if not (folder / ".ready").exists():
        subprocess.run([python, "-m", "venv", str(folder)], check=True)
        pip = [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if name == "lowest":
            tools = ["hypothesis", "pytest", "pytest-timeout", "pytest-xdist", "httpx==0.27"]
            subprocess.run([*pip, *lowest(), *tools, "-e", str(ROOT)], check=True)
        else:
            limits = ["-c", str(ROOT / "constraints.txt")]
            subprocess.run([*pip, *limits, "-e", f"{ROOT}[dev]"], check=True)
        (folder / ".ready").touch()
    return own


def run(name: str, python: Path, tests: list[str], jobs: int) -> list[str]:
    """A row of the table."""
    ask = (
        "import platform, importlib.metadata as m; "
        f"print(platform.python_version(), *(m.version(n) for n in {SHOWN!r}))"
    )
    versions = subprocess.run([str(python), "-c", ask], capture_output=True, text=True, check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "GNNINTERPRETER_NO_BROWSER": "1"}
    environment["PYTHONPATH"] = str(ROOT / "src")  # for the commands that tests start
    start = time.monotonic()
    command = [str(python), "-m", "pytest", "-n", str(jobs), "--timeout=3600", *tests]
    path = ROOT / ".matrix" / f"{name}.log"
    with path.open("wb") as log:  # which can be followed
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    said = path.read_text(encoding="utf-8", errors="replace")
    counts = re.findall(r"\d+ (?:passed|failed|skipped|errors?)", said[-2_000:])
    minutes = f"{(time.monotonic() - start) / 60:.1f} min"
    print(name, ", ".join(counts) or f"exit code {done.returncode}", minutes, flush=True)
    return [name, *versions.stdout.split(), ", ".join(counts) or f"exit {done.returncode}", minutes]


def main() -> None:
    """Run what was asked for, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("which", nargs="*", default=[*PYTHONS, "lowest"])
    parser.add_argument("--tests", nargs="*", default=[])
    parser.add_argument("--core", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=ROOT / ".matrix")
    asked = parser.parse_args()
    (ROOT / ".matrix").mkdir(exist_ok=True)
    for name in asked.which:
        python = found("3.10" if name == "lowest" else name)
        if python is None:
            write({name: [name, "not found", *[""] * (len(SHOWN) + 2)]})
            continue
        try:
            own = install(name, python, asked.folder / name)
        except subprocess.CalledProcessError as error:
            sys.exit(f"{name} could not be installed: {error}")
        label = f"{name}, core" if asked.core else name
        row = run(label, own, CORE if asked.core else asked.tests, asked.jobs)
        if not asked.tests:
            write({label: row})


def write(rows: dict[str, list[str]]) -> None:
    """Put rows into the page; those of other versions stay."""
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    old = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    every = {row[0]: row for row in old if row[0].partition(", core")[0] not in rows} | rows
    head = ["run", "Python", *SHOWN, "tests", "time"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(every[name]) + " |" for name in sorted(every)]
    PAGE.write_text(before + BEGIN + "\n".join(lines) + "\n" + END + after, encoding="utf-8")


if __name__ == "__main__":
    main()
