"""The term that keeps atoms within their valence."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.chem import problem
from gnninterpreter.graphs import DenseGraphs, dense_graphs, random_graphs
from gnninterpreter.models.task import Scores, Task
from gnninterpreter.objective import Aim, ClassTarget, Proposals, Valence
from gnninterpreter.objective.valence import BROKEN, EACH
from gnninterpreter.spec import GraphSpec
from tests.chem.made import NITROBENZENE, PYRROLE, SPEC, UNCHARGED, graph
from tests.tiny import PLAIN


def proposals(graphs: DenseGraphs) -> Proposals:
    nothing = torch.zeros(len(graphs), 2)
    aim = Aim(ClassTarget(1, "yes"), 9, 20.0)
    return Proposals(graphs, Scores(nothing, nothing, Task.MULTICLASS), aim)


def cost(*written: tuple[str, str], spec: GraphSpec = SPEC) -> list[float]:
    found = Valence().discrete(proposals(dense_graphs([graph(*w, spec) for w in written], spec)))
    assert found is not None
    return found.tolist()


def test_possible_molecules_cost_nothing() -> None:
    assert cost(NITROBENZENE, PYRROLE, ("N+ C C C C", "0-1 0-2 0-3 0-4")) == [0.0, 0.0, 0.0]


def test_each_bond_too_many_costs() -> None:
    five = ("N C C C C C", "0-1 0-2 0-3 0-4 0-5")
    assert cost(five, ("C O C", "0=1 1-2")) == pytest.approx([BROKEN + 2 * EACH, BROKEN + EACH])


def test_where_charges_are_unknown_an_atom_may_have_one_bond_more() -> None:
    four, five = ("N C C C C", "0-1 0-2 0-3 0-4"), ("N C C C C C", "0-1 0-2 0-3 0-4 0-5")
    assert cost(four, five, spec=UNCHARGED) == pytest.approx([0.0, BROKEN + EACH])


def test_rings_that_cannot_be_aromatic_are_refused() -> None:
    pytest.importorskip("rdkit")
    odd, loose = ("C C C C C", "0:1 1:2 2:3 3:4 4:0"), ("C C C", "0:1 1-2")
    assert cost(odd, loose) == pytest.approx([BROKEN, BROKEN])


@pytest.mark.parametrize("spec", [SPEC, UNCHARGED])
def test_whatever_it_allows_is_a_molecule(spec: GraphSpec) -> None:
    pytest.importorskip("rdkit")
    drawn = random_graphs(spec, 400, 6, torch.Generator().manual_seed(0), density=0.25)
    allowed = Valence().feasible(proposals(drawn))
    assert allowed is not None
    assert 10 < int(allowed.sum()) < 390
    for fine, made in zip(allowed.tolist(), drawn.to_data_list(), strict=True):
        assert not fine or problem(made, spec, whole=False) == ""


def test_soft_bonds_have_a_slope() -> None:
    graphs = dense_graphs([graph("O C C", "0=1 0-2")], SPEC)
    weight = graphs.weight.clone().requires_grad_()
    soft = DenseGraphs(SPEC, weight, graphs.nodes, graphs.edges)
    found = Valence().discrete(proposals(soft))
    assert found is not None
    found.sum().backward()
    assert weight.grad is not None
    assert float(weight.grad[0, 0, 1]) == pytest.approx(2 * EACH)


def test_other_graphs_are_left_alone() -> None:
    drawn = random_graphs(PLAIN, 4, 5, torch.Generator().manual_seed(0))
    assert Valence().discrete(proposals(drawn)) is None
    assert Valence().feasible(proposals(drawn)) is None
