"""All classes together: a mapping by name or index."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import gnninterpreter as gi
from gnninterpreter.errors import GNNInterpreterError, OutputError, TargetError
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.spec import GraphSpec
from tests.explanation.made import explanation, explanation_set
from tests.tiny import graph, stack

SPEC = GraphSpec(class_names=("Red Cyclic", "house-x", "rest"))
LISTED = "the classes are 0 = Red Cyclic, 1 = house-x, 2 = rest"


@pytest.fixture
def result() -> ExplanationSet:
    triangle = graph(4, [(0, 1), (1, 2), (2, 0)], SPEC)
    return explanation_set(
        explanation(triangle, target=0), explanation(stack([triangle] * 2), 1, [0.2, 0.6])
    )


@pytest.mark.parametrize("key", ["Red Cyclic", "red cyclic", "red_cyclic", 0, "0"])
def test_classes_are_found_by_name_or_index(result: ExplanationSet, key: str | int) -> None:
    assert result[key].target.index == 0
    assert key in result
    assert result.get(key) is result[0]


def test_a_bundle_is_a_model_too() -> None:
    bundle = gi.models.load("is_acyclic")
    run = ExplanationSet(bundle.spec, {}, "is_acyclic")
    data = gi.datasets.load("is_acyclic", num_graphs=4)[0]
    assert run.explain_graph(data, model=bundle).scores == {}


def test_it_is_a_mapping(result: ExplanationSet) -> None:
    assert list(result) == ["Red Cyclic", "house-x"]
    assert len(result) == 2
    assert [one.target.index for one in result.values()] == [0, 1]
    assert dict(result.items())["house-x"] is result["House X"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (
            "wheel",
            "there is no class 'wheel'; the classes are 0 = Red Cyclic, 1 = house-x, 2 = rest",
        ),
        (7, "there is no class 7; the classes are 0 = Red Cyclic, 1 = house-x, 2 = rest"),
        ("rest", "class 'rest' was not explained; these were: Red Cyclic, house-x"),
    ],
)
def test_what_is_not_there(result: ExplanationSet, key: str | int, message: str) -> None:
    with pytest.raises(TargetError) as caught:
        result[key]
    assert str(caught.value) == message
    assert isinstance(caught.value, KeyError)
    assert isinstance(caught.value, GNNInterpreterError)
    assert key not in result
    assert result.get(key) is None


def test_converged_only_if_every_class_is(result: ExplanationSet) -> None:
    assert not result.converged
    assert explanation_set(result[0]).converged


def test_the_summary_holds_every_class(result: ExplanationSet) -> None:
    summary = json.loads(json.dumps(result.summary()))
    assert summary["model"] == "tiny"
    assert [one["class"] for one in summary["classes"]] == ["Red Cyclic", "house-x"]
    assert summary["inferred"] == ["called as forward(data)"]
    assert summary["seed"] == 3


def test_it_prints_a_line_for_each_class(result: ExplanationSet) -> None:
    lines = repr(result).splitlines()
    assert lines[0] == "ExplanationSet of tiny:"
    assert lines[1].strip().startswith("Explanation('Red Cyclic': probability 0.980")
    assert len(lines) == 3


def test_the_report_is_written_where_asked(result: ExplanationSet, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    path = result.report(tmp_path / "audit.html")
    assert path == tmp_path / "audit.html"
    assert "Red Cyclic" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["script.py", "page", "x.pdf"])
def test_a_page_is_not_written_over_other_files(
    result: ExplanationSet, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(OutputError, match=r"path must be a file that ends in \.html \(got"):
        result.report(tmp_path / name)
    assert (tmp_path / name).read_text() == "mine"
