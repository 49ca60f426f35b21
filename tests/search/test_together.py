"""Targets that are searched for together: each comes to what it comes to alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import gnninterpreter as gi
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective import Certainty, Target, Term, Weighted, Wholeness
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Recipe, SearchResult, Snapshot, groups, search, search_together
from gnninterpreter.search.together import _even
from tests.pretended import pretended_gpu
from tests.test_tasks import labelled, measured
from tests.tiny import quick_auto, shapes, trained_shapes

NODES = 8
RECIPE = quick_auto(max_nodes=NODES, iterations=20).without("iterated search")


def shaped() -> tuple[nn.Module, list[Data]]:
    """Three classes, with enough graphs of each to be judged by."""
    return trained_shapes()[0], shapes(range(4, 26))


CASES = {"classes": shaped, "labels": labelled, "values": measured}


class Asked:
    """All targets of a model, on as many candidate nodes."""

    def __init__(self, case: str, recipe: Recipe, device: str = "cpu") -> None:
        model, graphs = CASES[case]()
        self.home = model
        self.classifier = GraphClassifier.connect(
            model.to(device),
            gi.GraphSpec.from_dataset(graphs),
            examples=graphs,
            task={"labels": "multilabel", "values": "regression"}.get(case, "auto"),
        )
        self.statistics = ClassStatistics.from_dataset(self.classifier, graphs, max_nodes=NODES)
        self.recipe, self.relaxed = recipe, RelaxedModel(self.classifier)
        spec, task = self.classifier.spec, self.classifier.task
        self.targets = targets_of(None, spec, task, self.statistics)

    def together(self, **more: Any) -> list[SearchResult]:
        return self._found(self.targets, **more)

    def alone(self, **more: Any) -> list[SearchResult]:
        return [self._found([target], **more)[0] for target in self.targets]

    def groups(self) -> list[list[Target]]:
        wanted = [(target, self.recipe) for target in self.targets]
        found = groups(self.classifier, self.statistics, wanted)
        return [[target for target, _ in group] for group in found]

    def _found(self, targets: list[Target], restarts: int = 3, **more: Any) -> list[SearchResult]:
        with self.relaxed.session():
            return search_together(
                self.classifier, self.relaxed, self.statistics, targets, self.recipe, restarts, 0,
                **more,
            )  # fmt: skip


class Theirs(Term):
    """A term that somebody else wrote."""


def same(one: SearchResult, other: SearchResult) -> None:
    assert one.target == other.target
    modes = one.distribution.mode(), other.distribution.mode()
    assert torch.equal(modes[0].weight, modes[1].weight)
    assert torch.allclose(modes[0].nodes, modes[1].nodes, atol=1e-4)
    assert torch.allclose(one.mean_score, other.mean_score, atol=1e-3)
    assert torch.allclose(one.evaluation.cost, other.evaluation.cost, atol=1e-3)
    assert (one.reasons, one.iterations) == (other.reasons, other.iterations)
    assert one.history.iteration == other.history.iteration
    assert (one.limits, one.certain) == (other.limits, other.certain)
    for noted in ("population", "shortcuts"):
        mine, its = getattr(one, noted), getattr(other, noted)
        assert (mine is None) == (its is None)
        if mine is not None and its is not None:
            assert torch.equal(mine.weight, its.weight)


@pytest.mark.parametrize("case", list(CASES))
def test_each_target_comes_to_the_same_as_alone(case: str) -> None:
    asked = Asked(case, RECIPE)
    assert asked.groups() == [asked.targets]
    for one, other in zip(asked.together(), asked.alone(), strict=True):
        same(one, other)


def test_phases_that_search_from_nothing_come_to_the_same_too() -> None:
    asked = Asked("classes", quick_auto(max_nodes=NODES, iterations=20).without("shrink"))
    together = asked.together()
    assert any(result.history.iteration for result in together)
    for one, other in zip(together, asked.alone(), strict=True):
        same(one, other)


def test_on_a_gpu_the_host_asks_for_all_targets_at_once() -> None:
    recipe = Recipe.auto(max_nodes=NODES).without("anneal", "gradient", "iterated search")
    recipe = recipe.without("local search").with_(rounds=2, walk_steps=20)
    with pretended_gpu() as gpu:
        asked = Asked("classes", recipe, "cuda")
        waits: list[Counter[str]] = []
        found = []
        for way in (asked.alone, asked.together):
            before = Counter(gpu.waits)
            found.append([result.to("cpu") for result in way(restarts=2)])
            waits.append(gpu.waits - before)
        asked.home.to("cpu")
    assert not gpu.recorded_waits
    assert sum(waits[1].values()) < 0.75 * sum(waits[0].values())
    for one, other in zip(*found, strict=True):
        same(one, other)


def test_on_a_gpu_smaller_targets_are_rows_of_the_largest_batch() -> None:
    recipe = quick_auto(iterations=20).without("iterated search")
    assert len(Asked("classes", recipe).groups()) > 1
    with pretended_gpu():
        asked = Asked("classes", recipe, "cuda")
        assert asked.groups() == [asked.targets]
        found = [[result.to("cpu") for result in way()] for way in (asked.alone, asked.together)]
        asked.home.to("cpu")
    candidates = [max(one.limits.max_nodes for one in found[0])] * len(asked.targets)
    assert [one.distribution.num_candidates for one in found[1]] == candidates
    # Nodes may have other numbers, and walks then differ, but each stays within its own limits.
    for one, other in zip(*found, strict=True):
        assert (one.limits, one.certain) == (other.limits, other.certain)
        assert int(other.distribution.mode().num_nodes.max()) <= one.limits.max_nodes
        assert one.reasons == other.reasons == ["converged"] * 3
        assert torch.allclose(one.mean_score, other.mean_score, atol=0.01)
        assert other.population is not None
        assert int(other.population.num_nodes.max()) <= one.limits.max_nodes


def test_sizes_that_are_far_apart_are_not_put_together() -> None:
    assert _even([8, 21])
    assert _even([20, 24, 24])
    # On 40 nodes each of the small ones would cost as much as the large one.
    assert not _even([6, 6, 6, 6, 40])


def test_where_memory_is_short_targets_go_one_after_the_other() -> None:
    asked = Asked("classes", RECIPE)
    parts, whole = asked.together(at_once=3), asked.together()
    assert [one.target for one in parts] == asked.targets
    for one, other in zip(parts, whole, strict=True):
        same(one, other)


def test_who_goes_alone() -> None:
    asked = Asked("classes", quick_auto())
    first = asked.targets[0]
    wanted = [(target, asked.recipe) for target in asked.targets]
    other = replace(asked.recipe, max_nodes=6)
    found = groups(asked.classifier, asked.statistics, [(first, other), *wanted[1:]])
    assert [(first, other)] in found
    # Without real graphs, whether they are not known or do not count.
    assert len(groups(asked.classifier, None, wanted)) == len(wanted)
    certain = replace(asked.recipe, terms=(Weighted(Certainty()), Weighted(Wholeness())))
    assert len(groups(asked.classifier, asked.statistics, [(t, certain) for t, _ in wanted])) == 3
    # What others wrote need not know of several targets.
    theirs = replace(asked.recipe, terms=(*asked.recipe.terms, Weighted(Theirs())))
    assert len(groups(asked.classifier, asked.statistics, wanted)) < len(wanted)
    assert len(groups(asked.classifier, asked.statistics, [(t, theirs) for t, _ in wanted])) == 3


def test_snapshots_tell_of_one_target_each() -> None:
    asked = Asked("classes", RECIPE)
    seen: list[Snapshot] = []
    asked.together(callbacks=(seen.append,), restarts=2)
    names = [target.name for target in asked.targets]
    assert [look.target for look in seen[:6]] == names * 2
    assert {len(look.score) for look in seen} == {2}
    assert {look.distribution.restarts for look in seen} == {2}
    done = [look.done for look in seen]
    assert done == sorted(done)


class Watching:
    """A display that writes down what it is told, and may stop a search."""

    def __init__(self, stop: bool = False) -> None:
        self.told: list[str] = []
        self.stop = stop

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        self.told.append("begin")

    def begin_class(self, name: str) -> None:
        self.told.append(f"+{name}")

    def look(self, look: Snapshot) -> bool:
        return self.stop

    def end_class(self, explanation: gi.Explanation) -> None:
        self.told.append(f"-{explanation.name}")

    def end(self) -> None:
        self.told.append("end")


def explained(**more: Any) -> gi.ExplanationSet:
    model, graphs = shaped()
    settings = {"recipe": RECIPE, "restarts": 2, "progress": False}
    return gi.explain(model, graphs, **{**settings, **more})


def test_a_run_searches_for_classes_together_unless_somebody_may_stop_one() -> None:
    display = Watching()
    found = explained(progress=display)
    # Complete graphs have fewer nodes.
    first, second, third = found
    assert display.told[1:5] == [f"+{first}", f"+{second}", f"-{first}", f"-{second}"]
    assert display.told[5:7] == [f"+{third}", f"-{third}"]
    display, looks = Watching(), []
    alone = explained(progress=display, callbacks=[lambda look: looks.append(look.target)])
    assert display.told[1:3] == [f"+{first}", f"-{first}"]
    assert looks == sorted(looks, key=list(found).index)
    for one, other in zip(found.values(), alone.values(), strict=True):
        assert torch.equal(one.best.edge_index, other.best.edge_index)
        assert one.verdict == other.verdict


def test_a_stop_ends_all_that_are_searched_for_together() -> None:
    found = explained(progress=Watching(stop=True))
    reasons = {restart.reason for one in found.values() for restart in one.restarts}
    assert reasons <= {"stopped", "converged"}


def test_what_was_finished_before_is_not_searched_for_again(tmp_path: Path) -> None:
    first = Watching()

    class Interrupting(Watching):
        def end_class(self, explanation: gi.Explanation) -> None:
            super().end_class(explanation)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="1 of 3 are finished"):
        explained(progress=Interrupting(), resume=tmp_path / "run")
    found = explained(progress=first, resume=tmp_path / "run")
    names = list(found)
    # Each is kept as soon as it is done, so that they go one after the other.
    assert first.told[1:4] == [f"-{names[0]}", f"+{names[1]}", f"-{names[1]}"]
    began = [line[1:] for line in first.told if line.startswith("+")]
    assert began == names[1:]
    assert [line[1:] for line in first.told if line.startswith("-")] == names


def test_one_target_is_the_same_search() -> None:
    asked = Asked("classes", RECIPE)
    with asked.relaxed.session():
        found = search(
            asked.classifier, asked.relaxed, asked.statistics, asked.targets[1], asked.recipe, 3, 0
        )
    same(found, asked.alone()[1])
    assert isinstance(found.mean_score, Tensor)
