"""Every model the relaxation is tested on, in one list.

The laws, the comparison of the two paths, the probe's tests and ``docs/support.md`` all read it, so
that what the documentation claims is what the tests check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn
from torch_geometric.data import Batch
from torch_geometric.utils import degree, scatter, softmax, to_dense_adj, to_dense_batch

from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import TinyClassifier

IN, HIDDEN, EDGE, RELATIONS = 5, 6, 3, 3
DEGREES = torch.tensor([1, 4, 6, 5, 3, 2, 1, 1, 1])

NODES = {
    "columns": (Categorical(3), Continuous(2, -1.0, 1.0)),
    "codes": (Categorical(4, encoding="index"), Categorical(3, encoding="index")),
    "code": (Categorical(4, encoding="index"),),
}
EDGES = {
    "none": (),
    "features": (Categorical(2), Continuous(1)),
    "weight": (Continuous(1, 0.5, 2.0),),
    "type": (Categorical(RELATIONS, encoding="index"),),
}
ARGUMENTS = {"none": None, "features": "edge_attr", "weight": "edge_weight", "type": "edge_type"}
EDGE_NAMES = {"none": "", "features": "features", "weight": "weight", "type": "type"}


@dataclass(frozen=True)
class Case:
    """One model of the table.

    Args:
        section: Heading of the table it belongs to.
        layer: What it is, as the table says it.
        build: Makes the model.
        edges: Which edge features it takes, a key of `EDGES`.
        nodes: Which node features it takes, a key of `NODES`.
        fast: Whether the fast path computes it, or part of it.
    """

    section: str
    layer: str
    build: Callable[[], nn.Module]
    edges: str = "none"
    nodes: str = "columns"
    fast: bool = False

    def __str__(self) -> str:
        return self.layer if self.edges == "none" else f"{self.layer} with {self.edges}"

    @property
    def row(self) -> str:
        """The row of the table, up to the columns that are measured."""
        return f"| {self.layer} | {EDGE_NAMES[self.edges]} | {'yes' if self.fast else 'no'} |"

    def spec(self, directed: bool = False) -> GraphSpec:
        """The graphs the model takes."""
        return GraphSpec(NODES[self.nodes], EDGES[self.edges], directed=directed)

    def model(self, dtype: torch.dtype = torch.float64, seed: int = 0) -> nn.Module:
        """The model in evaluation mode, every parameter and statistic moved off its default."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = self.build().eval()
            with torch.no_grad():
                for parameter in model.parameters():
                    parameter.add_(0.1 * torch.randn_like(parameter))
                for module in model.modules():
                    if isinstance(module, nn.BatchNorm1d) and module.track_running_stats:
                        module.running_mean.normal_(std=0.3)
                        module.running_var.uniform_(0.5, 1.5)
        return model.to(dtype)


def mlp(width_in: int, width_out: int, hidden: int = HIDDEN) -> nn.Module:
    return nn.Sequential(nn.Linear(width_in, hidden), nn.ReLU(), nn.Linear(hidden, width_out))


def _convolution(
    layer: str,
    make: Callable[[int], nn.Module],
    *,
    width: int = HIDDEN,
    edges: str = "none",
    argument: str | None = None,
    fast: bool = False,
) -> Case:
    """Two convolutions of one kind, the second one ``width`` columns wide going in."""
    argument = argument or ARGUMENTS[edges]

    def build() -> nn.Module:
        return TinyClassifier([make(IN), make(width)], width, edge=argument)

    return Case("Convolutions", layer, build, edges=edges, fast=fast)


class KeepsInitial(nn.Module):
    """Convolutions that mix in their first input; all of one width."""

    def __init__(self, make: Callable[[], nn.Module]) -> None:
        super().__init__()
        self.first = nn.Linear(IN, HIDDEN)
        self.convs = nn.ModuleList([make(), make()])
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = start = self.first(x).relu()
        for conv in self.convs:
            x = conv(x, start, edge_index).relu()
        return self.head(gnn.global_mean_pool(x, batch))


