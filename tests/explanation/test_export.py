"""Export: what is written can be read back by others, and nothing else is written."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import networkx as nx
import pytest

from gnninterpreter.errors import OutputError
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import to_networkx
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.spec import GraphSpec
from tests.explanation.made import MOLECULES, explanation
from tests.tiny import DIRECTED, graph

TAIL = [(0, 1), (1, 2), (2, 0), (2, 3)]


@pytest.fixture
def one() -> Explanation:
    return explanation(graph(6, TAIL, MOLECULES, colours=[0, 1, 2, 0, 0, 0]))


def same(found: nx.Graph, expected: nx.Graph) -> bool:
    attributes = nx.is_isomorphic(
        found,
        expected,
        node_match=lambda a, b: a == b,
        edge_match=lambda a, b: a["bond"] == b["bond"],
    )
    return attributes and found.number_of_nodes() == 4


def test_graphml_reads_back(one: Explanation, tmp_path: Path) -> None:
    path = one.export(tmp_path / "graph.graphml")
    found = nx.read_graphml(path)
    assert same(found, one.graph)
    assert sorted(nx.get_node_attributes(found, "atom").values()) == ["C", "C", "N", "O"]


def test_json_reads_back(one: Explanation, tmp_path: Path) -> None:
    path = one.export(str(tmp_path / "graph.json"))
    values = json.loads(path.read_text())
    found = graph_from_json(values["graph"], GraphSpec.from_json(values["spec"]))
    assert same(to_networkx(found, one.spec), one.graph)
    assert values["nodes"] == 4


def test_direction_is_kept(tmp_path: Path) -> None:
    one = explanation(graph(3, [(0, 1), (1, 2)], DIRECTED))
    for name in ("graph.graphml", "graph.json"):
        path = one.export(tmp_path / name)
        if path.suffix == ".json":
            values = json.loads(path.read_text())["graph"]
            found = to_networkx(graph_from_json(values, DIRECTED), DIRECTED)
        else:
            found = nx.read_graphml(path, node_type=int)
        assert found.is_directed()
        assert set(found.edges) == {(0, 1), (1, 2)}


def test_svg_is_a_drawing_with_every_node(one: Explanation, tmp_path: Path) -> None:
    path = one.export(tmp_path / "graph.SVG")
    root = ElementTree.fromstring(path.read_bytes())
    assert root.tag.endswith("svg")
    drawn = [e for e in root.iter() if e.tag.rpartition("}")[2] in ("circle", "path", "use")]
    assert len(drawn) >= 4


@pytest.mark.parametrize("name", ["graph.pkl", "graph", "graph.xml"])
def test_other_endings_are_refused(one: Explanation, name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=rf"cannot export to {name}: end it in \.graphml"):
        one.export(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written(one: Explanation, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"cannot write .*graph\.json"):
        one.export(tmp_path / "file" / "graph.json")
