from __future__ import annotations

import subprocess
import sys

from gnninterpreter import __version__

from .conftest import ROOT

# Runs the command line with an empty package in place of `gnninterpreter/__init__.py`, so that only
# what the command line itself imports is counted.
HELP_ALONE = """
import sys, types
package = types.ModuleType("gnninterpreter")
package.__path__ = [sys.argv.pop(1)]
sys.modules["gnninterpreter"] = package
from gnninterpreter.cli import main
try:
    main()
finally:
    heavy = {"torch", "torch_geometric", "numpy", "networkx", "matplotlib"} & set(sys.modules)
    print("imported:", sorted(heavy))
"""


def test_version(cli):
    assert cli("--version") == (0, f"gnninterpreter {__version__}\n", "")


def test_help_names_every_command(cli):
    code, out, _ = cli("--help")
    assert code == 0
    for command in ("explain", "demo", "models"):
        assert command in out


def test_without_arguments_shows_help(cli):
    _, out, err = cli()
    assert "Usage" in out + err


def test_help_of_each_command_has_an_example(cli):
    for command in ("explain", "demo", "models"):
        code, out, _ = cli(command, "--help")
        assert code == 0
        assert "gnninterpreter" in out.split("Usage", 1)[1].split("\n", 1)[1]


def test_unknown_command(cli):
    code, out, err = cli("explane")
    assert (code, out) == (2, "")
    assert "explane" in err


def test_help_needs_no_torch(environment):
    package = str(ROOT / "src" / "gnninterpreter")
    for command in (["--help"], ["explain", "--help"], ["--version"]):
        done = subprocess.run(
            [sys.executable, "-c", HELP_ALONE, package, *command],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
            check=True,
        )
        assert done.stdout.endswith("imported: []\n")
