from __future__ import annotations

import random

import networkx as nx
import pytest

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns import matching
from gnninterpreter.evidence.patterns.matching import (
    PatternIndex,
    Plan,
    Undecided,
    find,
    occurrences,
)
from gnninterpreter.evidence.patterns.typed import Range, Typed

EDGE = Typed((0, 1), {(0, 1): 0})
TRIANGLE = Typed((0, 0, 0), {(0, 1): 0, (1, 2): 0, (0, 2): 0})
PATH = Typed((0, 0, 0), {(0, 1): 0, (1, 2): 0})


def drawn(rng: random.Random, nodes: int, density: float, kinds: int, directed: bool) -> Typed:
    edges = {}
    for i in range(nodes):
        for j in range(nodes):
            if (i != j if directed else i < j) and rng.random() < density:
                edges[(i, j)] = rng.randrange(2)
    return Typed(tuple(rng.randrange(kinds) for _ in range(nodes)), edges, directed)


def known(pattern: Typed, graph: Typed) -> bool:
    """The same question answered by networkx."""
    maker = nx.isomorphism.DiGraphMatcher if graph.directed else nx.isomorphism.GraphMatcher

    def same(a, b):
        return a["kind"] == b["kind"]

    matcher = maker(graph.to_networkx(), pattern.to_networkx(), same, same)
    return matcher.subgraph_is_monomorphic()


@pytest.mark.parametrize("directed", [False, True])
def test_agrees_with_networkx(directed):
    rng = random.Random(4)
    answers = []
    for _ in range(150):
        graph = drawn(rng, 8, 0.35, 2, directed)
        pattern = drawn(rng, rng.randint(1, 4), 0.6, 2, directed)
        answers.append(known(pattern, graph))
        laid = find(pattern, graph)
        assert (laid is not None) == answers[-1]
        if laid is not None:
            assert len(set(laid)) == len(pattern)
            assert [graph.kinds[i] for i in laid] == list(pattern.kinds)
            for (i, j), kind in pattern.edges.items():
                ends = (laid[i], laid[j])
                ends = ends if directed or ends[0] < ends[1] else ends[::-1]
                assert graph.edges[ends] == kind
        assert PatternIndex([graph]).match(pattern).where == ((0,) if answers[-1] else ())
    assert 0.2 < sum(answers) / len(answers) < 0.8


def test_a_pattern_may_have_fewer_edges_than_its_place():
    assert find(PATH, TRIANGLE) is not None
    assert find(TRIANGLE, PATH) is None


def test_kinds_of_edges_and_directions_count():
    assert find(EDGE, Typed((1, 0), {(0, 1): 0})) == (1, 0)
    assert find(EDGE, Typed((1, 0), {(0, 1): 1})) is None
    arrow = Typed((0, 1), {(0, 1): 0}, directed=True)
    assert find(arrow, Typed((1, 0), {(1, 0): 0}, directed=True)) == (1, 0)
    assert find(arrow, Typed((1, 0), {(0, 1): 0}, directed=True)) is None


def test_numbers_are_compared_only_where_there_is_a_range():
    graph = Typed((0, 0), {(0, 1): 0}, values=((0.1,), (0.9,)))
    assert find(Typed((0,), {}), graph) == (0,)
    assert find(Typed((0,), {}, ranges=(Range((0,), 0, low=0.5),)), graph) == (1,)
    assert find(Typed((0,), {}, ranges=(Range((0,), 0, 0.5, 0.8),)), graph) is None


@pytest.mark.parametrize("directed", [False, True])
def test_numbers_of_edges_have_ranges_too(directed: bool):
    """Two leaves with the same links are no twins where the edge of one has a range."""
    numbers = {(0, 1): (0.2,), (0, 2): (0.9,), (0, 3): (0.3,)}
    graph = Typed((0,) * 4, dict.fromkeys(numbers, 0), directed, edge_values=numbers)
    fork = {(0, 1): 0, (0, 2): 0}
    wanted = Typed((0,) * 3, fork, directed, ranges=(Range((0, 1), 0, low=0.5),))
    assert find(wanted, graph) in {(0, 2, 1), (0, 2, 3)}
    both = (Range((0, 1), 0, low=0.5), Range((0, 2), 0, low=0.5))
    assert find(Typed((0,) * 3, fork, directed, ranges=both), graph) is None


