"""Prototype, core, exemplars and shortcuts on the page and on the card."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.evidence.patterns.typed import Range
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.report import card_html
from gnninterpreter.report.appearance import ANY_FILL
from gnninterpreter.report.page import render_page
from gnninterpreter.report.sections import (
    answers_view,
    core_picture,
    marked_nodes,
    mode_tiles,
    real_graph_svg,
)
from gnninterpreter.report.words import core_words, typical_words
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.report.conftest import make_core, with_answers
from tests.report.test_page import Page


@pytest.fixture
def full(rich_spec: GraphSpec, result_of: Callable[..., ExplanationSet]) -> ExplanationSet:
    """A run whose first class has every answer, and whose second has none."""
    result = result_of(rich_spec)
    explanations = dict(result.items())
    explanations["chain"] = with_answers(explanations["chain"])
    return replace(result, explanations=explanations)


def test_the_page_leads_with_the_answers(full: ExplanationSet) -> None:
    text = render_page(full)
    assert Page(text).open == []
    articles = text.split("<article")[1:]
    first, second = (Page("<article" + article.split("</article>")[0]).text for article in articles)
    places = [
        first.index(words)
        for words in (
            "Could pass for a real graph: more typical than 61% of them.",
            "In 78% of the graphs the model gives to the class, 4.1 times as often",
            "The core is marked.",
            "Shortcuts: what fools the model",
            "0 of 2,401 real graphs that the model gives to the class contain this",
            "Further cores",
            "All classes, for this graph",
            "What was checked",
            "How the search went",
            "From soft to discrete",
            "Entropy",
            "Mean probability of each restart",
        )
    ]
    assert places == sorted(places)
    assert typical_words(full["ring"]) in second
    assert core_words(None, full["ring"]) in second
    assert "Not checked: no real graphs were there to show." in second
    assert "Shortcuts" not in second


def test_how_the_search_went_is_closed(full: ExplanationSet) -> None:
    text = render_page(full)
    assert text.count('<details class="search">') == 2
    assert "<details open" not in text


def test_the_core_is_ringed_in_real_graphs(full: ExplanationSet) -> None:
    view = answers_view(full["chain"])
    marked, bare = (tile.drawing for tile in view["exemplars"])
    assert marked.count('class="ring" stroke="#d1480f"') == 3
    assert "#d1480f" not in bare
    assert marked.count("<circle") == bare.count("<circle") == full["chain"].num_nodes
    assert view["exemplars"][0].caption == "labelled chain"
    assert "3 of the core" in marked


def test_nodes_of_any_kind_are_grey_and_say_so(
    explanation_of: Callable[..., Explanation],
) -> None:
    spec = GraphSpec(nodes=(Categorical(2, names=("red", "blue")),), class_names=("a", "b"))
    edges = torch.tensor([[0, 1], [1, 0]])
    core = make_core(Data(x=torch.eye(2), edge_index=edges, num_nodes=2), open=(True, False))
    drawn = core_picture(core, explanation_of(spec), (360, 230))
    assert drawn.count(f'fill="{ANY_FILL}"') == 1
    assert ">any</text>" in drawn
    assert ">R</text>" not in drawn


@pytest.mark.parametrize("kinds", [False, True])
def test_a_core_that_says_where_numbers_lie_has_its_nodes_numbered(
    explanation_of: Callable[..., Explanation], kinds: bool
) -> None:
    named = (Categorical(2, names=("red", "blue")),) if kinds else ()
    spec = GraphSpec(nodes=(*named, Continuous(1, 0.0, 9.0)), class_names=("a", "b"))
    x = torch.tensor([[1.0, 0.0, 7.5], [0.0, 1.0, 3.5]])[:, 0 if kinds else 2 :]
    graph = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2)
    ranges = (Range((0, 1), 0, low=0.6),)
    plain, numbered = (
        core_picture(make_core(graph, ranges=told), explanation_of(spec), (360, 230))
        for told in ((), ranges)
    )
    assert re.findall(">([^<]+)</text>", numbered) == (["R·0", "B·1"] if kinds else ["0", "1"])
    assert re.findall(">([^<]+)</text>", plain) == (["R", "B"] if kinds else ["7.5", "3.5"])


def test_a_real_graph_without_the_first_core_says_so(full: ExplanationSet) -> None:
    explanation = full["chain"]
    for graph, core in zip(explanation.exemplars(2), (1, -1), strict=True):
        graph.core, graph.said = core, "p = 0.990"
    details = [tile.detail for tile in answers_view(explanation)["exemplars"]]
    assert details == ["p = 0.990; contains further core 1", "p = 0.990; contains no core"]


def test_molecules_are_drawn_as_formulas_with_the_core_highlighted(
    explanation_of: Callable[..., Explanation],
) -> None:
    pytest.importorskip("rdkit")
    spec = GraphSpec(nodes=(Categorical(7, names=ATOMS, name="atom"),), class_names=("a", "b"))
    ring = torch.tensor([list(range(6)), [(i + 1) % 6 for i in range(6)]])
    graph = Data(x=torch.eye(7)[[0] * 6], edge_index=torch.cat([ring, ring.flip(0)], dim=1))
    explanation = explanation_of(spec)
    bare = real_graph_svg(graph, explanation)
    graph.core_mask = torch.tensor([True, True, False, False, False, False])
    drawn = real_graph_svg(graph, explanation)
    assert marked_nodes(graph) == {0, 1}
    assert "#F49E60" in drawn
    assert "#F49E60" not in bare
    assert 'aria-label="Real graph: 6 nodes, 2 of the core"' in drawn


def test_modes_say_which_of_the_three_they_are(full: ExplanationSet) -> None:
    explanation = full["ring"]
    mode = explanation.modes()[0]
    kind = SimpleNamespace(**vars(mode), kind="shortcut") if not hasattr(mode, "kind") else replace(
        mode, kind="shortcut"
    )  # fmt: skip
    vars(explanation).update(modes=lambda: [kind])
    assert mode_tiles(explanation)[0].detail == f"shortcut, p = {mode.probability:.3f}"


def test_the_card_shows_prototype_and_core(full: ExplanationSet) -> None:
    card = Page(card_html(full["chain"]))
    assert card.open == []
    assert card.tags.count("svg") == 2
    for words in (
        "more typical than 61% of them",
        "Core",
        "In 78% of the graphs",
        "1 shortcut, the first: 0 of 2,401 real graphs",
    ):
        assert words in card.text
    bare = Page(card_html(full["ring"]))
    assert bare.tags.count("svg") == 1
    assert typical_words(full["ring"]) in bare.text
    assert typical_words(full["ring"]).startswith("Not checked")
