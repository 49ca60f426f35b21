"""Finding, checking and parsing the Rome archive, and what stands in for it."""

from __future__ import annotations

import hashlib
import logging

import networkx as nx
import numpy as np
import pytest

from gnninterpreter import datasets
from gnninterpreter.datasets import rome
from gnninterpreter.datasets.color_consistency import ColorConsistency
from gnninterpreter.datasets.published import DATA_VARIABLE, MissingFileError
from gnninterpreter.datasets.rome import synthetic_graph
from gnninterpreter.errors import DataError

from .conftest import graphml, write_archive

SQUARE = graphml(4, [(0, 1), (1, 2), (2, 3), (3, 0)])


@pytest.fixture
def small_archive(tmp_path, monkeypatch):
    """An archive of three graphs that passes for the published one."""
    files = {
        "grafo10.4.graphml": SQUARE,
        "grafo9.3.graphml": graphml(3, [(0, 1), (1, 2)]),
        "grafo100.5.graphml": graphml(5, [(0, 1), (1, 2), (2, 0), (3, 4)]),
        "Graph.log": b"not read",
    }
    path = write_archive(tmp_path / rome.ARCHIVE, files)
    monkeypatch.setattr(rome, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    return path


def test_graphs_come_in_the_order_of_their_numbers(small_archive):
    graphs = rome.read_archive(small_archive)
    assert [graph.num_nodes for graph in graphs] == [3, 4, 5]
    assert graphs[1].edges == ((0, 1), (0, 3), (1, 2), (2, 3))


def test_loops_repetitions_and_lone_nodes_are_dropped():
    text = graphml(5, [(4, 2), (2, 4), (2, 2), (1, 4)])
    assert rome.parse_graphml(text, "g") == rome.BaseGraph(3, ((0, 2), (1, 2)))


def test_namespaced_graphml_is_read():
    text = SQUARE.replace(b"<graphml>", b'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">')
    assert rome.parse_graphml(text, "g").num_nodes == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"no XML at all", "grafo1.graphml is not GraphML"),
        (b"<html><graph/></html>", "not a GraphML graph: its first tag is <html>"),
        (b"<graphml></graphml>", "not a GraphML graph"),
        (b'<graphml><graph><edge source="a" target="b"/></graph></graphml>', "does not list, 'a'"),
    ],
)
def test_files_that_are_no_graphs_are_named(text, message):
    with pytest.raises(DataError, match=message):
        rome.parse_graphml(text, "grafo1.graphml")


def test_a_wrong_hash_is_refused(tmp_path):
    write_archive(tmp_path / rome.ARCHIVE, {"grafo1.4.graphml": SQUARE})
    with pytest.raises(DataError, match=r"not the published file.*fetch it again"):
        rome.find_archive(tmp_path)


def test_a_wrong_hash_is_no_reason_to_go_synthetic(tmp_path, offline):
    write_archive(tmp_path / rome.ARCHIVE, {"grafo1.4.graphml": SQUARE})
    with pytest.raises(DataError, match="not the published file"):
        ColorConsistency(tmp_path, num_graphs=2)


def test_a_truncated_archive_is_refused(small_archive):
    small_archive.write_bytes(small_archive.read_bytes()[:200])
    with pytest.raises(DataError, match=r"is truncated or not a \.tgz archive"):
        rome.read_archive(small_archive)


def test_an_archive_without_graphs_is_refused(tmp_path):
    path = write_archive(tmp_path / "empty.tgz", {"Graph.log": b""})
    with pytest.raises(DataError, match="holds no rome/grafo"):
        rome.read_archive(path)


def test_folders_are_searched_in_order(small_archive, tmp_path, monkeypatch, offline):
    assert rome.find_archive(tmp_path) == small_archive
    elsewhere = tmp_path / "elsewhere"
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert rome.find_archive(elsewhere) == small_archive


def test_missing_archive_says_what_to_do(tmp_path, offline):
    with pytest.raises(MissingFileError, match="base='synthetic'"):
        rome.find_archive(tmp_path, download=False)
    with pytest.raises(MissingFileError, match=r"cannot download .*no route to host"):
        rome.find_archive(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_download_is_checked_before_it_counts(tmp_path, small_archive, monkeypatch, offline):
    content = small_archive.read_bytes()

    def answer(served):
        class Answer:
            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

            def read(self, most):
                return served

        return lambda url, timeout: Answer()

    target = tmp_path / "target"
    monkeypatch.setattr("urllib.request.urlopen", answer(content[:-10]))
    with pytest.raises(DataError, match="not the published file"):
        rome.find_archive(target)
    assert list(target.iterdir()) == []
    monkeypatch.setattr("urllib.request.urlopen", answer(content))
    assert rome.find_archive(target).read_bytes() == content


def test_auto_falls_back_and_says_so(tmp_path, offline, caplog):
    with caplog.at_level(logging.INFO):
        dataset = datasets.load("color_consistency", tmp_path, num_graphs=5)
    assert dataset.metadata["base"] == dataset.metadata["parameters"]["base"] == "synthetic"
    assert len(caplog.messages) == 1
    assert "built on synthetic graphs" in caplog.text


def test_auto_takes_rome_and_later_its_cache(small_archive, tmp_path, monkeypatch, caplog, offline):
    monkeypatch.setattr("gnninterpreter.datasets.rome.NUM_GRAPHS", 3)
    with caplog.at_level(logging.INFO):
        dataset = ColorConsistency(tmp_path)
    assert dataset.metadata["base"] == "rome"
    assert "built on the Rome graphs" in caplog.text
    small_archive.unlink()
    again = ColorConsistency(tmp_path)
    assert again.metadata == dataset.metadata
    assert again.fingerprint == dataset.fingerprint


def test_bad_base_and_size(tmp_path):
    with pytest.raises(DataError, match="base must be one of auto, rome, synthetic"):
        ColorConsistency(tmp_path, base="paris")
    with pytest.raises(DataError, match="num_graphs must be at most 11534"):
        ColorConsistency(tmp_path, num_graphs=20_000)


def test_synthetic_graphs_resemble_rome():
    graphs = [synthetic_graph(np.random.default_rng([0, i])) for i in range(2000)]
    nodes = np.array([graph.num_nodes for graph in graphs])
    edges = np.array([len(graph.edges) for graph in graphs])
    assert nodes.min() >= 10
    assert nodes.max() <= 100
    assert nodes.mean() == pytest.approx(52.33, rel=0.03)
    assert edges.mean() == pytest.approx(69.06, rel=0.03)
    assert (edges / nodes).std() == pytest.approx(0.132, rel=0.15)
    for graph in graphs[:200]:
        found = nx.Graph(graph.edges)
        assert len(found) == graph.num_nodes
        assert nx.is_connected(found)


def test_all_of_rome(rome_archive, rome_graphs):
    if rome_archive is None:
        pytest.skip(f"{DATA_VARIABLE} names no folder with {rome.ARCHIVE}")
    rome.find_archive(rome_archive.parent)
    assert len(rome_graphs) == rome.NUM_GRAPHS
    nodes = np.array([graph.num_nodes for graph in rome_graphs])
    edges = np.array([len(graph.edges) for graph in rome_graphs])
    assert (nodes.min(), nodes.max()) == (10, 107)  # four of them have more than 100
    assert (nodes > 100).sum() == 4
    # ColorConsistency changes neither: these are the paper's figures for it.
    assert nodes.mean() == pytest.approx(52.33, abs=0.01)
    assert edges.mean() == pytest.approx(69.06, abs=0.01)
    assert all(nx.is_connected(nx.Graph(graph.edges)) for graph in rome_graphs[::50])
