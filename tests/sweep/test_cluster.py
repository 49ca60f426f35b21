"""A real Ray cluster of several nodes: what is killed is done again, and nothing else."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.sweep import jobs_of, make_workers, read_results, read_sweep, run_sweep

from .conftest import write_file

# Old versions of Ray leave their logs open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ROOT = Path(__file__).parents[2]
PATHS = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
# Nothing is measured: this only ends what would hang for ever.
PATIENCE = 1800.0
# What differs from run to run.
FREE = ("seconds", "cpu_seconds", "host", "process", "finished", "tries")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="a cluster needs the extra 'sweep'")
    if os.name == "nt":
        pytest.skip("POSIX signals")
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", PATHS)  # or nodes would have the package that is installed
        made = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
        try:
            made.add_node(**size)
            yield made
        finally:
            made.shutdown()


def begin(file: Path, out: Path, address: str) -> subprocess.Popen[bytes]:
    """A driver in a process of its own."""
    command = [sys.executable, "-m", "gnninterpreter", "sweep", str(file), "--out", str(out)]
    with open(out.with_suffix(".log"), "ab") as log:
        return subprocess.Popen(
            [*command, "--address", address],
            env={**os.environ, "PYTHONPATH": PATHS},
            stdout=log,
            stderr=log,
            cwd=ROOT,
        )


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    rows = read_results(folder).to_pylist()
    return {row["key"]: {k: v for k, v in row.items() if k not in FREE} for row in rows}


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_a_sweep_on_a_cluster_comes_to_the_same(cluster: Any, tmp_path: Path) -> None:
    file = write_file(tmp_path, 1, checkpoints=2)
    alone, out = tmp_path / "alone", tmp_path / "out"
    assert run_sweep(jobs_of(read_sweep(file)), alone).done == 2
    driver = begin(file, out, cluster.address)
    try:
        assert driver.wait(PATIENCE) == 0, out.with_suffix(".log").read_text()
    finally:
        driver.kill()
    assert rows_of(out) == rows_of(alone)


def test_a_gpu_that_the_cluster_does_not_have(cluster: Any) -> None:
    with pytest.raises(SpecError, match="asks for a GPU for each job and the cluster has 0"):
        make_workers(address=cluster.address, gpus=1)


def test_threads_that_no_machine_has(cluster: Any) -> None:
    with pytest.raises(SpecError, match=r"threads = 2 for each job, and no machine .* than 1"):
        make_workers(address=cluster.address, threads=2)


def test_a_local_cluster_beside_one_that_runs(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAY_ADDRESS", cluster.address)
    workers = make_workers(jobs=1)
    try:
        assert workers.slots == 2  # of one core, and not of the two nodes
    finally:
        workers.close(at_once=True)


def test_a_cluster_that_cannot_be_reached() -> None:
    pytest.importorskip("ray")
    with pytest.raises(SpecError, match=r"'127\.0\.0\.1:1' cannot be reached"):
        make_workers(address="127.0.0.1:1")
    with pytest.raises(SpecError, match="--address must be HOST:PORT"):
        make_workers(address="somewhere")


def test_an_engine_that_there_is_not() -> None:
    with pytest.raises(SpecError, match=r"engine must be one of ray, processes \(got 'dask'\)"):
        make_workers("dask")


def test_processes_need_no_ray() -> None:
    with pytest.raises(SpecError, match="--address is for Ray"):
        make_workers("processes", address="127.0.0.1:1")
    with pytest.raises(SpecError, match=r"jobs must be at least 1 \(got 0\)"):
        make_workers("processes", jobs=0)
    assert make_workers("processes", jobs=3).slots == 3
