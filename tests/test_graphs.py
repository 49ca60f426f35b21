from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs, attribute_names, random_graphs, to_networkx
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.spec.encoding import codes, decode, dense_width, encode, split_blocks

NODES = (Categorical(2, names=("C", "N"), name="atom"), Continuous(1, -1.0, 1.0, names=("charge",)))
SPEC = GraphSpec(NODES, (Categorical(3, names=("one", "two", "three"), name="bond"),))
CODES = GraphSpec(
    (Categorical(4, encoding="index"), Categorical(3, encoding="index")),
    (Categorical(3, encoding="index"),),
)
DUMMY = GraphSpec(
    (Categorical(4, encoding="dummy"), Continuous(1)), (Categorical(3, encoding="dummy"),)
)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def plain(edges: list[tuple[int, int]], size: int = 4, directed: bool = False) -> DenseGraphs:
    """One graph with edges (source, target)."""
    weight = torch.zeros(1, size, size)
    for source, target in edges:
        weight[0, target, source] = 1.0
        if not directed:
            weight[0, source, target] = 1.0
    nodes = torch.ones(1, size, 1)
    return DenseGraphs(GraphSpec(directed=directed), weight, nodes)


class TestCounts:
    def test_presence_of_soft_nodes(self) -> None:
        weight = torch.tensor([[[0.0, 0.5, 0.2], [0.5, 0.0, 0.0], [0.2, 0.0, 0.0]]])
        graphs = DenseGraphs(GraphSpec(), weight, torch.ones(1, 3, 1))
        assert graphs.presence[0].tolist() == pytest.approx([1 - 0.5 * 0.8, 0.5, 0.2])
        assert graphs.num_nodes.item() == pytest.approx(0.6 + 0.5 + 0.2)
        assert graphs.num_edges.item() == pytest.approx(0.7)

    def test_a_directed_node_is_present_by_edges_of_either_direction(self) -> None:
        graphs = plain([(0, 1), (2, 1)], directed=True)
        assert graphs.presence[0].tolist() == [1.0, 1.0, 1.0, 0.0]
        assert graphs.num_edges.item() == 2

    def test_presence_is_exact_where_weights_are(self) -> None:
        graphs = random_graphs(SPEC, 20, 8, generator(), absent=3)
        assert set(graphs.presence.unique().tolist()) == {0.0, 1.0}

    def test_presence_has_a_finite_gradient_everywhere(self) -> None:
        weight = plain([(0, 1), (1, 2)]).weight.requires_grad_()
        DenseGraphs(GraphSpec(), weight, torch.ones(1, 4, 1)).presence.sum().backward()
        assert torch.isfinite(weight.grad).all()

    def test_empty(self) -> None:
        weight = torch.cat([plain([(0, 1)]).weight, plain([]).weight])
        graphs = DenseGraphs(GraphSpec(), weight, torch.ones(2, 4, 1))
        assert graphs.empty.tolist() == [False, True]


class TestConnected:
    @pytest.mark.parametrize(
        ("edges", "expected"),
        [
            ([(0, 1), (1, 2), (2, 3)], True),
            ([(3, 2), (2, 1)], True),
            ([(0, 1), (2, 3)], False),
            ([], False),
        ],
        ids=["path", "absent node", "two parts", "empty"],
    )
    def test_small_graphs(self, edges: list[tuple[int, int]], expected: bool) -> None:
        assert plain(edges).connected().tolist() == [expected]

    def test_direction_does_not_matter(self) -> None:
        assert plain([(0, 1), (2, 1), (2, 3)], directed=True).connected().item()

    def test_long_paths(self) -> None:
        assert plain([(i, i + 1) for i in range(19)], size=20).connected().item()

    def test_as_networkx_says(self) -> None:
        graphs = random_graphs(SPEC, 40, 7, generator(), density=0.25)
        expected = [nx.is_connected(to_networkx(data, SPEC)) for data in graphs.to_data_list()]
        assert graphs.connected().tolist() == expected
        assert len(set(expected)) == 2

    def test_the_main_component_holds_the_node_of_highest_degree(self) -> None:
        reached, present = plain([(0, 1), (2, 3), (2, 4), (2, 5)], size=7).main_component()
        assert reached[0].nonzero().flatten().tolist() == [2, 3, 4, 5]
        assert present[0].nonzero().flatten().tolist() == [0, 1, 2, 3, 4, 5]


class TestIndexing:
    graphs = random_graphs(SPEC, 5, 4, generator())

    @pytest.mark.parametrize("index", [0, 3, -1, slice(1, 3), torch.tensor([4, 0])], ids=str)
    def test_graphs_are_selected_with_all_their_parts(self, index: int | slice | Tensor) -> None:
        rows = [index] if isinstance(index, int) else index
        chosen = self.graphs[index]
        assert torch.equal(chosen.weight, self.graphs.weight[rows])
        assert torch.equal(chosen.nodes, self.graphs.nodes[rows])
        assert torch.equal(chosen.edges, self.graphs.edges[rows])
        assert len(chosen) == chosen.weight.size(0)


