"""Every task from end to end: a label, a value and a boundary of small trained models."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool, global_mean_pool
from torch_geometric.utils import from_networkx

import gnninterpreter as gi
from tests.tiny import quick_auto, seeded, shapes, trained_shapes

LABELS = ("regular", "hub")
NUMBER = 3.5


class Small(nn.Module):
    """Two convolutions and a mean."""

    def __init__(self, outputs: int, width: int = 8) -> None:
        super().__init__()
        self.first = GraphConv(1, width)
        self.second = GraphConv(width, width)
        self.head = nn.Linear(width, outputs)

    def forward(self, data: Batch) -> Tensor:
        x = self.first(data.x, data.edge_index).relu()
        x = self.second(x, data.edge_index).relu()
        out: Tensor = self.head(global_mean_pool(x, data.batch))
        return out


def trained(outputs: int, graphs: list[Data], loss: Callable[..., Tensor]) -> nn.Module:
    model = seeded(lambda: Small(outputs))
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    batch = Batch.from_data_list(graphs)
    for _ in range(400):
        optimizer.zero_grad()
        loss(model(batch), batch.y).backward()
        optimizer.step()
    return model.eval()


@lru_cache(maxsize=1)
def labelled() -> tuple[nn.Module, list[Data]]:
    """Cycles are regular, stars have a hub, complete graphs are both."""
    graphs = shapes(range(4, 16))
    rows = ([1.0, 0.0], [0.0, 1.0], [1.0, 1.0])
    for graph in graphs:
        graph.y = torch.tensor([rows[int(graph.y)]])
    return trained(2, graphs, nn.functional.binary_cross_entropy_with_logits), graphs


@lru_cache(maxsize=1)
def measured() -> tuple[nn.Module, list[Data]]:
    """The value of a graph is its mean degree."""
    graphs = []
    for i in range(120):
        nodes = 6 + i % 5
        drawn = nx.connected_watts_strogatz_graph(nodes, 2 + 2 * (i % 2), 0.5, seed=i)
        drawn.add_edges_from(nx.gnp_random_graph(nodes, (i % 7) / 12, seed=i).edges)
        data = from_networkx(nx.Graph(drawn.edges))
        data.x = torch.ones(data.num_nodes, 1)
        data.y = torch.tensor([[data.num_edges / data.num_nodes]])
        graphs.append(data)
    return trained(1, graphs, nn.functional.mse_loss), graphs


def explain(model: nn.Module, graphs: list[Data], targets: Any, **more: Any) -> gi.ExplanationSet:
    recipe = gi.Recipe.auto(iterations=60).without("anneal", "iterated search")
    return gi.explain(
        model, graphs, targets=targets, restarts=2, recipe=recipe, progress=False, **more
    )


def value(model: nn.Module, graph: Data) -> Tensor:
    with torch.no_grad():
        out: Tensor = model(Batch.from_data_list([graph]))[0]
    return out


def kept(result: gi.ExplanationSet, folder: Path) -> None:
    """A run comes back equal, and its report names every target."""
    result.save(folder / "run")
    again = gi.load(folder / "run")
    assert again == result
    assert again.summary() == result.summary()
    assert [one["class"] for one in result.summary()["classes"]] == list(result)
    page = result.report(folder / "report.html").read_text()
    for explanation in result.values():
        assert explanation.name in page


def test_labels_of_a_multilabel_model(tmp_path: Path) -> None:
    model, graphs = labelled()
    result = explain(model, graphs, ["hub", "regular"], task="multilabel", class_names=LABELS)
    assert list(result) == ["hub", "regular"]
    for name, explanation in result.items():
        assert explanation.target.kind == "label"
        assert explanation.converged
        given = value(model, explanation.best).sigmoid()[LABELS.index(name)]
        assert float(given) >= 0.99
        assert explanation.probability.mean >= 0.99
    kept(result, tmp_path)


def test_values_of_a_regression(tmp_path: Path) -> None:
    model, graphs = measured()
    result = explain(model, graphs, ["max", "min", NUMBER], task="regression")
    assert list(result) == ["max", "min", f"{NUMBER:g}"]
    for explanation in result.values():
        assert explanation.target.kind == "value"
        # The highest values need more edges than usual, so that one may be missed, and said so.
        assert explanation.converged == (explanation.probability.mean >= 0.99)
        assert explanation.converged or explanation.name == "max"
    real = torch.cat([value(model, graph) for graph in graphs])
    found = {name: float(value(model, one.best)) for name, one in result.items()}
    assert found["max"] >= float(real.quantile(0.95))
    assert found["min"] <= float(real.quantile(0.05))
    assert found[f"{NUMBER:g}"] == pytest.approx(NUMBER, abs=0.2)
    kept(result, tmp_path)


def test_the_boundary_between_two_classes(tmp_path: Path) -> None:
    model, graphs = trained_shapes()
    names = ("cycle", "star", "complete")
    result = explain(model, graphs, [("cycle", "star")], class_names=names)
    (explanation,) = result.values()
    assert explanation.name == "cycle | star"
    assert explanation.target.kind == "boundary"
    given = value(model, explanation.best).softmax(0)
    assert explanation.converged
    assert 0.4 <= float(given[0]) <= 0.6
    assert 0.4 <= float(given[1]) <= 0.6
    kept(result, tmp_path)


class _Bounded(nn.Module):
    """Three logits that happen to lie between 0 and 1, and do not add up to one."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = GraphConv(1, 8)
        self.last = nn.Linear(8, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        hidden = global_mean_pool(self.convolution(x, edge_index).relu(), batch)
        return 0.45 * self.last(hidden).tanh() + 0.5


def test_a_loaded_run_reads_outputs_as_the_run_itself_did(tmp_path: Path) -> None:
    model, graphs = seeded(_Bounded), shapes()
    result = gi.explain(model, graphs, targets=0, restarts=1, recipe=quick_auto(), progress=False)
    assert any("read as logits of 3 classes" in line for line in result.inferred)
    loaded = gi.load(result.save(tmp_path / "run"))
    same = result.explain_graph(graphs[0]).scores
    assert loaded.explain_graph(graphs[0], model=model).scores == pytest.approx(same, abs=1e-6)


class Relations(nn.Module):
    """Log-odds of the second class: 20 for each edge of type 1 that one of type 2 leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(10.0))

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor, batch: Tensor) -> Tensor:
        none = torch.zeros(len(x)).to(x)
        reached = none.index_add(0, edge_index[1], (edge_type == 2).to(x))
        both = none.index_add(0, edge_index[0], (edge_type == 1).to(x) * reached[edge_index[0]])
        score = self.scale * (global_add_pool(both.unsqueeze(1), batch) - 0.5)
        return torch.cat([-score, score], dim=1)


def test_a_model_of_relations_whose_data_names_edges_by_their_types(tmp_path: Path) -> None:
    rng = torch.Generator().manual_seed(0)
    graphs = []
    for _ in range(80):
        types = torch.randint(4, (6,), generator=rng)
        ends = torch.arange(6)
        graph = Data(x=torch.ones(7, 1), edge_index=torch.stack([ends, ends + 1]), edge_type=types)
        graph.y = torch.tensor([int(((types[:-1] == 2) & (types[1:] == 1)).any())])
        graphs.append(graph)
    result = gi.explain(Relations(), graphs, targets=[1], restarts=2, progress=False)
    core = result[1].core
    assert core is not None
    assert core.graph.edge_type[core.graph.edge_index[0].argsort()].tolist() == [2, 1]
    assert (core.coverage, core.others) == (1.0, 0)
    result.save(tmp_path / "run")
    assert gi.load(tmp_path / "run")[1].core == core
    held = [graph for graph in graphs if graph.y]
    assert result.explain_graph(held[0]).found


def test_graphs_without_labels_count_for_what_the_model_gives_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, _ = trained_shapes()
    graphs = shapes(range(4, 16))
    known = gi.explain(model, graphs, targets=[0], restarts=2, progress=False)
    for graph in graphs:
        del graph.y
    result = gi.explain(model, graphs, targets=[0], restarts=2)
    assert (
        "graphs have no labels: each counts for what the model gives it" in capsys.readouterr().err
    )
    # The model is right about all of them, so that nothing changes but what labels would say.
    assert result[0].best.edge_index.tolist() == known[0].best.edge_index.tolist()
    checks = {check.name: check.passed for check in result[0].evidence.checks}
    assert checks["model is right"] is None
