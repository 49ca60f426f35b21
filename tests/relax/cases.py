"""Every model the relaxation is tested on, in one list.

The laws, the comparison of the two paths, the probe's tests and ``docs/support.md`` all read it, so
that what the documentation claims is what the tests check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn

from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.testing import TinyClassifier
from tests.relax.networks import (
    EDGE,
    HIDDEN,
    IN,
    RELATIONS,
    Blocks,
    EmbeddedBonds,
    KeepsInitial,
    OneHotBonds,
    OwnAttention,
    PlainScatter,
    SumOfEmbeddings,
    VirtualNode,
    WholeModel,
    mlp,
)

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


def conv(
    layer: str,
    make: Callable[[int], nn.Module],
    *,
    width: int = HIDDEN,
    edges: str = "none",
    fast: bool = False,
) -> Case:
    """Two convolutions of one kind, the second one ``width`` columns wide going in."""

    def build() -> nn.Module:
        return TinyClassifier([make(IN), make(width)], width, edge=ARGUMENTS[edges])

    return Case("Convolutions", layer, build, edges=edges, fast=fast)


def _whole(layer: str, make: Callable[..., nn.Module], *, fast: bool, edges: str = "none") -> Case:
    return Case("Whole models", layer, lambda: WholeModel(make()), edges=edges, fast=fast)


def _body(name: str, jk: str | None, **options: object) -> nn.Module:
    return getattr(gnn.models, name)(IN, HIDDEN, 3, HIDDEN, jk=jk, **options)


def readout(
    layer: str, make: Callable[[], Callable[[Tensor, Tensor], Tensor]], pooled: int = HIDDEN
) -> Case:
    def build() -> nn.Module:
        return TinyClassifier(gnn.GraphConv(IN, HIDDEN), HIDDEN, pool=make(), pooled=pooled)

    return Case("Readouts", layer, build, fast=True)


def norm(layer: str, make: Callable[[], nn.Module]) -> Case:
    def build() -> nn.Module:
        return TinyClassifier(gnn.GraphConv(IN, HIDDEN), HIDDEN, norm=make())

    return Case("Normalisation", layer, build, fast=True)


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


def of(name: str, **options: object) -> Callable[[int], nn.Module]:
    return lambda width: getattr(gnn, name)(width, HIDDEN, **options)


CONVOLUTIONS = [
    conv("GCNConv", of("GCNConv"), fast=True),
    conv("GCNConv", of("GCNConv"), edges="weight"),
    conv("GCNConv(improved)", of("GCNConv", improved=True), fast=True),
    conv("GCNConv(no self-loops)", of("GCNConv", add_self_loops=False), fast=True),
    conv("GCNConv(not normalised)", of("GCNConv", normalize=False), fast=True),
    conv("GraphConv(add)", of("GraphConv"), fast=True),
    conv("GraphConv(mean)", of("GraphConv", aggr="mean"), fast=True),
    conv("GraphConv(max)", of("GraphConv", aggr="max"), fast=True),
    conv("GraphConv(add)", of("GraphConv"), edges="weight"),
    conv("SAGEConv(mean)", of("SAGEConv"), fast=True),
    conv("SAGEConv(max)", of("SAGEConv", aggr="max"), fast=True),
    conv("SAGEConv(sum)", of("SAGEConv", aggr="sum"), fast=True),
    conv("SAGEConv(project, normalize)", of("SAGEConv", project=True, normalize=True), fast=True),
    conv("GINConv", _gin, fast=True),
    conv("GINConv(max)", partial(_gin, aggr="max"), fast=True),
    conv("GINEConv", _gine, edges="features", fast=True),
    conv("GINEConv(mean)", partial(_gine, aggr="mean"), edges="features", fast=True),
    conv("GINEConv(max)", partial(_gine, aggr="max"), edges="features", fast=True),
    conv("GATConv", of("GATConv"), fast=True),
    conv("GATConv(2 heads, mean)", of("GATConv", heads=2, concat=False), fast=True),
    conv("GATConv(residual)", of("GATConv", residual=True), fast=True),
    conv("GATConv(no self-loops)", of("GATConv", add_self_loops=False), fast=True),
    conv("GATConv", of("GATConv", edge_dim=EDGE), edges="features", fast=True),
    conv("GATConv(fill 0.5)", of("GATConv", edge_dim=EDGE, fill_value=0.5), edges="features",
         fast=True),
    conv("GATv2Conv", of("GATv2Conv"), fast=True),
    conv("GATv2Conv(2 heads, mean)", of("GATv2Conv", heads=2, concat=False), fast=True),
    conv("GATv2Conv(shared)", of("GATv2Conv", share_weights=True, residual=True), fast=True),
    conv("GATv2Conv(no self-loops)", of("GATv2Conv", add_self_loops=False), fast=True),
    conv("GATv2Conv", of("GATv2Conv", edge_dim=EDGE), edges="features", fast=True),
    conv("TransformerConv", of("TransformerConv"), fast=True),
    conv("TransformerConv(2 heads, mean)", of("TransformerConv", heads=2, concat=False),
         fast=True),
    conv("TransformerConv(beta)", of("TransformerConv", beta=True), fast=True),
    conv("TransformerConv", of("TransformerConv", edge_dim=EDGE), edges="features", fast=True),
    conv("NNConv(one linear)", _nn_conv(_one_linear), edges="features", fast=True),
    conv("NNConv(one linear, mean)", _nn_conv(_one_linear, aggr="mean"), edges="features",
         fast=True),
    conv("NNConv(one linear, max)", _nn_conv(_one_linear, aggr="max"), edges="features"),
    conv("NNConv(deep)", _nn_conv(_deep), edges="features"),
    conv("TAGConv", of("TAGConv")),
    conv("TAGConv", of("TAGConv"), edges="weight"),
    conv("ChebConv(sym)", of("ChebConv", K=3)),
    conv("ChebConv(rw)", of("ChebConv", K=3, normalization="rw")),
    conv("ChebConv(sym)", of("ChebConv", K=3), edges="weight"),
    conv("SGConv", of("SGConv", K=2)),
    conv("SGConv", of("SGConv", K=2), edges="weight"),
    conv("ARMAConv", of("ARMAConv", num_stacks=2, num_layers=2)),
    conv("ARMAConv", of("ARMAConv"), edges="weight"),
    Case("Convolutions", "GCN2Conv",
         lambda: KeepsInitial(lambda: gnn.GCN2Conv(HIDDEN, 0.3, 0.5, layer=1))),
    Case("Convolutions", "FAConv", lambda: KeepsInitial(lambda: gnn.FAConv(HIDDEN))),
    conv("LEConv", of("LEConv")),
    conv("LEConv", of("LEConv"), edges="weight"),
    conv("ResGatedGraphConv", of("ResGatedGraphConv")),
    conv("ResGatedGraphConv", of("ResGatedGraphConv", edge_dim=EDGE), edges="features"),
    conv("GeneralConv", of("GeneralConv")),
    conv("GeneralConv(attention)", of("GeneralConv", attention=True, heads=2)),
    conv("GeneralConv(dot product)",
         of("GeneralConv", attention=True, attention_type="dot_product", l2_normalize=True)),
    conv("GeneralConv", of("GeneralConv", in_edge_channels=EDGE, attention=True),
         edges="features"),
    conv("EdgeConv(max)", lambda width: gnn.EdgeConv(mlp(2 * width, HIDDEN))),
    conv("EdgeConv(mean)", lambda width: gnn.EdgeConv(mlp(2 * width, HIDDEN), aggr="mean")),
    conv("PNAConv", _pna),
    conv("PNAConv", partial(_pna, edge_dim=EDGE), edges="features"),
    *[
        conv(f"{name}({how})", of(name, num_relations=RELATIONS, aggr=how), edges="type",
             fast=True)
        for name in ("RGCNConv", "FastRGCNConv")
        for how in ("mean", "add")
    ],
    *[
        conv(f"{name}(bases)", of(name, num_relations=RELATIONS, num_bases=2), edges="type",
             fast=True)
        for name in ("RGCNConv", "FastRGCNConv")
    ],
    *[
        Case("Convolutions", f"{name}(blocks, {how})", partial(Blocks, name, how), edges="type",
             fast=True)
        for name, how in (("RGCNConv", "mean"), ("RGCNConv", "add"), ("FastRGCNConv", "mean"))
    ],
    conv("SAGEConv(softmax)", of("SAGEConv", aggr="softmax")),
    conv("SAGEConv(mean, max, std)", of("SAGEConv", aggr=["mean", "max", "std"])),
    conv("GCNConv(target to source)", of("GCNConv", flow="target_to_source")),
    conv("ChebConv(not normalised)", of("ChebConv", K=3, normalization=None)),
    conv("CGConv", lambda width: gnn.CGConv(width), width=IN),
    conv("CGConv", lambda width: gnn.CGConv(width, dim=EDGE), edges="features", width=IN),
    conv("GENConv", of("GENConv")),
    conv("GENConv", of("GENConv", edge_dim=EDGE), edges="features"),
    conv("GatedGraphConv", lambda width: gnn.GatedGraphConv(HIDDEN, 2)),
    conv("FiLMConv", of("FiLMConv")),
    conv("LGConv", lambda width: gnn.LGConv(), width=IN),
    conv("MixHopConv", lambda width: gnn.MixHopConv(width, HIDDEN // 3)),
    conv("SSGConv", of("SSGConv", alpha=0.3, K=2)),
    conv("APPNP", lambda width: gnn.APPNP(2, 0.1), width=IN),
    conv("ClusterGCNConv", of("ClusterGCNConv")),
    conv("SuperGATConv", of("SuperGATConv")),
    conv("FeaStConv", of("FeaStConv", heads=2)),
    conv("AGNNConv", lambda width: gnn.AGNNConv(), width=IN),
    conv("PDNConv", of("PDNConv", edge_dim=EDGE, hidden_channels=4), edges="features"),
    conv("AntiSymmetricConv", lambda width: gnn.AntiSymmetricConv(width), width=IN, fast=True),
    conv("DirGNNConv", lambda width: gnn.DirGNNConv(gnn.GCNConv(width, HIDDEN)), fast=True),
    conv("SimpleConv(mean)", lambda width: gnn.SimpleConv("mean", combine_root="sum"), width=IN),
    conv("WLConvContinuous", lambda width: gnn.WLConvContinuous(), width=IN),
    conv("GMMConv", of("GMMConv", dim=EDGE, kernel_size=2), edges="features"),
    conv("HypergraphConv", of("HypergraphConv")),
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
    readout("global_add_pool", lambda: gnn.global_add_pool),
    readout("global_mean_pool", lambda: gnn.global_mean_pool),
    readout("global_max_pool", lambda: gnn.global_max_pool),
    readout("SumAggregation", gnn.SumAggregation),
    readout("MeanAggregation", gnn.MeanAggregation),
    readout("MaxAggregation", gnn.MaxAggregation),
    readout("MinAggregation", gnn.MinAggregation),
    readout("VarAggregation", gnn.VarAggregation),
    readout("StdAggregation", gnn.StdAggregation),
    readout("SoftmaxAggregation", partial(gnn.SoftmaxAggregation, learn=True)),
    readout("PowerMeanAggregation", partial(gnn.PowerMeanAggregation, learn=True)),
    readout(
        "AttentionalAggregation",
        lambda: gnn.AttentionalAggregation(mlp(HIDDEN, 1), nn.Linear(HIDDEN, HIDDEN)),
    ),
    readout("VariancePreservingAggregation", gnn.VariancePreservingAggregation),
    readout("DeepSetsAggregation", lambda: gnn.DeepSetsAggregation(mlp(HIDDEN, HIDDEN))),
    readout("Set2Set", partial(gnn.Set2Set, HIDDEN, processing_steps=3), 2 * HIDDEN),
    readout(
        "MultiAggregation(cat)",
        lambda: gnn.MultiAggregation(["sum", "mean", "max", "std"]),
        4 * HIDDEN,
    ),
    readout(
        "MultiAggregation(attention)",
        lambda: gnn.MultiAggregation(
            ["mean", "softmax", "max"],
            mode="attn",
            mode_kwargs={"in_channels": HIDDEN, "out_channels": HIDDEN, "num_heads": 2},
        ),
    ),
]

NORMS = [
    norm("torch BatchNorm1d (eval)", partial(nn.BatchNorm1d, HIDDEN)),
    norm("BatchNorm (eval)", partial(gnn.BatchNorm, HIDDEN)),
    norm("torch LayerNorm", partial(nn.LayerNorm, HIDDEN)),
    norm("LayerNorm(graph)", partial(gnn.LayerNorm, HIDDEN, mode="graph")),
    norm("LayerNorm(node)", partial(gnn.LayerNorm, HIDDEN, mode="node")),
    norm("GraphNorm", partial(gnn.GraphNorm, HIDDEN)),
    norm("InstanceNorm", partial(gnn.InstanceNorm, HIDDEN, affine=True)),
    norm("PairNorm", gnn.PairNorm),
    norm("PairNorm(each node)", partial(gnn.PairNorm, scale_individually=True)),
    norm("GraphSizeNorm", gnn.GraphSizeNorm),
    norm("MeanSubtractionNorm", gnn.MeanSubtractionNorm),
    norm("DiffGroupNorm (eval)", partial(gnn.DiffGroupNorm, HIDDEN, groups=2)),
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


def per_target(candidates: Candidates, edges: Tensor) -> Tensor:
    """Edge values [E, ...] as [B, N, N-1, ...]: for each target, its candidate sources."""
    size = candidates.size
    return edges.view(candidates.num_graphs, size, size - 1, *edges.shape[1:])


def from_sources(candidates: Candidates, nodes: Tensor) -> Tensor:
    """For each candidate edge the value of its source, [B, N, N-1, ...]."""
    values = candidates.per_graph(nodes)[:, candidates.source]
    return values.view(candidates.num_graphs, candidates.size, -1, *nodes.shape[1:])
