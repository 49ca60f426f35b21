"""A sweep of 200 jobs on a local Ray cluster of three nodes, undisturbed and with kills.

    python benchmarks/sweep_kills.py

Kills a worker, a node and the driver (SIGKILL each), begins the driver again, and compares every
row with a run without Ray. Also measures what the plan in docs/sweeps.md is made of: seconds a job,
overhead of Ray a job, bytes a row. Writes results/sweep/kills.json.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import networkx as nx
import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import GraphConv, global_mean_pool
from torch_geometric.utils import from_networkx

HERE = Path(__file__).parent
OUT = HERE / "results" / "sweep" / "kills.json"
CHECKPOINTS, SEEDS = 10, 20
TOTAL = CHECKPOINTS * SEEDS
PATIENCE = 900.0
FREE = ("seconds", "cpu_seconds", "host", "process", "finished", "tries")
FILE = f"""
models = [{{ model = "sweep_kills:load", checkpoints = ["*.pt"] }}]
data = "sweep_kills:graphs"
targets = ["class 1"]
seeds = {SEEDS}
restarts = 1

[[recipes]]
base = "certain"
name = "tiny"
without = ["gradient", "local search", "iterated search", "calibrate"]
"""


class Degrees(nn.Module):
    """Calls a graph dense where its mean degree is above two."""

    def __init__(self) -> None:
        """Set the weights by hand."""
        super().__init__()
        self.conv = GraphConv(1, 1)
        self.head = nn.Linear(1, 2)
        with torch.no_grad():
            self.conv.lin_rel.weight.fill_(1.0)
            self.conv.lin_rel.bias.zero_()
            self.conv.lin_root.weight.zero_()
            self.head.weight.copy_(torch.tensor([[-4.0], [4.0]]))
            self.head.bias.copy_(torch.tensor([8.0, -8.0]))

    def forward(self, x, edge_index, batch):
        """Two scores for each graph."""
        return self.head(global_mean_pool(self.conv(x, edge_index), batch))


def load(path: str) -> nn.Module:
    model = Degrees()
    model.load_state_dict(torch.load(path, weights_only=True))
    return model


def graphs() -> list[Data]:
    shapes = [(nx.path_graph(n), 0) for n in range(4, 10)]
    shapes += [(nx.complete_graph(n), 1) for n in range(4, 10)]
    return [
        Data(x=torch.ones(len(g), 1), edge_index=from_networkx(g).edge_index, y=torch.tensor(y))
        for g, y in shapes
    ]


def nothing(number: int) -> int:
    return number


def rows_of(folder: Path) -> dict[str, dict[str, Any]]:
    from gnninterpreter.sweep import read_results

    rows = read_results(folder).to_pylist()
    return {row["key"]: {k: v for k, v in row.items() if k not in FREE} for row in rows}


def begin(file: Path, out: Path, *more: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "gnninterpreter", "sweep", str(file), "--out", str(out)]
    return subprocess.Popen([*command, *more], cwd=HERE)


def until(count: int, out: Path, driver: subprocess.Popen[bytes]) -> list[dict[str, Any]]:
    """Wait until so many jobs are stored."""
    from gnninterpreter.sweep import read_results

    end = time.monotonic() + PATIENCE
    while (rows := read_results(out).to_pylist()) is not None and len(rows) < count:
        if time.monotonic() > end or driver.poll() is not None:
            raise SystemExit(f"waited in vain for {count} jobs")
        time.sleep(0.1)
    return rows


def disturbed(file: Path, out: Path) -> dict[str, Any]:
    """The sweep with a worker, a node and the driver killed."""
    import pyarrow.parquet as pq
    from ray.cluster_utils import Cluster

    from gnninterpreter.sweep.results import Results

    size = {"num_cpus": 1, "object_store_memory": 80 * 2**20}
    cluster = Cluster(initialize_head=True, head_node_args={**size, "include_dashboard": False})
    others = [cluster.add_node(**size) for _ in range(2)]
    started = time.monotonic()
    driver = begin(file, out, "--address", cluster.address)
    try:
        worker = until(TOTAL // 5, out, driver)[-1]["process"]
        os.kill(worker, signal.SIGKILL)
        until(2 * TOTAL // 5, out, driver)
        cluster.remove_node(others[0], allow_graceful=False)
        until(3 * TOTAL // 5, out, driver)
    finally:
        driver.kill()
        driver.wait()
    before = {path: path.read_bytes() for path in Results(out).parts()}
    kept = sum(pq.read_metadata(path).num_rows for path in before)
    # Read first, since the next run makes one part of many.
    told = rows_of(out)
    again = begin(file, out, "--address", cluster.address)
    status = again.wait(PATIENCE)
    seconds = time.monotonic() - started
    cluster.shutdown()
    after = rows_of(out)
    tries = [row["tries"] for row in Results(out).table().to_pylist()]
    return {
        "exit": status,
        "stored when the driver was killed": kept,
        "of these changed later": sum(after[key] != row for key, row in told.items()),
        "jobs that took more than one try": sum(n > 1 for n in tries),
        "rows": len(after),
        "seconds": round(seconds, 1),
    }


def overhead(jobs: int = 1000) -> float:
    """Milliseconds that Ray adds to a job: jobs that do nothing, on one worker."""
    from gnninterpreter.parallel import run_jobs
    from gnninterpreter.sweep import RayWorkers

    workers = RayWorkers(jobs=1)
    done = iter(run_jobs(nothing, range(jobs + 50), workers))
    count = 0
    while count < 50:  # until the worker is there
        count += len(next(done))
    started, first = time.perf_counter(), count
    count += sum(len(batch) for batch in done)
    return 1000 * (time.perf_counter() - started) / (count - first)


def main() -> None:
    from gnninterpreter.sweep import jobs_of, read_results, read_sweep, run_sweep
    from gnninterpreter.sweep.results import Results

    paths = [str(HERE.parent / "src"), str(HERE)]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    sys.path[:0] = paths
    torch.set_num_threads(1)
    found: dict[str, Any] = {"jobs": TOTAL, "nodes": 3, "cores": os.cpu_count()}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(CHECKPOINTS):
            state = Degrees().state_dict()
            state["head.weight"] *= 1 + number / 10
            torch.save(state, folder / f"w{number:02d}.pt")
        file = folder / "sweep.toml"
        file.write_text(FILE, encoding="utf-8")
        jobs = list(jobs_of(read_sweep(file)))  # reads the code of the package, once
        started = time.perf_counter()
        list(jobs_of(read_sweep(file)))
        found["milliseconds to list a job"] = round(
            1000 * (time.perf_counter() - started) / TOTAL, 3
        )
        started, cpu = time.perf_counter(), time.process_time()
        run_sweep(jobs, folder / "alone")
        found["undisturbed, one process"] = {
            "seconds": round(time.perf_counter() - started, 1),
            "processor seconds": round(time.process_time() - cpu, 1),
        }
        alone = Results(folder / "alone")
        taken = sum(read_results(folder / "alone")["cpu_seconds"].to_pylist())
        found["processor milliseconds a job outside the job"] = round(
            1000 * (time.process_time() - cpu - taken) / TOTAL, 2
        )
        alone.join(0)
        found["bytes a row, joined"] = round(
            sum(path.stat().st_size for path in alone.parts()) / TOTAL
        )
        found["killed worker, node and driver"] = disturbed(file, folder / "out")
        same = rows_of(folder / "out") == rows_of(folder / "alone")
        found["same rows as undisturbed"] = same
        found["milliseconds of Ray a job"] = round(overhead(), 2)
    found["python"] = platform.python_version()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
