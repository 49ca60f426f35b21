import pytest
import torch

from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.typicality import EitherBank, Kinds, Typicality, TypicalityBank, fit
from gnninterpreter.typicality.kinds import EDGES, NODES
from gnninterpreter.typicality.pieces import to_dense
from tests.typicality.some import BONDS, KINDS, PLAIN, path, ring, whole


def rings(*sizes, kind=None, count=1):
    """Rings of kinds 0 and 1 in turn; one node is of another kind where that is asked for."""
    made = []
    for size in sizes * count:
        kinds = [i % 2 for i in range(size)]
        kinds[0] = kinds[0] if kind is None else kind
        made.append(ring(size, kinds=kinds))
    return made


@pytest.mark.parametrize(
    ("every", "holding", "rare"),
    [
        (40, 2, False),  # one in twenty of a small class
        (40, 1, True),
        (200, 10, False),  # ten are no handful
        (200, 9, True),
        (1500, 14, True),  # of so many graphs ten are next to none
        (1500, 15, False),
        (10, 1, False),
    ],
)
def test_a_kind_is_rare_by_the_graphs_that_hold_it(every, holding, rare):
    # Two nodes in each graph; how many of a kind a graph has does not matter.
    graphs = [path(2, kinds=(2, 2))] * holding + [path(2, kinds=(0, 1))] * (every - holding)
    found = Kinds.of(graphs, KINDS)
    assert found.held[NODES].tolist() == [every, every - holding, every - holding, holding]
    assert found.rare[NODES].tolist() == [False, False, rare]
    assert found.odd.tolist() == [rare] * holding + [False] * (every - holding)


def test_where_most_graphs_hold_some_rare_kind_none_is_odd():
    spec = GraphSpec(nodes=(Categorical(40, encoding="index"),), class_names=("a",))
    graphs = [path(2) for _ in range(60)]
    for i, data in enumerate(graphs):
        data.x = torch.tensor([[i % 30], [0]])  # each kind but one is in two of sixty
    found = Kinds.of(graphs, spec)
    assert not found.odd.any()
    # What no graph holds is still not seen.
    assert found.rare[NODES].tolist() == [False] * 30 + [True] * 10


def test_every_block_counts_and_numbers_are_no_kinds():
    spec = GraphSpec(
        nodes=(Categorical(2), Continuous(1, 0.0, 9.0), Categorical(2)), edges=(Categorical(2),)
    )
    graphs = [path(3, bonds=[0, 0]) for _ in range(30)]
    for data in graphs:
        data.x = torch.tensor([[1.0, 0.0, 0.2, 1.0, 0.0]] * 3)
    graphs[0].x[1] = torch.tensor([1.0, 0.0, 0.3, 0.0, 1.0])
    graphs[1].edge_attr = torch.eye(2)[[0, 1, 0, 1]]
    found = Kinds.of(graphs, spec)
    assert found.held[NODES].tolist() == [30, 30, 0, 30, 30, 1]
    assert found.rare[NODES].tolist() == [False, True, False, False, True]
    assert found.rare[EDGES].tolist() == [False, True]
    assert found.odd.nonzero().flatten().tolist() == [0, 1]
    assert Kinds.of([path(3)] * 3, PLAIN).held == {}


def of(graphs, spec=KINDS):
    found = Typicality.of(graphs, spec, 12, lambda some: torch.ones(len(some)).bool())
    assert found is not None
    return found


def test_what_a_handful_holds_is_not_typical_and_said_by_name():
    graphs = rings(4, 6, 8, 10, count=24) + rings(6, 8, kind=2, count=2)
    bank = of(graphs).bank
    plain, odd, twice = rings(6)[0], rings(6, kind=2)[0], rings(8, kind=2)[0]
    twice.x[4] = torch.eye(3)[2]
    asked = to_dense([plain, odd, twice], KINDS)
    assert bank.percentile(asked)[1:].tolist() == [0, 0]
    assert float(bank.percentile(asked)[0]) > 40
    # One node counts as ln 2 at any size, two as ln 3.
    outside = bank.strangeness(asked).outside
    assert outside[0] == 0
    assert float(outside[1]) == pytest.approx(0.6931, abs=1e-3)
    assert float(outside[2]) == pytest.approx(1.0986, abs=1e-3)
    assert bank.rare_kinds(asked[:1]) == {}
    assert bank.rare_kinds(asked[1:2]) == {"2": (4, 100)}
    again = TypicalityBank.from_tensors(bank.tensors())
    assert again.rare_kinds(asked[1:2]) == {"2": (4, 100)}
    # Of two classes a kind has to be rare in both.
    common = of(rings(4, 6, 8, 10, kind=2, count=4)).bank
    assert EitherBank((bank, common)).rare_kinds(asked[1:2]) == {}
    assert EitherBank((bank, bank)).rare_kinds(asked[1:2]) == {"2": (8, 200)}


def test_a_class_of_which_it_is_typical_keeps_a_kind():
    bank = of(rings(4, 6, 8, 10, kind=2, count=4) + rings(4, 6, 8, 10)).bank
    assert float(bank.percentile(to_dense(rings(6, kind=2), KINDS))) > 40


def test_banks_that_were_stored_before_kinds_were_counted():
    graphs = [ring(n, kinds=[0, 1] * (n // 2), bonds=[0, 1] * (n // 2)) for n in (4, 6, 8)] * 4
    stored = fit(whole(graphs, BONDS)).with_kinds(Kinds.of(graphs, BONDS)).tensors()
    old = {name: part for name, part in stored.items() if "kinds" not in name}
    assert set(stored) - set(old) == {f"{p}.{t}" for p in ("seen", "held") for t in (NODES, EDGES)}
    bank, asked = TypicalityBank.from_tensors(old), to_dense(graphs[:3], BONDS)
    assert bank.rare_kinds(asked[:1]) == {}
    assert (bank.percentile(asked) > 0).all()
