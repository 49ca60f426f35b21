"""What stands behind an explanation, against figures made by hand."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

from gnninterpreter.evidence import evidence_of
from gnninterpreter.evidence.controls import connected_weights, random_control
from gnninterpreter.evidence.evidence import Check, Evidence
from gnninterpreter.evidence.patterns.answers import LEFT_OVER, Answers
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.reaching import Case, reached
from gnninterpreter.evidence.verdict import verdict_on
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import ValueTarget
from gnninterpreter.spec import Continuous, GraphSpec
from tests.evidence.patterns.pairs import SPEC, chain, classifier
from tests.explanation.made import explanation


@pytest.mark.parametrize("directed", [False, True])
def test_random_graphs_are_in_one_piece_and_of_the_size_asked_for(directed: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    weight = connected_weights(40, 6, (5, 8), directed, generator)
    counts = weight.sum(dim=(1, 2)) / (1 if directed else 2)
    assert set(counts.tolist()) == {5.0, 6.0, 7.0, 8.0}
    assert not weight.diagonal(dim1=1, dim2=2).any()
    for one in weight:
        assert nx.is_connected(nx.from_numpy_array((one + one.t()).numpy()))
    full = connected_weights(2, 3, (9, 9), directed, generator)
    assert (full.sum(dim=(1, 2)) == 6).all()


def labelled(colours: str, label: int) -> Data:
    graph = chain(colours)
    graph.y = torch.tensor([label])
    return graph


def case(graphs: list[Data], core: Core | None = None, colours: str = "brrb") -> Case:
    """The pair explained, beside graphs."""
    one = explanation(dense_graphs([chain(colours)], SPEC), target=1, probabilities=[0.999])
    one = replace(one, spec=SPEC, cores=[core] if core else [])
    return Case(one, classifier(), graphs=graphs)


def check(name: str, given: Case) -> Check:
    return evidence_of(given.explanation, given.classifier, graphs=given.graphs)[name]


def test_few_large_random_graphs_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = [chain("br" * 3)] * 12
    assert "the best of 1" in random_control(case(graphs, colours="br" * 3)).sentence
    monkeypatch.setattr("gnninterpreter.evidence.controls.MOST_PAIRS", 36 * 30)
    few = random_control(case(graphs, colours="br" * 3)).sentence
    assert int(few.split("the best of ")[1].split()[0]) <= 30


def test_random_graphs_have_the_features_of_real_ones() -> None:
    """Without red nodes in the data no random graph has a red pair; with nothing else all do."""
    rare = random_control(case([chain("bbbb")] * 12))
    assert rare.passed
    assert rare.value == pytest.approx(0.0, abs=1e-3)
    common = random_control(case([chain("rrrr")] * 12))
    assert common.passed is False
    assert "the class is what the model says of most graphs" in common.sentence


def test_real_graphs_that_are_kept_lend_their_features_where_there_is_no_data() -> None:
    """Drawn evenly, half of the nodes are red and a pair comes about by chance."""
    given = case([], colours="rrbbbbbb")
    assert (found := random_control(given).value) is not None
    assert float(found) > 0.5
    kept = replace(given, kept=([chain("bbbb")] * 12, [], [chain("rbbb")] * 2))
    assert random_control(kept).passed
    common = random_control(replace(given, kept=([chain("rrrr")] * 2, [chain("rrr")])))
    assert common.passed is False
    assert "the class is what the model says of most graphs" in common.sentence


def test_classes_lend_alike_whatever_number_of_their_graphs_is_kept() -> None:
    """A hundred graphs without red nodes do not crowd out the two with nothing else."""
    given = case([], colours="rrbbbbbb")
    crowded = random_control(replace(given, kept=([chain("bbb")] * 100, [chain("rrr")] * 16)))
    alone = random_control(replace(given, kept=([chain("bbb")] * 100, [])))
    assert isinstance(crowded.value, float)
    assert isinstance(alone.value, float)
    assert crowded.value > 0.2 > alone.value


def test_what_is_kept_tells_size_from_what_most_graphs_get() -> None:
    """As in data: graphs as small as those that are kept of the others have no pair by chance."""
    large, small = [chain("rb" * 6 + "rr")] * 20, [chain("rbb")] * 20
    given = case([], colours="rb" * 6 + "rr")
    found = random_control(replace(given, kept=(small, large)))
    assert (found.name, found.passed) == ("size and density", False)


def test_random_graphs_do_not_get_the_kinds_that_make_the_class() -> None:
    """Red nodes lent to random graphs are neighbours; of the graphs without a pair none is red."""
    graphs = [chain("rrrr")] * 20 + [chain("bbbb")] * 4
    assert random_control(case(graphs)).passed is False
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, lift=50.0)
    assert random_control(case(graphs, core)).passed
    assert random_control(case(graphs[:20], core)).passed is False


@pytest.mark.parametrize(("lending", "passed"), [("bbbb", True), ("rrrr", False)])
def test_random_graphs_go_by_values_as_asked_for_not_by_values_near_them(
    lending: str, passed: bool
) -> None:
    """Of blue nodes none has a pair and the value that was asked for; beside its unit all do."""
    given = case([chain(lending)] * 12)
    wide = ValueTarget(1, "max", "max", reach=5.0, unit=20.0)
    found = random_control(replace(given, explanation=replace(given.explanation, target=wide)))
    assert found.passed is passed
    assert found.value == float(not passed)


def test_random_graphs_that_must_be_as_dense_show_what_the_model_goes_by() -> None:
    """Of eight nodes, half of them red, two neighbours are; of two nodes seldom."""
    dense = replace(case([]), classifier=classifier(), graphs=[chain("rb")] * 12)
    one = explanation(dense_graphs([complete(8)], SPEC), target=1, probabilities=[0.999])
    found = random_control(replace(dense, explanation=replace(one, spec=SPEC)))
    assert (found.name, found.passed) == ("size and density", False)
    assert found.sentence.endswith("as many nodes and edges are enough for the class")


def test_what_is_said_of_graphs_as_large_as_others_is_no_default() -> None:
    """Large graphs with red nodes have pairs by chance; graphs as small as the others do not."""
    large, small = [chain("rb" * 6 + "rr")] * 20, [chain("rbb")] * 10
    found = random_control(case([*large, *small], colours="rb" * 6 + "rr"))
    assert (found.name, found.passed) == ("size and density", False)
    assert found.sentence.endswith("as many nodes and edges are enough for the class")


def test_random_graphs_that_differ_by_their_numbers_alone_are_no_control() -> None:
    class Dense(nn.Module):
        """Says the second class of four nodes with six edges."""

        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(10.0))

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            count = torch.zeros(int(batch.max()) + 1, 1)
            count = count.index_add(0, batch[edge_index[0]], torch.ones(edge_index.size(1), 1))
            score = self.scale * (count - 11)
            return torch.cat([-score, score], dim=1)

    spec = GraphSpec(nodes=(Continuous(1, -1.0, 1.0),), class_names=("other", "complete"))
    full = complete(4)
    full.x = torch.rand(4, 1)
    known = GraphClassifier(Dense(), spec, examples=[full])
    one = explanation(dense_graphs([full], spec), target=1, probabilities=[0.999])
    found = random_control(Case(replace(one, spec=spec), known, graphs=[full] * 12))
    assert found.passed is None
    assert found.sentence == "no other graph of this size and density can be drawn"


def test_a_class_told_by_size_though_its_smallest_graph_is_special() -> None:
    """With half of the nodes red one pair of four is; of thirty nodes two neighbours always are."""
    large, small = [chain("rb" * 14 + "rr")] * 12, [chain("rb")] * 12
    found = random_control(case([*large, *small], colours="rr"))
    assert (found.name, found.passed) == ("size and density", False)
    assert found.sentence.startswith("random graphs as large as those of the class get ")
    alike = [chain("bbbb" + "b" * i + "rr") for i in range(12)]
    others = [chain("bbbbbb" + "b" * i) for i in range(12)]
    assert random_control(case([*alike, *others], colours="rr")).name == "random graphs"


def test_a_class_told_by_size_is_held_against_what_real_graphs_get() -> None:
    """A model that is seldom sure gives random graphs less than the prototype, as it does real."""
    large, small = [chain("rb" * 14 + "rr")] * 12, [chain("rb")] * 12
    given = case([*large, *small], colours="rr")
    unsure = replace(given, classifier=classifier(scale=0.02))
    found = random_control(unsure)
    assert (found.name, found.passed) == ("size and density", False)
    assert isinstance(found.reference, float)
    assert 0.5 < found.reference < 0.55


class Counting(nn.Module):
    """The number of nodes, and so much more for each that is red."""

    def __init__(self, size: float, red: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([size, size + red]))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return global_add_pool(x @ self.weight.unsqueeze(1), batch)


@pytest.mark.parametrize(("size", "red", "told"), [(1.0, 0.3, True), (0.0, 1.0, False)])
def test_an_end_of_a_scale_may_be_size(size: float, red: float, told: bool) -> None:
    """The most red ones of each size: random graphs as large come near, and do not get there."""
    graphs = [chain("b" * (n - n // 4) + "r" * (n // 4)) for n in range(4, 24)]
    graphs += [chain("r" * n) for n in (4, 8, 12, 16)] * 3 + [chain("r" * 23)] * 10
    if not told:
        graphs = [chain("b" * (24 - n) + "r" * n) for n in range(4, 24)] * 2
    spec = replace(SPEC, class_names=("value",))
    known = GraphClassifier(Counting(size, red), spec, examples=graphs, task="regression")
    reach = float(known.score_data(graphs).outputs.max()) - 1.0
    target = ValueTarget(0, "max", "max", reach, 1.0, "value")
    made = explanation(dense_graphs([graphs[-1]], SPEC), target=0, probabilities=[0.999])
    found = random_control(Case(replace(made, spec=spec, target=target), known, graphs=graphs))
    assert (found.name == "size and density") is told
    if told:
        assert "goes along with the size of graphs (r2), and random ones as large" in found.sentence


def test_a_class_that_is_what_is_left_does_not_go_by_size() -> None:
    dense = replace(case([]), classifier=classifier(), graphs=[chain("rb")] * 12)
    one = explanation(dense_graphs([complete(8)], SPEC), target=1, probabilities=[0.999])
    left = replace(one, spec=SPEC)
    found = random_control(replace(dense, explanation=left, answers=Answers(left_over=True)))
    assert (found.name, found.passed) == ("left over", False)
    assert verdict_on(Evidence((found,))).word == "what is left without the other classes"
    assert found.sentence.endswith(f"{LEFT_OVER}, as in most random graphs")


def complete(count: int) -> Data:
    """Every pair joined, all nodes red."""
    pairs = torch.combinations(torch.arange(count)).t()
    x = torch.eye(2)[torch.ones(count, dtype=torch.long)]
    return Data(x=x, edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))


def test_a_class_that_the_model_gives_to_no_sample_is_not_reached() -> None:
    """Half a percent is the top tenth of real graphs, and says nothing."""
    given = case([])
    low = replace(given, assigned=torch.zeros(10, dtype=torch.bool))
    assert reached(replace(given, assigned=torch.ones(10, dtype=torch.bool))).passed
    assert reached(low).passed is False