class TestBatch:
    def test_only_what_is_present(self) -> None:
        graphs = plain([(1, 3), (3, 2)], directed=True)
        graphs.nodes[0, :, 0] = torch.arange(4.0)
        batch = graphs.to_batch()
        assert batch.x.flatten().tolist() == [1.0, 2.0, 3.0]
        edges = {(int(batch.x[i]), int(batch.x[j])) for i, j in batch.edge_index.t().tolist()}
        assert edges == {(1, 3), (3, 2)}
        assert (batch.num_graphs, batch.ptr.tolist()) == (1, [0, 3])

    def test_a_batch_is_its_graphs_side_by_side(self) -> None:
        graphs = random_graphs(SPEC, 4, 6, generator(), absent=2)
        batch, single = graphs.to_batch(), graphs.to_data_list()
        assert batch.num_graphs == 4
        assert torch.equal(batch.x, torch.cat([data.x for data in single]))
        assert torch.equal(batch.edge_attr, torch.cat([data.edge_attr for data in single]))
        offsets = batch.ptr[:-1].tolist()
        moved = [data.edge_index + o for data, o in zip(single, offsets, strict=True)]
        assert torch.equal(batch.edge_index, torch.cat(moved, dim=1))
        assert torch.equal(batch.batch.bincount(), graphs.num_nodes.long())

    def test_edge_features_lie_beside_their_edges(self) -> None:
        graphs = random_graphs(SPEC, 1, 5, generator(), density=1.0)
        data = graphs.to_data_list()[0]
        for (source, target), row in zip(data.edge_index.t().tolist(), data.edge_attr, strict=True):
            assert torch.equal(row, graphs.edges[0, target, source])

    def test_codes_are_integers_and_types_are_flat(self) -> None:
        graphs = random_graphs(CODES, 3, 5, generator())
        batch = graphs.to_batch()
        assert batch.x.dtype == batch.edge_attr.dtype == torch.long
        assert batch.x.shape[1] == 2
        assert torch.equal(batch.edge_attr[:, 0], batch.edge_type)
        present = graphs.presence > 0.5
        assert torch.equal(batch.x[:, 0], graphs.nodes[present][:, :4].argmax(-1))

    def test_flat_columns(self) -> None:
        spec = GraphSpec((Continuous(1),), (Continuous(1),), metadata={"x": "flat"})
        assert random_graphs(spec, 2, 4, generator()).to_batch().x.dim() == 1
        spec = GraphSpec((Continuous(1),), (Continuous(1),), metadata={"edge_attr": "flat"})
        assert random_graphs(spec, 2, 4, generator()).to_batch().edge_attr.dim() == 1

    def test_weights_lie_where_the_data_has_them(self) -> None:
        spec = GraphSpec((Categorical(2),), (Continuous(1, name="weight"),))
        data = random_graphs(spec, 1, 5, generator(), density=1.0).to_data_list()[0]
        assert data.edge_weight.tolist() == data.edge_attr[:, 0].tolist()
        again = graph_from_json(graph_to_json(data, spec), spec)
        assert again.edge_weight.tolist() == again.edge_attr[:, 0].tolist()
        other = random_graphs(SPEC, 1, 5, generator(), density=1.0).to_data_list()[0]
        assert "edge_weight" not in other

    def test_batches_do_not_share_their_fields(self) -> None:
        first, second = (random_graphs(SPEC, 2, 4, generator(s)).to_batch() for s in (0, 1))
        first.x = None
        assert second.x is not None


class TestBlocks:
    def test_widths_and_parts(self) -> None:
        assert (dense_width(SPEC.nodes), dense_width(CODES.nodes)) == (3, 7)
        parts = split_blocks(torch.arange(7.0), CODES.nodes)
        assert [part.tolist() for part in parts] == [[0, 1, 2, 3], [4, 5, 6]]

    def test_encoding(self) -> None:
        values = torch.tensor([[0.1, 0.7, 0.2, 0.0, 0.3, 0.3, 0.4]])
        assert encode(values, CODES.nodes).tolist() == [[1, 2]]
        assert encode(values[:, :3], SPEC.nodes) is not None
        assert torch.equal(encode(values[:, :3], SPEC.nodes), values[:, :3])

    def test_the_last_of_dummy_columns_is_a_row_of_zeros(self) -> None:
        values = torch.tensor([[0.0, 1.0, 0.0, 0.0, 0.3], [0.0, 0.0, 0.0, 1.0, 0.5]])
        read = encode(values, DUMMY.nodes)
        assert read.tolist() == [[0, 1, 0, pytest.approx(0.3)], [0, 0, 0, 0.5]]
        assert torch.equal(decode(read, DUMMY.nodes, torch.float32), values)
        assert codes(read, DUMMY.nodes)[0].tolist() == [1, 3]


