from __future__ import annotations

from dataclasses import replace

from gnninterpreter.evidence.patterns.pieces import Candidate
from gnninterpreter.evidence.patterns.trimming import Trimming
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from tests.evidence.patterns.pairs import PAIRED_CLASS, PLAIN, SPEC, chain, real_graphs

HOSTS = [chain(colours) for colours in PLAIN]


def piece(colours: str) -> Candidate:
    return Candidate(chain(colours), typed_graphs([chain(colours)], SPEC)[0], 1.0, True)


def pairs(pattern: Typed) -> tuple[float, None]:
    """One bit where the pattern holds a red pair, nothing otherwise."""
    return float(any(pattern.kinds[i] == pattern.kinds[j] == 1 for i, j in pattern.edges)), None


def test_a_piece_loses_what_adds_nothing():
    found = Trimming(real_graphs(), pairs, HOSTS, PAIRED_CLASS, 0.99)(piece("bbrrbb"))
    assert found.typed.same(Typed((1, 1), {(0, 1): 0}))
    assert found.data.num_nodes == 2
    assert found.certain
    least = Trimming(real_graphs(), pairs, HOSTS, PAIRED_CLASS, 0.99, least=4)(piece("bbrrbb"))
    assert len(least.typed) == 4


def test_a_part_that_turns_no_graphs_is_not_enough():
    """A blue node tells as much by this count, but does nothing to graphs it is joined to."""
    whole = piece("brrb")
    found = Trimming(real_graphs(), lambda _: (1.0, None), HOSTS, PAIRED_CLASS, 0.99)(whole)
    assert {1} == {kind for kind in found.typed.kinds if kind}
    assert pairs(found.typed) == (1.0, None)


def test_nothing_to_go_by_leaves_the_piece_as_it_is():
    whole = piece("brrb")
    assert Trimming(real_graphs(), pairs, [], PAIRED_CLASS, 0.99)(whole) == whole
    assert Trimming(real_graphs(), lambda _: (0.0, None), HOSTS, PAIRED_CLASS, 0.99)(whole) == whole


def test_a_piece_that_is_not_enough_by_itself_may_lose_what_tells_nothing():
    """Blue nodes turn no graph, and a piece of them alone is not what the model goes by."""
    whole = replace(piece("bbb"), certain=False, probability=0.1)
    found = Trimming(real_graphs(), lambda _: (1.0, None), HOSTS, PAIRED_CLASS, 0.99)(whole)
    assert len(found.typed) == 1
    kept = Trimming(real_graphs(), lambda _: (1.0, None), HOSTS, PAIRED_CLASS, 0.99)(piece("bbb"))
    assert len(kept.typed) == 3
