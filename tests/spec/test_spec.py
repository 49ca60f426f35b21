from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.chem import is_molecular
from gnninterpreter.errors import GNNInterpreterError, SpecError, TargetError
from gnninterpreter.spec import ONES, PALETTE, Categorical, Continuous, Derived, GraphSpec

MOLECULES = GraphSpec(
    nodes=(Categorical(3, names=("C", "N", "O"), name="atom"), Continuous(2, (0.0, -1.0), 1.0)),
    edges=(Categorical(2, names=("single", "double")),),
    class_names=("nonmutagen", "mutagen"),
    max_nodes=12,
)


class TestCategorical:
    def test_names_and_colours_are_filled_in(self) -> None:
        block = Categorical(3)
        assert block.names == ("0", "1", "2")
        assert block.colors == PALETTE[:3]

    def test_colours_repeat_beyond_the_palette(self) -> None:
        block = Categorical(len(PALETTE) + 1)
        assert block.colors[-1] == block.colors[0]

    def test_names_become_tuples(self) -> None:
        assert Categorical(2, names=["a", "b"]).names == ("a", "b")

    @pytest.mark.parametrize(("encoding", "width"), [("one-hot", 4), ("index", 1), ("dummy", 3)])
    def test_width_is_that_of_the_encoding(self, encoding: str, width: int) -> None:
        assert Categorical(4, encoding=encoding).width == width

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"size": 0}, r"size of Categorical must be at least 1 \(got 0\)"),
            ({"size": 2, "encoding": "binary"}, r"one-hot, index, dummy \(got 'binary'\)"),
            ({"size": 1, "encoding": "dummy"}, "size of Categorical must be at least 2"),
            ({"size": 4, "names": ("a", "b"), "encoding": "dummy"}, "4 categories but 2 names"),
            ({"size": 3, "names": ("a", "b")}, "3 categories but 2 names; give one for each"),
            ({"size": 2, "colors": ("red",)}, "2 categories but 1 colors"),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, object], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            Categorical(**arguments)

    def test_it_is_frozen(self) -> None:
        with pytest.raises(FrozenInstanceError):
            Categorical(2).size = 3  # type: ignore[misc]


class TestContinuous:
    def test_scalar_bounds_are_spread(self) -> None:
        block = Continuous(2, -1.0, 3)
        assert (block.low, block.high) == ((-1.0, -1.0), (3.0, 3.0))
        assert block.names == ("value 0", "value 1")
        assert block.width == 2

    def test_lists_of_bounds_are_taken(self) -> None:
        assert Continuous(2, [0, 1], [1, 2]).high == (1.0, 2.0)

    def test_constant(self) -> None:
        assert Continuous(2, (1.0, 2.0), (1.0, 2.0)).constant
        assert not Continuous(2, (1.0, 2.0), (1.0, 3.0)).constant

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"dim": 0}, r"dim of Continuous must be at least 1 \(got 0\)"),
            ({"dim": 2, "low": (0.0,)}, "2 columns but 1 values for 'low'"),
            ({"dim": 2, "high": (1.0, 1.0, 1.0)}, "2 columns but 3 values for 'high'"),
            ({"dim": 2, "low": (0.0, 2.0)}, r"column 1 .* low > high \(got 2.0 > 1.0\)"),
            ({"low": float("nan")}, "column 0 of Continuous has low > high"),
            ({"dim": 2, "names": ("a",)}, "2 columns but 1 names"),
            ({"dim": 1.5}, r"dim of Continuous must be a whole number \(got 1.5\)"),
            ({"low": "x"}, r"'low' of Continuous must be numbers \(got 'x'\)"),
            ({"high": float("inf")}, "column 0 of Continuous needs finite bounds"),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, object], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            Continuous(**arguments)


