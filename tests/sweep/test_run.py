"""Sweeps in this process: jobs by content, what is stored stays, failures are told."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gnninterpreter.errors import OutputError
from gnninterpreter.sweep import jobs as jobs_module
from gnninterpreter.sweep import jobs_of, read_results, read_sweep, run_sweep
from gnninterpreter.sweep import run as run_module

from . import lab
from .conftest import write_file
from .lab import checkpoint


def test_a_job_is_known_by_the_content_of_its_inputs(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = read_sweep(file)
    first = [job.key for job in jobs_of(spec)]
    assert len(set(first)) == 2
    (file.parent / "w0.pt").rename(file.parent / "renamed.pt")
    assert [job.key for job in jobs_of(read_sweep(file))] == first
    changed = [
        replace(spec, restarts=2),
        replace(spec, seeds=(7, 8)),
        replace(spec, targets=("class 0",)),
        replace(spec, recipes=("auto",)),
        replace(spec, gpus=1),
    ]
    (file.parent / "renamed.pt").rename(file.parent / "w0.pt")
    found = [job.key for one in changed for job in jobs_of(one)]
    checkpoint(file.parent / "w0.pt", 3.0)
    found += [job.key for job in jobs_of(spec)]
    monkeypatch.setattr(jobs_module, "code_fingerprint", lambda module: "other code")
    found += [job.key for job in jobs_of(spec)]
    assert len({*first, *found}) == 2 * 8


def test_classes_of_bundles_and_bundled_models() -> None:
    spec = read_sweep_of('models = ["is_acyclic"]')
    assert [job.target for job in jobs_of(spec)] == ["cyclic", "acyclic"]
    assert [job.target for job in jobs_of(replace(spec, kind="audit"))] == [None]


def read_sweep_of(text: str):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.toml"
        path.write_text(text, encoding="utf-8")
        return read_sweep(path)


def test_results_are_stored_once_and_failures_with_their_error(file: Path) -> None:
    folder = file.parent / "out"
    text = file.read_text(encoding="utf-8").replace(
        "models = [", 'models = ["gone.safetensors", { model = "tests.sweep.lab:fails", '
        'checkpoints = ["w0.pt"] }, ',
    ).replace("seeds = 2", "seeds = 1\nretries = 1")  # fmt: skip
    file.write_text(text, encoding="utf-8")
    spec = read_sweep(file)
    told: list[int] = []
    tally = run_sweep(
        jobs_of(spec), folder, retries=spec.retries, tell=lambda t, rows: told.append(len(rows))
    )
    assert (tally.total, tally.done, tally.failed, tally.left, tally.new) == (3, 1, 2, 0, 3)
    assert sum(told) == 3
    gone, fails, good = sorted(
        read_results(folder).to_pylist(), key=lambda row: (row["status"] == "done", row["tries"])
    )
    assert gone["error"].startswith("cannot read the checkpoint")
    assert "(OSError: the disk is gone)" in fails["error"]
    assert (file.parent / "w0.pt.calls").read_text() == "xx"
    assert good["model"].endswith("w0.pt")
    assert good["nodes"] == json.loads(good["result"])["nodes"] > 2
    assert run_sweep(jobs_of(spec), folder).new == 0
    assert run_sweep(jobs_of(spec), folder, again=True).new == 2
    assert run_sweep(jobs_of(spec), folder).failed == 2


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_job_that_hangs_fails_after_its_time(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("lab:load", "lab:hangs").replace("= 2", "= 1"), encoding="utf-8")
    tally = run_sweep(jobs_of(read_sweep(file)), file.parent / "out", retries=0, timeout=0.2)
    assert (tally.done, tally.failed) == (0, 1)
    (row,) = read_results(file.parent / "out").to_pylist()
    assert "TimeoutError: took more than 0.2 seconds" in row["error"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("lab:load", "lba:load", "MODEL 'tests.sweep.lba:load': the module"),
        ("seeds", 'forward = "no:one"\nseeds', "--forward 'no:one': the module 'no' cannot be"),
        ('data = "tests.sweep.lab:graphs"\ntargets = ["class 1"]', "", "without the graphs it was"),
    ],
)
def test_a_name_that_is_wrong_is_told_before_anything_runs(
    file: Path, old: str, new: str, said: str
) -> None:
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new), encoding="utf-8")
    assert [said in (job.broken or "") for job in jobs_of(read_sweep(file))] == [True, True]


def test_graphs_are_made_once_for_all_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(lab, "counted", lambda: made.append("x") or lab.graphs, raising=False)
    file = write_file(tmp_path, 1, checkpoints=3)
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("lab:graphs", "lab:counted"), encoding="utf-8")
    assert run_sweep(jobs_of(read_sweep(file)), tmp_path / "out").done == 3
    assert made == ["x"]


def test_a_full_disk_ends_the_sweep_and_keeps_what_is_stored(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, spec = file.parent / "out", read_sweep(file)
    monkeypatch.setattr(run_module, "perform", lambda job, timeout: run_module.describe(job))
    write, calls = run_module.Results.add, []

    def full(self, rows):
        calls.append(rows)
        if len(calls) == 2:
            raise OutputError("cannot write part: No space left on device; choose another place")
        return write(self, rows)

    monkeypatch.setattr(run_module.Results, "add", full)
    with pytest.raises(OutputError, match="the same command goes on when there is room"):
        run_sweep(jobs_of(spec), folder)
    assert read_results(folder).num_rows == 1
    assert run_sweep(jobs_of(spec), folder).new == 1


def test_a_job_whose_files_were_changed_since_it_was_listed_is_not_stored_as_done(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = list(jobs_of(read_sweep(file)))
    checkpoint(file.parent / "w0.pt", 3.0)
    assert run_sweep(jobs, file.parent / "out", retries=0).failed == 2
    (error, _) = read_results(file.parent / "out")["error"].to_pylist()
    assert "w0.pt or the module that loads it is another" in error
    jobs = list(jobs_of(read_sweep(file)))
    with monkeypatch.context() as elsewhere:  # a machine with another version of this package
        elsewhere.setattr(jobs_module, "code_fingerprint", lambda module: "other code")
        assert run_sweep(jobs, file.parent / "out", retries=0).failed == 2
    assert run_sweep(jobs, file.parent / "out", again=True).done == 2