class TestRandomGraphs:
    @pytest.mark.parametrize("directed", [False, True])
    @pytest.mark.parametrize("absent", [0, 2, 5])
    def test_they_are_valid_and_not_empty(self, directed: bool, absent: int) -> None:
        spec = GraphSpec(SPEC.nodes, SPEC.edges, directed=directed)
        graphs = random_graphs(spec, 30, 5, generator(), absent=absent)
        assert set(graphs.weight.unique().tolist()) == {0.0, 1.0}
        assert not graphs.weight.diagonal(dim1=1, dim2=2).any()
        assert not graphs.empty.any()
        assert torch.equal(graphs.weight, graphs.weight.transpose(1, 2)) is not directed
        assert (graphs.num_nodes <= max(2, 5 - absent)).all()
        categories, numbers = split_blocks(graphs.nodes, spec.nodes)
        assert torch.equal(categories.sum(-1), torch.ones(30, 5))
        assert ((numbers >= -1) & (numbers <= 1)).all()
        if not directed:
            assert torch.equal(graphs.edges, graphs.edges.transpose(1, 2))

    def test_absent_nodes_may_be_anywhere(self) -> None:
        graphs = random_graphs(SPEC, 50, 5, generator(), absent=2, density=1.0)
        assert (graphs.num_nodes == 3).all()
        assert (graphs.presence.sum(0) < 50).all()

    def test_the_generator_alone_decides(self) -> None:
        first, again = (random_graphs(SPEC, 4, 5, generator(3), absent=1) for _ in range(2))
        assert torch.equal(first.weight, again.weight)
        assert torch.equal(first.nodes, again.nodes)
        assert torch.equal(first.edges, again.edges)
        other = random_graphs(SPEC, 4, 5, generator(4), absent=1)
        assert not torch.equal(first.nodes, other.nodes)

    def test_dtype_and_density(self) -> None:
        graphs = random_graphs(SPEC, 400, 6, generator(), density=0.3, dtype=torch.float64)
        assert graphs.weight.dtype == graphs.nodes.dtype == graphs.edges.dtype == torch.float64
        # One of the 15 pairs is always joined.
        assert graphs.num_edges.mean().item() == pytest.approx(1 + 14 * 0.3, abs=0.3)


class TestNetworkx:
    def test_names_become_attributes(self) -> None:
        graphs = random_graphs(SPEC, 1, 5, generator(), density=0.6)
        (data,) = graphs.to_data_list()
        graph = to_networkx(data, SPEC)
        assert type(graph) is nx.Graph
        assert graph.number_of_nodes() == data.num_nodes
        assert graph.number_of_edges() == data.edge_index.size(1) // 2
        for i, row in enumerate(data.x):
            assert graph.nodes[i]["atom"] == "CN"[int(row[:2].argmax())]
            assert graph.nodes[i]["charge"] == pytest.approx(float(row[2]))
        for _, _, attributes in graph.edges(data=True):
            assert attributes["bond"] in ("one", "two", "three")

    def test_directed_codes(self) -> None:
        spec = GraphSpec((Categorical(2, names=("a", "b"), encoding="index"),), directed=True)
        graphs = random_graphs(spec, 1, 4, generator())
        (data,) = graphs.to_data_list()
        graph = to_networkx(data, spec)
        assert type(graph) is nx.DiGraph
        assert set(graph.edges) == {tuple(edge) for edge in data.edge_index.t().tolist()}
        assert [graph.nodes[i]["type"] for i in graph] == ["ab"[int(code)] for code in data.x]

    def test_constants_say_nothing(self) -> None:
        graph = to_networkx(plain([(0, 1)]).to_data_list()[0], GraphSpec())
        assert graph.nodes[0] == {}

    def test_no_block_hides_another_of_the_same_name(self) -> None:
        """What is inferred from several columns of integers: blocks that are all called "type"."""
        codes = tuple(Categorical(n, encoding="index") for n in (2, 3, 4))
        spec = GraphSpec(codes, edges=codes[:2], class_names=("a", "b"))
        data = Data(
            x=torch.tensor([[1, 2, 3], [0, 1, 0]]),
            edge_index=torch.tensor([[0, 1], [1, 0]]),
            edge_attr=torch.tensor([[1, 2], [1, 2]]),
        )
        graph = to_networkx(data, spec)
        assert graph.nodes[0] == {"type": "1", "type 2": "2", "type 3": "3"}
        assert graph.edges[0, 1] == {"type": "1", "type 2": "2"}
        read = nx.parse_graphml("\n".join(nx.generate_graphml(graph)), node_type=int)
        assert read.nodes[1] == {"type": "0", "type 2": "1", "type 3": "0"}

    def test_names_of_attributes(self) -> None:
        blocks = (
            Categorical(2, name="type 2"),
            Categorical(2),
            Continuous(2, names=("type", "node_for_adding")),
            Continuous(1, 1.0, 1.0),
        )
        names = attribute_names(blocks)
        assert names == [("type 2",), ("type",), ("type 3", "node_for_adding"), ()]
        spec = GraphSpec(blocks, class_names=("a", "b"))
        data = random_graphs(spec, 1, 3, generator()).to_data_list()[0]
        assert set(to_networkx(data, spec).nodes[0]) == {
            "type", "type 2", "type 3", "node_for_adding",
        }  # fmt: skip
