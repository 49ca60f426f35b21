from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

import gnninterpreter as gi
from gnninterpreter.evidence.patterns.answers import _as_read
from gnninterpreter.evidence.patterns.core import with_names
from gnninterpreter.evidence.patterns.cores import find_cores
from gnninterpreter.evidence.patterns.real import RealGraphs
from gnninterpreter.evidence.patterns.saying import kind_words
from gnninterpreter.evidence.patterns.typed import node_kinds, varying_columns
from gnninterpreter.evidence.patterns.unread import columns_of, without_unread
from gnninterpreter.graphs import dense_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective.target import ClassTarget
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

YES = ClassTarget(1, "yes")
SPEC = GraphSpec(
    nodes=(
        Categorical(3, names=("a", "b", "c"), name="kind"),
        Categorical(4, names=tuple("nesw"), name="region"),
        Continuous(2, 0.0, 1.0, names=("heat", "age")),
    ),
    edges=(Categorical(2, names=("road", "rail"), name="way"), Categorical(5, name="line")),
    class_names=("no", "yes"),
)


class RailFromA(nn.Module):
    """Says yes where a rail joins two nodes of kind a; region n counts as far as is said."""

    def __init__(self, region: float = 0.0, rare: bool = False) -> None:
        super().__init__()
        self.scale, self.region, self.rare = nn.Parameter(torch.tensor(10.0)), region, rare

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor) -> Tensor:
        rail, a = edge_attr[:, 1], x[:, 0]
        near = torch.zeros_like(a).index_add(0, edge_index[1], a[edge_index[0]] * rail)
        pairs = global_add_pool((a * near).unsqueeze(1), batch) / 2
        north = global_add_pool(x[:, 3:4] - 0.25, batch)
        if self.rare:  # one node of region n is enough
            pairs = torch.maximum(pairs, global_add_pool(x[:, 3:4], batch).clamp_max(1.0))
        score = self.scale * (2 * pairs.clamp_max(1.0) - 1 + self.region * north)
        return torch.cat([-score, score], dim=1)


