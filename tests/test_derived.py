"""Derived features from end to end: no graph that is shown contradicts itself."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric import transforms
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GINConv, global_mean_pool
from torch_geometric.utils import from_networkx

import gnninterpreter as gi
from gnninterpreter.audit import audit
from gnninterpreter.errors import ModelError, SpecError
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import random_graphs
from gnninterpreter.interchange import graph_to_json
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import ClassTarget
from gnninterpreter.relax import RelaxedModel, probe
from gnninterpreter.search.edits import DRAWS, GROW, FeaturePool, propose
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.derived import _FUNCTIONS
from gnninterpreter.testing import assert_absent_means_absent, assert_discrete_consistency
from gnninterpreter.web.backend import Backend
from tests.tiny import seeded

MOST = 9


class Roots(transforms.BaseTransform):
    """A transform of a user's own: appends the root of the degree."""

    def forward(self, data: Data) -> Data:
        degree = data.edge_index[0].bincount(minlength=data.num_nodes).view(-1, 1)
        data.x = torch.cat([data.x, degree.sqrt()], dim=1)
        return data


KNOWN = transforms.Compose([transforms.OneHotDegree(MOST), transforms.AddRandomWalkPE(3)])
OWN = transforms.Compose([KNOWN, Roots()])


class Reader(nn.Module):
    """Reads ``x`` and the walks, which lie beside it."""

    def __init__(self, width: int, hidden: int = 8) -> None:
        super().__init__()
        self.first = GINConv(nn.Sequential(nn.Linear(width + 3, hidden), nn.ReLU()))
        self.second = GINConv(nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU()))
        self.head = nn.Linear(hidden, 2)

    def forward(
        self, x: Tensor, edge_index: Tensor, random_walk_pe: Tensor, batch: Tensor
    ) -> Tensor:
        x = self.first(torch.cat([x, random_walk_pe], dim=1), edge_index)
        x = self.second(x, edge_index)
        out: Tensor = self.head(global_mean_pool(x, batch))
        return out


def crews(count: int = 60) -> list[Data]:
    """People who play in one film (a clique), or in many (a star of cliques), with two features."""
    generator = torch.Generator().manual_seed(0)
    graphs = []
    for number in range(count):
        size = 4 + number // 2 % 4
        drawn = nx.complete_graph(size) if number % 2 else nx.star_graph(size)
        if number % 4 == 0:
            drawn.add_edge(1, 2)
        data = from_networkx(drawn)
        kind = torch.eye(2)[torch.randint(2, (data.num_nodes,), generator=generator)]
        data.x = torch.cat([kind, torch.rand(data.num_nodes, 1, generator=generator)], dim=1)
        data.y = torch.tensor([number % 2])
        graphs.append(data)
    return graphs


@lru_cache(maxsize=2)
def trained(own: bool) -> tuple[nn.Module, list[Data]]:
    graphs = [(OWN if own else KNOWN)(data) for data in crews()]
    batch = Batch.from_data_list(graphs)
    model = seeded(lambda: Reader(batch.x.size(1)))
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    for _ in range(150):
        optimizer.zero_grad()
        scores = model(batch.x, batch.edge_index, batch.random_walk_pe, batch.batch)
        nn.functional.cross_entropy(scores, batch.y).backward()
        optimizer.step()
    return model.eval(), graphs


@lru_cache(maxsize=4)
def searched(own: bool, seed: int) -> gi.ExplanationSet:
    model, graphs = trained(own)
    targets = [1] if own else None
    features = OWN if own else None
    return gi.explain(
        model, graphs, features=features, targets=targets, seed=seed, restarts=2, progress=False
    )


def explained(own: bool = False, seed: int = 0) -> gi.ExplanationSet:
    return searched(own, seed)


def shown(explanation: Explanation) -> list[Data]:
    found = [explanation.best, *explanation.sample(20), *explanation.exemplars(8)]
    found += [mode.graph for mode in explanation.modes(0.0)]
    found += [core.graph for core in (*explanation.cores, *explanation.shortcuts)]
    return found


def assert_consistent(graph: Data, transform: transforms.BaseTransform = KNOWN) -> None:
    """Compare with what PyG's transform itself makes of the edges and the free columns."""
    bare = Data(x=graph.x[:, :3], edge_index=graph.edge_index, num_nodes=graph.num_nodes)
    wanted = transform(bare)
    assert torch.allclose(graph.x, wanted.x, atol=1e-5)
    assert torch.allclose(graph.random_walk_pe, wanted.random_walk_pe, atol=1e-5)


