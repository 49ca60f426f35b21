from __future__ import annotations

import subprocess
import sys

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.paper import STUDIES, Settings, computations_of, compute
from gnninterpreter.experiments.store import Store


@pytest.mark.parametrize("quick", [True, False])
def test_every_study_names_what_it_computes(quick):
    found = computations_of(STUDIES, Settings(quick))
    assert len(found) == len(set(found))
    costs = [work.cost for work in found]
    assert costs == sorted(costs, reverse=True)


def test_the_full_run_has_the_paper_s_numbers():
    found = [
        dict(work.arguments) | {"function": work.function}
        for work in computations_of(STUDIES, Settings())
    ]
    auto = [u for u in found if u.get("recipe") == "auto" and u["restarts"] == 8]
    assert len({(u["dataset"], u["target"]) for u in auto}) == 17
    assert {u["seed"] for u in auto} == set(range(10))
    assert {u["bases"] for u in found if u["function"] == "attach"} == {5000}
    assert {u["count"] for u in found if u["function"] == "nitro"} == {1000}
    paper = [u for u in found if u.get("recipe") == "paper" and u["restarts"] == 10]
    assert len(paper) == 17
    assert {u["iterations"] for u in paper} == {2000}
    ablated = {(u["dataset"], u["target"]) for u in found if u.get("term") is not None}
    assert len(ablated) == 17


BARE = """
import sys

MISSING = ("matplotlib", "pandas", "joblib", "typer", "rich")
sys.modules.update(dict.fromkeys(MISSING))
from gnninterpreter.experiments.paper.__main__ import main
assert main(["--out", sys.argv[1], "--quick", "--only", "statistics"]) == 0
"""


@pytest.mark.slow
def test_a_process_without_drawing_or_command_line_leaves_what_is_found(tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", BARE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    said: list[str] = []
    quick, store = Settings(quick=True), Store(tmp_path / "cache")
    assert len(list(store.folder.iterdir())) == 6
    assert compute(["statistics"], quick, store, say=said.append) == 0
    assert said == ["6 of 6 values are there"]
    with pytest.raises(SpecError, match="jobs"):
        compute(["statistics"], quick, store, jobs=0)
    with pytest.raises(SpecError, match="poetry"):
        compute(["poetry"], quick, store)
