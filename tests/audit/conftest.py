"""A model without training, a rule it does not follow, and runs made by hand."""

from __future__ import annotations

import networkx as nx
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.utils import from_networkx

from gnninterpreter.audit.context import Context
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import GraphSpec
from tests.tiny import MeanDegree

SPEC = GraphSpec(class_names=("sparse", "dense"))


def plain(graph: nx.Graph, label: int | None = None) -> Data:
    data = from_networkx(graph)
    data.x = torch.ones(data.num_nodes, 1)
    if label is not None:
        data.y = torch.tensor([label])
    return data


def has_triangle(graph: Data) -> int:
    """A rule that the mean degree knows nothing of."""
    drawn = nx.Graph(graph.edge_index.t().tolist())
    return int(any(nx.triangles(drawn).values()))


@pytest.fixture
def classifier() -> GraphClassifier:
    """Says "dense" where the mean degree is above two."""
    return GraphClassifier(MeanDegree(), SPEC)


@pytest.fixture
def context(classifier: GraphClassifier) -> Context:
    hosts = [plain(nx.path_graph(n), 0) for n in range(4, 10)]
    return Context(classifier, hosts, seed=0, oracle=has_triangle, rule_agreement=1.0)


@pytest.fixture
def random_data() -> list[Data]:
    return random_graphs(SPEC, 5, 6, torch.Generator().manual_seed(0)).to_data_list()
