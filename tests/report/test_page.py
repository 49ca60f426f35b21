"""The report file: complete, self-contained, escaped, the same every time, whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import networkx as nx
import pytest
from markupsafe import Markup

from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.errors import OutputError
from gnninterpreter.explanation import ExplanationSet
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.report import (
    ClassExtras,
    Neighbour,
    Stop,
    card_html,
    cards_html,
    page,
    sections,
    write_report,
)
from gnninterpreter.report.page import render_page
from gnninterpreter.report.sections import Tile
from gnninterpreter.spec import Categorical, GraphSpec

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{ 7 * 7 }}"
VOID = {"meta", "input", "br", "img", "link", "path", "rect", "circle", "polyline"}


class Page(HTMLParser):
    """Collects text, tags and what the page would load; notes tags that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = dict(attrs)
        self.links += [
            str(values[k]) for k in ("src", "href", "xlink:href", "srcset") if k in values
        ]
        self.ids += [str(values["id"])] if "id" in values else []
        assert not any(key.startswith("on") for key in values), "no inline handlers"
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] == ["script"]:
            self.scripts.append(data)
        elif self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def extras() -> dict[str, ClassExtras]:
    near = Neighbour(nx.cycle_graph(4), "ring", 0.93, "p = 0.880")
    return {
        "chain": ClassExtras(
            stops=(Stop(0.05, 5, 6, "0.310"), Stop(0.5, 5, 5, "0.990"), Stop(0.7, 4, 4, "0.420")),
            sample_outputs=((0.987, 0.013), (0.654, 0.346)),
            neighbours=(near,),
        )
    }


def test_each_class_has_its_numbers(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet], tmp_path: Path
) -> None:
    result = result_of(plain_spec, notes=("something gave way",))
    path = write_report(result, tmp_path / "new" / "audit.html")
    page = Page(path.read_text(encoding="utf-8"))
    assert page.open == []
    assert page.tags.count("article") == 2
    for expected in (
        "0.995 ± 0.010",
        "over 1,000 sampled graphs",
        "of at most 6",
        "of at most 12",
        "0.910",
        "Likeness passed more like graphs of the class than 40% of them, in the embedding",
        "Something gave way.",
        "Certain, but not compared with data.",
        "Restarts reach it passed 3 of 3 restarts reached the class",
        "Random graphs passed random graphs get 0.123",
        "Audit not checked no audit was made",
        "Not checked: samples certain, certainty among real graphs, typical, familiar, more than "
        "one kind, not by heart, peers agree, model is right, rule of the data set, audit.",
        "gi.explain(model, dataset, restarts=3, seed=7, recipe='auto')",
        "gnninterpreter 0.1.0",
        "called as forward(x, edge_index, batch)",
    ):
        assert expected in page.text, expected


def test_sections_that_need_the_live_model_appear_only_with_it(
    plain_spec: GraphSpec,
    result_of: Callable[..., ExplanationSet],
    extras: dict[str, ClassExtras],
) -> None:
    result = result_of(plain_spec)
    without, added = Page(render_page(result)).text, Page(render_page(result, extras)).text
    for expected in (
        "Nearest real graphs",
        "similarity 0.930, p = 0.880",
        "p = 0.654",
        "The model gives it 0.990.",
    ):
        assert expected in added
        assert expected not in without


def test_the_legend_names_what_is_drawn_and_no_more(
    result_of: Callable[..., ExplanationSet],
) -> None:
    kinds = tuple(f"kind {i:02}" for i in range(60))
    spec = GraphSpec(nodes=(Categorical(60, kinds),), class_names=("chain", "ring"))
    one = result_of(spec)["chain"]

    def named(**extras: tuple[Neighbour, ...]) -> set[str]:
        view = page.class_view(one, ClassExtras(**extras))
        return {entry.name for entry in view["legend"]}

    drawn = named()
    assert set(nx.get_node_attributes(one.graph, "type").values()) <= drawn < set(kinds)
    new = sorted(set(kinds) - drawn)[:2]
    near = nx.path_graph(2)
    nx.set_node_attributes(near, dict(enumerate(new)), "type")
    assert named(neighbours=(Neighbour(near, "ring", 0.9, ""),)) == drawn | set(new)


