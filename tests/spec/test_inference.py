from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data, HeteroData

from gnninterpreter.errors import DataError
from gnninterpreter.graphs import to_networkx
from gnninterpreter.spec import ONES, Categorical, Continuous, GraphSpec, graph_list
from gnninterpreter.spec.inference import infer_blocks, infer_spec

PATH = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])


def graph(**fields: Any) -> Data:
    return Data(**{"edge_index": PATH, "num_nodes": 3, **fields})


class TestBlocks:
    def test_one_hot_columns_are_a_category(self) -> None:
        assert infer_blocks(torch.eye(4)) == (Categorical(4),)

    def test_a_category_never_seen_in_front_still_belongs(self) -> None:
        values = torch.tensor([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        assert infer_blocks(values) == (Categorical(3),)

    def test_two_categories_side_by_side(self) -> None:
        values = torch.cat([torch.eye(2)[[0, 1, 0, 1]], torch.eye(3)[[2, 0, 1, 1]]], dim=1)
        assert infer_blocks(values) == (
            Categorical(2, name="feature 0"),
            Categorical(3, name="feature 1"),
        )

    def test_what_is_left_is_continuous_between_what_was_seen(self) -> None:
        values = torch.tensor([[1.0, 0.0, 3.5, 2.0], [0.0, 1.0, -1.0, 4.0]])
        assert infer_blocks(values) == (
            Categorical(2),
            Continuous(2, (-1.0, 2.0), (3.5, 4.0)),
        )

    def test_numbers_in_front_of_a_category(self) -> None:
        values = torch.tensor([[0.5, 1.0, 0.0], [0.7, 0.0, 1.0]], dtype=torch.float64)
        assert infer_blocks(values) == (Continuous(1, 0.5, 0.7), Categorical(2))

    def test_a_column_of_ones_is_a_constant(self) -> None:
        (block,) = infer_blocks(torch.ones(5, 1))
        assert block == Continuous(1, 1.0, 1.0)
        assert block.constant

    def test_two_flags_that_overlap_are_numbers(self) -> None:
        values = torch.tensor([[1.0, 1.0], [0.0, 1.0]])
        assert infer_blocks(values) == (Continuous(2, (0.0, 1.0), (1.0, 1.0)),)

    def test_flags_charges_and_small_counts_are_whole_numbers(self) -> None:
        steps = torch.arange(20.0)
        columns = [steps % 2, steps % 3 - 1, steps / 10, 100 * steps, torch.ones(20)]
        (block,) = infer_blocks(torch.stack([*columns, 1 - (steps > 3).float()], dim=1))
        assert block.whole == (True, True, False, False, False, True)
        assert Continuous(1).whole == ()

    def test_a_few_rows_do_not_tell_flags_from_a_choice(self) -> None:
        values = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
        assert infer_blocks(values) == (Continuous(2, 0.0, 1.0),)

    # With 180 rows in three equal parts chance would set both columns in 20 of them.
    @pytest.mark.parametrize(("rows", "choice"), [(180, False), (183, True)])
    def test_a_choice_with_rows_of_zeros(self, rows: int, choice: bool) -> None:
        values = torch.eye(3)[torch.arange(rows) % 3][:, :2]
        (block,) = infer_blocks(values)
        whole = Continuous(2, 0.0, 1.0, whole=(True, True))
        assert block == (Categorical(3, encoding="dummy") if choice else whole)

    def test_one_row_with_two_kinds_makes_them_flags(self) -> None:
        values = torch.eye(3)[torch.arange(600) % 3][:, :2]
        values[0] = 1.0
        assert infer_blocks(values) == (Continuous(2, 0.0, 1.0, whole=(True, True)),)

    def test_a_choice_is_told_from_what_stands_beside_it(self) -> None:
        generator = torch.Generator().manual_seed(0)
        kinds = torch.eye(6)[torch.randint(6, (900,), generator=generator)]
        other = torch.eye(4)[torch.randint(4, (900,), generator=generator)]
        flag = (torch.rand(900, 1, generator=generator) < 0.1).float()
        never, number = torch.zeros(900, 1), torch.rand(900, 1, generator=generator)
        seldom = kinds[:, :2], never, kinds[:, 2:5]
        found = infer_blocks(torch.cat([flag, *seldom, number, other, other.roll(7, 0)[:, 1:]], 1))
        assert [(type(block), block.width, getattr(block, "encoding", "")) for block in found] == [
            (Continuous, 1, ""),
            (Categorical, 6, "dummy"),
            (Continuous, 1, ""),
            (Categorical, 4, "one-hot"),
            (Categorical, 3, "dummy"),
        ]

    def test_flags_that_have_nothing_to_do_with_each_other_stay_flags(self) -> None:
        generator = torch.Generator().manual_seed(1)
        values = (torch.rand(4000, 40, generator=generator) < 0.02).float()
        assert [type(block) for block in infer_blocks(values)] == [Continuous]

    def test_integers_are_codes_one_block_a_column(self) -> None:
        values = torch.tensor([[0, 4], [2, 1]])
        assert infer_blocks(values) == (
            Categorical(3, encoding="index", name="feature 0"),
            Categorical(5, encoding="index", name="feature 1"),
        )

    @pytest.mark.parametrize(
        ("values", "categories"),
        [
            (torch.arange(128).view(-1, 1), 128),
            (torch.arange(129).view(-1, 1), None),
            (torch.arange(500).repeat(10).view(-1, 1), 500),
            (torch.arange(1001).repeat(11).view(-1, 1), None),
            (torch.tensor([[0], [98421]]), None),
        ],
        ids=["few", "few rows", "many rows", "too many", "a hundred thousand"],
    )
    def test_whole_numbers_are_categories_up_to_a_point(
        self, values: Tensor, categories: int | None
    ) -> None:
        top = float(values.max())
        expected = (
            Continuous(1, 0.0, top)
            if categories is None
            else Categorical(categories, encoding="index")
        )
        assert infer_blocks(values) == (expected,)

    @pytest.mark.parametrize("bad", [torch.nan, torch.inf])
    def test_features_that_are_not_finite(self, bad: float) -> None:
        with pytest.raises(DataError, match="features must be finite numbers"):
            infer_blocks(torch.tensor([[bad], [1.0]]))

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (torch.zeros(0, 3), "no rows to read features off; give spec="),
            (torch.zeros(0, 1, dtype=torch.long), "no rows"),
            (torch.tensor([[-1], [1]]), r"categories from 0 on \(got -1\); turn them into floats"),
        ],
        ids=["no rows", "no codes", "negative codes"],
    )
    def test_what_cannot_be_read(self, values: Tensor, message: str) -> None:
        with pytest.raises(DataError, match=message):
            infer_blocks(values)


