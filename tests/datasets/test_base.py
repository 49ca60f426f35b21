"""What every data set promises: cached, reproducible, never half there."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch_geometric.data import InMemoryDataset

from gnninterpreter import datasets
from gnninterpreter.datasets._storage import CACHE_VARIABLE, cache_folder
from gnninterpreter.datasets.base import fields_of, sizes_of, taken, undirected_graph
from gnninterpreter.datasets.shape import Shape
from gnninterpreter.datasets.splits import stratified_split
from gnninterpreter.errors import DataError
from gnninterpreter.files import atomic_path
from gnninterpreter.spec import GraphSpec


def cache_files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


def same(a: InMemoryDataset, b: InMemoryDataset) -> bool:
    return len(a) == len(b) and all(
        torch.equal(g.edge_index, h.edge_index) and torch.equal(g.y, h.y)
        for g, h in zip(a, b, strict=True)
    )


def test_same_seed_same_graphs_other_seed_other_graphs(tmp_path):
    first = Shape(tmp_path / "a", num_graphs=20, seed=3)
    again = Shape(tmp_path / "b", num_graphs=20, seed=3)
    other = Shape(tmp_path / "a", num_graphs=20, seed=4)
    assert same(first, again)
    assert first.fingerprint == again.fingerprint
    assert not same(first, other)
    assert first.fingerprint != other.fingerprint


def test_a_longer_data_set_starts_with_the_shorter_one(tmp_path):
    short, long = Shape(tmp_path, num_graphs=5), Shape(tmp_path, num_graphs=8)
    assert same(short, long[:5])


def test_second_load_reads_the_cache(tmp_path, monkeypatch):
    first = Shape(tmp_path, num_graphs=6)
    monkeypatch.setattr(Shape, "generate", lambda self: pytest.fail("generated again"))
    again = Shape(tmp_path, num_graphs=6)
    assert same(first, again)
    assert again.metadata == first.metadata
    with pytest.raises(pytest.fail.Exception):
        Shape(tmp_path, num_graphs=6, force_reload=True)


@pytest.mark.parametrize("damage", [b"", b"not a safetensors file", None])
def test_a_damaged_cache_is_made_anew(tmp_path, damage):
    first = Shape(tmp_path, num_graphs=6)
    (path,) = cache_files(tmp_path)
    path.write_bytes(path.read_bytes()[:-40] if damage is None else damage)
    assert same(first, Shape(tmp_path, num_graphs=6))


def test_a_cache_file_of_another_identity_is_not_taken(tmp_path):
    Shape(tmp_path, num_graphs=6, seed=1)
    (foreign,) = cache_files(tmp_path)
    wanted = Shape(tmp_path / "elsewhere", num_graphs=6, seed=2)
    (name,) = cache_files(tmp_path / "elsewhere")
    foreign.rename(tmp_path / "shape" / name.name)
    assert same(wanted, Shape(tmp_path, num_graphs=6, seed=2))


def test_a_newer_generator_does_not_read_the_old_cache(tmp_path, monkeypatch):
    Shape(tmp_path, num_graphs=3)
    monkeypatch.setattr(Shape, "version", 99)
    Shape(tmp_path, num_graphs=3)
    assert len(cache_files(tmp_path)) == 2


def test_interrupted_generation_leaves_nothing(tmp_path, monkeypatch):
    def stop_halfway(self):
        yield undirected_graph(2, [(0, 1)], 0)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Shape, "generate", stop_halfway)
        with pytest.raises(KeyboardInterrupt):
            Shape(tmp_path, num_graphs=4)
    assert cache_files(tmp_path) == []
    assert len(Shape(tmp_path, num_graphs=4)) == 4


def test_a_failed_write_leaves_nothing(tmp_path):
    def write_half():
        with atomic_path(tmp_path / "file") as temporary:
            temporary.write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_half()
    assert cache_files(tmp_path) == []


def test_a_root_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    with pytest.raises(DataError, match=r"cannot write the data set 'shape' to .*give a folder"):
        Shape(blocked, num_graphs=2)


def test_the_cache_folder_can_be_named(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    assert cache_folder() == tmp_path
    Shape(num_graphs=2)
    assert cache_files(tmp_path)
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "gnninterpreter"


def test_it_is_a_pyg_data_set(tmp_path):
    dataset = Shape(tmp_path, num_graphs=12)
    assert isinstance(dataset, InMemoryDataset)
    assert len(dataset[:4]) == 4
    assert dataset.num_classes == 5
    assert dataset.num_node_features == 1
    assert GraphSpec.from_dataset(dataset) is Shape.spec
    assert "Shape(12, seed=0)" in repr(dataset)


def test_transform_is_applied_when_a_graph_is_read(tmp_path):
    def mark(graph):
        graph.marked = True
        return graph

    assert Shape(tmp_path, transform=mark, num_graphs=2)[1].marked


def test_progress_bar_can_be_shown(tmp_path, capsys):
    assert len(Shape(tmp_path, num_graphs=3, progress=True)) == 3
    assert "Generating shape" in capsys.readouterr().out


def test_metadata_say_what_the_graphs_are(tmp_path):
    metadata = Shape(tmp_path, num_graphs=3, seed=7).metadata
    assert metadata == {
        "dataset": "shape",
        "version": Shape.version,
        "seed": 7,
        "parameters": {"num_graphs": 3},
        "graphs": 3,
    }


def test_undirected_graph_holds_both_directions():
    graph = undirected_graph(3, [(0, 1), (1, 2)], 4, edge_attr=torch.tensor([[1.0], [2.0]]))
    assert graph.edge_index.tolist() == [[0, 1, 1, 2], [1, 2, 0, 1]]
    assert graph.edge_attr.flatten().tolist() == [1.0, 2.0, 1.0, 2.0]
    assert graph.x.tolist() == [[1.0]] * 3
    assert int(graph.y) == 4
    assert undirected_graph(2, [], 0).edge_index.shape == (2, 0)


def test_load_by_name(tmp_path):
    dataset = datasets.load("Shape", tmp_path, seed=2, num_graphs=3)
    assert isinstance(dataset, Shape)
    assert dataset.seed == 2


def test_unknown_names_and_options_are_refused(tmp_path):
    with pytest.raises(DataError, match=r"no data set 'shapes'; .*mutag, .*color_consistency"):
        datasets.load("shapes", tmp_path)
    with pytest.raises(DataError, match=r"'shape' does not take that: .*'base'"):
        datasets.load("shape", tmp_path, base="rome")
    with pytest.raises(DataError, match="num_graphs must be at least 1"):
        datasets.load("shape", tmp_path, num_graphs=0)


@pytest.mark.parametrize("name", datasets.NAMES)
def test_every_name_has_a_spec_without_data(name):
    found = datasets.dataset_class(name)
    assert found.name == name
    assert found.spec.num_classes >= (1 if name == "esol" else 2)


def test_graphs_as_they_are_stored(tmp_path):
    data = Shape(tmp_path, num_graphs=6)
    stored = data.as_graphs()
    assert stored is not None
    assert same(stored, data)
    assert len(stored) == 6
    assert torch.equal(stored[-1].x, data[5].x)
    assert [graph.num_nodes for graph in stored[1:3]] == [data[1].num_nodes, data[2].num_nodes]
    with pytest.raises(IndexError):
        stored[6]
    assert data[:3].as_graphs() is None
    some = taken(stored, [4, 0, 4])
    assert same(some, taken(list(data), [4, 0, 4]))
    assert sizes_of(some) == [data[i].num_nodes for i in (4, 0, 4)] == sizes_of(list(some))
    assert len(taken(stored, [])) == 0
    for one, other in zip(fields_of(some, "edge_index"), some, strict=True):
        assert torch.equal(one, other.edge_index)
    assert fields_of(some, "pos") == fields_of(list(some), "pos") == [None] * 3


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None])
@pytest.mark.parametrize("name", ["is_acyclic", "motif"])
def test_a_seed_is_a_whole_number(name: str, seed: object, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="seed must be"):
        datasets.load(name, tmp_path, seed, num_graphs=20)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("root", [5, "a\0b"])
def test_a_root_is_a_path(root: object) -> None:
    with pytest.raises(DataError, match="root must be a path"):
        datasets.load("is_acyclic", root, num_graphs=20)


def test_the_seed_of_a_split_is_a_whole_number() -> None:
    with pytest.raises(DataError, match="seed must be a whole number"):
        stratified_split(torch.tensor([0, 1] * 20), "x")