class TestGraphSpec:
    def test_widths(self) -> None:
        assert (MOLECULES.node_width, MOLECULES.edge_width, MOLECULES.num_classes) == (5, 2, 2)

    def test_without_node_blocks_there_is_one_column_of_ones(self) -> None:
        spec = GraphSpec()
        assert spec.nodes == (ONES,)
        assert (spec.node_width, spec.edge_width, spec.num_classes) == (1, 0, 0)

    def test_blocks_that_share_a_name_get_numbers(self) -> None:
        spec = GraphSpec((Categorical(2), Categorical(3), Categorical(2, name="type 2")))
        assert [block.name for block in spec.nodes] == ["type", "type 2", "type 2 2"]
        assert GraphSpec(spec.nodes).nodes == spec.nodes

    def test_columns_that_share_a_name_get_numbers(self) -> None:
        one, two = Continuous(2, names=("a", "b")), Continuous(2, names=("b", "c"))
        first, second = GraphSpec((one, two)).nodes
        assert first == one
        assert (second.name, second.names) == ("value 2", ("b 2", "c"))

    def test_one_block_needs_no_list(self) -> None:
        assert GraphSpec(Categorical(3)).nodes == (Categorical(3),)  # type: ignore[arg-type]

    def test_sequences_are_frozen(self) -> None:
        spec = GraphSpec([Categorical(2)], [Continuous()], ["a", 1])
        assert spec.nodes == (Categorical(2),)
        assert spec.edges == (Continuous(),)
        assert spec.class_names == ("a", "1")

    @pytest.mark.parametrize(
        ("edges", "expected"),
        [
            ((), False),
            ((Categorical(3),), False),
            ((Continuous(1),), False),
            ((Categorical(3, encoding="index"),), True),
            ((Categorical(3, encoding="index"), Categorical(2, encoding="index")), False),
        ],
        ids=["none", "one-hot", "continuous", "index", "two indices"],
    )
    def test_edge_types(self, edges: tuple[Categorical, ...], expected: bool) -> None:
        assert GraphSpec(edges=edges).has_edge_types is expected

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"nodes": (7,)}, r"must be Categorical, Continuous or Derived \(got int\)"),
            ({"edges": ("bond",)}, r"must be Categorical, Continuous or Derived \(got str\)"),
            ({"class_names": ("a", "b", "a")}, "class_names must differ from each other"),
            ({"class_names": ("a", " ")}, r"class_names must not be empty \(got \('a', ' '\)\)"),
            ({"max_nodes": 1}, r"max_nodes must be at least 2 \(got 1\)"),
            ({"max_nodes": "x"}, r"max_nodes must be a whole number \(got 'x'\)"),
            ({"max_nodes": 2.5}, r"max_nodes must be a whole number \(got 2.5\)"),
            ({"max_nodes": True}, "max_nodes must be a whole number"),
            ({"nodes": 5}, r"must be Categorical, Continuous or Derived \(got int\)"),
            ({"class_names": "ab"}, r"class_names must be a list of names \(got 'ab'\)"),
            ({"class_names": 5}, "class_names must be a list of names"),
            (
                {"nodes": (Categorical(2, encoding="index"), Continuous())},
                "node features mix integer codes with other columns",
            ),
            (
                {"edges": (Categorical(2, encoding="index"), Categorical(2))},
                "edge features mix integer codes .* for all of them, or for none",
            ),
        ],
    )
    def test_bad_arguments(self, arguments: dict[str, object], message: str) -> None:
        with pytest.raises(SpecError, match=message):
            GraphSpec(**arguments)

    @pytest.mark.parametrize("target", ["mutagen", "Mutagen", " MUTAGEN ", 1, "1"])
    def test_classes_by_name_and_index(self, target: str | int) -> None:
        assert MOLECULES.class_index(target) == 1

    def test_classes_whose_names_have_several_words(self) -> None:
        spec = GraphSpec(class_names=("House-X", "Complete 4"))
        assert spec.class_index("house x") == 0
        assert spec.class_index("complete_4") == 1

    def test_a_name_that_is_a_number_is_a_name_first(self) -> None:
        assert GraphSpec(class_names=("1", "0")).class_index("1") == 0
        assert GraphSpec(class_names=("1", "0")).class_index(1) == 1

    @pytest.mark.parametrize("target", [np.int64(1), torch.tensor(1), np.array(1)])
    def test_classes_by_any_whole_number(self, target: object) -> None:
        assert MOLECULES.class_index(target) == 1

    def test_an_exact_name_comes_before_a_similar_one(self) -> None:
        spec = GraphSpec(class_names=("C-4", "c 4", "c_4"))
        assert [spec.class_index(name) for name in spec.class_names] == [0, 1, 2]
        with pytest.raises(TargetError, match="'C 4' may be 'C-4' and 'c 4' and 'c_4'; write"):
            spec.class_index("C 4")

    def test_many_classes_are_not_all_listed(self) -> None:
        spec = GraphSpec(class_names=tuple(f"c{i}" for i in range(500)))
        with pytest.raises(TargetError, match=r"19 = c19 and 480 more$"):
            spec.class_index("none")

    @pytest.mark.parametrize(
        "target",
        ["benign", 2, -1, "2", "-1", 1.0, None, True, "\u00b2", "9" * 5000, (0, 1), np.float64(1)],
        ids=str,
    )
    def test_an_unknown_class_lists_those_there_are(self, target: object) -> None:
        with pytest.raises(TargetError) as caught:
            MOLECULES.class_index(target)  # type: ignore[arg-type]
        assert "there is no class" in str(caught.value)
        assert "0 = nonmutagen, 1 = mutagen" in str(caught.value)
        assert isinstance(caught.value, GNNInterpreterError)

    def test_other_class_names(self) -> None:
        assert MOLECULES.with_classes(["a", "b"]) == replace(MOLECULES, class_names=("a", "b"))


class TestJson:
    @pytest.mark.parametrize(
        "spec",
        [
            MOLECULES,
            GraphSpec(),
            GraphSpec((Categorical(3, encoding="index"),), directed=True, metadata={"x": "flat"}),
        ],
        ids=["molecules", "default", "directed codes"],
    )
    def test_a_spec_survives_json(self, spec: GraphSpec) -> None:
        assert GraphSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec

    def test_unknown_fields_are_refused(self) -> None:
        values = {**MOLECULES.to_json(), "colour": "red"}
        with pytest.raises(SpecError, match=r"unknown fields in a stored spec: \['colour'\]"):
            GraphSpec.from_json(values)

    @pytest.mark.parametrize(
        "block", [{"kind": "fuzzy"}, {"size": 3}, {"kind": "categorical", "sides": 3}]
    )
    def test_unknown_blocks_are_refused(self, block: dict[str, object]) -> None:
        values = {**MOLECULES.to_json(), "nodes": [block]}
        with pytest.raises(SpecError, match="cannot read a stored feature block"):
            GraphSpec.from_json(values)


