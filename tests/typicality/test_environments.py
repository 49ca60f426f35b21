import math

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.typicality import (
    EitherBank,
    Environments,
    Kinds,
    Typicality,
    TypicalityBank,
    fit,
)
from gnninterpreter.typicality.environments import environment_codes
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import (
    ARROWS,
    BONDS,
    KINDS,
    NUMBERS,
    PLAIN,
    graph,
    path,
    ring,
    shuffled,
    star,
    whole,
)


def codes(data, spec):
    found, here = environment_codes(to_dense([data], spec))
    return [tuple(row) for row in found[0][here[0]].tolist()]


def test_whole_numbers_are_kinds_and_others_are_not():
    def numbered(values, spec):
        data = path(4)
        data.x = torch.tensor([[value, 0.5] for value in values])
        return codes(data, spec)

    flags = GraphSpec(nodes=(Continuous(2, 0.0, 1.0, whole=(True, False)),), class_names=("a", "b"))
    plain = GraphSpec(nodes=(Continuous(2, 0.0, 1.0),), class_names=("a", "b"))
    one, other = [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]
    assert numbered(one, plain) == numbered(other, plain)
    assert numbered(one, flags) != numbered(other, flags)
    assert sorted(numbered(one, flags)) == sorted(numbered(one[::-1], flags))


def test_the_order_of_nodes_does_not_matter_and_absent_nodes_have_no_say():
    data = graph([(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)], 5, [0, 1, 2, 0, 1], [0, 1, 0, 1, 0])
    dense = to_dense([data], BONDS, 8)
    order = [4, 2, 7, 0, 3, 6, 1, 5]
    found, here = environment_codes(dense)
    other, there = environment_codes(shuffled(dense, order))
    assert torch.equal(found[:, order][there], other[there])
    assert here.sum() == there.sum() == 5
    assert sorted(codes(data, BONDS)) == sorted(map(tuple, found[here].tolist()))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (path(3, kinds=(0, 1, 0)), path(3, kinds=(0, 2, 0))),
        (path(3, kinds=(0, 1, 0), bonds=(0, 1)), path(3, kinds=(0, 1, 0), bonds=(0, 0))),
        # The same kinds of edges and of neighbours, joined the other way round.
        (path(3, kinds=(0, 1, 2), bonds=(0, 1)), path(3, kinds=(0, 1, 2), bonds=(1, 0))),
        (ring(5, kinds=[0] * 5), ring(6, kinds=[0] * 6)),
        (ring(9, kinds=[0] * 9), ring(8, kinds=[0] * 8)),
    ],
)
def test_what_differs_one_step_away_has_other_codes(one, other):
    spec = KINDS if one.get("edge_attr") is None else BONDS
    first, second = ({row[0] for row in codes(data, spec)} for data in (one, other))
    assert not first & second or len(first | second) > max(len(first), len(second))
    assert codes(one, spec)[1] != codes(other, spec)[1]


def test_one_step_and_two():
    # The ends of two paths have the same neighbour, but not what lies behind it.
    near, far = codes(path(3, kinds=(0, 1, 0)), KINDS)[0], codes(path(3, kinds=(0, 1, 2)), KINDS)[0]
    assert near[0] == far[0]
    assert near[1] != far[1]
    # Numbers are no kinds.
    one, other = path(3), path(3)
    one.x, other.x = torch.zeros(3, 2), torch.ones(3, 2)
    assert codes(one, NUMBERS) == codes(other, NUMBERS)


def test_the_way_of_an_edge_counts():
    there = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    apart = Data(x=torch.ones(3, 1), edge_index=torch.tensor([[1, 1], [0, 2]]), num_nodes=3)
    start, middle, end = codes(there, ARROWS)
    assert len({start, middle, end}) == 3
    assert codes(apart, ARROWS)[0][0] == end[0]
    assert codes(apart, ARROWS)[1] not in (start, middle, end)


