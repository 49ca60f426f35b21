from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.nn import global_mean_pool

from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.growing import Growing
from gnninterpreter.evidence.patterns.pieces import Candidate
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.trimming import Trimming
from gnninterpreter.evidence.patterns.typed import Typed, typed_graphs
from gnninterpreter.models.classifier import GraphClassifier
from tests.evidence.patterns.pairs import PAIRED_CLASS, SPEC, RedPairs, chain

TRIPLES = ["b" * i + "rrr" + "b" * (8 - i) for i in range(1, 8)]
SINGLES = ["b" * i + "rbb" + "b" * (8 - i) for i in range(1, 8)]
HOSTS = [chain(colours) for colours in SINGLES]


class ManyPairs(RedPairs):
    """Goes by the share of red pairs: one alone is plenty, among eleven nodes it is not."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        red = x[:, 1]
        near = torch.zeros_like(red).index_add(0, edge_index[1], red[edge_index[0]])
        score = 15 * self.scale * (global_mean_pool((red * near).unsqueeze(1), batch) / 2 - 0.12)
        return torch.cat([-score, score], dim=1)


def real_graphs() -> RealGraphs:
    graphs = [chain(colours) for colours in TRIPLES + SINGLES]
    return RealGraphs(GraphClassifier(ManyPairs(), SPEC, examples=graphs), graphs)


def red(pattern: Typed) -> tuple[float, None]:
    """One bit for any piece with two red nodes or more."""
    return float(pattern.kinds.count(1) > 1), None


def grown(told: float = 1.0, largest: int = 12) -> Candidate:
    pair = Candidate(chain("rr"), typed_graphs([chain("rr")], SPEC)[0], 1.0, True)
    trim = Trimming(real_graphs(), lambda one: (told * red(one)[0], None), HOSTS, PAIRED_CLASS, 0.9)
    return Growing(trim, largest)(pair)


def test_a_part_that_is_enough_alone_takes_in_what_it_needs_among_others():
    assert grown().typed.same(typed_graphs([chain("rrr")], SPEC)[0])


def test_a_piece_stays_as_it_is_where_it_tells_little_or_there_is_no_room():
    assert len(grown(told=0.3).typed) == 2
    assert len(grown(largest=2).typed) == 2


def test_the_core_is_all_of_what_the_model_goes_by():
    core = find_cores(real_graphs(), PAIRED_CLASS).core
    assert core is not None
    assert core.typed.same(typed_graphs([chain("rrr")], SPEC)[0])
    assert core.sufficiency is not None
    assert core.sufficiency.value == 1