class WholeModel(nn.Module):
    """One of `torch_geometric.nn.models` with a readout."""

    def __init__(self, body: nn.Module) -> None:
        super().__init__()
        self.body = body
        self.head = nn.Linear(HIDDEN, 3)

    def forward(
        self, x: Tensor, edge_index: Tensor, batch: Tensor, edge_attr: Tensor | None = None
    ) -> Tensor:
        edge = {} if edge_attr is None else {"edge_attr": edge_attr}
        x = self.body(x, edge_index, batch=batch, **edge)
        return self.head(gnn.global_mean_pool(x, batch))


def _whole(layer: str, make: Callable[..., nn.Module], *, fast: bool, edges: str = "none") -> Case:
    return Case("Whole models", layer, lambda: WholeModel(make()), edges=edges, fast=fast)


def _body(name: str, jk: str | None, **options: object) -> nn.Module:
    return getattr(gnn.models, name)(IN, HIDDEN, 3, HIDDEN, jk=jk, **options)


def _readout(
    layer: str, make: Callable[[], Callable[[Tensor, Tensor], Tensor]], pooled: int = HIDDEN
) -> Case:
    def build() -> nn.Module:
        return TinyClassifier(gnn.GraphConv(IN, HIDDEN), HIDDEN, pool=make(), pooled=pooled)

    return Case("Readouts", layer, build, fast=True)


def _norm(layer: str, make: Callable[[], nn.Module]) -> Case:
    def build() -> nn.Module:
        return TinyClassifier(gnn.GraphConv(IN, HIDDEN), HIDDEN, norm=make())

    return Case("Normalisation", layer, build, fast=True)


class SumOfEmbeddings(nn.Module):
    """One table for each column of codes, summed, as molecule encoders do it."""

    def __init__(self, sizes: tuple[int, ...], width: int) -> None:
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(size, width) for size in sizes])

    def forward(self, codes: Tensor) -> Tensor:
        return sum(table(codes[:, k]) for k, table in enumerate(self.tables))


class EmbeddedBonds(nn.Module):
    """Edge codes through a table, into a layer that takes edge features."""

    def __init__(self) -> None:
        super().__init__()
        self.bonds = nn.Embedding(RELATIONS, IN)
        self.conv = gnn.GINEConv(mlp(IN, HIDDEN))
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index, self.bonds(data.edge_attr.view(-1)))
        return self.head(gnn.global_add_pool(x.tanh(), data.batch))


class OneHotBonds(EmbeddedBonds):
    """Edge codes spread out inside the model."""

    def forward(self, data: Batch) -> Tensor:
        bonds = nn.functional.one_hot(data.edge_attr.view(-1), RELATIONS)
        bonds = bonds.to(data.x.dtype) @ self.bonds.weight
        x = self.conv(data.x, data.edge_index, bonds)
        return self.head(gnn.global_add_pool(x.tanh(), data.batch))


