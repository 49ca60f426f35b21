from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool, global_mean_pool

from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.evidence.patterns.causes import Effect, necessity, random_piece, sufficiency
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.cores import _at_least, _telling, find_cores
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.pieces import Candidate, CoreSearch, choose, gain
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Continuous
from tests.evidence.patterns.pairs import (
    PAIRED,
    PAIRED_CLASS,
    PLAIN,
    SPEC,
    RedPairs,
    chain,
    classifier,
    real_graphs,
)


def test_the_core_is_the_pair_with_all_its_evidence():
    found = find_cores(real_graphs(), PAIRED_CLASS, CoreSearch(least=2))
    core = found.core
    assert core is not None
    assert typed_graphs([core.graph], SPEC)[0].same(Typed((1, 1), {(0, 1): 0}))
    assert core.graph.x.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert (core.coverage, core.matched, core.others, core.undecided) == (1.0, 10, 0, 0)
    assert core.lift == pytest.approx((10.5 / 10.5) / (0.5 / 10.5))
    assert core.certain
    assert core.necessity.value == pytest.approx(1.0, abs=1e-3)
    assert core.necessity.control < 0.95
    assert core.sufficiency == Effect(1.0, core.sufficiency.control, 10)
    assert core.sufficiency.control < 1.0
    assert found.bar == 0.99


def test_a_core_says_more_than_its_size():
    # Of pieces of three nodes, those that hold the pair tell most.
    core = find_cores(real_graphs(), PAIRED_CLASS, CoreSearch(least=3)).core
    assert core is not None
    assert core.num_nodes == 3
    assert core.others == 0


@pytest.mark.parametrize(
    ("matched", "total", "told"), [(1, 8, False), (2, 150, False), (3, 300, True), (2, 2, True)]
)
def test_what_one_or_two_of_many_graphs_hold_is_no_core(matched: int, total: int, told: bool):
    share = {"coverage": matched / total, "lift": 300.0, "others": 0, "rest": 900}
    core = Core(chain("rr"), SPEC, 1.0, True, matched=matched, total=total, **share)
    assert _telling(core, PAIRED_CLASS) == told


def test_what_cores_tell_of_few_graphs_may_be_chance():
    # Of 60 graphs of either side such shares come about by choosing among pieces; of 600 not.
    assert _at_least(0.55, 60, 0.78, 60) < 0.62
    assert _at_least(0.55, 600, 0.78, 600) > 0.63
    assert _at_least(1.0, 10, 1.0, 10) == 1.0
    assert _at_least(0.5, 10, 0.5, 0) == 0.5


def test_a_core_that_only_goes_along_with_the_class_is_said_to():
    class Offset(RedPairs):
        """The same class by the mean of a number, which every node of its graphs has."""

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            score = self.scale * global_mean_pool(x[:, 2:], batch)
            return torch.cat([-score, score], dim=1)

    def with_number(colours: str, number: float) -> Data:
        made = chain(colours + "bbbb")
        made.x = torch.cat([made.x, torch.full((len(made.x), 1), number)], dim=1)
        return made

    spec = replace(SPEC, nodes=(*SPEC.nodes, Continuous(1, -2.0, 2.0)))
    graphs = [with_number(c, 1 + 0.01 * n) for n, c in enumerate(PAIRED * 2)]
    graphs += [with_number(c, -1 - 0.01 * n) for n, c in enumerate(PLAIN * 2)]
    real = RealGraphs(GraphClassifier(Offset(), spec, examples=graphs), graphs)
    found = find_cores(real, PAIRED_CLASS, CoreSearch(least=2))
    assert found.core is not None
    assert any("goes along with the class" in note for note in found.notes)
    again = find_cores(real_graphs(), PAIRED_CLASS, CoreSearch(least=2))
    assert not any("goes along" in note for note in again.notes)


def test_a_model_that_is_rarely_sure_has_a_bar_of_its_own():
    real = real_graphs(scale=2.0)
    own = real.given(PAIRED_CLASS)[real.mine(PAIRED_CLASS)]
    assert real.bar(PAIRED_CLASS) == pytest.approx(float(np.median(own)))
    found = find_cores(real, PAIRED_CLASS, CoreSearch(least=2))
    assert "fewer than half of the graphs" in found.notes[0]
    assert found.core is not None
    assert typed_graphs([found.core.graph], SPEC)[0].same(Typed((1, 1), {(0, 1): 0}))


