"""Ours and the baselines are called alike and return alike."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

import gnninterpreter as gi
from gnninterpreter.baselines import XGNN, Random
from gnninterpreter.explanation import DrawnSampler, Explainer, Explanation, ExplanationSet
from gnninterpreter.models import load
from gnninterpreter.search import Recipe

OURS = partial(gi.explain, recipe=Recipe.auto(iterations=20), restarts=2, progress=False)
EXPLAINERS: dict[str, Callable[[], Explainer]] = {
    "ours": lambda: OURS,
    "xgnn": lambda: XGNN(episodes=1, parallel=1, max_steps=5, rollouts=2),
    "random": lambda: Random(num_nodes=6),
}


@pytest.mark.parametrize("name", EXPLAINERS)
def test_called_and_returning_alike(name: str, tmp_path: object) -> None:
    explain, bundle = EXPLAINERS[name](), load("is_acyclic")
    result = explain(bundle, targets=["acyclic"], seed=3)
    assert isinstance(result, ExplanationSet)
    assert list(result) == ["acyclic"]
    found = result["acyclic"]
    assert found is result[1]
    assert type(found) is Explanation
    assert (found.seed, found.target.index, found.probability.n) == (3, 1, 1000)
    assert result.model_name == "is_acyclic"
    assert result.metadata["versions"]["gnninterpreter"] == gi.__version__
    assert result.statistics == bundle.statistics
    again = explain(
        bundle.model, spec=bundle.spec, targets=1, seed=3, class_statistics=bundle.statistics
    )
    assert again[1].sampler == found.sampler


@pytest.mark.parametrize("name", ["xgnn", "random"])
def test_a_baseline_is_stored_like_any_other(name: str, tmp_path: str) -> None:
    result = EXPLAINERS[name]()(load("mutag"), seed=1)
    assert list(result) == ["nonmutagen", "mutagen"]
    found = gi.load(result.save(f"{tmp_path}/run"))
    for key, one in result.items():
        assert isinstance(one.sampler, DrawnSampler)
        assert found[key].sampler == one.sampler
        assert found[key].summary() == {**one.summary(), "notes": found[key].notes}
        assert "stored graphs" in found[key].notes[-1]
        assert found[key].modes(0.0)[0].restarts == one.modes(0.0)[0].restarts


def test_the_data_set_gives_what_is_not_said() -> None:
    pytest.importorskip("grakel", reason="MUTAG comes with it")
    bundle = load("mutag")
    dataset = gi.datasets.load("mutag")
    result = Random().explain(bundle.model, dataset)
    assert result.statistics is not None
    assert result.spec == dataset.spec
    nodes = round(sum(int(g.num_nodes or 0) for g in dataset) / len(dataset))
    assert int(result[0].sample(1)[0].num_nodes or 0) == nodes
