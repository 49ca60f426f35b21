"""Workers on a Ray cluster: one on this machine, begun and ended with the sweep, or a given one."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.errors import SpecError, needs
from gnninterpreter.parallel import Processes, Workers, call, limit_threads

TIMEOUT = 10.0
AUTHENTICATION = "RAY_AUTH_MODE"


def make_workers(
    engine: str = "ray",
    address: str | None = None,
    jobs: int | None = None,
    threads: int = 1,
    gpus: float = 0.0,
    runtime_env: Mapping[str, Any] | None = None,
) -> Workers:
    """Workers with one budget of threads for the machine, with threads and GPUs of each job.

    The engine is ``"ray"``, or ``"processes"`` of this machine, which need no Ray. A local cluster
    is begun where there is no address of one that runs already; ``jobs`` are as many at a time on
    this machine as its cores allow when omitted.

    Raises:
        SpecError: If the cluster cannot be reached, or has no such GPU.
    """
    one_of("engine", engine, ("ray", "processes"))
    jobs = max(1, _cores() // threads) if jobs is None else whole_number("jobs", jobs, 1)
    if engine == "ray":
        return RayWorkers(address, jobs, threads, gpus, runtime_env)
    if address is not None:
        raise SpecError("--address is for Ray; leave it out, or use --engine ray")
    if gpus:
        import torch

        if not torch.cuda.is_available():
            raise SpecError(_no_gpu(gpus, 0, "this machine"))
    limit_threads(threads)
    return Processes(jobs, threads)


class RayWorkers:
    """Workers of a Ray cluster; what they are given is that of `make_workers`."""

    def __init__(
        self,
        address: str | None = None,
        jobs: int = 1,
        threads: int = 1,
        gpus: float = 0.0,
        runtime_env: Mapping[str, Any] | None = None,
    ) -> None:
        """Connect, and make sure that a job fits somewhere."""
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        with needs("ray", "sweep", "running jobs on Ray"):
            import ray
        logging.getLogger("ray").setLevel(logging.ERROR)
        options: dict[str, Any] = {
            "log_to_driver": False,
            "configure_logging": False,
            "runtime_env": dict(runtime_env or {}) or None,
            # Without an address Ray would look for a cluster that somebody else began here.
            "address": address or "local",
        }
        if address is None:
            options |= {"num_cpus": jobs * threads, "include_dashboard": False}
        else:
            _check_reachable(address)
        try:
            ray.init(**options)
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            where = "a local cluster" if address is None else f"the cluster {address!r}"
            # Ray hands its token to an address only where it is told to.
            unsent = isinstance(error, ConnectionError) and AUTHENTICATION not in os.environ
            hint = f"; if it asks for a token, set {AUTHENTICATION}=token" if unsent else ""
            raise SpecError(f"{where} cannot be used: {error}{hint}") from error
        self._ray, self._threads, self._gpus = ray, threads, gpus
        try:
            self._check_fits()
            self._remote = ray.remote(num_cpus=threads, num_gpus=gpus, max_retries=0)(_work)
        except (SpecError, ValueError) as error:
            ray.shutdown()
            raise SpecError(str(error)) from error

    def _check_fits(self) -> None:
        """Refuse jobs that fit on no machine: Ray would wait for one that is larger for ever."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        gpus = max((node.get("GPU", 0) for node in nodes), default=0)
        if self._gpus > gpus:
            raise SpecError(_no_gpu(self._gpus, gpus, "the cluster"))
        cores = max((node.get("CPU", 0) for node in nodes), default=0)
        if self._threads > cores:
            raise SpecError(
                f"threads = {self._threads} for each job, and no machine of the cluster has more "
                f"than {cores:g}; ask for fewer in the sweep file"
            )

    @property
    def slots(self) -> int:
        """Twice as many as run at a time, so that no worker waits for its next job."""
        found = self._ray.cluster_resources()
        fitting = found.get("CPU", 0) / self._threads
        if self._gpus:
            fitting = min(fitting, found.get("GPU", 0) / self._gpus)
        return 2 * max(1, int(fitting))

    def submit(self, function: Callable[[Any], Any], item: Any) -> Future[Any]:
        """Begin a job."""
        future: Future[Any] = self._remote.remote(self._threads, function, item).future()
        return future

    def renew(self) -> None:
        """Ray begins new workers by itself."""

    def close(self, at_once: bool) -> None:
        """Leave the cluster, which ends what is under way; a local one ends with it."""
        self._ray.shutdown()


def _work(threads: int, function: Callable[[Any], Any], item: Any) -> Any:
    limit_threads(threads)
    return call(function, item)


def _check_reachable(address: str) -> None:
    """Knock at the door first: Ray itself would wait for minutes."""
    place = address.split("://")[-1]
    host, _, port = place.rpartition(":")
    if not port.isdigit():
        if address == "auto":
            return
        raise SpecError(f"--address must be HOST:PORT, ray://HOST:PORT or auto (got {address!r})")
    try:
        socket.create_connection((host, int(port)), timeout=TIMEOUT).close()
    except OSError as error:
        raise SpecError(
            f"the cluster {address!r} cannot be reached ({error.strerror or error}); begin one "
            "with `ray start --head`, or leave --address out"
        ) from error


def _no_gpu(wanted: float, found: float, where: str) -> str:
    return (
        f"gpus = {wanted:g} asks for a GPU for each job and {where} has {found:g}; take it out of "
        "the sweep file, or use a machine that has one"
    )


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1
