"""The fast path: common layers as batched matrix products instead of scatters over complete graphs.

A kernel computes what its layer's ``forward`` computes under the generic relaxation, to rounding.
It may decline a call it was not written for by returning None, and the generic path takes over.
Which layers have one is `KERNELS`; a subclass that may have changed the layer never uses its
parent's.
"""

from torch_geometric import nn as _layers

from gnninterpreter.models.architectures import LinearNNConv
from gnninterpreter.relax.dense.attention import gat, gatv2, transformer
from gnninterpreter.relax.dense.convolution import gcn, gin, gine, graph_conv, nn_conv, sage
from gnninterpreter.relax.dense.kernel import Kernel, dense_forwards
from gnninterpreter.relax.dense.relational import relational

__all__ = ["KERNELS", "REQUIRED", "Kernel", "dense_forwards"]

KERNELS: dict[type, Kernel] = {
    _layers.GCNConv: gcn,
    _layers.GraphConv: graph_conv,
    _layers.SAGEConv: sage,
    _layers.GINConv: gin,
    _layers.GINEConv: gine,
    _layers.GATConv: gat,
    _layers.GATv2Conv: gatv2,
    _layers.TransformerConv: transformer,
    _layers.NNConv: nn_conv,
    LinearNNConv: nn_conv,
}

# Relation layers choose edges by an integer type, which no reduction can weigh: for them the kernel
# is not the faster way but the only one.
REQUIRED: dict[type, Kernel] = {_layers.RGCNConv: relational, _layers.FastRGCNConv: relational}
