"""Steps that are recorded for a GPU: no shape depends on a value, and they say the same."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from gnninterpreter.batches import repeat, widened
from gnninterpreter.distribution import Streams, from_graphs
from gnninterpreter.objective import Memory
from gnninterpreter.recording import fixed_shapes, recording
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Problem
from gnninterpreter.search.anneal import Walk, random_walkers
from gnninterpreter.search.edits import DRAWS, GROW, FeaturePool, propose
from gnninterpreter.search.local import Improving
from gnninterpreter.search.opening import _begun, _Learning
from gnninterpreter.search.shrink import _Shrinking
from gnninterpreter.search.spread import _Spreading
from tests.search.known import known_problem, typicality

ASKING = {"nonzero", "masked_select", "_unique2", "unique_dim", "equal"}


class Asked(TorchDispatchMode):
    """Notes operations whose result has a shape that depends on values."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = func.__name__.split(".")[0]
        masks = args[1] if name.startswith("index") and isinstance(args[1], list) else []
        if name in ASKING or any(m is not None and m.dtype is torch.bool for m in masks):
            self.found.append(name)
        return func(*args, **(kwargs or {}))


def task() -> Problem:
    """A class whose real graphs are known, asked about through the relaxed model."""
    plain = known_problem()
    asked = replace(plain, relaxed=RelaxedModel(plain.classifier), memory=Memory())
    asked.__dict__["asks_native"] = False  # as on a GPU
    return asked


def works(problem: Problem) -> dict[str, tuple[Any, Any]]:
    """Everything that is made again and again, and what of it tells how far it is."""
    exemplars = typicality().exemplars.graphs
    real = widened(exemplars[:4], 12).to(problem.classifier.dtype)
    pool, streams = FeaturePool.of(exemplars), Streams(3, 4)
    begin = (real.spec, 5, 1, streams.fork(3), real.weight.dtype)
    free = [torch.ones_like(latent, dtype=torch.bool) for latent in from_graphs(real).latents()]
    # With a memory only bad samples go through the relaxed model, on the nodes that they have.
    afresh = replace(problem, memory=None)
    learning = _Learning(afresh, _begun(real, free), free, streams.fork(4))
    shrinking = _Shrinking(problem, real, pool, streams.fork(0), 6, 3)
    spreading = _Spreading(problem, real, pool, streams.fork(1), 3)
    improving = Improving(problem, random_walkers(*begin), streams.fork(2))
    walk = Walk(problem, random_walkers(*begin), streams.fork(3), 4, temperatures=(1.0, 0.1))
    return {
        "shrink": (shrinking, lambda: (shrinking.best.weight, shrinking.cost)),
        "spread": (spreading, lambda: (spreading.walkers.weight, spreading.good.float())),
        "local": (improving, lambda: (improving.best.weight, improving.cost)),
        "walk": (walk, lambda: (walk.best.weight, walk.cost)),
        "opening": (learning, lambda: tuple(part.detach() for part in learning.latents)),
    }


@pytest.mark.parametrize("name", ["shrink", "spread", "local", "walk", "opening"])
def test_a_recorded_step_asks_nothing_and_comes_to_the_same(name: str) -> None:
    problem = task()
    assert problem.relaxed is not None
    with problem.relaxed.session():
        (plain, seen), (fixed, found) = works(problem)[name], works(problem)[name]
        for _ in range(3):
            plain.step()
            with fixed_shapes():
                assert recording()
                fixed.step()
        with fixed_shapes(), Asked() as asked:
            fixed.step()
        plain.step()
    assert not recording()
    assert asked.found == []
    for one, other in zip(seen(), found(), strict=True):
        assert torch.allclose(one, other, atol=1e-3)


def test_the_first_step_changes_something() -> None:
    problem = task()
    for name, (work, seen) in works(problem).items():
        before = [part.clone() for part in seen()]
        for _ in range(3):
            work.step()
        assert any(not torch.equal(a, b) for a, b in zip(before, seen(), strict=True)), name


def test_a_gpu_judges_all_that_is_new_and_comes_to_the_same() -> None:
    plain = task()
    graphs = widened(typicality().exemplars.graphs[:4], 12).to(plain.classifier.dtype)
    pool = FeaturePool.of(graphs)
    draws = Streams(1, 4).uniform(8, DRAWS).flatten(0, 1)
    tried = propose(repeat(graphs, 8), draws, pool, GROW)
    # Only where it is says that it is a GPU.
    there = SimpleNamespace(device=torch.device("cuda"), spec=plain.classifier.spec)
    far = replace(plain, classifier=there, memory=Memory())  # type: ignore[arg-type]
    far.__dict__["asks_native"] = False
    with RelaxedModel(plain.classifier).session(), Asked() as asked:
        known = far.good(tried)
    assert asked.found == ["nonzero", "_unique2", "nonzero"]  # to look it up, not to judge it
    assert known.any()
    assert not known.all()
    assert torch.equal(plain.good(tried), known)
    assert far.at_once(7, 16) == 2**28 // 256
    assert plain.at_once(7, 16) == 7
