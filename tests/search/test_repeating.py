"""A step that is made again and again."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.distribution import Streams
from gnninterpreter.search.repeating import Aside, Repeated, Turns, done

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def _add(count: torch.Tensor) -> None:
    count.add_(1.0)


@pytest.mark.parametrize("name", DEVICES)
def test_a_step_is_made_as_often_as_asked_for(name: str) -> None:
    device = torch.device(name)
    count = torch.zeros(1, device=device)
    again = Repeated(lambda: _add(count), device, 8)
    again(5)
    again(3)
    assert float(count) == 8


@pytest.mark.parametrize("name", DEVICES)
def test_one_that_waits_for_the_device_is_made_too(name: str) -> None:
    device = torch.device(name)
    count = torch.zeros(1, device=device)

    def step() -> None:
        count.add_(float(count.sum()) + 1.0)

    Repeated(step, device, 6)(6)
    assert float(count) == 63


@pytest.mark.parametrize("name", DEVICES)
def test_every_time_other_numbers_are_drawn(name: str) -> None:
    device = torch.device(name)
    streams = Streams(0, 2, device=device)
    drawn = torch.zeros(8, 2, device=device)
    place = torch.zeros(1, dtype=torch.long, device=device)

    def step() -> None:
        streams.advance()
        drawn.index_copy_(0, place, streams.uniform(1).t())
        place.add_(1)

    Repeated(step, device, 8)(8)
    assert drawn.unique().numel() == 16


def _counting(name: str, upto: int, said: list[str]) -> Turns[int]:
    """Asks and reads in turn."""
    for number in range(upto):
        said.append(f"{name} asks {number}")
        yield True
        said.append(f"{name} reads {number}")
        yield False
    return upto


def test_work_aside_asks_while_the_other_waits_and_reads_when_it_has_its_answers() -> None:
    said: list[str] = []
    aside = Aside(_counting("b", 4, said))
    assert done(_counting("a", 2, said), aside) == 2
    each = [f"{who} {what} {n}" for n in range(2) for what in ("asks", "reads") for who in "ab"]
    assert said == each
    assert aside.result() == 4
    assert said[len(each) :] == ["b asks 2", "b reads 2", "b asks 3", "b reads 3"]
    aside.turn(True)
    assert aside.result() == 4  # done once
    assert len(said) == 12


def test_work_aside_waits_for_its_moment() -> None:
    said: list[str] = []
    aside = Aside(_counting("b", 1, said))
    aside.turn(False)  # nothing was asked yet
    assert said == []
    aside.turn(True)
    aside.turn(True)  # still waiting for its answers
    assert said == ["b asks 0"]
    aside.turn(False)
    assert said == ["b asks 0", "b reads 0"]