class TestFromDataset:
    graphs = (
        Data(
            x=torch.eye(3)[[0, 1, 2]],
            edge_index=torch.tensor([[0, 1], [1, 0]]),
            y=torch.tensor([1]),
        ),
    )

    def test_it_is_inferred_and_may_be_overridden(self) -> None:
        spec = GraphSpec.from_dataset(list(self.graphs), max_nodes=9)
        assert spec == GraphSpec((Categorical(3),), class_names=("class 0", "class 1"), max_nodes=9)

    def test_a_data_set_that_knows_its_spec_is_taken_at_its_word(self) -> None:
        class Known(list):
            spec = MOLECULES

        assert GraphSpec.from_dataset(Known(self.graphs)) is MOLECULES
        assert GraphSpec.from_dataset(Known(self.graphs), directed=True).directed


def test_names_may_be_given_for_every_column() -> None:
    """Two places, three colours, and a column that is always zero."""
    spec = GraphSpec(
        nodes=(Continuous(2, name="place"), Categorical(3, name="colour"), Continuous(1, 0.0, 0.0)),
        class_names=("a", "b"),
    )
    named = spec.with_feature_names(["x", "y", "red", "green", "blue", "tag"])
    assert [block.names for block in named.nodes] == [
        ("x", "y"), ("red", "green", "blue"), ("tag",),
    ]  # fmt: skip
    assert spec.with_feature_names(["r", "g", "b"]).nodes[1].names == ("r", "g", "b")
    with pytest.raises(SpecError, match="3 categories but 4 names"):
        spec.with_feature_names(["r", "g", "b", "tag"])


@pytest.mark.parametrize("names", [["C", "N"], {"type": ["C", "N"]}, {"type": ["C", "N", "none"]}])
def test_a_row_of_zeros_needs_no_name(names: Any) -> None:
    spec = GraphSpec((Categorical(3, encoding="dummy"),), (Categorical(4),))
    named = spec.with_feature_names(names)
    assert (named.nodes[0].names, named.edges) == (("C", "N", "none"), spec.edges)


def test_names_are_for_the_block_that_they_fit() -> None:
    spec = GraphSpec(nodes=(Categorical(3),), edges=(Categorical(2),))
    atoms = spec.with_feature_names({"type": ["C", "N", "O"]})
    assert (atoms.nodes[0].names, atoms.edges) == (("C", "N", "O"), spec.edges)
    bonds = spec.with_feature_names({"type": ["single", "double"]})
    assert (bonds.nodes, bonds.edges[0].names) == (spec.nodes, ("single", "double"))
    with pytest.raises(SpecError, match="3 categories but 4 names"):
        spec.with_feature_names({"type": ["a", "b", "c", "d"]})


@pytest.mark.parametrize("names", [5, "CNO"])
def test_names_of_a_block_must_be_a_list(names: object) -> None:
    spec = GraphSpec(nodes=(Categorical(3),))
    with pytest.raises(SpecError, match="names"):
        spec.with_feature_names({"type": names})  # type: ignore[dict-item]


def test_names_become_texts() -> None:
    spec = GraphSpec(
        nodes=(Categorical(2, names=[6, 7], name=1), Continuous(1, names=[2], name=3)),
        metadata={"a": 1},
    )
    first, second = spec.nodes
    assert (first.name, first.names) == ("1", ("6", "7"))
    assert (second.name, second.names) == ("3", ("2",))
    assert dict(spec.metadata) == {"a": "1"}
    assert not is_molecular(spec)
    assert GraphSpec.from_json(spec.to_json()) == spec


def test_what_is_no_list_of_names_is_refused() -> None:
    for names in ("ab", 5):
        with pytest.raises(SpecError, match="names must be a list of names"):
            Derived("degree", 2, names=names)
    with pytest.raises(SpecError, match="metadata must be texts by name"):
        GraphSpec(metadata=5)


def test_what_is_read_is_kept_and_a_block_that_was_pickled_before_says_nothing_of_it() -> None:
    marked = GraphSpec(nodes=(Categorical(2, read=False), Continuous(2, read=(True, False))))
    again = GraphSpec.from_json(marked.to_json())
    assert [block.read for block in again.nodes] == [False, (True, False)]
    assert marked == GraphSpec(nodes=(Categorical(2), Continuous(2)))
    assert Continuous(2, read=(True, True)).read == ()
    with pytest.raises(SpecError, match="2 columns but 1 values of 'read'"):
        Continuous(2, read=(True,))
    old = Categorical(2)
    del old.__dict__["read"]
    assert GraphSpec(nodes=(old,)).to_json() == GraphSpec(nodes=(Categorical(2),)).to_json()
