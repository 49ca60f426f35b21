"""Several targets of one model, one after the other or in threads."""

from __future__ import annotations

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import ClassTarget, Target
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Recipe, SearchResult, Snapshot, search_each

QUICK = Recipe.certain(iterations=2, max_nodes=6)


def found(threads: int | None, callbacks: tuple[gi.Callback, ...] = ()) -> list[SearchResult]:
    bundle = gi.models.load("motif")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    wanted: list[tuple[Target, Recipe]] = [
        (ClassTarget(i, bundle.spec.class_names[i]), QUICK) for i in (1, 3)
    ]
    asked = (classifier, RelaxedModel(classifier), bundle.statistics, wanted, 2, 0, callbacks)
    return list(search_each(*asked, threads=threads))


def test_in_threads_they_come_to_the_same_in_the_same_order() -> None:
    for one, other in zip(found(None), found(2), strict=True):
        assert one.target == other.target
        assert torch.equal(one.distribution.edge_logits, other.distribution.edge_logits)
        assert torch.equal(one.mean_score, other.mean_score)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_callback_that_says_so_stops_them(threads: int) -> None:
    seen: list[str] = []

    def stop(snapshot: Snapshot) -> bool:
        seen.append(snapshot.phase)
        return True

    results = found(threads, (stop,))
    assert [one.target.index for one in results] == [1, 3]
    # One after the other, each is told; of several that run, what was said to one goes for all.
    assert len(seen) == (2 if threads == 1 else 1)