def test_how_many_graphs_hold_an_environment():
    # Ends and middles of paths of three, ends of paths of two, which one graph is: not kept.
    known = Environments.of([path(3)] * 4 + [star(3)] * 2 + [path(2)], PLAIN)
    assert known.held[0] == 7
    # A leaf has one neighbour and is on no cycle: one code in all seven graphs at one step.
    assert sorted(known.held[1:].tolist()) == [2, 2, 2, 4, 4, 4, 7]
    codes, here = environment_codes(to_dense([path(3), path(2), ring(3)], PLAIN))
    holders = known.holders(codes)
    assert holders[0].tolist() == [[7, 4], [4, 4], [7, 4]]
    assert holders[1].tolist()[:2] == [[7, 0], [7, 0]]
    assert holders[2].tolist() == [[0, 0]] * 3
    assert here.sum(1).tolist() == [3, 2, 3]


def test_a_graph_is_as_rare_as_its_environments_are_on_average():
    known = Environments.of([path(3)] * 4 + [star(3)] * 2 + [path(2)], PLAIN)
    # Of so few graphs ten would be common: each environment counts as ln(11 / (holders + 1)).
    seven, four, none = math.log(11 / 8), math.log(11 / 5), math.log(11)
    rare = known.rarity(to_dense([path(3), path(2), ring(3)], PLAIN))
    expected = [(2 * (seven + four) + 2 * four) / 3, seven + none, 2 * none]
    assert rare.tolist() == pytest.approx(expected, rel=1e-5)
    # One that was counted does not count for itself.
    seven, four = math.log(11 / 7), math.log(11 / 4)
    rare = known.rarity(to_dense([path(3)], PLAIN), counted=True)
    assert float(rare) == pytest.approx((2 * (seven + four) + 2 * four) / 3)
    # What one graph in a hundred holds is common.
    many = Environments.of([path(3)] * 1979 + [star(3)] * 20 + [ring(4)], PLAIN)
    assert many.rarity(to_dense([path(3), star(3)], PLAIN)).tolist() == [0, 0]
    assert float(many.rarity(to_dense([ring(4)], PLAIN))) == pytest.approx(2 * math.log(21))


def test_soft_weights_are_edges_above_one_half_and_no_graph_is_not_rare():
    known = Environments.of([path(3)] * 4, PLAIN)
    dense = to_dense([path(3)], PLAIN)
    soft = DenseGraphs(PLAIN, 0.9 * dense.weight, dense.nodes)
    faint = DenseGraphs(PLAIN, 0.4 * dense.weight, dense.nodes)
    assert torch.equal(known.rarity(soft), known.rarity(dense))
    assert known.rarity(faint).tolist() == [0]


