"""Nodes of which only one column counts: a model that looks for red beside square."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_max_pool

from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.evidence.patterns.choices import (
    MOST,
    WHOLE,
    choices,
    digits,
    free_blocks,
    kinds_of,
    loose,
    opened,
    with_free,
)
from gnninterpreter.evidence.patterns.core import Core, core_check, with_names
from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.matching import PatternIndex, occurrences
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import ANY, Typed
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.report.words import _open
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

COLOURS, SHAPES = ("red", "green", "blue", "grey"), ("disc", "square", "star")
BLOCKS = (
    Categorical(4, names=COLOURS, name="colour"),
    Continuous(1),
    Categorical(7, name="unread", read=False),
    Categorical(3, names=SHAPES, name="shape"),
)
SPEC = GraphSpec(
    nodes=(BLOCKS[0], BLOCKS[3]),
    class_names=("apart", "beside"),
)
BESIDE = ClassTarget(1, "beside")
PAIR = Typed((0 * 3 + 2, 2 * 3 + 1), {(0, 1): 0})


class RedBesideSquare(nn.Module):
    """Log-odds: 10 where a red node has a square neighbour, or else -10."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        near = torch.zeros(len(x)).index_add(0, edge_index[1], x[edge_index[0], 5])
        found = global_max_pool((x[:, 0] * near.clamp(max=1)).unsqueeze(1), batch)
        score = self.scale * (2 * found - 1)
        return torch.cat([-score, score], dim=1)


def graph(rng: np.random.Generator) -> Data:
    """A path with a few chords, of random colours and shapes."""
    count = int(rng.integers(5, 9))
    ends = {(i, i + 1) for i in range(count - 1)}
    ends.add(tuple(sorted(rng.choice(count, 2, replace=False).tolist())))
    forth = torch.tensor(sorted(ends)).t()
    colour, shape = (torch.from_numpy(rng.integers(size, size=count)) for size in (4, 3))
    x = torch.cat([torch.eye(4)[colour], torch.eye(3)[shape]], dim=1)
    return Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], dim=1))


@pytest.fixture(scope="module")
def real() -> RealGraphs:
    rng = np.random.default_rng(0)
    graphs = [graph(rng) for _ in range(300)]
    return RealGraphs(GraphClassifier(RedBesideSquare(), SPEC, examples=graphs[:4]), graphs)


def test_digits_are_those_of_the_columns_that_count() -> None:
    assert digits(BLOCKS) == [(0, 3, 4), (3, 1, 3)]
    assert digits((Categorical(1), Categorical(5))) == [(1, 1, 5)]


def test_what_is_left_open_can_be_said_and_read_again() -> None:
    pattern = opened(PAIR, {(0, 1), (1, 0)}, BLOCKS)
    assert pattern.kinds == (((3, 4, 0),), ((1, 3, 1),))
    assert free_blocks(pattern, BLOCKS) == ((3,), (0,))
    assert with_free(PAIR, ((3,), (0,)), BLOCKS).kinds == pattern.kinds
    assert opened(PAIR, {(0, 0), (0, 1)}, BLOCKS).kinds == (ANY, PAIR.kinds[1])
    assert opened(PAIR, {(1, WHOLE)}, BLOCKS).kinds == (PAIR.kinds[0], ANY)
    assert free_blocks(PAIR, BLOCKS) == ()
    assert (loose(PAIR), loose(pattern), kinds_of(PAIR)) == (0, 2, [2, 7])


def test_nodes_are_open_as_a_whole_where_there_is_one_column_or_too_much_to_try() -> None:
    assert choices(PAIR, BLOCKS) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert choices(PAIR, BLOCKS[:1]) == [(0, WHOLE), (1, WHOLE)]
    large = Typed((0,) * (MOST // 2 + 1), {})
    assert len(choices(large, BLOCKS)) == len(large)


def test_matching_asks_for_what_counts() -> None:
    pattern = opened(PAIR, {(0, 1), (1, 0)}, BLOCKS)
    red_star, blue_square, red_square, grey_disc = 2, 7, 1, 9
    found = PatternIndex([
        Typed((red_star, blue_square), {(0, 1): 0}),
        Typed((blue_square, grey_disc, red_star), {(0, 1): 0, (1, 2): 0}),
        Typed((red_square, red_square), {(0, 1): 0}),
        Typed((red_star, red_star), {(0, 1): 0}),
    ]).match(pattern)  # fmt: skip
    assert found.where == (0, 2)
    assert found.places[0] == (0, 1)
    star = Typed((ANY, ((1, 3, 1),), ((1, 3, 1),)), {(0, 1): 0, (0, 2): 0})
    host = Typed((9, 1, 4, 7), {(0, 1): 0, (0, 2): 0, (0, 3): 0})
    assert len(occurrences(star, host)) == 3


def test_a_core_says_what_may_be_any_at_each_node(real: RealGraphs) -> None:
    search = CoreSearch(seeds=24, sample=60, changed=24)
    core = find_cores(real, BESIDE, search).core
    assert core is not None
    assert (core.coverage, core.others, core.num_nodes) == (1.0, 0, 2)
    red = [node for node, own in enumerate(core.free) if own == (1,)]
    square = [node for node, own in enumerate(core.free) if own == (0,)]
    assert len(red) == len(square) == 1
    assert core.open == ()
    named = with_names(core.graph, SPEC, core.open, core.free)
    assert (named.nodes[red[0]], named.nodes[square[0]]) == ({"colour": "red"}, {"shape": "square"})
    assert core.freedoms == sorted(
        [f"any shape of node {red[0]}", f"any colour of node {square[0]}"], key=lambda w: w[-1]
    )
    assert all(words in repr(core) for words in core.freedoms)
    assert _open(core) == f"A{core.freedoms[0][1:]}; {core.freedoms[1]} will do."
    again = core_check(SPEC)(core.to_json(), "core")
    assert again == core
    assert again.free == core.free
    assert again.held_by(real.graphs[0]) is core.held_by(real.graphs[0])


def test_a_core_is_refused_whose_free_blocks_are_none_of_its_kinds() -> None:
    pair = Data(x=torch.eye(7)[[0, 1]], edge_index=torch.tensor([[0, 1], [1, 0]]))
    with pytest.raises(GNNInterpreterError, match="one entry for each of the 2 nodes"):
        Core(pair, SPEC, 1.0, True, free=((1,),))
    with pytest.raises(GNNInterpreterError, match="blocks of categories"):
        Core(pair, SPEC, 1.0, True, free=((2,), ()))
