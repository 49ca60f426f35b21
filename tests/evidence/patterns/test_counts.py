from __future__ import annotations

from typing import Any

import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import global_mean_pool

from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.counts import (
    Account,
    Column,
    account_for,
    counted,
    joined,
)
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.saying import kind_words
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.evidence.patterns import hot
from tests.evidence.patterns.pairs import (
    PAIRED,
    PAIRED_CLASS,
    PLAIN,
    SPEC,
    RedPairs,
    chain,
    classifier,
    real_graphs,
)


def ring(colours: str) -> Data:
    graph = chain(colours)
    last = len(colours) - 1
    graph.edge_index = torch.cat([graph.edge_index, torch.tensor([[0, last], [last, 0]])], dim=1)
    return graph


def columns(graphs: list[Data]) -> dict[str, list[float]]:
    """The counts of graphs by what "at least two" of them is called."""
    values, found = counted(RealGraphs(classifier(), graphs), range(len(graphs)))
    return {column.said(2, True): row.tolist() for column, row in zip(found, values.T, strict=True)}


def test_counts_of_graphs_made_by_hand() -> None:
    found = columns([ring("rbb"), ring("rrbbb"), chain("rrb"), chain("bbbb")])
    assert found == {
        "at least 2 nodes of colour blue": [2, 3, 1, 4],
        "at least 2 nodes of colour red": [1, 2, 2, 0],
        "at least 2 edges between a node of colour blue and one of colour blue": [1, 2, 0, 3],
        "at least 2 edges between a node of colour blue and one of colour red": [2, 2, 1, 0],
        "at least 2 edges between a node of colour red and one of colour red": [0, 1, 1, 0],
        "at least 2 rings": [1, 1, 0, 0],
        "at least 2 rings of 3 nodes": [1, 0, 0, 0],
        "at least 2 rings of 5 nodes": [0, 1, 0, 0],
        "at least 2 nodes": [3, 5, 3, 4],
        "at least 2 edges": [3, 5, 2, 3],
    }


def test_pieces_and_nodes_that_rings_share() -> None:
    apart = Data(x=torch.eye(2)[[0] * 4], edge_index=torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]]))
    fused = ring("bbbbbb")
    fused.edge_index = torch.cat([fused.edge_index, torch.tensor([[0, 3], [3, 0]])], dim=1)
    found = columns([apart, fused, ring("bbb"), chain("bbb")])
    assert found["at least 2 separate pieces"] == [2, 1, 1, 1]
    assert found["at least 2 nodes that rings share"] == [0, 2, 0, 0]


def test_kinds_count_by_each_of_their_features_too() -> None:
    spec = GraphSpec(
        nodes=(Categorical(2, ("C", "O"), name="atom"), Categorical(2, name="feature 1")),
        class_names=("plain", "paired"),
    )
    two = [chain("br"), chain("rr")]
    for graph in two:
        graph.x = torch.cat([graph.x, torch.eye(2)], dim=1)
    known = GraphClassifier(RedPairs(), spec, examples=two)
    values, found = counted(RealGraphs(known, two), range(2))
    said = [column.said(2, True) for column in found]
    assert said[:2] == ["at least 2 nodes of atom C", "at least 2 nodes of atom O"]
    assert values[:, :2].T.tolist() == [[1, 0], [1, 2]]
    # A number behind a name that ends in one is told apart from it.
    assert "at least 2 nodes of atom O and feature 1 = 0" in said


def test_numbers_count_by_their_largest_and_smallest() -> None:
    real = hot.real_graphs(4)
    values, found = counted(real, range(4))
    heat = [max(row[0] for row in one.values) for one in real.typed]
    place = [one.said(0.5, True) for one in found].index("a node with heat of at least 0.5")
    assert values[:, place].tolist() == heat
    assert found[place].said(0.5, False) == "no node with heat above 0.5"


def test_conditions_are_said_as_people_say_them() -> None:
    column = Column("at least {} rings", "at most {} rings", "a ring", "no ring")
    said = [
        column.said(1, True),
        column.said(3, True),
        column.said(0, False),
        column.said(1, False),
    ]
    assert said == ["a ring", "at least 3 rings", "no ring", "at most one ring"]
    assert kind_words(chain("br"), 1, SPEC) == " of colour red"


@pytest.mark.parametrize(
    ("first", "joint", "second", "said"),
    [
        ("at least 3 rings", " and ", "at most 3 rings", "exactly 3 rings"),
        ("at most one ring", " and ", "a ring", "exactly one ring"),
        ("at least 3 rings", " or ", "at most 3 rings", "at least 3 rings or at most 3 rings"),
        ("at least 3 rings", " and ", "at most 3 nodes", "at least 3 rings and at most 3 nodes"),
        (
            "at most one ring of 3 nodes",
            " and ",
            "a ring",
            "at most one ring of 3 nodes and a ring",
        ),
    ],
)
def test_as_many_and_no_more_is_exactly_so_many(
    first: str, joint: str, second: str, said: str
) -> None:
    assert joined(first, joint, second) == said


