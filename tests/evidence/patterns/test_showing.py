from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.pieces import CoreSearch
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.showing import Exemplar, exemplar_check, find_exemplars
from tests.evidence.patterns.pairs import (
    PAIRED,
    PAIRED_CLASS,
    PLAIN_CLASS,
    SPEC,
    chain,
    classifier,
    real_graphs,
)

PAIR = Core(chain("rr"), SPEC, 1.0, True)
TRIPLE = Core(chain("rrr"), SPEC, 1.0, True)


def labelled(colours: str, label: int | None = 1) -> Data:
    graph = chain(colours)
    graph.y = None if label is None else torch.tensor([label])
    return graph


def parted(*pieces: str) -> Data:
    """Several chains as one graph, labelled as paired."""
    graph = labelled("".join(pieces))
    ends = torch.tensor([sum(map(len, pieces[: k + 1])) for k in range(len(pieces) - 1)])
    cut = (graph.edge_index.max(dim=0).values[:, None] == ends).any(dim=1)
    graph.edge_index = graph.edge_index[:, ~cut]
    return graph


def shown(graphs: list[Data], cores: tuple[Core, ...] = (PAIR,), count: int = 1) -> list[Exemplar]:
    return find_exemplars(RealGraphs(classifier(), graphs), PAIRED_CLASS, cores, count)


def test_exemplars_hold_the_core_and_mark_it():
    real = real_graphs()
    found = find_cores(real, PAIRED_CLASS, CoreSearch(least=2))
    shown = find_exemplars(real, PAIRED_CLASS, found.cores, count=4)
    assert len({exemplar.number for exemplar in shown}) == 4
    for exemplar in shown:
        colours = PAIRED[exemplar.number]
        first = colours.index("rr")
        assert exemplar.mask == tuple(i in (first, first + 1) for i in range(len(colours)))
        assert exemplar.core == 0
        assert exemplar.probability > 0.99


def test_exemplars_without_cores_are_unmarked():
    real = real_graphs()
    shown = find_exemplars(real, PLAIN_CLASS, (), count=30)
    assert all(exemplar.core == -1 and not any(exemplar.mask) for exemplar in shown)
    assert {exemplar.number for exemplar in shown} <= set(range(10, 20))
    with pytest.raises(DataError, match="count must be at least 1"):
        find_exemplars(real, PLAIN_CLASS, (), count=0)
    with pytest.raises(DataError, match="mask must have one entry"):
        Exemplar(0, chain("bb"), SPEC, 1.0, (True,), 0)


def test_a_smiles_comes_along_and_is_stored() -> None:
    graph = labelled("rrb")
    graph.smiles = "CCO"
    (one,) = shown([graph])
    assert (one.smiles, one.data.smiles) == ("CCO", "CCO")
    written = one.to_json()
    assert exemplar_check(SPEC)(written, "real_graphs").smiles == "CCO"
    del written["smiles"]  # as older runs
    assert exemplar_check(SPEC)(written, "real_graphs").smiles == ""


BEST = [labelled(colours) for colours in ("rrb", "rrbb", "brrb", "rrr")]


@pytest.mark.parametrize(
    ("worse", "core"),
    [
        (labelled("rrbbbbbbbbbbbbb"), 0),
        (parted("rrb", "b"), 0),
        (labelled("rbrrb", 0), 0),
        (labelled("rbrrb", None), 0),
    ],
    ids=["large", "in pieces", "labelled otherwise", "not labelled"],
)
def test_what_shows_the_class_less_well_comes_last(worse: Data, core: int) -> None:
    found = shown([worse, *BEST], count=9)
    assert [one.number for one in found][-1] == 0
    assert found[-1].core == core
    assert found[0].truth == "labelled paired"


def test_the_order_in_which_demands_are_dropped() -> None:
    # Each but the first fails in one thing; the later it stands, the more that thing matters.
    graphs = [
        labelled("rrbb"),
        labelled("rrr"),
        labelled("rrbbbbbbb"),
        parted("rrb", "bb"),
        labelled("bbrrb", None),
        labelled("rrbbb", 0),
    ]
    cores = (Core(chain("rrb"), SPEC, 1.0, True), PAIR)
    assert [one.number for one in shown(graphs, cores, 9)] == [0, 1, 2, 3, 4, 5]
    assert [one.core for one in shown(graphs, cores, 9)] == [0, 1, 0, 0, 0, 0]


def test_a_later_core_counts_less_than_the_first_and_more_than_size() -> None:
    found = shown([labelled("rrb"), labelled("brrr"), labelled("rrr")], (TRIPLE, PAIR), 3)
    # The one with the first core that is larger than usual comes last.
    assert [(one.number, one.core) for one in found] == [(2, 0), (0, 1), (1, 0)]


def test_graphs_without_a_core_come_only_where_none_holds_one() -> None:
    none = Core(chain("rrrrr"), SPEC, 1.0, True)
    assert [one.core for one in shown(BEST, (none,), 9)] == [-1] * 4
    assert [one.core for one in shown([*BEST, labelled("rrrrr", 0)], (none,), 1)] == [-1]


def test_the_place_that_the_model_needs_is_marked() -> None:
    # Without the middle pair no pair is left; without either end there is one.
    (found,) = shown([labelled("brrrrb")], (PAIR,))
    assert found.mask == (False, False, True, True, False, False)


def test_the_same_graph_is_not_shown_twice() -> None:
    twice = [labelled("rrb", 0), *[labelled("brr")] * 4, labelled("rrbb")]
    found = shown(twice, (), 9)
    assert len(found) == 2
    assert {one.truth for one in found} == {"labelled paired"}
