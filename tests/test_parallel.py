"""Work spread over processes: every result once, errors at the end, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from gnninterpreter.errors import SpecError
from gnninterpreter.experiments.store import map_jobs
from gnninterpreter.parallel import run_jobs


def square(number: int) -> int:
    if number > 1000:
        sys.exit(3)
    if number < 0:
        raise ArithmeticError(f"{number} is negative")
    return number**2


def threads_and_process(number: int) -> tuple[int, int]:
    import torch

    return torch.get_num_threads(), os.getpid()


def hang(folder: Path, number: int) -> int:
    """Say that it has begun, and then never end, but for the first."""
    (folder / str(os.getpid())).touch()
    if number:
        time.sleep(600)
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_every_item_comes_once_with_its_result(jobs: int) -> None:
    assert sorted(map_jobs(square, [3, 1, 2], jobs)) == [(1, 1), (2, 4), (3, 9)]
    assert list(map_jobs(square, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_item_that_fails_does_not_stop_the_others(jobs: int) -> None:
    results = map_jobs(square, [-1, 1, 2], jobs)
    assert sorted([next(results), next(results)]) == [(1, 1), (2, 4)]
    with pytest.raises(ArithmeticError, match="-1 is negative"):
        next(results)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_function_that_ends_the_program_is_a_job_that_failed(jobs: int) -> None:
    outcomes = [one for batch in run_jobs(square, [1001, 2], jobs) for one in batch]
    assert {one.item: str(one.error) for one in outcomes} == {1001: "SystemExit: 3", 2: "None"}


def test_each_process_has_one_thread_and_is_not_this_one() -> None:
    found = [result for _, result in map_jobs(threads_and_process, range(2), 2)]
    assert [threads for threads, _ in found] == [1, 1]
    assert os.getpid() not in {process for _, process in found}


def test_fewer_than_one_process_is_refused_at_once() -> None:
    with pytest.raises(SpecError, match=r"jobs must be at least 1 \(got 0\)"):
        map_jobs(square, [1], 0)


def flaky(folder: Path, number: int) -> int:
    """Fail at the first try, or die at every one."""
    if number < 0:
        os.kill(os.getpid(), signal.SIGKILL)
    mark = folder / f"tried-{number}"
    if not mark.exists():
        mark.touch()
        raise OSError("not yet")
    return number


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_job_that_fails_is_tried_again_and_then_told_with_its_error(
    tmp_path: Path, jobs: int
) -> None:
    one, other = (tmp_path / str(i) for i in range(2))
    one.mkdir()
    other.mkdir()
    (found,) = next(run_jobs(partial(flaky, one), [3], jobs, retries=1))
    assert (found.result, found.error, found.tries) == (3, None, 2)
    (found,) = next(run_jobs(partial(flaky, other), [3], jobs))
    assert (found.result, str(found.error), found.tries) == (None, "not yet", 1)


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_a_job_that_kills_its_process_takes_no_other_with_it(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"tried-{number}").touch()
    batches = run_jobs(partial(flaky, tmp_path), [0, 1, -1, 2, 3], 2, retries=1)
    outcomes = {outcome.item: outcome for batch in batches for outcome in batch}
    assert {item: found.result for item, found in outcomes.items()} == {
        0: 0, 1: 1, -1: None, 2: 2, 3: 3
    }  # fmt: skip
    assert outcomes[-1].tries == 2
    assert all(outcomes[number].tries == 1 for number in range(4))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_whoever_stops_reading_ends_the_processes(tmp_path: Path) -> None:
    results = map_jobs(partial(hang, tmp_path), [0, 1, 2], 2)
    assert next(results) == (0, 0)
    results.close()
    begun = [int(path.name) for path in tmp_path.iterdir()]
    assert begun
    assert not any(_alive(process) for process in begun)


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
from gnninterpreter.experiments.store import map_jobs
from tests.test_parallel import hang

if __name__ == "__main__":
    for item, _ in map_jobs(partial(hang, Path(sys.argv[1])), [0, 1, 2], 2):
        print(item, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize(("number", "says"), [(signal.SIGINT, 1), (signal.SIGKILL, 0)])
def test_ctrl_c_or_a_kill_ends_every_process_and_only_the_parent_says_so(
    tmp_path: Path, interruptible: None, number: int, says: int
) -> None:
    root = Path(__file__).parents[1]
    script, folder = tmp_path / "script.py", tmp_path / "begun"
    script.write_text(SCRIPT)
    folder.mkdir()
    running = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "0\n"
    # Ctrl-C on a terminal reaches all of them at once, a kill the parent alone.
    (os.killpg if number == signal.SIGINT else os.kill)(running.pid, number)
    _, err = running.communicate(timeout=60)  # which ends when no process holds the pipe any more
    assert err.count("KeyboardInterrupt") == says
    if number == signal.SIGINT:  # A parent that was killed collects no children.
        assert not any(_alive(int(path.name)) for path in folder.iterdir())


def test_it_is_light_to_import() -> None:
    code = "import sys, gnninterpreter.parallel; sys.exit('torch' in sys.modules)"
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source})
    assert done.returncode == 0
