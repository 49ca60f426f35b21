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
from gnninterpreter.parallel import map_processes


def square(number: int) -> int:
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
    assert sorted(map_processes(square, [3, 1, 2], jobs)) == [(1, 1), (2, 4), (3, 9)]
    assert list(map_processes(square, [], jobs)) == []


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_item_that_fails_does_not_stop_the_others(jobs: int) -> None:
    results = map_processes(square, [-1, 1, 2], jobs)
    assert sorted([next(results), next(results)]) == [(1, 1), (2, 4)]
    with pytest.raises(ArithmeticError, match="-1 is negative"):
        next(results)


def test_each_process_has_one_thread_and_is_not_this_one() -> None:
    found = [result for _, result in map_processes(threads_and_process, range(2), 2)]
    assert [threads for threads, _ in found] == [1, 1]
    assert os.getpid() not in {process for _, process in found}


def test_fewer_than_one_process_is_refused_at_once() -> None:
    with pytest.raises(SpecError, match=r"jobs must be at least 1 \(got 0\)"):
        map_processes(square, [1], jobs=0)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_whoever_stops_reading_ends_the_processes(tmp_path: Path) -> None:
    results = map_processes(partial(hang, tmp_path), [0, 1, 2], 2)
    assert next(results) == (0, 0)
    results.close()
    begun = [int(path.name) for path in tmp_path.iterdir()]
    assert begun
    assert not any(_alive(process) for process in begun)


SCRIPT = """
import sys
from functools import partial
from pathlib import Path
from gnninterpreter.parallel import map_processes
from tests.test_parallel import hang

if __name__ == "__main__":
    for item, _ in map_processes(partial(hang, Path(sys.argv[1])), [0, 1, 2], 2):
        print(item, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_ends_every_process_and_only_the_parent_says_so(
    tmp_path: Path, interruptible: None
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
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: all of them at once
    _, err = running.communicate(timeout=60)
    assert err.count("KeyboardInterrupt") == 1
    assert not any(_alive(int(path.name)) for path in folder.iterdir())


def test_it_is_light_to_import() -> None:
    code = "import sys, gnninterpreter.parallel; sys.exit('torch' in sys.modules)"
    source = str(Path(__file__).parents[1] / "src")
    subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": source}, check=True
    )
