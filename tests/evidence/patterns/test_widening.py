"""Kinds that say nothing: one structure in every colouring, and a model that looks at it alone."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GIN, global_add_pool, global_max_pool

from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.evidence.patterns.core import Core, core_check, with_names
from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.fidelity import fidelity_of, in_words
from gnninterpreter.evidence.patterns.frequent import Pattern
from gnninterpreter.evidence.patterns.pieces import Candidate, CoreSearch
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.single import explain_graph
from gnninterpreter.evidence.patterns.typed import Range, Typed
from gnninterpreter.evidence.patterns.widening import _structures
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, GraphSpec
from tests.evidence.patterns.pairs import PAIRED_CLASS, chain, real_graphs
from tests.evidence.patterns.pairs import SPEC as COLOURS

KINDS = 4
SPEC = GraphSpec(nodes=(Categorical(KINDS, name="kind"),), class_names=("square", "diamond"))
DIAMOND = ClassTarget(1, "diamond")
SHAPE = Typed((-1,) * 4, {(0, 1): 0, (1, 2): 0, (2, 3): 0, (0, 3): 0, (0, 2): 0})


def planted(label: int, rng: np.random.Generator) -> Data:
    """A tree with a square at one of its nodes, with a diagonal in the class; kinds at random."""
    count = int(rng.integers(5, 10))
    graph = nx.random_labeled_tree(count, seed=int(rng.integers(10**9)))
    ring = [count + k for k in range(4)]
    nx.add_cycle(graph, ring)
    graph.add_edge(0, ring[1])
    if label:
        graph.add_edge(ring[0], ring[2])
    forth = torch.tensor(list(graph.edges)).t()
    return Data(
        x=torch.eye(KINDS)[torch.from_numpy(rng.integers(KINDS, size=count + 4))],
        edge_index=torch.cat([forth, forth.flip(0)], dim=1),
        y=torch.tensor([label]),
    )


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = GIN(KINDS, 16, 2), nn.Linear(16, 2)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        out: Tensor = self.head(global_add_pool(self.conv(x, edge_index), batch))
        return out


@pytest.fixture(scope="module")
def real() -> RealGraphs:
    rng = np.random.default_rng(0)
    graphs = [planted(number % 2, rng) for number in range(300)]
    batch = Batch.from_data_list(graphs)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        net = Net()
    optimizer = torch.optim.Adam(net.parameters(), 0.02)
    for _ in range(150):
        optimizer.zero_grad()
        out = net(batch.x, batch.edge_index, batch.batch)
        nn.functional.cross_entropy(out, batch.y).backward()
        optimizer.step()
    return RealGraphs(GraphClassifier(net.eval(), SPEC, examples=graphs[:4]), graphs)


SEARCH = CoreSearch(seeds=24, sample=60, changed=24)


def test_a_structure_in_all_colours_is_one_core(real: RealGraphs) -> None:
    core = find_cores(real, DIAMOND, SEARCH).core
    assert core is not None
    assert all(core.open)
    assert len(core.open) == core.num_nodes
    assert "of any kind" in repr(core)
    assert core.typed.open == core.open
    assert SHAPE.same(core.typed) or core.num_nodes > 4
    assert core.coverage > 0.9
    assert core.lift > 10
    assert core.necessity.value > core.necessity.control + 0.3
    assert core.sufficiency.value > core.sufficiency.control + 0.3
    # It is found in a single graph, and kept by a run.
    held = explain_graph(real.classifier, real.graphs[1], [(DIAMOND, [core])])
    assert held.found
    again = core_check(SPEC)(core.to_json(), "core")
    assert again == core


def test_rules_may_leave_kinds_open(real: RealGraphs) -> None:
    halves = [RealGraphs(real.classifier, real.graphs[start : start + 150]) for start in (0, 150)]
    found = fidelity_of(*halves, seeds=24, search=SEARCH)
    assert found.value > 0.9
    assert "any1-any" in found.words[0]


def test_structures_are_put_together_whatever_ranges_their_numbers_have() -> None:
    # Hardly two pieces have the same ranges, so that kinds beside numbers were never opened.
    path, edges = chain("rb"), {(0, 1): 0}
    pieces = [
        Candidate(path, Typed(kinds, edges, ranges=(Range((0, 1), 0, low=low),)), 1.0, True)
        for kinds, low in (((0, 1), 5.92), ((1, 2), 5.91), ((2, 2), 5.93))
    ]
    assert [len(group) for group in _structures(pieces)] == [3]


def test_kinds_that_count_stay() -> None:
    # The model goes by pairs of red nodes, whatever the structure around them.
    found = find_cores(real_graphs(times=3), PAIRED_CLASS, CoreSearch(least=2))
    assert [core.open for core in found.cores] == [()] * len(found.cores)


def test_open_kinds_in_runs_and_words() -> None:
    core = Core(chain("rb"), COLOURS, 1.0, True, open=(True, False))
    assert with_names(core.graph, COLOURS, core.open).nodes(data=True)[0] == {"kind": "any"}
    written = core.to_json()
    assert core_check(COLOURS)(written, "core").open == (True, False)
    # Runs of before say nothing about it.
    del written["open"]
    assert core_check(COLOURS)(written, "core").open == ()
    assert in_words(Pattern(core.graph, core.typed), COLOURS) == "[any1-blue2]"
    with pytest.raises(GNNInterpreterError, match="open must have one entry"):
        Core(chain("rb"), COLOURS, 1.0, True, open=(True,))


class Between(nn.Module):
    """Says the second class where a node has neighbours of both of the first two kinds."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        near = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        found = global_max_pool((near[:, :2] > 0).all(1, keepdim=True).to(x), batch)
        score = self.scale * (found - 0.5)
        return torch.cat([-score, score], dim=1)


def test_two_kinds_that_tell_only_together_leave_the_one_between_them_open() -> None:
    kinds = 9
    spec = GraphSpec(nodes=(Categorical(kinds, name="kind"),), class_names=("apart", "between"))
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(120):
        one, other, *rest = 2 + rng.permutation(kinds - 2)
        row = [*rest[:2], 0, one, 1, other, *rest[2:]]
        if number % 2:
            row = [*rest[:2], 0, one, other, 1, *rest[2:]]
        made = chain("b" * len(row))
        made.x = torch.eye(kinds)[torch.tensor(row)]
        graphs.append(made)
    real = RealGraphs(GraphClassifier(Between(), spec, examples=graphs), graphs)
    core = find_cores(real, ClassTarget(1, "between"), SEARCH).core
    assert core is not None
    assert (core.num_nodes, core.coverage, core.others) == (3, 1.0, 0)
    shown = dict(zip(core.graph.x.argmax(1).tolist(), core.open, strict=True))
    assert (shown.pop(0), shown.pop(1), *shown.values()) == (False, False, True)
