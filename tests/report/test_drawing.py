"""Drawings as SVG and on axes: well formed, complete, escaped, the same every time."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import SpecError
from gnninterpreter.explanation import Explanation
from gnninterpreter.report import draw, graph_svg
from gnninterpreter.report.appearance import edge_look, legend, node_look, short_names
from gnninterpreter.report.drawing import small_svg
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('x')</script>\"&\x00\x1b]]>"


def parsed(graph: nx.Graph, spec: GraphSpec, **options: object) -> ElementTree.Element:
    return ElementTree.fromstring(graph_svg(graph, spec, **options))  # type: ignore[arg-type]


def count(root: ElementTree.Element, tag: str) -> int:
    return len(list(root.iter(SVG + tag)))


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("graph", [nx.star_graph(6), nx.complete_graph(5), nx.path_graph(2)])
def test_every_node_is_a_circle_and_every_edge_a_line(
    graph: nx.Graph, plain_spec: GraphSpec
) -> None:
    root = parsed(graph, plain_spec)
    assert count(root, "circle") == graph.number_of_nodes()
    assert count(root, "line") == graph.number_of_edges()
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}desc") == f"{len(graph)} nodes, {graph.number_of_edges()} edges"


def test_without_features_there_is_no_legend(plain_spec: GraphSpec) -> None:
    assert "legend" not in graph_svg(nx.path_graph(3), plain_spec)


def test_features_are_named_in_nodes_and_legend(
    rich_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    explanation = explanation_of(rich_spec)
    graph = explanation.graph
    root = parsed(graph, rich_spec)
    written = "".join(root.itertext())
    for name in ("red", "green", "blue", "single", "double", "Colour", "Bond"):
        assert name in written
    labels = [node.findtext(f"{SVG}text") for node in root.iter(f"{SVG}g") if node.get("data-id")]
    assert labels == [graph.nodes[n]["colour"][0].upper() for n in graph]
    assert count(root, "circle") == len(graph), "swatches of the legend are no circles"
    assert "legend" not in graph_svg(graph, rich_spec, show_legend=False)


def test_arrows_for_directed_graphs_stop_before_the_node() -> None:
    spec = GraphSpec(class_names=("a",), directed=True)
    graph = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    root = parsed(graph, spec)
    assert count(root, "path") == count(root, "line") == 3
    there, back, _ = (
        tuple(float(line.get(k, "0")) for k in ("x1", "y1", "x2", "y2"))
        for line in root.iter(f"{SVG}line")
    )
    assert there[1] != back[1] or there[0] != back[2], "the two ways run beside each other"


def test_drawing_is_deterministic(
    rich_spec: GraphSpec, explanation_of: Callable[..., Explanation]
) -> None:
    one, other = explanation_of(rich_spec).graph, explanation_of(rich_spec).graph
    assert graph_svg(one, rich_spec) == graph_svg(other, rich_spec)


def test_an_empty_graph_says_so(plain_spec: GraphSpec) -> None:
    root = parsed(nx.Graph(), plain_spec)
    assert count(root, "circle") == count(root, "line") == 0
    assert "no edges, so no graph" in "".join(root.itertext())


@pytest.mark.parametrize("size", [(0, 10), (10, -1), "ab", 7])
def test_a_size_must_be_two_numbers_of_at_least_one(plain_spec: GraphSpec, size: object) -> None:
    with pytest.raises(SpecError, match="size must be"):
        graph_svg(nx.path_graph(2), plain_spec, size=size)  # type: ignore[arg-type]


def test_hostile_names_and_colours_stay_text() -> None:
    block = Categorical(2, (HOSTILE, "b"), ('red" onload="alert(1)', "#ABC"), name=HOSTILE)
    spec = GraphSpec(nodes=(block,), edges=(block,), class_names=("a",))
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, HOSTILE, HOSTILE)
    nx.set_edge_attributes(graph, "b", HOSTILE)
    drawn = graph_svg(graph, spec, title=HOSTILE)
    ElementTree.fromstring(drawn)
    assert "<script" not in drawn
    assert "onload" not in drawn
    assert "\x00" not in drawn
    assert "#AABBCC" in drawn


def test_text_in_nodes_is_dark_on_light_whatever_the_category() -> None:
    block = Categorical(8, name="kind")
    spec = GraphSpec(nodes=(block,), class_names=("a",))
    ink = luminance("#16202c")
    for name in block.names:
        contrast = (luminance(node_look({"kind": name}, spec).fill) + 0.05) / (ink + 0.05)
        assert contrast > 7


def test_edge_categories_differ_in_more_than_colour() -> None:
    spec = GraphSpec(edges=(Categorical(4, name="kind"),), class_names=("a",))
    looks = [edge_look({"kind": str(i)}, spec) for i in range(4)]
    assert len({look.dash for look in looks}) == 4
    bonds = GraphSpec(
        edges=(Categorical(2, ("single", "double"), name="bond"),), class_names=("a",)
    )
    single, double = (edge_look({"bond": name}, bonds) for name in ("single", "double"))
    assert double.breadth > 2 * single.breadth
    assert single.dash == ""


def test_numbers_shade_the_nodes() -> None:
    spec = GraphSpec(nodes=(Continuous(1, 0.0, 2.0, names=("charge",)),), class_names=("a",))
    low, high = (node_look({"charge": value}, spec) for value in (0.0, 2.0))
    assert luminance(low.fill) > luminance(high.fill)
    assert high.label == "2"


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (("C", "N", "Cl"), ("C", "N", "Cl")),
        (("red", "orange", "green"), ("R", "O", "G")),
        (("blue", "black", "brown"), ("Blu", "Bla", "Bro")),
        (("alpha one", "alpha two"), ("0", "1")),
    ],
)
def test_short_names_are_unique(names: tuple[str, ...], short: tuple[str, ...]) -> None:
    assert short_names(names) == short


def test_a_small_picture_of_a_molecule_is_its_formula() -> None:
    pytest.importorskip("rdkit")
    spec = GraphSpec(nodes=(Categorical(2, ("C", "O"), name="atom"),), class_names=("a",))
    index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = Data(x=torch.eye(2)[[0, 0, 1]], edge_index=index, num_nodes=3)
    formula, drawn = small_svg(graph, spec, (90, 60)), small_svg(nx.path_graph(3), spec, (90, 60))
    assert "<circle" not in formula
    assert drawn.count("<circle") == 3
    assert "<circle" in small_svg(graph, spec, (90, 60), start={0: (0, 0), 1: (1, 0), 2: (2, 0)})


def test_what_the_model_reads_colours_nodes() -> None:
    region, kind = Categorical(2, ("n", "s"), name="region"), Categorical(2, name="kind")
    values = {"region": "s", "kind": "0"}
    for read, shown in ((True, ("s", "region")), (False, ("0", "kind"))):
        spec = GraphSpec(nodes=(replace(region, read=read), kind))
        assert (node_look(values, spec).label, legend(spec)[0].topic) == shown


def test_a_long_legend_lists_only_what_is_there() -> None:
    spec = GraphSpec(nodes=(Categorical(30, name="kind"),), class_names=("a",))
    assert len(legend(spec)) == 30
    assert [entry.name for entry in legend(spec, {("node", "7")})] == ["7"]


def test_the_number_that_colours_nodes_is_in_the_legend() -> None:
    """The first that varies; a column of ones says nothing."""
    numbers = Continuous(3, (1.0, 0.0, -2.0), (1.0, 1.0, 2.0), ("one", "down", "load"))
    spec = GraphSpec(nodes=(numbers,), class_names=("a",))
    low, high = legend(spec)
    assert (low.topic, low.name, high.name) == ("down", "0", "1")
    node = node_look({"one": 1.0, "down": 1.0, "load": 0.5}, spec)
    assert (node.fill, node.label) == (high.look.fill, "1")
    assert legend(GraphSpec(class_names=("a",))) == []


@pytest.mark.parametrize("directed", [False, True])
def test_drawing_on_axes(directed: bool, explanation_of: Callable[..., Explanation]) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    block = Categorical(2, name="kind")
    spec = GraphSpec(nodes=(block,), edges=(block,), class_names=("a", "b"), directed=directed)
    explanation = explanation_of(spec, edges={(0, 1): 8.0, (1, 2): 8.0})
    ax = draw(explanation)
    assert len(ax.patches) == explanation.num_nodes
    assert re.match(r"a\s+p = 0.995 ± 0.010", ax.get_title())
    assert draw(explanation, ax) is ax
    ax.figure.canvas.draw()
    pyplot.close(ax.figure)