def test_places_differ_in_their_nodes():
    square = Typed((0,) * 4, {(0, 1): 0, (1, 2): 0, (2, 3): 0, (0, 3): 0})
    places = occurrences(PATH, square)
    assert sorted(map(sorted, places)) == [[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]]
    assert len(occurrences(PATH, square, most=2)) == 2


def test_twins_are_not_tried_in_every_order():
    star = Typed((0,) * 10, {(0, i): 0 for i in range(1, 10)})
    # Nine leaves have 362,880 orders; one is enough to find a star in itself.
    assert next(Plan(star, PatternIndex([star])).places(0)) == tuple(range(10))


def clique(nodes: range) -> dict[tuple[int, int], int]:
    return {(i, j): 0 for i in nodes for j in nodes if i < j}


def turns(pattern: Typed, graph: Typed) -> int:
    """Turns without a place, where there is none."""
    places = list(Plan(pattern, PatternIndex([graph])).places(0))
    assert not any(places)
    return len(places)


def test_nodes_that_may_change_places_in_the_graph_are_not_tried_in_every_order():
    # Two cliques of seven with a bridge: eight linked nodes of five neighbours each lie in neither.
    graph = Typed((0,) * 14, clique(range(7)) | clique(range(7, 14)) | {(6, 7): 0})
    ring = {(i, (i + k) % 8): 0 for i in range(8) for k in (1, 2)}
    wanted = Typed((0,) * 8, {(min(e), max(e)): 0 for e in ring} | {(0, 4): 0, (1, 5): 0})
    assert turns(wanted, graph) < 10
    assert graph.before[:7] == [0, 1, 2, 4, 8, 16, 0]
    assert graph.behind == 0b11111000111110


def test_symmetries_of_a_pattern():
    square = Typed((0,) * 4, {(0, 1): 0, (1, 2): 0, (2, 3): 0, (0, 3): 0})
    plan = Plan(square, PatternIndex([square]))
    # The first node lies lowest of all, then the lower of its neighbours; the fourth is fixed.
    assert plan.order == [0, 1, 3, 2] or plan.order == [0, 1, 2, 3]
    assert sorted(map(len, plan.symmetries)) == [0, 1, 1, 2]
    arrow = Typed((0, 0), {(0, 1): 0}, directed=True)
    assert Plan(arrow, PatternIndex([arrow])).symmetries == [[], []]
    half_open = Typed((0, -1), {(0, 1): 0})
    assert Plan(half_open, PatternIndex([EDGE])).symmetries == [[], []]


@pytest.mark.parametrize("directed", [False, True])
def test_hard_graphs_have_the_same_answers(directed, monkeypatch):
    """With turns of one step all that is known about symmetry is used from the start."""
    rng = random.Random(5)
    pairs = [
        (drawn(rng, rng.randint(2, 5), 0.6, kinds, directed), drawn(rng, 9, 0.4, kinds, directed))
        for kinds in (1, 2)
        for _ in range(100)
    ]
    before = [find(*pair) for pair in pairs]
    monkeypatch.setattr(matching, "TURN", 1)
    assert [find(*pair, limit=10**6) for pair in pairs] == before
    assert [laid is not None for laid in before] == [known(*pair) for pair in pairs]
    assert 0.2 < sum(laid is None for laid in before) / len(before) < 0.8


def test_the_limit_is_an_answer_of_its_own():
    ring = Typed((0,) * 9, {(i, i + 1): 0 for i in range(8)} | {(0, 8): 0})
    # Every node has neighbours that no other has: nothing is the same by symmetry.
    edges = {(i, j): 0 for i in range(8) for j in range(8, 16) if (i * j) % 7 != 3}
    bipartite = Typed((0,) * 16, edges)
    with pytest.raises(Undecided):
        find(ring, bipartite, limit=200)
    index = PatternIndex([bipartite, ring, PATH], limit=100)
    matches = index.match(ring)
    assert (matches.where, matches.undecided) == ((1,), (0,))
    assert find(ring, bipartite, limit=10**7) is None
    # What was left open is asked again with more steps, and then known.
    assert index.match(ring, limit=10**7).undecided == index.match(ring).undecided == ()
    assert index.match(ring).where == (1,)


