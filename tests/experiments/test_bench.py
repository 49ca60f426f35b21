"""A bench: rows measured once, kept and gone on with; shown on that of robustness."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import pytest

from gnninterpreter.errors import CheckpointError
from gnninterpreter.experiments import store
from gnninterpreter.experiments.robustness import BENCH, Run, RunConfig
from gnninterpreter.experiments.robustness import compute as module
from tests.experiments.robustness.test_robustness import CONFIG, RUN, answering


def test_runs_that_are_stored_are_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answering(monkeypatch)
    out = tmp_path / "runs.json"
    configs = [RunConfig("shape", "wheel", seed) for seed in range(3)]
    BENCH.measure(configs[:2], out)
    told: list[Run] = []
    runs, _ = BENCH.measure(configs, out, tell=told.append)
    assert asked == configs
    assert [run.seed for run in told] == [2]
    assert [run.seed for run in runs] == [0, 1, 2]
    assert BENCH.read(out) == runs
    # The file holds what was asked for; what is stored stays.
    BENCH.measure(configs[2:], out)
    assert [run.seed for run in BENCH.read(out)] == [2]
    assert asked == configs


def test_runs_are_repeated_after_a_change_of_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch)
    out = tmp_path / "runs.json"
    BENCH.measure([CONFIG], out)
    asked = answering(monkeypatch, mean=0.5)
    monkeypatch.setattr(store, "code_fingerprint", lambda name: "another constant")
    (run,), _ = BENCH.measure([CONFIG], out)
    assert asked == [CONFIG]
    assert run.mean == BENCH.read(out)[0].mean == 0.5


def test_an_interrupted_benchmark_keeps_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explain_once(seed: int, **arguments: object) -> dict[str, object]:
        if seed == 2:
            raise KeyboardInterrupt
        return {"row": asdict(replace(RUN, seed=seed, **arguments))}

    monkeypatch.setattr(module, "explain_once", explain_once)
    out = tmp_path / "runs.json"
    with pytest.raises(KeyboardInterrupt):
        BENCH.measure([RunConfig("shape", "wheel", seed) for seed in range(4)], out)
    assert [run.seed for run in BENCH.read(out)] == [0, 1]
    assert {path.name for path in tmp_path.iterdir()} == {"runs.json", "cache"}
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize(
    "content", ["", "[]", '{"kind": "other", "schema": 3}', '{"kind": "robustness", "schema": 99}']
)
def test_a_foreign_file_is_refused(tmp_path: Path, content: str) -> None:
    out = tmp_path / "runs.json"
    out.write_text(content)
    with pytest.raises(CheckpointError, match=r"not a file of robustness rows.*another file"):
        BENCH.measure([CONFIG], out)
    assert out.read_text() == content
