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
from torch_geometric.nn import GraphConv, global_mean_pool
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
