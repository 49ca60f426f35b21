"""Schedules: the number at every iteration."""

from __future__ import annotations

import pytest

from gnninterpreter.objective import Constant, Ramp, WarmUp


def test_constant() -> None:
    assert [Constant(0.2)(i, 10) for i in (0, 5, 9)] == [0.2, 0.2, 0.2]


def test_warm_up_rises_in_equal_steps_and_stays() -> None:
    schedule = WarmUp(10.0, steps=4)
    assert [schedule(i, 100) for i in range(7)] == [0.0, 2.5, 5.0, 7.5, 10.0, 10.0, 10.0]


def test_warm_up_does_not_depend_on_the_length_of_the_search() -> None:
    assert WarmUp(8.0, steps=500)(250, 600) == WarmUp(8.0, steps=500)(250, 9000) == 4.0


def test_ramp_between_two_shares_of_the_search() -> None:
    schedule = Ramp(1.0, 3.0, begin=0.25, finish=0.75)
    found = [schedule(i, 8) for i in range(9)]
    assert found == pytest.approx([1.0, 1.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.0, 3.0])


def test_ramp_downwards_over_the_whole_search() -> None:
    schedule = Ramp(1.0, 0.0)
    assert [schedule(i, 4) for i in range(5)] == pytest.approx([1.0, 0.75, 0.5, 0.25, 0.0])


def test_a_ramp_that_begins_where_it_finishes_is_a_step() -> None:
    schedule = Ramp(0.0, 2.0, begin=0.5, finish=0.5)
    assert [schedule(i, 10) for i in (0, 4, 6, 9)] == [0.0, 0.0, 2.0, 2.0]


def test_schedules_are_values() -> None:
    assert Ramp(0.0, 1.0) == Ramp(0.0, 1.0, 0.0, 1.0)
    assert WarmUp(1.0, 2) != WarmUp(1.0, 3)