def test_the_condition_that_tells_most_is_measured_on_other_graphs() -> None:
    account = account_for(real_graphs(times=4), PAIRED_CLASS)
    assert account is not None
    assert account.words == "an edge between a node of colour red and one of colour red"
    assert (account.own, account.others, account.accuracy) == (1.0, 0.0, 1.0)
    assert account.together > 0.9
    assert account_for(real_graphs(), PAIRED_CLASS) is None
    assert Account("", 0.6, 0.4, 0.5).accuracy == pytest.approx(0.6)


class Labelled(torch.nn.Module):
    """Says what stands in a graph's last column, as a model that knows its graphs by heart."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, batch: torch.Tensor) -> Any:
        """Return class logits."""
        said = global_mean_pool(x[:, -1:], batch)
        return torch.cat([-said, said], dim=1)


def numbered(label: float, beside: bool, rng: torch.Generator) -> Data:
    """A ring of eight in which two nodes of one group are beside each other, or apart."""
    group = torch.zeros(8, dtype=torch.long)
    group[[0, 1 if beside else 4]] = 1
    centres = torch.tensor([[1.0, 0.0, -1.0], [-1.0, 1.0, 1.0]])
    x = centres[group] + 0.2 * torch.randn(8, 3, generator=rng)
    ends = torch.arange(8)
    index = torch.stack([ends, (ends + 1) % 8])
    x = torch.cat([x, torch.full((8, 1), label)], dim=1)
    return Data(x=x, edge_index=torch.cat([index, index.flip(0)], dim=1))


@pytest.mark.parametrize("by_heart", [False, True])
def test_untrained_networks_tell_what_counts_cannot_say(by_heart: bool) -> None:
    rng = torch.Generator().manual_seed(0)
    truths = [i % 2 == 0 for i in range(200)]
    labels = [bool(torch.rand(1, generator=rng) < 0.5) if by_heart else t for t in truths]
    graphs = [
        numbered(2.0 * said - 1.0, truth, rng) for said, truth in zip(labels, truths, strict=True)
    ]
    # What the model reads is there for it alone.
    spec = GraphSpec(
        nodes=(Continuous(3, -3.0, 3.0), Continuous(1, 0.0, 0.0)), class_names=("a", "b")
    )
    real = RealGraphs(GraphClassifier(Labelled(), spec), graphs)
    for graph in real.graphs:
        graph.x = torch.cat([graph.x[:, :3], torch.zeros(8, 1)], dim=1)
    account = account_for(real, ClassTarget(1, "b"))
    assert account is not None
    assert max(account.accuracy, account.together) < 0.65
    assert (account.untrained > 0.9) is not by_heart
    assert account.untrained < 0.65 or not by_heart


@pytest.mark.parametrize("noise", [False, True])
def test_labels_are_told_apart_from_what_the_model_says(noise: bool) -> None:
    real = RealGraphs(classifier(), [chain(one) for one in (PAIRED + PLAIN) * 8])
    plain = account_for(real, PAIRED_CLASS)
    assert plain is not None
    assert plain.labels is None
    rng = torch.Generator().manual_seed(0)
    for graph, mine in zip(real.graphs, real.mine(PAIRED_CLASS), strict=True):
        drawn = bool(torch.rand(1, generator=rng) < 0.5)
        graph.y = torch.tensor([PAIRED_CLASS.index if (drawn if noise else mine) else 0])
    account = account_for(real, PAIRED_CLASS)
    assert account is not None
    assert account.together > 0.9
    assert account.labels is not None
    assert (account.labels < account.guessing) is noise
    assert 0.5 < account.guessing <= 0.6


@pytest.mark.parametrize("by_heart", [False, True])
def test_wrong_labels_that_a_model_says_are_exceptions(by_heart: bool) -> None:
    """A model that says a pair of red nodes, and the contrary of a fifth of the graphs."""
    graphs = [chain(one) for one in (PAIRED + PLAIN) * 8]
    real = RealGraphs(classifier(), graphs)
    core = Core(chain("rr"), real.classifier.spec, 1.0, True)
    wrong = torch.rand(len(graphs), generator=torch.Generator().manual_seed(0)) < 0.2
    if by_heart:
        real.scores.logits[wrong] *= -1
    for graph, mine in zip(graphs, real.mine(PAIRED_CLASS), strict=True):
        graph.y = torch.tensor([int(mine)])
    account = account_for(real, PAIRED_CLASS, core=core)
    assert account is not None
    assert account.odd == (pytest.approx(float(wrong.double().mean())) if by_heart else 0.0)
