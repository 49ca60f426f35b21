from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import DenseGraphs, dense_graphs, random_graphs
from gnninterpreter.interchange import graph_from_json, graph_to_json
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import (
    _FUNCTIONS,
    cleared,
    completed,
    fill,
    register_derived,
    soft_values,
)
from gnninterpreter.spec.encoding import decode, dense_width

DEGREE = Derived("degree one-hot", 4, name="degree")
MIXED = GraphSpec((Categorical(2), DEGREE, Continuous(1, -1.0, 1.0)))


def path(size: int = 3, x: Tensor | None = None) -> Data:
    forth = torch.stack([torch.arange(size - 1), torch.arange(1, size)])
    index = torch.cat([forth, forth.flip(0)], dim=1)
    return Data(x=x, edge_index=index, num_nodes=size)


@pytest.fixture
def names() -> Iterator[None]:
    """Forget what a test registers."""
    before = dict(_FUNCTIONS)
    yield
    _FUNCTIONS.clear()
    _FUNCTIONS.update(before)


class TestDerived:
    def test_defaults(self) -> None:
        block = Derived("walk", 2, settings={"steps": [1, 2]})
        assert (block.name, block.names, block.options) == (
            "walk", ("walk 0", "walk 1"), {"steps": (1, 2)},
        )  # fmt: skip
        assert hash(block) == hash(Derived("walk", 2, settings=(("steps", (1, 2)),)))

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((5,), r"function of Derived must be a name \(got 5\)"),
            (("f", 0), r"width of Derived must be at least 1 \(got 0\)"),
            (("f", 2, ("a",)), "2 columns but 1 names"),
            (("f", 1, (), "", "one-hot"), "'numbers' or 'index'"),
            (("f", 1, (), "", "numbers", 3), "plain values by name"),
            (("f", 1, (), "", "numbers", {"a": {}}), "plain values by name"),
        ],
    )
    def test_bad_arguments(self, arguments: tuple[object, ...], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            Derived(*arguments)  # type: ignore[arg-type]

    def test_a_spec_with_derived_blocks_can_be_stored(self) -> None:
        walk = Derived("random walk", 3, name="pe", settings={"why": "a test"})
        spec = GraphSpec((Categorical(2), DEGREE), attributes=(walk,), class_names=("a", "b"))
        assert GraphSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
        assert (spec.node_width, dense_width(spec.nodes), spec.derived) == (6, 2, (DEGREE, walk))

    @pytest.mark.parametrize(
        ("fields", "message"),
        [
            ({"attributes": (Categorical(2),)}, "attributes must be Derived"),
            ({"nodes": (DEGREE,), "edges": (DEGREE,)}, "two Derived blocks are the same"),
            ({"nodes": (DEGREE, Categorical(2, encoding="index"))}, "mix integer codes"),
        ],
    )
    def test_bad_specs(self, fields: dict[str, object], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            GraphSpec(**fields)  # type: ignore[arg-type]


class TestFill:
    def test_columns_lie_where_the_spec_says(self) -> None:
        x = torch.tensor([[1, 0, 9, 9, 9, 9, 0.5], [0, 1, 9, 9, 9, 9, 0.1], [1, 0, 9, 9, 9, 9, 0]])
        given = path(3, x)
        made = fill(given, MIXED)
        assert made.x[:, 2:6].tolist() == [[0, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]]
        assert torch.equal(made.x[:, [0, 1, 6]], x[:, [0, 1, 6]])
        assert given.x[0, 2] == 9, "the user's graph stays as it is"
        assert cleared(given, MIXED).x[:, 2:6].eq(0).all()

    def test_a_graph_without_such_values_is_marked(self) -> None:
        star = torch.tensor([[0, 0, 0, 0], [1, 2, 3, 4]])
        star = Data(torch.zeros(5, 4), torch.cat([star, star.flip(0)], dim=1), num_nodes=5)
        pair = Batch.from_data_list([path(3, torch.zeros(3, 4)), star])
        spec = GraphSpec((DEGREE,))
        made = fill(pair, spec)
        assert made.impossible.tolist() == [False, True]
        assert not made.x.isnan().any()
        assert completed(star, spec).x[0].isnan().all(), "shown, it is not known, and not 0"
        assert "impossible" not in completed(star, spec)

    def test_other_columns_than_the_spec_says(self) -> None:
        with pytest.raises(SpecError, match="describes 7 columns of 'x' but the data has 2"):
            fill(path(3, torch.zeros(3, 2)), MIXED)

    def test_one_function_fills_several_blocks_of_nodes_and_edges(self, names: None) -> None:
        asked = []

        def both(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
            asked.append([block.name for block in blocks])
            assert data.x[:, 1].tolist() == [0, 0, 0]
            ends = data.edge_index.sum(dim=0).unsqueeze(1)
            return [2 * data.x[:, :1], data.x[:, :1] + 1, ends]

        register_derived("test both", both)
        nodes = tuple(Derived("test both", name=n, encoding="index") for n in ("double", "next"))
        kind = Categorical(3, encoding="index")
        spec = GraphSpec((kind, *nodes), (Derived("test both", name="ends", encoding="index"),))
        graph = path(3, torch.tensor([[0, 7, 7], [2, 7, 7], [1, 7, 7]]))
        graph.edge_attr = torch.zeros(4, 1, dtype=torch.long)
        made = fill(graph, spec)
        assert made.x.tolist() == [[0, 0, 1], [2, 4, 3], [1, 2, 2]]
        assert made.edge_attr.flatten().tolist() == [1, 3, 1, 3]
        assert made.x.dtype == torch.long
        assert asked == [["double", "next", "ends"]], "one pass"

    def test_a_function_of_the_wrong_shape(self, names: None) -> None:
        register_derived("test wrong", lambda data, blocks, spec: [torch.zeros(2, 1)])
        spec = GraphSpec((Derived("test wrong"),))
        with pytest.raises(SpecError, match=r"must give 'test wrong' the shape \[3, 1\]"):
            fill(path(3, torch.zeros(3, 1)), spec)

    def test_a_function_that_is_not_known(self) -> None:
        spec = GraphSpec((Categorical(2), Derived("transform Mine()", name="mine")))
        graphs = random_graphs(spec, 1, 4, torch.Generator().manual_seed(0))
        with pytest.raises(SpecError, match=r"'transform Mine\(\)', which is not known here"):
            graphs.to_batch()
        with pytest.raises(SpecError, match="not known here"):
            soft_values(graphs.weight, spec.derived[0])
        shown = graphs.to_data_list()[0]
        assert shown.x[:, 2].isnan().all()
        assert not shown.x[:, :2].isnan().any()

    def test_bad_registrations(self) -> None:
        with pytest.raises(SpecError, match="needs a name and a function"):
            register_derived("", lambda data, blocks, spec: [])


class TestGraphs:
    def test_free_choices_alone_are_kept(self) -> None:
        graphs = random_graphs(MIXED, 3, 5, torch.Generator().manual_seed(1))
        assert graphs.nodes.size(2) == 3
        for one in graphs.to_data_list():
            if one.edge_index[0].bincount().max() < 4:
                again = dense_graphs([one], MIXED).to_data_list()[0]
                assert torch.equal(again.x, one.x)
                assert decode(one.x, MIXED.nodes, torch.float32).size(1) == 3

    def test_an_edit_changes_what_follows_from_it(self) -> None:
        weight = torch.zeros(1, 3, 3)
        weight[0, 0, 1] = weight[0, 1, 0] = 1.0
        graph = DenseGraphs(GraphSpec((DEGREE,)), weight, torch.zeros(1, 3, 0))
        assert graph.to_data_list()[0].x.argmax(1).tolist() == [1, 1]
        weight[0, 1, 2] = weight[0, 2, 1] = 1.0
        assert graph.to_data_list()[0].x.argmax(1).tolist() == [1, 2, 1]

    def test_json_holds_no_derived_values(self) -> None:
        graph = completed(path(3, torch.zeros(3, 7)), MIXED)
        values = graph_to_json(graph, MIXED)
        assert [row[1] for row in values["nodes"]] == [None] * 3
        values["edges"] = [[0, 1], [1, 2], [0, 2]]
        made = graph_from_json(values, MIXED)
        assert made.x[:, 2:6].argmax(1).tolist() == [2, 2, 2]

    def test_the_same_graph_is_told_by_what_is_free(self) -> None:
        spec = GraphSpec((Derived("laplacian", 1),))
        one, other = path(3, torch.ones(3, 1)), path(3, -torch.ones(3, 1))
        assert same_graph(one, other, spec)