def test_nothing_is_loaded_from_anywhere(
    rich_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    text = render_page(result_of(rich_spec))
    page = Page(text)
    assert page.links
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.links)
    assert not {"link", "img", "iframe", "object", "embed"} & set(page.tags)
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    assert set(re.findall(r"https?://[^\s\"'<\\]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://graphml.graphdrawing.org/xmlns",
        "http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd",
        "http://www.w3.org/2001/XMLSchema-instance",
    }, "names of formats, never addresses"
    assert "default-src &#39;none&#39;" in text or "default-src 'none'" in text


def test_hostile_names_stay_text(result_of: Callable[..., ExplanationSet]) -> None:
    block = Categorical(2, (HOSTILE, "b"), name=HOSTILE)
    spec = GraphSpec(nodes=(block,), edges=(block,), class_names=(HOSTILE, "other"))
    result = result_of(spec, name=HOSTILE, notes=(HOSTILE,))
    result.inferred.append(HOSTILE)
    result.metadata["versions"][HOSTILE] = HOSTILE
    page = Page(render_page(result))
    assert page.open == []
    assert "img" not in page.tags
    assert "49" not in Page(render_page(result)).text.split(HOSTILE)[0][:200]
    assert HOSTILE in page.text
    payloads = [json.loads(script) for script in page.scripts if script.lstrip().startswith("{")]
    assert payloads[0]["name"] == HOSTILE


def test_the_same_run_gives_the_same_file(
    rich_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    assert render_page(result_of(rich_spec)) == render_page(result_of(rich_spec))


def test_payloads_hold_the_graph(
    rich_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = result_of(rich_spec)
    page = Page(render_page(result))
    first = next(json.loads(s) for s in page.scripts if s.lstrip().startswith("{"))
    graph = result["chain"].graph
    assert len(first["json"]["graph"]["edges"]) == graph.number_of_edges()
    again = graph_from_json(first["json"]["graph"], GraphSpec.from_json(first["json"]["spec"]))
    assert same_graph(again, result["chain"].best, rich_spec)
    read = nx.parse_graphml(first["graphml"], node_type=int)
    assert nx.utils.graphs_equal(read, graph) or set(read.edges) == set(graph.edges)


def test_a_class_without_a_graph_is_reported_as_such(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    page = Page(render_page(result_of(plain_spec, edges={}, mean=0.0)))
    assert "Nothing found." in page.text
    assert "From soft to discrete" not in page.text


def test_what_is_missing_is_said(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = result_of(plain_spec)
    assert "Written without the model" in render_page(result)
    known = {name: ClassExtras(sample_outputs=((0.9, 0.1),)) for name in result}
    assert "Written without the data" in render_page(result, known)
    assert "Written without the model" not in render_page(result, known)


def test_restarts_that_agree_are_said_to(
    plain_spec: GraphSpec,
    result_of: Callable[..., ExplanationSet],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sections, "mode_tiles", lambda _: [Tile(Markup(""), "3 of 3 restarts")])
    text = render_page(result_of(plain_spec))
    assert "All 3 found the graph above." in text
    assert '<span class="value">3 of 3 restarts' not in text


def test_a_run_without_metadata_is_reported_all_the_same(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    result = replace(result_of(plain_spec, percentile=None), metadata={}, inferred=[])
    for explanation in result.values():
        explanation.history.clear()
    page = Page(render_page(result))
    assert "gi.explain(model, dataset)" in page.text
    assert "not compared with data" in page.text


def test_bundled_models_and_stored_commands_are_repeated_by_name(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet]
) -> None:
    assert 'gi.models.load("shape")' in Page(render_page(result_of(plain_spec, "shape"))).text
    result = result_of(plain_spec)
    result.metadata["command"] = "gnninterpreter explain my:model --seed 7"
    assert "gnninterpreter explain my:model --seed 7" in Page(render_page(result)).text


@pytest.mark.filterwarnings("ignore:The hashes produced for directed graphs:UserWarning")
def test_many_candidates_stay_small(result_of: Callable[..., ExplanationSet]) -> None:
    spec = GraphSpec(
        nodes=(Categorical(7, name="atom"),),
        edges=(Categorical(4, name="bond"),),
        class_names=("a",),
        directed=True,
    )
    edges = {(i, j): 0.3 * (i - j) for i in range(20) for j in range(20) if i != j}
    assert len(render_page(result_of(spec, edges=edges, candidates=20)).encode()) < 500_000


def test_an_existing_report_survives_a_failure(
    plain_spec: GraphSpec, result_of: Callable[..., ExplanationSet], tmp_path: Path
) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    with pytest.raises(OutputError, match="cannot write"):
        write_report(result_of(plain_spec), blocker / "audit.html")
    assert blocker.read_text() == "not a folder"


def test_notebook_cards_need_no_style_sheet(result_of: Callable[..., ExplanationSet]) -> None:
    spec = GraphSpec(class_names=(HOSTILE, "other"))
    result = result_of(spec)
    card = Page(card_html(result[0]))
    assert card.open == []
    assert "style" not in card.tags
    assert "p = 0.995 ± 0.010 over 1,000 samples" in card.text
    assert HOSTILE in card.text
    assert cards_html(result).count("<svg") == 2


def test_graphs_of_atoms_are_shown_as_molecules(result_of: Callable[..., ExplanationSet]) -> None:
    pytest.importorskip("rdkit")
    spec = GraphSpec(nodes=(Categorical(7, ATOMS, name="atom"),), class_names=("no", "yes"))
    molecule = '<div class="molecule">'
    assert molecule in render_page(result_of(spec))
    assert molecule not in render_page(result_of(GraphSpec(class_names=("no", "yes"))))