class PlainScatter(nn.Module):
    """A graph network of bare PyTorch scatters: nothing in it is known to PyG."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(2 * IN, HIDDEN)
        self.head = nn.Linear(3 * HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        source, target = data.edge_index
        n, batch = data.x.size(0), data.batch
        total = torch.zeros_like(data.x).index_add_(0, target, data.x[source])
        count = torch.bincount(target, minlength=n).clamp(min=1).unsqueeze(1)
        x = self.lin(torch.cat([data.x, total / count], dim=1)).relu()
        where = batch.unsqueeze(1).expand_as(x)
        shape = (int(batch.max()) + 1, x.size(1))
        added = x.new_zeros(shape).scatter_add(0, where, x)
        mean = x.new_zeros(shape).scatter_reduce(0, where, x, "mean", include_self=False)
        largest = x.new_full(shape, -1.0).scatter_reduce(0, where, x, reduce="amax")
        return self.head(torch.cat([added, mean, largest], dim=1))


class OwnAttention(gnn.MessagePassing):
    """A user's layer: attention by PyG's softmax, scaled by a degree of its own."""

    def __init__(self, width_in: int) -> None:
        super().__init__(aggr="add")
        self.lin = nn.Linear(width_in, HIDDEN)
        self.score = nn.Linear(2 * HIDDEN, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.lin(x)
        count = degree(edge_index[1], x.size(0), x.dtype).view(-1, 1)
        return self.propagate(edge_index, x=x) / (1 + count).sqrt() + x

    def message(self, x_i: Tensor, x_j: Tensor, index: Tensor, size_i: int) -> Tensor:
        score = self.score(torch.cat([x_i, x_j], dim=-1)).tanh()
        return softmax(score, index, num_nodes=size_i) * x_j


class VirtualNode(nn.Module):
    """A node joined to all others: graph-level state in the middle of the network."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = gnn.GCNConv(IN, HIDDEN), gnn.GCNConv(HIDDEN, HIDDEN)
        self.update, self.head = nn.Linear(HIDDEN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv1(x, edge_index).relu()
        x = x + self.update(scatter(x, batch, reduce="mean")).relu()[batch]
        return self.head(gnn.global_max_pool(self.conv2(x, edge_index), batch))


class Blocks(nn.Module):
    """Relation layers with block-diagonal matrices, which need a width that the blocks divide."""

    def __init__(self, name: str, aggr: str) -> None:
        super().__init__()
        self.first = nn.Linear(IN, HIDDEN)
        kind = getattr(gnn, name)
        self.conv = kind(HIDDEN, HIDDEN, RELATIONS, num_blocks=2, aggr=aggr)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(self.first(x).tanh(), edge_index, edge_type)
        return self.head(gnn.global_mean_pool(x, batch))


def _gin(width: int, **options: object) -> nn.Module:
    return gnn.GINConv(mlp(width, HIDDEN), train_eps=True, **options)


def _gine(width: int, **options: object) -> nn.Module:
    return gnn.GINEConv(mlp(width, HIDDEN), edge_dim=EDGE, **options)


def _nn_conv(network: Callable[[int], nn.Module], **options: object) -> Callable[[int], nn.Module]:
    return lambda width: gnn.NNConv(width, HIDDEN, network(width * HIDDEN), **options)


def _one_linear(out: int) -> nn.Module:
    return nn.Linear(EDGE, out)


def _deep(out: int) -> nn.Module:
    return mlp(EDGE, out)


def _pna(width: int, **options: object) -> nn.Module:
    aggregators = ["mean", "min", "max", "std"]
    scalers = ["identity", "amplification", "attenuation"]
    return gnn.PNAConv(width, HIDDEN, aggregators, scalers, DEGREES, **options)


def _layer(name: str, **options: object) -> Callable[[int], nn.Module]:
    return lambda width: getattr(gnn, name)(width, HIDDEN, **options)


_c = _convolution

CONVOLUTIONS = [
    _c("GCNConv", _layer("GCNConv"), fast=True),
    _c("GCNConv", _layer("GCNConv"), edges="weight"),
    _c("GCNConv(improved)", _layer("GCNConv", improved=True), fast=True),
    _c("GCNConv(no self-loops)", _layer("GCNConv", add_self_loops=False), fast=True),
    _c("GCNConv(not normalised)", _layer("GCNConv", normalize=False), fast=True),
    _c("GraphConv(add)", _layer("GraphConv"), fast=True),
    _c("GraphConv(mean)", _layer("GraphConv", aggr="mean"), fast=True),
    _c("GraphConv(max)", _layer("GraphConv", aggr="max"), fast=True),
    _c("GraphConv(add)", _layer("GraphConv"), edges="weight"),
    _c("SAGEConv(mean)", _layer("SAGEConv"), fast=True),
    _c("SAGEConv(max)", _layer("SAGEConv", aggr="max"), fast=True),
    _c("SAGEConv(sum)", _layer("SAGEConv", aggr="sum"), fast=True),
    _c("SAGEConv(project, normalize)", _layer("SAGEConv", project=True, normalize=True), fast=True),
    _c("GINConv", _gin, fast=True),
    _c("GINConv(max)", partial(_gin, aggr="max"), fast=True),
    _c("GINEConv", _gine, edges="features", fast=True),
    _c("GINEConv(mean)", partial(_gine, aggr="mean"), edges="features", fast=True),
    _c("GINEConv(max)", partial(_gine, aggr="max"), edges="features", fast=True),
    _c("GATConv", _layer("GATConv"), fast=True),
    _c("GATConv(2 heads, mean)", _layer("GATConv", heads=2, concat=False), fast=True),
    _c("GATConv(residual)", _layer("GATConv", residual=True), fast=True),
    _c("GATConv(no self-loops)", _layer("GATConv", add_self_loops=False), fast=True),
    _c("GATConv", _layer("GATConv", edge_dim=EDGE), edges="features", fast=True),
    _c("GATConv(fill 0.5)", _layer("GATConv", edge_dim=EDGE, fill_value=0.5), edges="features",
       fast=True),
    _c("GATv2Conv", _layer("GATv2Conv"), fast=True),
    _c("GATv2Conv(2 heads, mean)", _layer("GATv2Conv", heads=2, concat=False), fast=True),
    _c("GATv2Conv(shared)", _layer("GATv2Conv", share_weights=True, residual=True), fast=True),
    _c("GATv2Conv(no self-loops)", _layer("GATv2Conv", add_self_loops=False), fast=True),
    _c("GATv2Conv", _layer("GATv2Conv", edge_dim=EDGE), edges="features", fast=True),
    _c("TransformerConv", _layer("TransformerConv"), fast=True),
    _c("TransformerConv(2 heads, mean)", _layer("TransformerConv", heads=2, concat=False),
       fast=True),
    _c("TransformerConv(beta)", _layer("TransformerConv", beta=True), fast=True),
    _c("TransformerConv", _layer("TransformerConv", edge_dim=EDGE), edges="features", fast=True),
    _c("NNConv(one linear)", _nn_conv(_one_linear), edges="features", fast=True),
    _c("NNConv(one linear, mean)", _nn_conv(_one_linear, aggr="mean"), edges="features", fast=True),
    _c("NNConv(one linear, max)", _nn_conv(_one_linear, aggr="max"), edges="features"),
    _c("NNConv(deep)", _nn_conv(_deep), edges="features"),
    _c("TAGConv", _layer("TAGConv")),
    _c("TAGConv", _layer("TAGConv"), edges="weight"),
    _c("ChebConv(sym)", _layer("ChebConv", K=3)),
    _c("ChebConv(rw)", _layer("ChebConv", K=3, normalization="rw")),
    _c("ChebConv(sym)", _layer("ChebConv", K=3), edges="weight"),
    _c("SGConv", _layer("SGConv", K=2)),
    _c("SGConv", _layer("SGConv", K=2), edges="weight"),
    _c("ARMAConv", _layer("ARMAConv", num_stacks=2, num_layers=2)),
    _c("ARMAConv", _layer("ARMAConv"), edges="weight"),
    Case("Convolutions", "GCN2Conv",
         lambda: KeepsInitial(lambda: gnn.GCN2Conv(HIDDEN, 0.3, 0.5, layer=1))),
    Case("Convolutions", "FAConv", lambda: KeepsInitial(lambda: gnn.FAConv(HIDDEN))),
    _c("LEConv", _layer("LEConv")),
    _c("LEConv", _layer("LEConv"), edges="weight"),
    _c("ResGatedGraphConv", _layer("ResGatedGraphConv")),
    _c("ResGatedGraphConv", _layer("ResGatedGraphConv", edge_dim=EDGE), edges="features"),
    _c("GeneralConv", _layer("GeneralConv")),
    _c("GeneralConv(attention)", _layer("GeneralConv", attention=True, heads=2)),
    _c("GeneralConv(dot product)",
       _layer("GeneralConv", attention=True, attention_type="dot_product", l2_normalize=True)),
    _c("GeneralConv", _layer("GeneralConv", in_edge_channels=EDGE, attention=True),
       edges="features"),
    _c("EdgeConv(max)", lambda width: gnn.EdgeConv(mlp(2 * width, HIDDEN))),
    _c("EdgeConv(mean)", lambda width: gnn.EdgeConv(mlp(2 * width, HIDDEN), aggr="mean")),
    _c("PNAConv", _pna),
    _c("PNAConv", partial(_pna, edge_dim=EDGE), edges="features"),
    *[
        _c(f"{name}({how})", _layer(name, num_relations=RELATIONS, aggr=how), edges="type",
           fast=True)
        for name in ("RGCNConv", "FastRGCNConv")
        for how in ("mean", "add")
    ],
    *[
        _c(f"{name}(bases)", _layer(name, num_relations=RELATIONS, num_bases=2), edges="type",
           fast=True)
        for name in ("RGCNConv", "FastRGCNConv")
    ],
    *[
        Case("Convolutions", f"{name}(blocks, {how})", partial(Blocks, name, how), edges="type",
             fast=True)
        for name, how in (("RGCNConv", "mean"), ("RGCNConv", "add"), ("FastRGCNConv", "mean"))
    ],
    _c("SAGEConv(softmax)", _layer("SAGEConv", aggr="softmax")),
    _c("SAGEConv(mean, max, std)", _layer("SAGEConv", aggr=["mean", "max", "std"])),
    _c("GCNConv(target to source)", _layer("GCNConv", flow="target_to_source")),
    _c("ChebConv(not normalised)", _layer("ChebConv", K=3, normalization=None)),
    _c("CGConv", lambda width: gnn.CGConv(width), width=IN),
    _c("CGConv", lambda width: gnn.CGConv(width, dim=EDGE), edges="features", width=IN),
    _c("GENConv", _layer("GENConv")),
    _c("GENConv", _layer("GENConv", edge_dim=EDGE), edges="features"),
    _c("GatedGraphConv", lambda width: gnn.GatedGraphConv(HIDDEN, 2)),
    _c("FiLMConv", _layer("FiLMConv")),
    _c("LGConv", lambda width: gnn.LGConv(), width=IN),
    _c("MixHopConv", lambda width: gnn.MixHopConv(width, HIDDEN // 3)),
    _c("SSGConv", _layer("SSGConv", alpha=0.3, K=2)),
    _c("APPNP", lambda width: gnn.APPNP(2, 0.1), width=IN),
    _c("ClusterGCNConv", _layer("ClusterGCNConv")),
    _c("SuperGATConv", _layer("SuperGATConv")),
    _c("FeaStConv", _layer("FeaStConv", heads=2)),
    _c("AGNNConv", lambda width: gnn.AGNNConv(), width=IN),
    _c("PDNConv", _layer("PDNConv", edge_dim=EDGE, hidden_channels=4), edges="features"),
    _c("AntiSymmetricConv", lambda width: gnn.AntiSymmetricConv(width), width=IN, fast=True),
    _c("DirGNNConv", lambda width: gnn.DirGNNConv(gnn.GCNConv(width, HIDDEN)), fast=True),
    _c("SimpleConv(mean)", lambda width: gnn.SimpleConv("mean", combine_root="sum"), width=IN),
    _c("WLConvContinuous", lambda width: gnn.WLConvContinuous(), width=IN),
    _c("GMMConv", _layer("GMMConv", dim=EDGE, kernel_size=2), edges="features"),
    _c("HypergraphConv", _layer("HypergraphConv")),
]  # fmt: skip

MODELS = [
    _whole("GCN", partial(_body, "GCN", None), fast=True),
    _whole("GCN(jk=cat)", partial(_body, "GCN", "cat", norm="graph_norm"), fast=True),
    _whole("GCN(jk=lstm)", partial(_body, "GCN", "lstm"), fast=True),
    _whole("GAT(jk=max)", partial(_body, "GAT", "max", v2=True, heads=2), fast=True),
    _whole("GAT(jk=cat)", partial(_body, "GAT", "cat", edge_dim=EDGE), fast=True, edges="features"),
    _whole("GIN(jk=cat)", partial(_body, "GIN", "cat", norm="batch_norm"), fast=True),
    _whole("GIN(jk=lstm)", partial(_body, "GIN", "lstm"), fast=True),
    _whole("GraphSAGE(jk=max)", partial(_body, "GraphSAGE", "max"), fast=True),
    _whole("GraphSAGE(jk=cat)", partial(_body, "GraphSAGE", "cat", norm="LayerNorm"), fast=True),
    _whole(
        "PNA(jk=cat)",
        partial(
            _body,
            "PNA",
            "cat",
            aggregators=["mean", "max", "std", "sum"],
            scalers=["identity", "linear", "inverse_linear"],
            deg=DEGREES,
        ),
        fast=False,
    ),
    _whole("EdgeCNN(jk=max)", partial(_body, "EdgeCNN", "max"), fast=False),
]

READOUTS = [
    _readout("global_add_pool", lambda: gnn.global_add_pool),
    _readout("global_mean_pool", lambda: gnn.global_mean_pool),
    _readout("global_max_pool", lambda: gnn.global_max_pool),
    _readout("SumAggregation", gnn.SumAggregation),
    _readout("MeanAggregation", gnn.MeanAggregation),
    _readout("MaxAggregation", gnn.MaxAggregation),
    _readout("MinAggregation", gnn.MinAggregation),
    _readout("VarAggregation", gnn.VarAggregation),
    _readout("StdAggregation", gnn.StdAggregation),
    _readout("SoftmaxAggregation", partial(gnn.SoftmaxAggregation, learn=True)),
    _readout("PowerMeanAggregation", partial(gnn.PowerMeanAggregation, learn=True)),
    _readout(
        "AttentionalAggregation",
        lambda: gnn.AttentionalAggregation(mlp(HIDDEN, 1), nn.Linear(HIDDEN, HIDDEN)),
    ),
    _readout("VariancePreservingAggregation", gnn.VariancePreservingAggregation),
    _readout("DeepSetsAggregation", lambda: gnn.DeepSetsAggregation(mlp(HIDDEN, HIDDEN))),
    _readout("Set2Set", partial(gnn.Set2Set, HIDDEN, processing_steps=3), 2 * HIDDEN),
    _readout(
        "MultiAggregation(cat)",
        lambda: gnn.MultiAggregation(["sum", "mean", "max", "std"]),
        4 * HIDDEN,
    ),
    _readout(
        "MultiAggregation(attention)",
        lambda: gnn.MultiAggregation(
            ["mean", "softmax", "max"],
            mode="attn",
            mode_kwargs={"in_channels": HIDDEN, "out_channels": HIDDEN, "num_heads": 2},
        ),
    ),
]

NORMS = [
    _norm("torch BatchNorm1d (eval)", partial(nn.BatchNorm1d, HIDDEN)),
    _norm("BatchNorm (eval)", partial(gnn.BatchNorm, HIDDEN)),
    _norm("torch LayerNorm", partial(nn.LayerNorm, HIDDEN)),
    _norm("LayerNorm(graph)", partial(gnn.LayerNorm, HIDDEN, mode="graph")),
    _norm("LayerNorm(node)", partial(gnn.LayerNorm, HIDDEN, mode="node")),
    _norm("GraphNorm", partial(gnn.GraphNorm, HIDDEN)),
    _norm("InstanceNorm", partial(gnn.InstanceNorm, HIDDEN, affine=True)),
    _norm("PairNorm", gnn.PairNorm),
    _norm("PairNorm(each node)", partial(gnn.PairNorm, scale_individually=True)),
    _norm("GraphSizeNorm", gnn.GraphSizeNorm),
    _norm("MeanSubtractionNorm", gnn.MeanSubtractionNorm),
    _norm("DiffGroupNorm (eval)", partial(gnn.DiffGroupNorm, HIDDEN, groups=2)),
]

CODES = [
    Case(
        "Codes",
        "Embedding of a node category",
        lambda: TinyClassifier(gnn.GCNConv(IN, HIDDEN), HIDDEN, embed=nn.Embedding(4, IN)),
        nodes="code",
        fast=True,
    ),
    Case(
        "Codes",
        "Embeddings of several node categories",
        lambda: TinyClassifier(gnn.GCNConv(IN, HIDDEN), HIDDEN, embed=SumOfEmbeddings((4, 3), IN)),
        nodes="codes",
        fast=True,
    ),
    Case("Codes", "Embedding of an edge category", EmbeddedBonds, edges="type", fast=True),
    Case("Codes", "one_hot of an edge category", OneHotBonds, edges="type", fast=True),
]

CUSTOM = [
    Case("Custom code", "torch scatters, bincount, index_add", PlainScatter),
    Case(
        "Custom code",
        "MessagePassing with degree and softmax",
        lambda: TinyClassifier([OwnAttention(IN), OwnAttention(HIDDEN)], HIDDEN),
    ),
    Case("Custom code", "virtual node", VirtualNode, fast=True),
]

CASES = [*CONVOLUTIONS, *MODELS, *READOUTS, *NORMS, *CODES, *CUSTOM]


@dataclass(frozen=True)
class Refusal:
    """A model that cannot be relaxed, and what the probe must say of it.

    Args:
        case: The model.
        module: Name of the layer that is to blame; empty where the model's own code is.
        named: What the reason must say of it.
    """

    case: Case
    module: str
    named: str

    def __str__(self) -> str:
        return str(self.case)


class Pooled(nn.Module):
    """Convolution, hierarchical pooling, readout."""

    def __init__(self, pool: nn.Module) -> None:
        super().__init__()
        self.conv, self.pool, self.head = gnn.GraphConv(IN, HIDDEN), pool, nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(x, edge_index).tanh()
        pooled = self.pool(x, edge_index, batch=batch)
        batch = pooled[2] if isinstance(self.pool, gnn.EdgePooling) else pooled[3]
        return self.head(gnn.global_mean_pool(pooled[0], batch))


class DiffPooled(nn.Module):
    """Dense differentiable pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.assign = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 2)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x, mask = to_dense_batch(self.conv(x, edge_index).tanh(), batch)
        adjacency = to_dense_adj(edge_index, batch).to(x.dtype)
        x, *_ = gnn.dense_diff_pool(x, adjacency, self.assign(x), mask)
        return self.head(x.mean(dim=1))


class PythonLoop(nn.Module):
    """A readout written as a loop over the graphs."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.conv(data.x, data.edge_index).tanh()
        rows = [x[data.batch == graph].mean(dim=0) for graph in range(data.num_graphs)]
        return self.head(torch.stack(rows))


class LoopLayer(nn.Module):
    """A user's layer that loops over nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(IN, HIDDEN)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x = self.lin(x)
        sums = [x[edge_index[0, edge_index[1] == i]].sum(dim=0) for i in range(x.size(0))]
        return x + torch.stack(sums)


class NoBatch(nn.Module):
    """Takes one graph at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.head = gnn.GraphConv(IN, HIDDEN), nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.head(self.conv(x, edge_index).tanh().mean(dim=0, keepdim=True))


class Fails(nn.Module):
    """Refuses isolated nodes, which an absent candidate is."""

    def __init__(self) -> None:
        super().__init__()
        self.check, self.conv = NoCompleteGraphs(), gnn.GraphConv(IN, HIDDEN)
        self.head = nn.Linear(HIDDEN, 3)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        x = self.conv(self.check(x, edge_index), edge_index)
        return self.head(gnn.global_add_pool(x, batch))


class NoCompleteGraphs(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if edge_index.size(1) > 5 * x.size(0):
            raise RuntimeError("too many edges")
        return x


def _refusal(case: Case, module: str, named: str) -> Refusal:
    return Refusal(replace(case, section="Not relaxed"), module, named)


def _custom(layer: str, build: Callable[[], nn.Module], module: str, named: str) -> Refusal:
    return Refusal(Case("Not relaxed", layer, build), module, named)


REFUSALS = [
    _custom("TopKPooling", lambda: Pooled(gnn.TopKPooling(HIDDEN)), "pool", "(TopKPooling)"),
    _custom("SAGPooling", lambda: Pooled(gnn.SAGPooling(HIDDEN)), "pool", "(SAGPooling)"),
    _custom("EdgePooling", lambda: Pooled(gnn.EdgePooling(HIDDEN)), "pool", "(EdgePooling)"),
    _custom("dense_diff_pool", DiffPooled, "", "the code of DiffPooled.forward"),
    _refusal(_c("MFConv", _layer("MFConv")), "convs.0", "(MFConv)"),
    _refusal(
        _c("GPSConv", lambda width: gnn.GPSConv(IN, gnn.GCNConv(IN, IN)), width=IN),
        "convs.0",
        "(GPSConv)",
    ),
    _refusal(
        _c("FiLMConv", _layer("FiLMConv", num_relations=RELATIONS), edges="type"),
        "convs.0",
        "(FiLMConv)",
    ),
    _refusal(
        _c("RGCNConv(max)", _layer("RGCNConv", num_relations=RELATIONS, aggr="max"), edges="type"),
        "convs.0",
        "(RGCNConv)",
    ),
    _refusal(
        _c("RGATConv", _layer("RGATConv", num_relations=RELATIONS), edges="type"),
        "",
        "'type' of the edges in a way that has no gradient",
    ),
    _refusal(
        _c("SAGEConv(lstm)", _layer("SAGEConv", aggr="lstm")),
        "convs.0",
        "(SAGEConv, in its LSTMAggregation)",
    ),
    _refusal(
        _c("SAGEConv(median)", _layer("SAGEConv", aggr="median")),
        "convs.0",
        "(SAGEConv, in its MedianAggregation)",
    ),
    _refusal(_readout("MedianAggregation", gnn.MedianAggregation), "pool", "(MedianAggregation)"),
    _refusal(
        _readout("QuantileAggregation", lambda: gnn.QuantileAggregation(0.3)),
        "pool",
        "(QuantileAggregation)",
    ),
    _refusal(_readout("MulAggregation", gnn.MulAggregation), "pool", "(MulAggregation)"),
    _refusal(
        _readout("LSTMAggregation", lambda: gnn.LSTMAggregation(HIDDEN, HIDDEN)),
        "pool",
        "(LSTMAggregation)",
    ),
    _refusal(
        _readout("GRUAggregation", lambda: gnn.GRUAggregation(HIDDEN, HIDDEN)),
        "pool",
        "(GRUAggregation)",
    ),
    _refusal(
        _readout("SortAggregation", lambda: gnn.SortAggregation(2), 2 * HIDDEN),
        "pool",
        "(SortAggregation)",
    ),
    _refusal(
        _readout("SetTransformerAggregation", lambda: gnn.SetTransformerAggregation(HIDDEN)),
        "pool",
        "(SetTransformerAggregation)",
    ),
    _refusal(
        _norm("BatchNorm1d without statistics", partial(nn.BatchNorm1d, HIDDEN, track_running_stats=False)),
        "norm",
        "(BatchNorm1d)",
    ),
    _custom("Python loop over graphs", PythonLoop, "", "the code of PythonLoop.forward"),
    _custom(
        "Python loop over nodes",
        lambda: TinyClassifier(LoopLayer(), HIDDEN),
        "convs.0",
        "(LoopLayer)",
    ),
    _custom("readout without a batch vector", NoBatch, "", "the code of NoBatch.forward"),
    _custom("code that raises on soft graphs", Fails, "check", "too many edges"),
]