class Either(nn.Module):
    """Says yes where all kinds are a or all regions n, which in its data are the same graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor) -> Tensor:
        both = [global_add_pool(x[:, at : at + 1], batch).gt(5.5).float() for at in (0, 3)]
        score = self.scale * (2 * torch.maximum(*both) - 1)
        return torch.cat([-score, score], dim=1)


def graph(generator: torch.Generator, twins: bool = False) -> Data:
    def one_hot(size: int, count: int = 6) -> Tensor:
        return torch.eye(size)[torch.randint(size, (count,), generator=generator)]

    forth = torch.stack([torch.arange(5), torch.arange(1, 6)])
    kind, region = one_hot(3), one_hot(4)
    if twins:  # all nodes are of kind a and of region n, or none is of either
        kind[:] = torch.eye(3)[1]
        region = torch.eye(4)[1:][torch.randint(3, (6,), generator=generator)]
        if float(torch.rand(1, generator=generator)) < 0.3:
            kind[:], region[:] = torch.eye(3)[0], torch.eye(4)[0]
    ways = torch.cat([one_hot(2, 5), one_hot(5, 5)], dim=1)
    return Data(
        x=torch.cat([kind, region, torch.rand(6, 2, generator=generator)], dim=1),
        edge_index=torch.cat([forth, forth.flip(0)], dim=1),
        edge_attr=torch.cat([ways, ways]),
    )


def known(model: nn.Module, **settings: bool) -> tuple[GraphClassifier, list[Data]]:
    generator = torch.Generator().manual_seed(0)
    graphs = [graph(generator, **settings) for _ in range(120)]
    return GraphClassifier(model, SPEC, examples=graphs), graphs


def unread(spec: GraphSpec) -> set[str]:
    found = {b.name for b in (*spec.nodes, *spec.edges) if getattr(b, "read", True) is False}
    numbers = spec.nodes[2]
    marks = zip(numbers.names, numbers.read or (True,) * numbers.dim, strict=True)
    return found | {name for name, read in marks if not read}


def test_columns_that_are_not_read_are_marked_and_told():
    classifier, graphs = known(RailFromA())
    spec, lines = without_unread(classifier, graphs)
    assert unread(spec) == {"region", "line", "heat", "age"}
    assert lines == [
        "the model does not read 'region', 'heat' and 'age' of nodes and 'line' of edges: "
        "shuffling changes no output; cores and kinds are told without them"
    ]
    assert spec == classifier.spec  # of the same graphs, and marks are kept where it is stored
    assert unread(GraphSpec.from_json(spec.to_json())) == unread(spec)
    assert "read" not in str(classifier.spec.to_json())


def test_what_is_read_a_little_is_left_out_with_a_figure_and_what_is_read_is_not():
    classifier, graphs = known(RailFromA(region=0.05))
    spec, lines = without_unread(classifier, graphs)
    assert "region" in unread(spec)
    assert lines[1].startswith("the model hardly reads 'region' of nodes: shuffling moves outputs")
    classifier, graphs = known(RailFromA(region=1.0))
    assert "region" not in unread(without_unread(classifier, graphs)[0])


def test_a_kind_that_is_rare_and_decides_makes_its_column_one_that_is_read():
    classifier, graphs = known(RailFromA(rare=True))
    for number, one in enumerate(graphs):
        region = torch.randint(1, 4, (6,), generator=torch.Generator().manual_seed(number))
        one.x[:, 3:7] = torch.eye(4)[region]
    assert "region" in unread(without_unread(classifier, graphs)[0])  # no graph holds it
    graphs[0].x[0, 3:7] = torch.eye(4)[0]
    assert "region" not in unread(without_unread(classifier, graphs)[0])


def test_columns_that_stand_in_for_each_other_are_not_both_left_out():
    classifier, graphs = known(Either(), twins=True)
    assert len(unread(without_unread(classifier, graphs)[0]) & {"kind", "region"}) == 1


def test_a_column_that_hardly_varies_is_not_judged():
    classifier, graphs = known(RailFromA())
    for one in graphs[2:]:
        one.x[:, 3:7] = torch.eye(4)[0]
    assert "region" not in unread(without_unread(classifier, graphs)[0])


def test_few_graphs_and_noisy_models_say_nothing():
    classifier, graphs = known(RailFromA())
    assert without_unread(classifier, graphs[:10]) == (SPEC, [])
    classifier.noisy = True
    assert without_unread(classifier, graphs)[1] == []


def test_kinds_words_and_cores_are_by_what_is_read():
    classifier, graphs = known(RailFromA())
    whole = find_cores(RealGraphs(classifier, graphs), YES).core
    classifier.spec, _ = without_unread(classifier, graphs)
    core = find_cores(RealGraphs(classifier, graphs), YES).core
    assert core.coverage == 1.0
    assert whole is None or whole.coverage < 0.5
    assert core.num_nodes == 2
    named = with_names(core.graph, core.spec, core.open)
    assert [set(values) for values in named.nodes.values()] == [{"kind", "heat", "age"}] * 2
    assert [set(values) for _, _, values in named.edges(data=True)] == [{"way"}]
    assert core.graph.x.size(1) == SPEC.node_width
    assert kind_words(core.graph, 0, core.spec) == " of kind a"
    assert max(max(own) for own in node_kinds(graphs, core.spec)) == 2
    assert varying_columns(core.spec.nodes) == []
    assert core.held_by(graphs[RealGraphs(classifier, graphs).of(YES)[0]])


def test_rare_kinds_of_what_is_not_read_are_not_held_against_a_core():
    classifier, graphs = known(RailFromA())
    classifier.spec, _ = without_unread(classifier, graphs)
    found = _as_read(dense_graphs(graphs[:1], classifier.spec))
    assert torch.equal(found.nodes[0, :, :3], graphs[0].x[:, :3])
    assert not found.nodes[0, :, 3:7].any()
    assert torch.equal(found.nodes[0, :, 7:], graphs[0].x[:, 7:])
    assert found.edges[..., :2].any()
    assert not found.edges[..., 2:].any()


def test_explain_says_it_and_keeps_it(tmp_path):
    _, graphs = known(RailFromA())
    found = gi.explain(RailFromA(), graphs, spec=SPEC, targets="yes", restarts=2, progress=False)
    line = next(line for line in found.inferred if "does not read" in line)
    assert line in found["yes"].notes
    assert found["yes"].core.coverage == 1.0
    assert found["yes"].best.x.size(1) == SPEC.node_width
    again = gi.load(found.save(tmp_path / "run"))
    assert again["yes"].core.held_by(graphs[0]) == found["yes"].core.held_by(graphs[0])
    assert unread(again.spec) == unread(found.spec)


@pytest.mark.parametrize("blocks", [(Categorical(2),), (Continuous(3), Categorical(2))])
def test_columns_are_choices_as_a_whole_and_single_numbers(blocks):
    spec = GraphSpec(nodes=blocks)
    assert sum(one.columns.stop - one.columns.start for one in columns_of(spec)) == spec.node_width
