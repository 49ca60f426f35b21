"""Two runs side by side: what is the same, and what each model makes of the other's graphs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.errors import SpecError
from gnninterpreter.report.comparison import comparison_rows
from tests.cli.lab import Degrees
from tests.sweep.lab import graphs

TINY = gi.Recipe.certain().without("gradient", "local search", "iterated search")


def explained(model: torch.nn.Module, seed: int = 0) -> gi.ExplanationSet:
    return gi.explain(model, graphs, recipe=TINY, restarts=1, seed=seed, progress=False)


def turned() -> Degrees:
    """A model that says the opposite."""
    model = Degrees()
    with torch.no_grad():
        model.head.weight.neg_()
        model.head.bias.neg_()
    return model


@pytest.fixture(scope="module")
def runs() -> tuple[gi.ExplanationSet, gi.ExplanationSet]:
    return explained(Degrees()), explained(turned())


def test_a_run_agrees_with_itself(runs: tuple[gi.ExplanationSet, ...]) -> None:
    found = gi.compare(runs[0], runs[0])
    assert (found.same_answers, found.real) == (1.0, len(graphs))
    assert found.names == ("Degrees, first", "Degrees, second")
    assert gi.compare(runs[0], runs[0], names=("old", "new")).names == ("old", "new")
    for one in found.classes:
        assert one.same_prototype
        assert one.crossed[0] == pytest.approx(one.sides[0].mode_probability, abs=1e-5)
        assert one.agreed[0] == one.agreed[1] > 0.9


def test_opposite_models_agree_on_nothing(runs: tuple[gi.ExplanationSet, ...]) -> None:
    found = gi.compare(*runs)
    assert found.same_answers == 0.0
    for one in found.classes:
        mine = one.sides[0]
        assert one.same_prototype is False
        assert one.crossed[0] == pytest.approx(1 - mine.mode_probability, abs=1e-4)
        assert max(one.agreed) < 0.1


def test_loaded_runs_need_their_models_to_be_asked(
    runs: tuple[gi.ExplanationSet, ...], tmp_path: Path
) -> None:
    loaded = [gi.load(run.save(tmp_path / str(i))) for i, run in enumerate(runs)]
    bare = gi.compare(*loaded)
    assert (bare.same_answers, bare.classes[0].crossed) == (None, (None, None))
    asked = gi.compare(*loaded, models=(Degrees(), turned()), dataset=graphs)
    assert asked.to_json() == {**gi.compare(*runs).to_json()}


def test_answers_are_the_same_by_the_name_of_their_class() -> None:
    spec = gi.GraphSpec.from_dataset(graphs)
    options = {"recipe": TINY, "restarts": 1, "progress": False, "targets": ["dense"]}
    one, other = (
        gi.explain(model, graphs, spec=replace(spec, class_names=names), **options)
        for model, names in ((Degrees(), ("sparse", "dense")), (turned(), ("dense", "sparse")))
    )
    assert gi.compare(one, other).same_answers == 1.0
    assert gi.compare(one, other).classes[0].agreed == (1.0, 1.0)


def test_fidelity_that_cannot_be_measured_is_refused(
    runs: tuple[gi.ExplanationSet, ...], tmp_path: Path
) -> None:
    loaded = gi.load(runs[0].save(tmp_path / "run"))
    with pytest.raises(SpecError, match="fidelity is measured with both models on real graphs"):
        gi.compare(loaded, loaded, models=(Degrees(), None), dataset=graphs, fidelity=True)


def test_what_is_not_there_is_told_from_what_was_not_checked(
    runs: tuple[gi.ExplanationSet, ...],
) -> None:
    one = gi.compare(runs[0], gi.ExplanationSet(runs[1].spec, {"class 1": runs[1]["class 1"]}))
    rows = {name: said for name, *said in comparison_rows(one.classes[0])}
    assert rows["core, nodes"] == ["none", "not explained"]
    assert rows["the other model gives its prototype"] == ["not checked", "not explained"]


def test_classes_of_one_run_only_are_told(runs: tuple[gi.ExplanationSet, ...]) -> None:
    one = gi.explain(
        Degrees(), graphs, targets=[1], recipe=TINY, restarts=1, progress=False, seed=1
    )
    found = gi.compare(runs[0], one)
    assert [c.same_prototype is None for c in found.classes] == [True, False]
    assert found.to_json()["classes"][0]["sides"][1] is None


def test_what_cannot_be_compared(runs: tuple[gi.ExplanationSet, ...]) -> None:
    parts = [
        gi.ExplanationSet(runs[0].spec, {name: runs[0][name]}) for name in ("class 0", "class 1")
    ]
    with pytest.raises(SpecError, match=r"no class in common \(got class 0 and class 1\)"):
        gi.compare(*parts)


def test_the_page_shows_both_sides(runs: tuple[gi.ExplanationSet, ...], tmp_path: Path) -> None:
    page = gi.compare(*runs).report(tmp_path / "compared.html").read_text(encoding="utf-8")
    assert "Different prototypes" in page
    assert "Both give the same class to 0.0% of 12 real graphs." in page
    assert page.count("<svg") >= 4
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_a_class_of_one_run_alone_is_said_to_be_so(
    runs: tuple[gi.ExplanationSet, ...], tmp_path: Path
) -> None:
    part = gi.ExplanationSet(runs[1].spec, {"class 1": runs[1]["class 1"]})
    page = gi.compare(runs[0], part).report(tmp_path / "c.html").read_text(encoding="utf-8")
    assert page.count("<p>not explained</p>") == 2  # prototype and core


def test_patterns_account_for_a_model_that_has_its_classes_in_turn() -> None:
    mixed = [graph for pair in zip(graphs[:6], graphs[6:], strict=True) for graph in pair] * 10
    run = gi.explain(Degrees(), mixed, targets=[1], recipe=TINY, restarts=1, progress=False)
    assert gi.compare(run, run, fidelity=True).fidelity == (1.0, 1.0)


def test_boundaries_are_put_side_by_side(tmp_path: Path) -> None:
    options = {"targets": [(0, 1)], "recipe": TINY, "restarts": 1, "progress": False}
    run = gi.explain(Degrees(), graphs, **options)
    found = gi.compare(run, run)
    (one,) = found.classes
    assert one.same_prototype
    assert one.crossed == one.agreed == (None, None)
    assert found.report(tmp_path / "compared.html").stat().st_size