class TestSpec:
    def test_everything_at_once(self) -> None:
        data = [
            graph(x=torch.eye(3), edge_attr=torch.rand(4, 2) + 1, y=torch.tensor([0])),
            graph(x=torch.eye(3), edge_attr=torch.rand(4, 2) + 1, y=torch.tensor([2])),
        ]
        spec = infer_spec(data)
        assert spec.nodes == (Categorical(3),)
        (edges,) = spec.edges
        assert isinstance(edges, Continuous)
        assert min(edges.low) >= 1
        assert spec.class_names == ("class 0", "class 1", "class 2")
        assert not spec.directed
        assert spec.metadata == {}

    @pytest.mark.parametrize("attr", [torch.zeros(0, 3), torch.zeros(0)])
    def test_graphs_without_edges_say_nothing_about_them(self, attr: Tensor) -> None:
        lonely = [Data(x=torch.eye(3), edge_index=torch.zeros(2, 0).long(), edge_attr=attr, y=0)]
        assert infer_spec(lonely).edges == ()
        for x in (torch.zeros(0, 2), torch.zeros(0)):
            with pytest.raises(DataError, match="no rows to read features off"):
                infer_spec([Data(x=x, edge_index=torch.zeros(2, 0).long(), y=0)])

    def test_numbers_that_look_like_codes_are_said(self) -> None:
        spec = infer_spec([graph(x=torch.tensor([0, 5, 98421]))])
        assert spec.nodes == (Continuous(1, 0.0, 98421.0),)
        assert spec.metadata["note"] == (
            "whole numbers in 'x' go up to 98421: read as numbers, not as categories"
        )

    def test_several_columns_keep_their_own_names_in_exported_graphs(self) -> None:
        x = torch.tensor([[0, 2], [1, 0], [1, 1]])
        data = graph(x=x)
        node = to_networkx(data, infer_spec([data])).nodes[0]
        assert node == {"feature 0": "0", "feature 1": "2"}

    def test_a_generator_is_read_once(self) -> None:
        assert infer_spec(graph(y=k) for k in range(2)).num_classes == 2

    @pytest.mark.parametrize("label", [10**9, -1, 0.5, 1000])
    def test_labels_that_are_no_classes_are_not_counted(self, label: float) -> None:
        assert infer_spec([graph(y=label)]).class_names == ()

    def test_without_features(self) -> None:
        assert infer_spec([graph()]) == GraphSpec((ONES,))

    def test_flat_columns_are_remembered(self) -> None:
        spec = infer_spec([graph(x=torch.tensor([0, 2, 1]), edge_attr=torch.rand(4))])
        assert spec.metadata == {"x": "flat", "edge_attr": "flat"}
        assert spec.nodes == (Categorical(3, encoding="index"),)

    def test_edge_types_stand_in_for_edge_features(self) -> None:
        spec = infer_spec([graph(edge_type=torch.tensor([0, 0, 1, 1]))])
        assert spec.edges == (Categorical(2, encoding="index"),)

    def test_class_names_of_the_data_set_are_kept(self) -> None:
        class Named(list):
            class_names = ("tree", "cycle")

        assert infer_spec(Named([graph(y=1)])).class_names == ("tree", "cycle")

    def test_labels_may_be_plain_numbers_and_missing(self) -> None:
        assert infer_spec([graph(y=1), graph(y=0)]).num_classes == 2
        assert infer_spec([graph(), graph()]).num_classes == 0
        assert infer_spec([graph(y=torch.rand(3))]).num_classes == 0

    @pytest.mark.parametrize(
        ("edge_index", "directed"),
        [
            (PATH, False),
            (PATH[:, :2], False),
            (torch.zeros(2, 0, dtype=torch.long), False),
            (torch.tensor([[0, 1], [1, 2]]), True),
            (PATH[:, [0, 1, 2]], True),
        ],
        ids=["path", "edge", "no edges", "one way", "one edge one way"],
    )
    def test_direction(self, edge_index: Tensor, directed: bool) -> None:
        assert infer_spec([graph(edge_index=edge_index)]).directed is directed

    @pytest.mark.parametrize(
        ("dataset", "message"),
        [
            ([], "dataset is empty; give the graphs the model was trained on, or spec="),
            (
                [1],
                r"must hold graphs of type torch_geometric.* \(got a int at place 0\)",
            ),
            (
                [graph(x=torch.ones(3, 1)), graph(x=torch.tensor([[1.0], [torch.nan], [1.0]]))],
                r"'x' must hold finite numbers \(got NaN or infinity in graph 1\)",
            ),
            ([HeteroData()], r"heterogeneous graphs are not supported yet \(got HeteroData\)"),
            ([Data(x=torch.ones(2, 1))], "every graph needs an 'edge_index' .graph 0 has none"),
            ([graph(x=torch.ones(3, 1)), graph()], "some graphs of the dataset have 'x'"),
            (
                [graph(x=torch.ones(3, 1)), graph(x=torch.ones(3, 2))],
                r"disagree on the columns of 'x' \(got \[\(1,\), \(2,\)\]\)",
            ),
            (
                [graph(edge_attr=torch.ones(4, 3)), graph(edge_attr=torch.ones(4))],
                "disagree on the columns of 'edge_attr'",
            ),
        ],
        ids=[
            "empty",
            "no graphs",
            "not finite",
            "heterogeneous",
            "no edge_index",
            "some features",
            "columns",
            "edge columns",
        ],
    )
    def test_bad_data(self, dataset: list[Any], message: str) -> None:
        with pytest.raises(DataError, match=message):
            infer_spec(dataset)


def test_weights_of_edges_without_other_features_are_their_feature() -> None:
    pair = torch.tensor([[0, 1], [1, 0]])
    one = Data(x=torch.ones(2, 1), edge_index=pair, edge_weight=torch.tensor([0.5, 0.5]))
    two = Data(x=torch.ones(2, 1), edge_index=pair, edge_weight=torch.tensor([2.0, 2.0]))
    spec = infer_spec([one, two])
    assert spec.weighted
    assert spec.edges == (Continuous(1, 0.5, 2.0, names=("weight",), name="weight"),)
    read = graph_list([one, two])
    assert read[0].edge_attr.tolist() == [[0.5], [0.5]]
    assert "edge_weight" not in read[0]
    assert "edge_weight" in one
    # Beside other features, weights are the model's own business.
    both = Data(**one.to_dict(), edge_attr=torch.rand(2, 3))
    assert not infer_spec([both]).weighted
