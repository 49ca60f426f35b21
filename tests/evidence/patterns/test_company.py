from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.typed import typed_graphs
from gnninterpreter.models.classifier import GraphClassifier
from tests.evidence.patterns.pairs import PAIRED_CLASS, SPEC, RedPairs, chain

FORMS = ["rrbrbbrbb", "brrbbrbrb", "bbrrbrbbr", "rbbrrbrbb", "brbbrrbbr", "rbrbbrrbb", "bbrbrbrrb"]
PAIRED = [*FORMS, *(form[::-1] for form in FORMS), *(form[:-1] for form in FORMS)]
PLAIN = [form.replace("rr", "rb") for form in PAIRED]


class PairsOfSomeSize(RedPairs):
    """Sees a red pair in graphs of six to nine nodes alone: joined to others it turns none."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found = super().forward(x, edge_index, batch)
        nodes = batch.bincount(minlength=len(found)).unsqueeze(1)
        away = 20.0 * ((nodes < 6) | (nodes > 9)).to(x.dtype)
        return found + torch.cat([away, -away], dim=1)


def test_what_the_class_is_made_by_is_a_core_though_it_turns_no_graph():
    graphs = [chain(colours) for colours in PAIRED + PLAIN]
    real = RealGraphs(GraphClassifier(PairsOfSomeSize(), SPEC, examples=graphs), graphs)
    core = find_cores(real, PAIRED_CLASS).core
    assert core is not None
    assert core.typed.same(typed_graphs([chain("rr")], SPEC)[0])
    assert (core.coverage, core.certain) == (1.0, False)
    assert core.sufficiency is not None
    assert core.sufficiency.value == 0
    assert core.necessity is not None
    assert core.necessity.value > 0.9