class Degrees(nn.Module):
    """Asks for many edges a node; sees nothing but degrees."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        mean: Tensor = global_mean_pool(x @ torch.arange(x.size(1)).to(x), batch)
        return torch.stack([3.0 - mean, mean - 3.0], 1) * 9


@pytest.mark.parametrize("count", [12, 40])
def test_nothing_but_derived_columns_and_few_graphs(count: int) -> None:
    degrees = transforms.OneHotDegree(MOST)
    graphs = [degrees(Data(edge_index=g.edge_index, num_nodes=g.num_nodes)) for g in crews(count)]
    for number, graph in enumerate(graphs):
        graph.y = torch.tensor([number % 2])
    found = gi.explain(Degrees(), graphs, targets=[1], restarts=2, progress=False)["class 1"]
    assert found.probability.mean >= 0.99
    bare = Data(edge_index=found.best.edge_index, num_nodes=found.best.num_nodes)
    assert torch.equal(found.best.x, degrees(bare).x)
    # Six graphs of a class are enough to begin at, and too few to say what is typical.
    assert (found.typicality is None) == (count == 12)
    assert found.restarts[0].reason == "converged"
    assert any("it takes 10 real graphs" in note for note in found.notes) == (count == 12)


class TestNoContradiction:
    @pytest.mark.parametrize(("own", "seed"), [(False, 0), (False, 1), (True, 0)])
    def test_every_graph_that_is_shown(self, own: bool, seed: int) -> None:
        result = explained(own, seed)
        for explanation in result.values():
            assert explanation.mode_probability >= 0.99
            for graph in shown(explanation):
                assert_consistent(graph, OWN if own else KNOWN)

    def test_what_was_recognised_is_said(self) -> None:
        lines = "\n".join(explained().inferred)
        assert "columns 3 to 12 of 'x' recognised as degree one-hot" in lines
        assert "'random_walk_pe' (random walk) of the nodes follows from the graph" in lines
        assert explained().spec.nodes[0] == Categorical(2)
        assert "'Roots' follows from the graph by steps that have no slope" in "\n".join(
            explained(own=True).inferred
        )

    def test_moves_and_edits(self) -> None:
        spec = explained().spec
        draw = torch.Generator().manual_seed(0)
        graphs = random_graphs(spec, 40, 7, draw)
        space = MoveSpace(spec, 7, graphs.weight.device)
        moves = torch.randint(space.total, (40,), generator=draw)
        changed = [space.apply(graphs, moves)]
        chances = torch.rand(40, DRAWS, generator=draw)
        changed.append(propose(graphs, chances, FeaturePool.of(graphs), GROW))
        for batch in changed:
            for graph in batch.to_data_list():
                assert_consistent(graph)

    def test_audit(self) -> None:
        model, graphs = trained(False)
        found = audit(model, graphs, explanations=explained(), hosts=10)
        for finding in found.findings:
            for graph in (*finding.graphs, *(one.graph for one in finding.evidence)):
                assert_consistent(graph)
        assert any(finding.evidence for finding in found.findings)


class TestLivePage:
    def test_an_edit_is_scored_as_the_transform_would_have_it(self, tmp_path: Path) -> None:
        model, graphs = trained(False)
        result = explained()
        backend = Backend(result, tmp_path, model, graphs)
        values = graph_to_json(graphs[1], result.spec)
        values["edges"] = values["edges"][1:]
        changed = backend.read(values)
        assert_consistent(changed)
        with torch.no_grad():
            batch = torch.zeros(changed.num_nodes, dtype=torch.long)
            wanted = model(changed.x, changed.edge_index, changed.random_walk_pe, batch)
        assert backend.score(values)["values"] == pytest.approx(
            wanted.softmax(1)[0].tolist(), abs=1e-5
        )

    def test_a_degree_that_has_no_column(self, tmp_path: Path) -> None:
        model, graphs = trained(False)
        backend = Backend(explained(), tmp_path, model, graphs)
        star = {"nodes": [[0, None, [0.5]]] * (MOST + 2)}
        star["edges"] = [[0, i] for i in range(1, MOST + 2)]
        with pytest.raises(ModelError, match="no graph that can have 'degree and random_walk_pe'"):
            backend.score(star)


class TestStorage:
    @pytest.mark.parametrize("own", [False, True])
    def test_round_trip(self, own: bool, tmp_path: Path) -> None:
        result = explained(own)
        result.save(tmp_path / "run")
        back = gi.load(tmp_path / "run")
        assert back.spec == result.spec
        for name in result:
            for one, other in zip(shown(result[name]), shown(back[name]), strict=True):
                assert torch.equal(one.x, other.x)
                assert torch.equal(one.random_walk_pe, other.random_walk_pe)

    def test_a_transform_that_is_not_at_hand(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        explained(own=True).save(tmp_path / "run")
        monkeypatch.delitem(_FUNCTIONS, "transform Roots()")
        back = gi.load(tmp_path / "run")
        best = back[1].best
        assert best.x[:, -1].isnan().all()
        assert_consistent(
            Data(
                x=best.x[:, :-1],
                **{k: best[k] for k in ("edge_index", "num_nodes", "random_walk_pe")},
            )
        )
        assert back[1].graph.number_of_edges() == back[1].num_edges
        assert back.report(tmp_path / "report.html").exists()
        with pytest.raises(SpecError, match=r"'Roots' was computed by 'transform Roots\(\)'"):
            back[1].best_dense.to_batch()


class TestLaws:
    SPEC = GraphSpec(
        (Categorical(2), Derived("degree one-hot", 12), Continuous(1)),
        class_names=("a", "b"),
        attributes=(Derived("random walk", 3, name="random_walk_pe"),),
    )

    def test_the_relaxation_is_exact(self) -> None:
        model = seeded(lambda: Reader(15)).double()
        assert assert_discrete_consistency(model, self.SPEC) < 1e-9
        assert_absent_means_absent(model, self.SPEC)

    def test_graphs_that_cannot_be_are_no_reason_to_give_the_gradient_up(self) -> None:
        spec = replace(self.SPEC, nodes=(Derived("degree one-hot", 4),))
        classifier = GraphClassifier(seeded(lambda: Reader(4)), spec)
        drawn = random_graphs(spec, 12, 7, torch.Generator().manual_seed(0), absent=2)
        assert 0 < int(drawn.possible.sum()) < 12
        assert probe(RelaxedModel(classifier)).passed
        assert classifier.score(drawn).logits.isnan().any(1).tolist() == (~drawn.possible).tolist()
        assert not ClassTarget(0, "a").assigned(classifier.score(drawn[~drawn.possible])).any()


class TestBadInput:
    def test_features_without_data(self) -> None:
        model, _ = trained(False)
        with pytest.raises(SpecError, match="features= is read off the dataset"):
            gi.explain(model, spec=GraphSpec(class_names=("a", "b")), features=KNOWN)
