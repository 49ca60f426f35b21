"""One prediction seen through its class."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.patterns import Core, explain_graph
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import ClassTarget
from gnninterpreter.spec import Categorical, GraphSpec

SPEC = GraphSpec(nodes=(Categorical(3, names=("C", "N", "O")),), class_names=("no", "yes"))
YES = ClassTarget(1, "yes")
NO = ClassTarget(0, "no")


class Bonds(nn.Module):
    """Class "yes" by four times the number of N-O edges, less two."""

    def forward(self, data: Batch) -> torch.Tensor:
        source, target = data.edge_index
        pairs = (data.x[source, 1] * data.x[target, 2]).unsqueeze(1)
        count = global_add_pool(pairs, data.batch[source], size=data.num_graphs)
        return torch.cat([torch.zeros_like(count), 4 * count - 2], dim=1)


def chain(kinds: str) -> Data:
    x = torch.eye(3)[["CNO".index(kind) for kind in kinds]]
    first = torch.arange(len(kinds) - 1)
    ends = torch.stack([first, first + 1])
    return Data(x=x, edge_index=torch.cat([ends, ends.flip(0)], dim=1))


CORE = Core(chain("NO"), SPEC, 0.88, True)
CLASSIFIER = GraphClassifier(Bonds(), SPEC, forward=lambda model, data: model(data))


def test_a_core_is_found_and_its_fall_is_what_the_model_loses() -> None:
    found = explain_graph(CLASSIFIER, chain("CCNOCC"), [(NO, []), (YES, [CORE])])
    (one,) = found.found
    assert found.assigned == ("yes",)
    assert set(one.places[0]) == {2, 3}
    # sigmoid(2) with the bond, sigmoid(-2) without it.
    assert one.fall is not None
    assert one.fall.value == pytest.approx(0.8808 - 0.1192, abs=1e-3)
    assert one.fall.control is not None
    assert one.fall.control < one.fall.value
    assert found.node_mask.view(-1).tolist() == pytest.approx(
        [0, 0, 0.7616, 0.7616, 0, 0], abs=1e-3
    )


def test_the_place_that_is_needed_most_comes_first_and_all_of_them_are_taken_out() -> None:
    (one,) = explain_graph(CLASSIFIER, chain("NOCCNO"), [(YES, [CORE])]).found
    assert one.nodes == (0, 1, 4, 5)
    assert len(one.places) == 2
    assert one.fall is not None
    # Two bonds: sigmoid(6); one: sigmoid(2); none: sigmoid(-2).
    assert one.fall.value == pytest.approx(0.9975 - 0.8808, abs=1e-3)
    assert one.fall_of_all == pytest.approx(0.9975 - 0.1192, abs=1e-3)


def test_a_graph_that_is_the_core_says_that_nothing_is_left() -> None:
    found = explain_graph(CLASSIFIER, chain("NO"), [(YES, [CORE])])
    assert found.found[0].fall is None
    assert "nothing is left" in str(found)


def test_a_graph_without_any_core_says_so() -> None:
    found = explain_graph(CLASSIFIER, chain("CCC"), [(YES, [CORE]), (NO, [])])
    assert not found.found
    assert any("none of the cores" in note for note in found.notes)
    assert any("'no' has no cores" in note for note in found.notes)


def test_values_are_plain_and_pyg_takes_them() -> None:
    found = explain_graph(CLASSIFIER, chain("CNO"), [(YES, [CORE])])
    assert found.to_json()["found"][0]["places"] == [[1, 2]]
    theirs = found.to_pyg()
    assert theirs.validate()
    assert theirs.get_explanation_subgraph().num_nodes == 2


def test_a_graph_without_nodes_is_refused() -> None:
    empty = Data(x=torch.zeros(0, 3), edge_index=torch.zeros(2, 0, dtype=torch.long))
    with pytest.raises(DataError, match="at least one node"):
        explain_graph(CLASSIFIER, empty, [(YES, [CORE])])


def test_a_graph_that_the_model_has_no_answer_for_is_refused() -> None:
    graph = chain("CNO")
    graph.x[0] = torch.nan
    with pytest.raises(DataError, match="no finite answer"):
        explain_graph(CLASSIFIER, graph, [(YES, [CORE])])