def test_only_some_graphs_may_be_asked():
    index = PatternIndex([TRIANGLE, PATH, TRIANGLE])
    assert index.match(TRIANGLE).where == (0, 2)
    assert index.match(TRIANGLE, among=0b110).where == (2,)


def test_graphs_that_are_known_to_lack_a_part_of_a_pattern_are_not_searched():
    graphs = [TRIANGLE, PATH, EDGE, TRIANGLE]
    index = PatternIndex(graphs)
    assert index.match(PATH).where == (0, 1, 3)
    assert index.match(TRIANGLE, inside=[EDGE, PATH]) == PatternIndex(graphs).match(TRIANGLE)
    # A triangle is no part of a path: it shows that the second graph is left out unseen.
    wrong = PatternIndex(graphs)
    wrong.match(TRIANGLE)
    assert wrong.match(PATH, inside=[EDGE, TRIANGLE]).where == (0, 3)


def test_a_limit_or_graphs_that_make_no_sense():
    with pytest.raises(DataError, match="limit must be at least 1"):
        PatternIndex([], limit=0)
    with pytest.raises(DataError, match="all directed or all undirected"):
        PatternIndex([PATH, Typed((0,), {}, directed=True)])


def test_easy_graphs_are_decided_though_a_hard_one_comes_first():
    ring = Typed((0,) * 9, {(i, i + 1): 0 for i in range(8)} | {(0, 8): 0})
    edges = {(i, j): 0 for i in range(8) for j in range(8, 16) if (i * j) % 7 != 3}
    found = PatternIndex([Typed((0,) * 16, edges), *[ring] * 5], limit=1).match(ring)
    assert (found.where, found.undecided) == ((1, 2, 3, 4, 5), (0,))


def test_what_was_asked_of_all_graphs_is_not_asked_again(monkeypatch):
    index = PatternIndex([TRIANGLE, PATH, TRIANGLE])
    first = index.match(TRIANGLE)
    assert first.places == ((0, 1, 2), (0, 1, 2))
    monkeypatch.setattr(matching, "Plan", lambda *_: pytest.fail("asked again"))
    assert index.match(TRIANGLE) is first
    some = index.match(TRIANGLE, among=0b110)
    assert (some.where, some.places) == ((2,), ((0, 1, 2),))


def test_places_are_forgotten_where_there_are_too_many(monkeypatch):
    monkeypatch.setattr(matching, "KEPT", 3)
    index = PatternIndex([TRIANGLE, TRIANGLE])
    first = index.match(TRIANGLE)
    index.match(PATH)
    assert index.match(TRIANGLE) is not first


def test_graphs_without_rings_are_not_searched_for_one():
    ring = Typed((0,) * 5, {(i, i + 1): 0 for i in range(4)} | {(0, 4): 0})
    tree = Typed((0,) * 7, {(0, i): 0 for i in range(1, 4)} | {(i, i + 3): 0 for i in range(1, 4)})
    other = Typed((0,) * 5, {**ring.edges, (0, 4): 1})
    assert Plan(ring, PatternIndex([tree, ring, other])).candidates == [1]


def test_graphs_without_triangles_are_not_searched_for_one():
    square = Typed((0,) * 4, {(0, 1): 0, (1, 2): 0, (2, 3): 0, (0, 3): 0})
    other_kinds = Typed((0,) * 3, {(0, 1): 0, (1, 2): 1, (0, 2): 0})
    assert Plan(TRIANGLE, PatternIndex([square, TRIANGLE])).candidates == [1]
    # Two diamonds need links whose ends share two neighbours, which a strip of triangles has not.
    strip = dict.fromkeys([(0, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4)], 0)
    diamond = dict.fromkeys([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)], 0)
    found = Plan(Typed((0,) * 4, diamond), PatternIndex([Typed((0,) * 5, strip), other_kinds]))
    assert found.candidates == []


def test_only_what_is_laid_by_needs_asks_for_them(monkeypatch):
    monkeypatch.setattr(matching, "Offers", lambda _: pytest.fail("asked for"))
    plan = Plan(TRIANGLE, PatternIndex([TRIANGLE]))
    assert plan.symmetries == [[], [0], [0, 1]]
    assert next(plan.places(0, domains=[0b100, 0b011, 0b011])) == (2, 0, 1)
