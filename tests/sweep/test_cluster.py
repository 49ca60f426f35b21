"""A real Ray cluster of several nodes: what is killed is done again, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.sweep import jobs_of, make_workers, read_results, read_sweep, run_sweep
from gnninterpreter.sweep.results import Results
from tests.fuzzing import FUZZ

from .conftest import write_file

# Old versions of Ray leave their logs open.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ROOT = Path(__file__).parents[2]
# Nothing is measured: this only ends what would hang for ever.
PATIENCE = 1800.0
SEEDS = 10
# What differs from run to run.
FREE = ("seconds", "cpu_seconds", "host", "process", "finished", "tries")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    pytest.importorskip("ray", reason="a cluster needs the extra 'sweep'")
    if os.name == "nt":
        pytest.skip("POSIX signals")
    from ray.cluster_utils import Cluster

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    made = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    try:
        made.nodes = [made.add_node(**size) for _ in range(2 if FUZZ else 1)]
        yield made
    finally:
        made.shutdown()


def begin(file: Path, out: Path, address: str) -> subprocess.Popen[bytes]:
    """A driver in a process of its own."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "gnninterpreter", "sweep", str(file), "--out", str(out)]
    with open(out.with_suffix(".log"), "ab") as log:
        return subprocess.Popen(
            [*command, "--address", address],
            env={**os.environ, "PYTHONPATH": paths},
            stdout=log,
            stderr=log,
            cwd=ROOT,
        )


def until(true: Callable[[], Any], driver: subprocess.Popen[bytes]) -> Any:
    """Wait for something, as long as there is somebody who can bring it about."""
    end = time.monotonic() + PATIENCE
    while not (found := true()):
        assert time.monotonic() < end, "waited in vain"
        assert driver.poll() is None, "the driver is gone"
        time.sleep(0.05)
    return found


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


# Ray takes minutes to see that a node is gone.
@pytest.mark.skipif(not FUZZ, reason="takes minutes; make fuzz runs it")
@pytest.mark.timeout(6000)
def test_a_killed_worker_node_and_driver_change_nothing(cluster: Any, tmp_path: Path) -> None:
    file = write_file(tmp_path, SEEDS, checkpoints=3)
    alone, out = tmp_path / "alone", tmp_path / "out"
    total = 3 * SEEDS
    assert run_sweep(jobs_of(read_sweep(file)), alone).done == total
    for left in tmp_path.glob("*.pt.*"):
        left.unlink()
    gates = [tmp_path / f"w{number}.pt.wait" for number in (1, 2)]
    for gate in gates:
        gate.touch()

    def waiting_for(number: int) -> list[int]:
        found = tmp_path.glob(f"w{number}.pt.[0-9]*")
        return [int(path.suffix[1:]) for path in found]

    driver = begin(file, out, cluster.address)
    try:
        # The jobs of the first checkpoint are done; those of the second hang at its gate.
        until(lambda: len(Results(out).states()) == SEEDS, driver)
        os.kill(until(lambda: waiting_for(1), driver)[0], signal.SIGKILL)
        cluster.remove_node(cluster.nodes[0], allow_graceful=False)
        gates[0].unlink()
        until(lambda: len(Results(out).states()) == 2 * SEEDS, driver)
        until(lambda: waiting_for(2), driver)
        tries = read_results(out)["tries"].to_pylist()
        assert max(tries) > 1
        before = {path: path.read_bytes() for path in Results(out).parts()}
    finally:
        driver.kill()
        driver.wait(PATIENCE)
    gates[1].unlink()
    driver = begin(file, out, cluster.address)
    try:
        assert driver.wait(PATIENCE) == 0, out.with_suffix(".log").read_text()
    finally:
        driver.kill()
    # What was stored was not computed again, and all is as it is undisturbed.
    assert {path: path.read_bytes() for path in before} == before
    assert sum(read_part(path) for path in Results(out).parts()) == total
    assert rows_of(out) == rows_of(alone)
    assert {row["status"] for row in rows_of(out).values()} == {"done"}


def read_part(path: Path) -> int:
    import pyarrow.parquet as pq

    return int(pq.read_metadata(path).num_rows)


def test_a_gpu_that_the_cluster_does_not_have(cluster: Any) -> None:
    with pytest.raises(SpecError, match="asks for a GPU for each job and the cluster has 0"):
        make_workers(address=cluster.address, gpus=1)


def test_a_cluster_that_cannot_be_reached() -> None:
    pytest.importorskip("ray")
    with pytest.raises(SpecError, match=r"'127\.0\.0\.1:1' cannot be reached"):
        make_workers(address="127.0.0.1:1")
    with pytest.raises(SpecError, match="--address must be HOST:PORT"):
        make_workers(address="somewhere")


def test_processes_need_no_ray() -> None:
    with pytest.raises(SpecError, match="--address is for Ray"):
        make_workers("processes", address="127.0.0.1:1")
    with pytest.raises(SpecError, match=r"jobs must be at least 1 \(got 0\)"):
        make_workers("processes", jobs=0)
    assert make_workers("processes", jobs=3).slots == 3
