"""What the graphs of a class have in common, against figures made by hand."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_mean_pool

from gnninterpreter.evidence.accounts import _with_numbers, counts, not_by_heart, one_kind
from gnninterpreter.evidence.evidence import Evidence
from gnninterpreter.evidence.patterns.answers import Answers
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.counts import Account
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.evidence.verdict import verdict_on
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.evidence.patterns.pairs import PAIRED, PLAIN, SPEC, chain
from tests.evidence.test_controls import case
from tests.explanation.made import explanation


def test_one_kind_of_node_that_gives_the_class_away() -> None:
    found = one_kind(case([chain("brrb")] * 10 + [chain("bbbb")] * 10))
    assert (found.passed, found.value, found.reference) == (False, 1.0, 0.0)
    said = "all of the graphs of the class hold a node of colour red, and none of the others"
    assert said in found.sentence
    # What is missing gives it away as well.
    found = one_kind(case([chain("rrr")] * 10 + [chain("rbrb")] * 10))
    assert (found.passed, found.value, found.reference) == (False, 0.0, 1.0)
    assert one_kind(case([chain(c) for c in PAIRED + PLAIN])).passed
    assert one_kind(case([chain("brrb")] * 20)).passed is None
    # What two graphs hold or not is chance, unless there are more of their class than were asked.
    assert one_kind(case([chain("brrb")] * 2 + [chain("bbbb")] * 300)).passed is None
    many = one_kind(case([chain("brrb")] * 30 + [chain("bbbb")] * 3000))
    assert (many.passed, many.value, many.reference) == (False, 1.0, 0.0)


def test_nodes_with_the_very_same_numbers_that_give_the_class_away() -> None:
    """Zeros that fill graphs up are no kind by themselves, where nodes are numbers."""
    spec = GraphSpec(nodes=(Continuous(2, -3.0, 3.0),), class_names=("a", "b"))
    rng, graphs = torch.Generator().manual_seed(0), []
    for number in range(40):
        one, sign = chain("bbbb"), 1 if number % 2 else -1
        one.x = torch.randn(4, 2, generator=rng).abs() * torch.tensor([sign, 1.0])
        graphs.append(one)
    assert one_kind(marked(Offset(), spec, graphs)).name != "more than one kind"
    for graph in graphs[1::2]:
        graph.x[0] = 0.0
    found = one_kind(marked(Offset(), spec, graphs))
    assert (found.name, found.passed) == ("more than one kind", False)
    said = "all of the graphs of the class hold a node whose numbers are all 0, and none of the"
    assert said in found.sentence
    for graph in graphs[1::2]:
        graph.x[0] = torch.tensor([1.5, 2.0])
    found = one_kind(marked(Offset(), spec, graphs))
    assert "hold a node with value 0 = 1.5, value 1 = 2, and none" in found.sentence


class Offset(nn.Module):
    """Says the second class where the mean of the first number is above 0; edges are not read."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(20.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        score = self.scale * global_mean_pool(x[:, :1], batch)
        return torch.cat([-score, score], dim=1)


def marked(module: nn.Module, spec: GraphSpec, graphs: list[Data]) -> Case:
    """A graph of the second class explained, beside graphs."""
    known = GraphClassifier(module, spec, examples=graphs)
    made = explanation(dense_graphs([graphs[-1]], spec), target=1, probabilities=[0.999])
    return Case(replace(made, spec=spec), known, graphs=graphs)


def test_one_number_that_gives_the_class_away() -> None:
    spec = GraphSpec(nodes=(Continuous(2, -2.0, 2.0, ("offset", "noise")),), class_names=("a", "b"))
    graphs = []
    for number in range(40):
        one, sign = chain("bbbb"), 1 if number % 2 else -1
        one.x = torch.tensor([[sign * (1 + 0.01 * number), 0.1 * (number % 7)]]).repeat(4, 1)
        graphs.append(one)
    found = one_kind(marked(Offset(), spec, graphs))
    assert (found.name, found.passed, found.value) == ("more than one number", False, 1.0)
    assert "the mean of offset tells the graphs of the class from the others" in found.sentence
    assert verdict_on(Evidence((found,))).word == "goes by one number"

    class Other(Offset):
        """The same by a number that only goes with the first."""

        def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
            return super().forward(x.flip(1), edge_index, batch)

    for graph in graphs:
        graph.x[:, 1] = graph.x[:, 0]
    found = one_kind(marked(Other(), spec, graphs))
    assert "the mean of noise tells" in found.sentence