def test_a_piece_that_tells_clearly_more_comes_before_one_that_is_enough():
    real = real_graphs()
    graphs = [real.graphs[i] for i in real.of(PAIRED_CLASS)]
    pair, whole = chain("rr"), graphs[0]
    typed = typed_graphs([pair, whole], SPEC)
    leaning = Candidate(pair, typed[0], 0.7, certain=False)
    enough = Candidate(whole, typed[1], 0.999, certain=True)
    rng = np.random.default_rng(0)
    # The pair lies in all ten graphs of the class, the whole graph in few of them.
    first = choose(real, [enough, leaning], PAIRED_CLASS, CoreSearch(), rng)[0]
    assert first is leaning
    also = Candidate(pair, typed[0], 0.999, certain=True)
    assert choose(real, [leaning, also], PAIRED_CLASS, CoreSearch(), rng)[0] is also


class InCompany(RedPairs):
    """Red pairs count only in graphs of nine nodes or more."""

    def forward(self, x, edge_index, batch):
        nodes = torch.bincount(batch).clamp_max(9).unsqueeze(1)
        score = super().forward(x, edge_index, batch)[:, 1:] + 5.0
        score = torch.where(nodes < 9, 0.0, score.clamp_max(10.0)) - 5.0
        return torch.cat([-score, score], dim=1)


def tree(seed: int, paired: bool) -> Data:
    """A random tree of ten nodes, two of them red, and neighbours or not as asked for."""
    found = nx.random_labeled_tree(10, seed=seed)
    rng = np.random.default_rng(seed)
    edges = np.array(found.edges)
    reds = tuple(edges[rng.integers(9)]) if paired else (0, next(iter(nx.non_neighbors(found, 0))))
    x = torch.eye(2)[[int(node in reds) for node in range(10)]]
    forth = torch.from_numpy(edges.T)
    return Data(x=x, edge_index=torch.cat([forth, forth.flip(0)], dim=1))


def test_a_piece_that_is_enough_only_in_company_is_found():
    """Every certain piece has nine nodes, seven of them its own; what they share is the pair."""
    graphs = [tree(seed, seed < 30) for seed in range(60)]
    real = RealGraphs(GraphClassifier(InCompany(), SPEC, examples=graphs), graphs)
    assert real.mine(PAIRED_CLASS).tolist() == [True] * 30 + [False] * 30
    core = find_cores(real, PAIRED_CLASS).core
    assert typed_graphs([core.graph], SPEC)[0].same(Typed((1, 1), {(0, 1): 0}))
    assert not core.certain
    assert (core.coverage, core.others) == (1.0, 0)
    assert core.sufficiency.value == 1.0


def test_few_graphs_and_no_graphs_get_a_sentence():
    few = RealGraphs(classifier(), [chain("rrb"), chain("bbr")])
    assert "only 1 real graph is" in find_cores(few, PAIRED_CLASS).notes[0]
    none = find_cores(RealGraphs(classifier(), [chain("bbr")] * 12), PAIRED_CLASS)
    assert (none.core, none.candidates) == (None, 0)
    assert none.notes[-1] == "no real graph is assigned to 'paired', so it has no core"
    every = find_cores(RealGraphs(classifier(), [chain("rrb")] * 12), PAIRED_CLASS)
    assert "every real graph is assigned to 'paired'" in every.notes[-1]
    assert every.core is not None
    assert every.core.lift is None
    assert every.core.sufficiency is None


def test_graphs_without_nodes_are_left_out():
    with pytest.raises(DataError, match="at least one graph with a node"):
        RealGraphs(classifier(), [])


def test_gain_is_information_with_a_sign():
    own, others = np.array([1.0, 0.5, 0.0, 1.0]), np.array([0.0, 0.5, 1.0, 1.0])
    assert gain(own, others) == pytest.approx([1.0, 0.0, -1.0, 0.0], abs=1e-6)
    # Presence in 3/4 of the one and 1/4 of the other: 1 - H(1/4) bits.
    expected = 1 + 0.25 * math.log2(0.25) + 0.75 * math.log2(0.75)
    assert gain(np.array([0.75]), np.array([0.25])) == pytest.approx([expected])


@pytest.mark.parametrize(
    "wrong", [{"seeds": 0}, {"count": 0}, {"least": 0}, {"largest": 2, "least": 3}]
)
def test_a_search_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(DataError):
        CoreSearch(**wrong)


def test_necessity_compares_with_random_nodes():
    graphs = [chain("bbrrbbbb")]
    typed = typed_graphs(graphs, SPEC)
    parts = Parts(classifier(), graphs)
    rng = np.random.default_rng(0)
    out = necessity(parts, typed, [(0, 0b1100)] * 20, PAIRED_CLASS, rng)
    assert out.value == pytest.approx(1.0, abs=1e-3)
    assert 0.1 < out.control < 0.9
    assert necessity(parts, typed, [(0, 0b11000000)], PAIRED_CLASS, rng).value == pytest.approx(
        0, abs=1e-3
    )
    assert necessity(parts, typed, [(0, 0b11111111)], PAIRED_CLASS, rng) is None


