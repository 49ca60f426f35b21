from __future__ import annotations

from gnninterpreter.chem.elements import MUTAG_VALENCIES
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.experiments.metrics import obeys_valencies, validity
from tests.experiments.metrics.molecules import molecule


def test_valency_rule():
    # Carbon takes four bonds, fluorine one.
    assert obeys_valencies(
        molecule("C F F F F", [(0, i) for i in range(1, 5)]), MUTAG.spec, MUTAG_VALENCIES
    )
    assert not obeys_valencies(
        molecule("C F F F F F", [(0, i) for i in range(1, 6)]), MUTAG.spec, MUTAG_VALENCIES
    )
    assert not obeys_valencies(molecule("F C C", [(0, 1), (0, 2)]), MUTAG.spec, MUTAG_VALENCIES)


def test_validity_shares():
    good = molecule("C C", [(0, 1)])
    bad = molecule("F C C C", [(0, 1), (0, 2)])
    found = validity([good, bad], MUTAG.spec, 1, valencies=MUTAG_VALENCIES, oracle=lambda graph: 1)
    assert found.connected == 0.5
    assert (found.valencies, found.oracle) == (0.5, 1.0)
