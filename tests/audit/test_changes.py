"""The smallest change: every single change is tried, and the number is that of a brute force."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.audit import changes
from gnninterpreter.audit.changes import smallest_change
from gnninterpreter.audit.context import Context
from gnninterpreter.audit.single_changes import single_changes
from gnninterpreter.graphs import DenseGraphs, dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Categorical, GraphSpec
from tests.audit.conftest import SPEC, plain
from tests.tiny import DIRECTED, RICH, MeanDegree, graph


def dense(drawn: nx.Graph) -> DenseGraphs:
    return graph(len(drawn), list(drawn.edges), SPEC, dtype=torch.float32)


def neighbours(drawn: nx.Graph) -> Iterator[nx.Graph]:
    """Every graph one change away, written down from the definition."""
    for u, v in combinations(drawn, 2):
        made = drawn.copy()
        made.remove_edge(u, v) if drawn.has_edge(u, v) else made.add_edge(u, v)
        yield made
    for u in drawn:
        yield nx.Graph([*drawn.edges, (u, "new")])


def cleaned(drawn: nx.Graph) -> nx.Graph:
    return nx.convert_node_labels_to_integers(nx.Graph(drawn.edges))


def brute_force(drawn: nx.Graph, target: int, context: Context, most: int) -> int | None:
    """The smallest number of changes after which the model says another class."""
    level = [drawn]
    for count in range(1, most + 1):
        made = [cleaned(one) for start in level for one in neighbours(start)]
        level = [one for one in made if one.number_of_edges()]
        whole = [plain(one) for one in level if nx.is_connected(one)]
        if bool((context.predict(whole)[0] != target).any()):
            return count
    return None


def shifted(context: Context, border: float) -> Context:
    """The mean degree with another border between the classes."""
    model = MeanDegree()
    with torch.no_grad():
        model.head.bias.copy_(torch.tensor([4 * border, -4 * border]))
    return replace(context, classifier=GraphClassifier(model, SPEC))


@pytest.mark.parametrize("border", [1.55, 1.9, 2.1, 2.3, 2.45, 2.7])
@pytest.mark.parametrize(
    "drawn", [nx.path_graph(4), nx.cycle_graph(5), nx.lollipop_graph(4, 1)], ids=str
)
def test_as_small_as_brute_force(context: Context, drawn: nx.Graph, border: float) -> None:
    model = shifted(context, border)
    target = int(model.predict([plain(drawn)])[0][0])
    found = smallest_change(dense(drawn), target, model, most=2)
    assert (None if found is None else len(found.changes)) == brute_force(drawn, target, model, 2)
    if found is not None:
        assert found.exact
        assert found.label != target
        assert nx.is_connected(nx.Graph(found.graph.to_data_list()[0].edge_index.t().tolist()))


def test_single_changes_are_all_there_once() -> None:
    for drawn in (nx.path_graph(4), nx.cycle_graph(5), nx.star_graph(3)):
        mine = [nx.Graph(g.edge_index.t().tolist()) for g in changed(dense(drawn))]
        theirs = [one for one in map(cleaned, neighbours(drawn)) if one.number_of_edges()]
        assert len(mine) == len(theirs)
        assert degrees(mine) == degrees(theirs)


def changed(start: DenseGraphs) -> list[object]:
    return single_changes(start).graphs.to_data_list()


def degrees(graphs: list[nx.Graph]) -> list[list[int]]:
    return sorted(sorted(degree for _, degree in one.degree) for one in graphs)


def test_a_new_node_may_be_of_any_kind() -> None:
    atoms = GraphSpec(nodes=(Categorical(7, tuple("CNOFIPS")),), class_names=("a", "b"))
    start = graph(2, [(0, 1)], atoms, colours=[0, 0])
    found = single_changes(start)
    said = [found.words(i) for i in range(len(found.graphs))]
    assert {f"hang a new node (type {atom}) on node 0" for atom in "CNOFIPS"} <= set(said)
    # Six other atoms and seven new ones at each of two nodes; without its edge nothing is left.
    assert len(said) == len(set(said)) == 2 * (6 + 7)


def test_a_molecule_stays_one_and_gets_no_atoms_that_the_data_lacks() -> None:
    """Methylamine: what has an oxygen, a nitrogen or a carbon more, and no bond too many."""
    spec = GraphSpec(
        nodes=(Categorical(5, ("He", "Be", "C", "N", "O"), name="atom"),),
        edges=(Categorical(3, ("other", "single", "double"), name="bond"),),
        metadata={"atoms": "C N O"},
    )
    ends, kinds = torch.tensor([[0, 1], [1, 0]]), torch.eye(5)[[2, 3]]
    amine = Data(x=kinds, edge_index=ends, edge_attr=torch.eye(3)[[1, 1]], num_nodes=2)
    found = single_changes(dense_graphs([amine], spec))
    said = [found.words(i) for i in range(len(found.graphs))]
    assert not [words for words in said if "Be" in words or "He" in words or "other" in words]
    assert "hang a new node (atom O) on node 0 by an edge (bond double)" in said
    assert "hang a new node (atom N) on node 1 by an edge (bond single)" in said
    assert "give node 1 the atom O" in said
    assert [w for w in said if w.startswith("give the edge")] == [
        "give the edge between nodes 1 and 0 the bond double"
    ]
    full = Data(x=torch.eye(5)[[4, 2]], edge_index=ends, edge_attr=torch.eye(3)[[2, 2]])
    more = single_changes(dense_graphs([full], spec))
    said = [more.words(i) for i in range(len(more.graphs))]
    twice = [w for w in said if "on node 0" in w and "double" in w]
    assert twice == [], "oxygen has two bonds already, and three at most with a charge"


def test_a_new_edge_may_be_of_any_kind() -> None:
    colours = GraphSpec(edges=(Categorical(2, ("red", "green")),), class_names=("a", "b"))
    start = graph(3, [(0, 1), (1, 2)], colours)
    found = single_changes(start)
    said = {found.words(i) for i in range(len(found.graphs))}
    assert sum(words.startswith("add an edge between ") for words in said) == 2
    assert any(words.endswith(" (type green)") for words in said)
    added = [g for g in found.graphs.to_data_list() if g.num_nodes == 3 and g.num_edges == 6]
    assert sorted(int(g.edge_attr.argmax(1).sum()) for g in added) == [0, 2]


def test_directed_edges_go_one_way() -> None:
    start = graph(2, [(0, 1)], DIRECTED, colours=[0, 1])
    found = single_changes(start)
    said = [found.words(i) for i in range(len(found.graphs))]
    back = [words for words in said if words.startswith("add an edge from node ")]
    assert len(back) == 2


def test_words_for_changes_of_features() -> None:
    start = graph(3, [(0, 1), (1, 2)], replace(RICH, nodes=RICH.nodes[:1]), colours=[0, 1, 0])
    found = single_changes(start)
    said = [found.words(i) for i in range(len(found.graphs))]
    assert "give node 0 the type 1" in said
    assert any(words.startswith("give the edge between nodes ") for words in said)
    assert any(words.startswith("take out the edge between nodes ") for words in said)


def test_more_changes_are_found_by_steps(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    path = dense(nx.path_graph(6))
    found = smallest_change(path, 0, context)
    assert found is not None
    assert len(found.changes) == 2
    assert found.exact
    monkeypatch.setattr(changes, "MOST_PAIRS", 0)
    beam = smallest_change(path, 0, context)
    assert beam is not None
    assert len(beam.changes) == 2
    assert not beam.exact
    assert smallest_change(path, 0, context, most=1) is None


def test_common_kinds_of_nodes_do_before_rare_ones() -> None:
    """Red and green are both enough, and no data has green: red is said though it is less sure."""
    spec = GraphSpec(nodes=(Categorical(3, ("blue", "red", "green"), name="colour"),))
    hosts = [graph(3, [(0, 1), (1, 2)], spec, colours=[0, 1, 0]).to_data_list()[0]]
    start = graph(3, [(0, 1), (1, 2)], spec, colours=[0, 0, 0], dtype=torch.float32)
    context = Context(GraphClassifier(Colours(), spec), hosts, seed=0)
    assert context.common == {0, 1}
    found = smallest_change(start, 0, context, most=1)
    assert found is not None
    assert found.changes[0].endswith("colour red)") or found.changes[0].endswith("colour red")
    rarely = Context(context.classifier, [start.to_data_list()[0]], seed=0)
    found = smallest_change(start, 0, rarely, most=1)
    assert found is not None
    assert "green" in found.changes[0]


class Colours(nn.Module):
    """Log-odds of the second class: 2 for each red node, 6 for each green one, less 1."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[0.0], [2.0], [6.0]]))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        score = global_add_pool(x @ self.weight, batch) - 1.0
        return torch.cat([-score, score], dim=1)
