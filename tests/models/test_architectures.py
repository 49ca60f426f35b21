"""The paper's classifiers: shapes, where the embedding is, how they are rebuilt."""

from __future__ import annotations

import json
import math

import pytest
import torch
from torch import nn
from torch_geometric.nn import NNConv

from gnninterpreter.errors import ModelError
from gnninterpreter.models.architectures import (
    ARCHITECTURES,
    GATClassifier,
    GCNClassifier,
    GINEClassifier,
    LinearNNConv,
    NNConvClassifier,
    build,
)

# A triangle and a path of two nodes.
EDGES = torch.tensor([[0, 1, 1, 2, 2, 0, 3, 4], [1, 0, 2, 1, 0, 2, 4, 3]])
BATCH = torch.tensor([0, 0, 0, 1, 1])
MODELS = {
    "gcn": GCNClassifier(3, 5),
    "nnconv": NNConvClassifier(3, 5, edge_dim=2),
    "gat": GATClassifier(3, 5, edge_dim=2, heads=4),
}


def inputs(model, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(5, 3, generator=generator)
    half = torch.rand(4, 2, generator=generator).repeat_interleave(2, dim=0)
    return (x, EDGES) if isinstance(model, GCNClassifier) else (x, EDGES, half)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_logits_for_each_graph_alone_and_together(model):
    x, _, *rest = inputs(model)
    together = model(*inputs(model), BATCH)
    assert together.shape == (2, 5)
    alone = model(x[:3], EDGES[:, :6], *(attr[:6] for attr in rest))
    torch.testing.assert_close(together[:1], alone)


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_config_rebuilds_the_model(model):
    rebuilt = build(json.loads(json.dumps(model.config)))
    rebuilt.load_state_dict(model.state_dict())
    assert rebuilt.config == model.config
    torch.testing.assert_close(rebuilt(*inputs(model), BATCH), model(*inputs(model), BATCH))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_same_generator_state_same_weights(model):
    first, again, other = (
        build(model.config, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    for a, b, c in zip(first.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
        assert a.dim() < 2 or not torch.equal(a, c)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [("mean", [2.0, 4.5]), ("sum", [6.0, 9.0]), ("max", [3.0, 5.0]), ("sum+mean", [6.0, 9.0])],
)
def test_dense_receives_the_pooled_nodes(pooling, expected):
    model = GCNClassifier(1, 2, width=4, layers=2, pooling=pooling)
    model.convs[-1].forward = lambda x, edge_index: torch.arange(1.0, 6.0)[:, None].expand(5, 4)
    seen = []
    model.dense.register_forward_pre_hook(lambda module, args: seen.append(args[0]))
    model(torch.ones(5, 1), EDGES, BATCH)
    assert seen[0].shape == (2, 4 * (1 + pooling.count("+")))
    assert seen[0][:, 0].tolist() == expected


def test_initial_weights_follow_kaiming():
    model = build(GCNClassifier(64, 2, width=256).config, torch.Generator().manual_seed(0))
    model.requires_grad_(False)
    gain = math.sqrt(2 / (1 + 0.01**2))
    assert float(model.convs[0].lin.weight.std()) == pytest.approx(gain / 8, rel=0.02)
    assert float(model.dense.weight.std()) == pytest.approx(gain / 16, rel=0.02)
    assert not model.dense.bias.any()
    # NNConv's matrices meet the node features, so their fan-in is the width, not edge_dim.
    model = build(MODELS["nnconv"].config, torch.Generator().manual_seed(0)).requires_grad_(False)
    assert float(model.convs[1].nn.weight.std()) == pytest.approx(gain / 8, rel=0.05)


def test_the_papers_sizes_are_the_defaults():
    assert [len(MODELS[name].convs) for name in ("gcn", "nnconv", "gat")] == [3, 5, 3]
    assert [MODELS[name].config["width"] for name in ("gcn", "nnconv", "gat")] == [64, 32, 16]
    assert [MODELS[name].config["pooling"] for name in MODELS] == ["mean", "mean", "sum"]
    assert {*MODELS, "gine"} == set(ARCHITECTURES)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"architecture": "mlp"},
            r"architecture must be one of gcn, nnconv, gat, gine \(got 'mlp'\)",
        ),
        ({}, "got None"),
        ({"architecture": "gcn", "in_channels": 1}, "missing a required argument: 'num_classes'"),
        (
            {"architecture": "gcn", "in_channels": 1, "num_classes": 2, "deep": 9},
            "unexpected keyword argument 'deep'",
        ),
        (
            {"architecture": "gcn", "in_channels": 1, "num_classes": 2, "pooling": "median"},
            r"pooling must be made of sum, mean, max, .*got 'median'",
        ),
        (
            {"architecture": "gcn", "in_channels": 1, "num_classes": 2, "layers": 0},
            r"layers must be at least 1 \(got 0\)",
        ),
        (
            {"architecture": "gat", "in_channels": 1, "num_classes": 2, "edge_dim": 1, "heads": 3},
            "heads must divide width",
        ),
    ],
)
def test_bad_configs_are_refused(config, message):
    with pytest.raises(ModelError, match=message):
        build(config)


def test_gine_outputs_do_not_depend_on_the_batch_or_numbering():
    model = build(GINEClassifier(3, 5, edge_dim=2).config, torch.Generator().manual_seed(0)).eval()
    x, _, attr = inputs(model)
    together = model(x, EDGES, attr, BATCH)
    alone = model(x[:3], EDGES[:, :6], attr[:6])
    torch.testing.assert_close(together[:1], alone, rtol=1e-4, atol=1e-3)
    order = torch.tensor([2, 0, 1])  # node i becomes order[i]
    moved = torch.empty(3, 3).index_copy(0, order, x[:3])
    again = model(moved, order[EDGES[:, :6]], attr[:6])
    torch.testing.assert_close(again, alone, rtol=1e-4, atol=1e-3)
    assert not torch.allclose(model.train()(x, EDGES, attr, BATCH), together)  # dropout, batch norm


def test_edges_need_no_matrices_of_their_own():
    """The layer says what PyG's says, which makes a matrix for each edge."""
    torch.manual_seed(0)
    network = nn.Linear(2, 3 * 4)
    plain, ours = NNConv(3, 4, network), LinearNNConv(3, 4, network)
    ours.load_state_dict(plain.state_dict())
    x, edges = torch.randn(5, 3), torch.tensor([[0, 1, 2, 4, 4], [1, 0, 3, 3, 2]])
    given = x, edges, torch.rand(5, 2)
    torch.testing.assert_close(ours(*given), plain(*given))
    none = x, edges[:, :0], torch.rand(0, 2)
    torch.testing.assert_close(ours(*none), plain(*none))