def test_one_number_of_edges_that_gives_the_class_away() -> None:
    class Weighing(nn.Module):
        """Says the second class where the mean weight of edges is above 1."""

        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(20.0))

        def forward(
            self, x: Tensor, edge_index: Tensor, edge_weight: Tensor, batch: Tensor
        ) -> Tensor:
            score = self.scale * global_mean_pool(edge_weight[:, None] - 1, batch[edge_index[0]])
            return torch.cat([-score, score], dim=1)

    spec = GraphSpec(
        nodes=(Categorical(2),),
        edges=(Continuous(1, 0.0, 2.0, ("weight",), name="weight"),),
        class_names=("a", "b"),
    )
    graphs = []
    for number in range(40):
        one = chain("brbb")
        one.edge_attr = torch.full((6, 1), 1.5 - number % 2 + 0.01 * (number % 7))
        graphs.append(one)
    found = one_kind(marked(Weighing(), spec, graphs))
    assert (found.name, found.passed, found.value) == ("more than one number", False, 1.0)
    assert "the mean of weight of edges tells the graphs of the class" in found.sentence


def test_both_ways_of_an_edge_get_the_same_number() -> None:
    graph, generator = chain("brbb"), torch.Generator().manual_seed(0)
    graph.edge_attr = torch.zeros(6, 1)
    made = _with_numbers(graph, "edge_attr", 0, torch.arange(99.0), generator)
    weights = dict(zip(map(tuple, made.edge_index.t().tolist()), made.edge_attr[:, 0], strict=True))
    assert all(weights[i, j] == weights[j, i] for i, j in weights)
    assert len(set(made.edge_attr.flatten().tolist())) > 1
    assert not graph.edge_attr.any()


def test_one_kind_of_edge_that_gives_the_class_away() -> None:
    class Marks(nn.Module):
        """Says the second class where an edge is of the last kind."""

        def __init__(self) -> None:
            super().__init__()
            self.scale = nn.Parameter(torch.tensor(20.0))

        def forward(
            self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor
        ) -> Tensor:
            held = x.new_zeros(int(batch.max()) + 1, 1)
            held = held.index_add(0, batch[edge_index[0]], edge_attr[:, -1:])
            score = self.scale * (held - 0.5)
            return torch.cat([-score, score], dim=1)

    spec = GraphSpec(
        nodes=(Categorical(2),), edges=(Categorical(2, name="wire"),), class_names=("a", "b")
    )
    graphs = []
    for number in range(40):
        one = chain("brbb")
        kinds = torch.zeros(6, dtype=torch.long)
        kinds[[1, 4]] = number % 2
        one.edge_attr = torch.eye(2)[kinds]
        graphs.append(one)
    found = one_kind(marked(Marks(), spec, graphs))
    assert (found.name, found.passed) == ("more than one kind of edge", False)
    assert "all of the graphs of the class hold an edge of wire 1, and none of" in found.sentence
    assert verdict_on(Evidence((found,))).word == "goes by one kind of edge"


def test_counts_are_said_where_they_tell_more_than_the_core() -> None:
    known = case([])
    assert counts(known).passed is None
    account = Account("at least 3 rings", 0.9, 0.02, 0.9)
    found = counts(replace(known, answers=Answers(account=account)))
    assert (
        found.sentence
        == "90% of the graphs of the class have at least 3 rings, and 2% of the others"
    )
    # A core in all of the class and in one of ten others is right about 0.95.
    core = Core(chain("rr"), SPEC, 1.0, True, coverage=1.0, others=1, rest=10)
    with_core = replace(case([], core), answers=Answers(account=account))
    assert (counts(with_core).passed, counts(with_core).reference) == (False, 0.95)


def test_a_class_that_nothing_tells_may_be_learned_by_heart() -> None:
    chance = Account("a ring", 0.1, 0.05, 0.52)
    found = not_by_heart(replace(case([]), answers=Answers(account=chance)))
    assert (found.passed, found.value) == (False, 0.525)
    assert verdict_on(Evidence((found,))).word == "may know its graphs by heart"
    assert not_by_heart(replace(case([]), answers=Answers(left_over=True, account=chance))).passed
    assert not_by_heart(replace(case([]), answers=Answers(account=chance, told=0.7))).passed
    assert not_by_heart(case([])).passed is None


def test_a_model_that_is_told_though_its_labels_are_not_may_have_fitted_noise() -> None:
    smooth = Account("a ring", 0.8, 0.3, 0.75, labels=0.52, guessing=0.56)
    found = not_by_heart(replace(case([]), answers=Answers(account=smooth)))
    assert (found.passed, found.value, found.reference) == (False, 0.52, 0.56)
    assert "their labels in 52%" in found.sentence
    assert verdict_on(Evidence((found,))).word == "may know its graphs by heart"
    for fine in (replace(smooth, labels=0.6), replace(smooth, labels=None)):
        assert not_by_heart(replace(case([]), answers=Answers(account=fine))).passed


def test_exceptions_that_nothing_tells_may_be_learned_by_heart() -> None:
    noisy = Account("a ring", 0.8, 0.2, 0.8, labels=0.8, odd=0.2)
    for left_over in (False, True):
        answers = Answers(account=noisy, left_over=left_over)
        found = not_by_heart(replace(case([]), answers=answers))
        assert (found.passed, found.value) == (False, 0.2)
        assert found.sentence.startswith("20% of the real graphs go against what tells most")
    assert not_by_heart(replace(case([]), answers=Answers(account=replace(noisy, odd=0.0)))).passed
