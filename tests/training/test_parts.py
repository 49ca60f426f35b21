"""What training is made of: batches, splits and scores."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.data import Batch, Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.is_acyclic import IsAcyclic
from gnninterpreter.datasets.splits import folds, stratified_split
from gnninterpreter.errors import DataError
from gnninterpreter.models.scores import ClassificationScores, scores_from_json
from gnninterpreter.training.batching import GraphStore
from tests.models.toy import toy_graphs


def edged_graphs():
    return [undirected_graph(n, [(0, 1), (1, 2)], 0, edge_attr=torch.rand(2, 3)) for n in (3, 5, 4)]


def test_a_batch_is_what_pyg_makes():
    graphs = edged_graphs()
    order = [2, 0, 0, 1]
    ours = GraphStore(graphs).batch(torch.tensor(order))
    theirs = Batch.from_data_list([graphs[i] for i in order])
    for key in ("x", "edge_index", "edge_attr", "batch", "y"):
        assert torch.equal(getattr(ours, key), theirs[key])


def test_a_data_set_is_taken_as_it_is_read(tmp_path):
    def double(graph):
        graph.x = 2 * graph.x
        return graph

    dataset = IsAcyclic(tmp_path, num_graphs=6)
    some = torch.tensor([1, 0])
    for graphs in (dataset, dataset[2:5], IsAcyclic(tmp_path, double, num_graphs=6)):
        ours, theirs = GraphStore(graphs).batch(some), GraphStore(list(graphs)).batch(some)
        for key in ("x", "edge_index", "batch", "y"):
            assert torch.equal(getattr(ours, key), getattr(theirs, key))
    assert float(GraphStore(graphs).x.max()) == 2.0


def test_edge_features_can_be_left_out():
    assert (
        GraphStore(edged_graphs(), use_edge_attr=False).batch(torch.tensor([0])).edge_attr is None
    )


def test_one_graph_and_graphs_without_edges():
    lone = GraphStore([undirected_graph(3, [(0, 1)], 1)])
    assert len(lone) == 1
    assert lone.batch(torch.tensor([0])).x.shape == (3, 1)
    bare = GraphStore([undirected_graph(2, [], 0), undirected_graph(3, [(0, 2)], 1)])
    assert bare.batch(torch.tensor([0, 1])).edge_index.tolist() == [[2, 4], [4, 2]]


def test_batches_hold_every_graph_once():
    store = GraphStore(toy_graphs(20))
    seen = [len(part.y) for part in store.batches(torch.arange(20), 8)]
    assert seen == [8, 8, 4]
    shuffled = list(store.batches(torch.arange(20), 8, torch.Generator().manual_seed(0)))
    assert sum(int(part.batch.numel()) for part in shuffled) == store.x.size(0)


def test_graphs_to_train_on_need_labels():
    with pytest.raises(DataError, match="empty"):
        GraphStore([])
    unlabeled = Data(x=torch.ones(2, 1), edge_index=torch.tensor([[0], [1]]))
    with pytest.raises(DataError, match="needs a label y"):
        GraphStore([unlabeled])


def test_split_is_stratified_and_complete():
    labels = torch.tensor([0] * 100 + [1] * 50)
    split = stratified_split(labels, seed=3)
    assert [len(part) for part in (split.train, split.validation, split.test)] == [120, 15, 15]
    assert torch.cat([split.train, split.validation, split.test]).sort().values.tolist() == list(
        range(150)
    )
    assert labels[split.test].tolist() == [0] * 10 + [1] * 5
    assert torch.equal(split.test, stratified_split(labels, seed=3).test)
    assert not torch.equal(split.test, stratified_split(labels, seed=4).test)


def test_too_few_graphs_to_split():
    with pytest.raises(DataError, match="3 graphs are too few"):
        stratified_split(torch.tensor([0, 1, 1]))


def test_folds_are_even_and_complete():
    labels = torch.tensor([0] * 63 + [1] * 125)
    parts = folds(labels, 10)
    assert torch.cat(parts).sort().values.tolist() == list(range(188))
    assert {len(part) for part in parts} == {18, 19}
    assert {int((labels[part] == 0).sum()) for part in parts} <= {6, 7}


def test_scores_by_hand():
    labels = torch.tensor([0, 0, 0, 1, 1, 2])
    predictions = torch.tensor([0, 0, 1, 1, 1, 0])
    scores = ClassificationScores.of(predictions, labels, num_classes=4)
    assert scores.accuracy == pytest.approx(4 / 6)
    assert scores.f1 == pytest.approx((4 / 6, 4 / 5, 0.0, 0.0))
    assert scores.count == 6
    assert scores_from_json(scores.to_json()) == scores
