"""Memory is known before it is used, and parts of the restarts come to the same as all at once."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.equality import equal
from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.search import memory
from gnninterpreter.search.memory import Plan, peak_bytes, read_bytes
from tests.cli.lab import Degrees, graphs

RECIPE = gi.Recipe.auto(iterations=20).without("anneal", "iterated search")


def explain(**given: Any) -> gi.ExplanationSet:
    settings = {"targets": 1, "progress": False, "recipe": RECIPE}
    return gi.explain(Degrees(), graphs() * 4, **settings | given)


def test_the_peak_counts_what_is_there_at_the_same_time() -> None:
    def call() -> None:
        first = torch.zeros(1000)  # 4,000 bytes
        second = first + 1  # 8,000
        del first
        third = second * 2  # 8,000
        del second, third
        torch.zeros(1500)  # 6,000

    assert peak_bytes(call) == 8000
    assert peak_bytes(lambda: torch.zeros(10).view(2, 5)) == 40


def test_what_a_gradient_needs_counts() -> None:
    x = torch.ones(1000, requires_grad=True)
    assert peak_bytes(lambda: x.exp().exp().exp().sum().backward()) >= 3 * 4000


def test_samples_that_calibration_learns_from_count(monkeypatch: pytest.MonkeyPatch) -> None:
    plans = []

    def planned(*given: Any) -> Plan:
        plans.append(memory.plan_restarts(*given))
        return plans[-1]

    monkeypatch.setattr("gnninterpreter.search.together.plan_restarts", planned)
    for samples in (memory.SAMPLES, 4000):
        monkeypatch.setattr(memory, "SAMPLES", samples)
        explain(restarts=1, callbacks=(lambda _: True,))
    few, many = (plan.bytes - memory.FIXED for plan in plans)
    assert many > 4 * few


@pytest.mark.parametrize(
    ("given", "bytes_"),
    [(None, None), (7, 7), ("7", 7), ("1.5kB", 1500), (" 4 GB ", 4 * 10**9), ("2GiB", 2 * 10**9)],
)
def test_amounts(given: Any, bytes_: int | None) -> None:
    assert read_bytes(given) == bytes_


@pytest.mark.parametrize("given", [0, -1, "", "GB", "4 apples", 1.5, True, "1" * 400, "nan"])
def test_what_is_no_amount(given: Any) -> None:
    with pytest.raises(SpecError, match="max_memory must be"):
        read_bytes(given)


def test_it_is_said() -> None:
    assert str(Plan(8, 8, 1_234_567, 2 * 10**9)) == (
        "memory: about 1.23 MB of 2 GB for 8 restarts at once"
    )
    assert str(Plan(9, 4, 999, 1000)) == (
        "memory: about 999 bytes of 1 kB for 9 restarts in 3 parts, at most 4 at once"
    )


def test_parts_come_to_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = explain(restarts=5)["class 1"]
    monkeypatch.setattr("gnninterpreter.search.together.plan_restarts", lambda *_: Plan(5, 2, 0, 0))
    parts = explain(restarts=5)["class 1"]
    # Where all of a part has ended, it looks no further, so that its curves may end sooner.
    for field in fields(whole):
        if field.name not in ("seconds", "history"):
            assert equal(getattr(whole, field.name), getattr(parts, field.name)), field.name
    assert len(parts.restarts) == 5


def test_restarts_are_divided_where_memory_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    explain(
        restarts=6, max_memory=memory.FIXED + 1_500_000, progress=True, callbacks=(lambda _: True,)
    )
    said = capsys.readouterr().err
    assert "of 102 MB for 6 restarts in " in said


def test_a_million_restarts_are_answered_at_once() -> None:
    with pytest.raises(SpecError, match=r"restarts must be at most \d+ to fit into memory: 99999"):
        explain(restarts=99_999, max_memory="150MB")
    with pytest.raises(SpecError, match=r"restarts must be at most 100000 \(got 1000000\)"):
        explain(restarts=10**6)


def test_one_that_does_not_fit_says_what_to_do() -> None:
    recipe = gi.Recipe.certain(max_nodes=100_000)
    with pytest.raises(SpecError, match="lower max_nodes, or raise max_memory"):
        explain(recipe=recipe, max_memory="1GB")
    with pytest.raises(SpecError, match=r"one restart on .* nodes needs about"):
        explain(max_memory=1000)


def test_what_is_free_is_looked_up() -> None:
    assert 0 < memory._free(torch.device("cpu")) < 2**50


def test_an_allocator_that_gives_up_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def out(*_: Any) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried")

    monkeypatch.setattr("gnninterpreter.api.search_together", out)
    with pytest.raises(SpecError, match="memory ran out while 2 restarts"):
        explain(restarts=2)


def test_memory_that_runs_out_inside_the_model_is_no_fault_of_the_model() -> None:
    with pytest.raises(SpecError, match="memory ran out while 8 restarts"):  # noqa: SIM117
        with Plan(8, 8, 1, 1).enough():
            raise ModelError("the model failed") from MemoryError()
    with pytest.raises(ModelError, match="the model failed"):  # noqa: SIM117
        with Plan(8, 8, 1, 1).enough():
            raise ModelError("the model failed") from RuntimeError("for another reason")