def test_sufficiency_counts_the_graphs_that_turn():
    hosts = [chain(colours) for colours in PLAIN]
    turned = sufficiency(classifier(), [chain("rr")], hosts, PAIRED_CLASS, [chain("bb")])
    assert turned == Effect(1.0, 0.0, 10)
    assert sufficiency(classifier(), [chain("rr")], hosts, PAIRED_CLASS, []).control is None
    assert sufficiency(classifier(), [chain("rr")], [], PAIRED_CLASS, []) is None
    with pytest.raises(GNNInterpreterError, match="graphs must not be negative"):
        Effect(0.0, 0.0, -1)


def test_a_random_piece_is_connected_or_nothing():
    graph = typed_graphs([chain("bbrrbb")], SPEC)[0]
    rng = np.random.default_rng(3)
    for size in (1, 3, 6):
        nodes = random_piece(graph, size, rng)
        assert nodes.bit_count() == size
        assert graph.connected(nodes)
    assert random_piece(graph, 7, rng) == 0
    assert random_piece(Typed((0, 0), {}), 2, rng) == 0


class PairOrRing(RedPairs):
    """A red pair, or a ring: log-odds of 20 for each of them less 10."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        ends = torch.zeros_like(x[:, :1]).index_add(
            0, edge_index[1], torch.ones(edge_index.size(1), 1)
        )
        rings = global_add_pool(ends / 2 - 1, batch) + 1
        score = super().forward(x, edge_index, batch)[:, 1:] + self.scale * rings
        return torch.cat([-score, score], dim=1)


def closed(colours: str, first: int) -> Data:
    """A path whose last node is joined to an earlier one."""
    graph = chain(colours)
    more = torch.tensor([[first, len(colours) - 1], [len(colours) - 1, first]])
    graph.edge_index = torch.cat([graph.edge_index, more], dim=1)
    return graph


def test_a_class_of_two_kinds_of_graphs_has_a_core_for_each():
    rings = ["brbb", "bbbb", "rbrb", "bbbrb", "rbbbb", "bbrbb", "rbrbb", "bbbbb"] * 3
    graphs = [chain(c) for c in PAIRED * 3] + [closed(c, len(c) - 4) for c in rings]
    graphs += [chain(c) for c in PLAIN * 5]
    model = GraphClassifier(PairOrRing(), SPEC, examples=[chain(c) for c in PLAIN])
    real, search = RealGraphs(model, graphs), CoreSearch(least=2, count=1)
    found = find_cores(real, PAIRED_CLASS, search)
    pair, four = found.cores
    assert found.told == 1.0
    assert (pair.num_nodes, pair.coverage) == (2, 30 / 54)
    assert (four.num_nodes, four.num_edges, sum(four.open)) == (4, 4, 3)
    assert (four.coverage, four.others) == (24 / 54, 0)
    once = find_cores(real, PAIRED_CLASS, search, thorough=False)
    assert len(once.cores) == 1
    # Two standard errors less than what was counted.
    share = 30 / 54
    assert once.told == pytest.approx((share + 1) / 2 - (share * (1 - share) / 54) ** 0.5)


def test_some_of_the_graphs_keep_what_the_model_says_of_them():
    real = real_graphs()
    few = real.part([12, 3])
    assert few.graphs == [real.graphs[12], real.graphs[3]]
    assert few.mine(PAIRED_CLASS).tolist() == [False, True]
    assert len(few.index) == 2


@pytest.mark.parametrize(("matched", "kept"), [(9, False), (10, True)])
def test_what_next_to_none_of_the_class_hold_is_no_core(matched: int, kept: bool) -> None:
    counts = {"matched": matched, "total": 1000, "others": 0, "rest": 1000}
    effects = {"necessity": Effect(0.9, 0.1, 9), "sufficiency": Effect(0.9, 0.1, 9)}
    core = Core(
        chain("rr"), SPEC, 1.0, True, coverage=matched / 1000, lift=39.0, **counts, **effects
    )
    assert _telling(core, PAIRED_CLASS) is kept


def test_a_core_makes_the_class_by_association_or_as_a_cause() -> None:
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=0.9, lift=10.0)
    assert core.makes
    assert not core.with_(coverage=0.7).makes
    rarer = core.with_(lift=4.0, necessity=Effect(0.5, 0.2, 9))
    assert not rarer.makes
    assert not rarer.with_(sufficiency=Effect(0.3, 0.25, 9)).makes
    cause = rarer.with_(sufficiency=Effect(0.3, 0.1, 9))
    assert cause.makes
    assert not cause.with_(necessity=Effect(0.5, 0.4, 9)).makes
    assert not cause.with_(lift=2.0).makes