def squares_and_a_cage():
    """Ladders of squares in every graph, and one graph where a square is bridged."""
    ladder = graph([(0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (1, 3), (3, 5)], 6)
    long = graph(
        [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (2, 4), (4, 6), (1, 3), (3, 5), (5, 7)], 8
    )
    cage = graph([(0, 1), (2, 3), (4, 5), (0, 2), (2, 4), (1, 3), (3, 5), (0, 5)], 6)
    return ladder, long, cage


def test_what_no_real_graph_holds_is_not_typical():
    ladder, long, cage = squares_and_a_cage()
    bank = fit(whole([ladder, long] * 10, PLAIN))
    known = Environments.of([ladder, long] * 10, PLAIN)
    bank = bank.with_environments(known, to_dense([ladder, long] * 10, PLAIN))
    assert bank.quantiles[3].isfinite().all()
    asked = to_dense([ladder, cage], PLAIN)
    assert bank.percentile(asked).tolist() == [100, 0]
    assert (bank.penalty(asked) > 0).tolist() == [False, True]
    assert bank.reaches(asked, 40.0).tolist() == [True, False]
    found = bank.strangeness(asked)
    assert bank.percentiles(found)[:, 3].tolist() == [100, 0]
    assert [bank.as_rare(asked[:1]), bank.as_rare(asked[1:])] == [100, 0]
    assert EitherBank((bank, bank)).as_rare(asked[1:]) == 0
    assert float(found.rare[1]) > float(bank.quantiles[3, -1])


def test_where_real_graphs_hold_nothing_but_rare_things_none_is_asked_for():
    # Each graph has kinds of its own: none holds what another does.
    spec = GraphSpec(nodes=(Categorical(60, encoding="index"),))
    real = [path(4) for _ in range(15)]
    for i, data in enumerate(real):
        data.x = torch.arange(4 * i, 4 * i + 4).unsqueeze(1)
    known = Environments.of(real, spec)
    assert not known.keys.numel()
    bank = fit(whole(real, spec))
    assert bank.with_environments(known, to_dense(real, spec)) is bank
    assert bank.as_rare(to_dense(real[:1], spec)) is None


def test_a_tenth_of_the_most_is_nothing_to_speak_of():
    # All graphs are alike: without room for others each of them would be the rarest of all.
    real = [path(3)] * 30
    known = Environments.of(real, PLAIN)
    levels = known.levels(to_dense(real, PLAIN), 101)
    assert levels.tolist() == pytest.approx([0.1 * 2 * math.log(11)] * 101)


def test_numbers_alone_leave_nothing_but_structure():
    spec = GraphSpec(nodes=(Continuous(1, 0.0, 1.0),))
    assert Environments.of([path(3)] * 3, spec).held.tolist() == [3, 3, 3, 3, 3]


def test_counted_over_all_classes_or_over_the_pieces():
    ladder, long, cage = squares_and_a_cage()

    def sure(some):
        return torch.ones(len(some), dtype=torch.bool)

    every = Environments.of([ladder, long, cage] * 20, PLAIN)
    alone = Typicality.of([ladder, long] * 10, PLAIN, 8, sure)
    beside = Typicality.of([ladder, long] * 10, PLAIN, 8, sure, every)
    assert alone.bank.environments.held[0] == 20
    assert beside.bank.environments == every
    asked = to_dense([cage], PLAIN)
    assert float(beside.bank.strangeness(asked).rare) < float(alone.bank.strangeness(asked).rare)
    pieces = Typicality.of([ring(30)] * 20, PLAIN, 8, sure, every)
    assert float(pieces.bank.strangeness(to_dense([path(6)], PLAIN)).rare) == 0


def test_stored_and_read_again_and_banks_from_before():
    ladder, long, cage = squares_and_a_cage()
    known = Typicality.of([ladder, long] * 10, PLAIN, 8, lambda some: torch.ones(len(some)).bool())
    stored, asked = known.bank.tensors(), to_dense([ladder, cage], PLAIN)
    again = TypicalityBank.from_tensors(stored).to("cpu")
    assert torch.equal(again.percentile(asked), known.bank.percentile(asked))
    old = fit(whole([ladder, long] * 10, PLAIN)).with_kinds(Kinds.of([ladder, long] * 10, PLAIN))
    assert old.environments is None
    read = TypicalityBank.from_tensors(old.tensors())
    assert read.quantiles[3:].isinf().all()
    assert read.strangeness(asked).rare.tolist() == [0, 0]
    assert float(read.percentile(asked[:1])) > 40


def test_only_the_commonest_are_kept_and_large_graphs_are_left_out(monkeypatch):
    module = "gnninterpreter.typicality.environments."
    monkeypatch.setattr(module + "MOST_KEPT", 1)
    known = Environments.of([path(3)] * 4 + [star(3)] * 2 + [path(2)], PLAIN)
    assert known.held.tolist() == [7, 7]
    monkeypatch.setattr(module + "MOST_NODES", 3)
    assert Environments.of([path(3)] * 4 + [star(3)] * 2, PLAIN).held.tolist() == [4, 4]
