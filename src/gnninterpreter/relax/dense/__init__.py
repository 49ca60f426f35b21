"""The fast path: common layers as batched matrix products instead of scatters over complete graphs.

A kernel computes what its layer's ``forward`` computes under the generic relaxation, to rounding.
It may decline a call it was not written for by returning None, and the generic path takes over.
Which layers have one is `KERNELS`; a subclass that may have changed the layer never uses its
parent's.
"""

from torch_geometric import nn as _layers

from gnninterpreter.models.architectures import LinearNNConv
from gnninterpreter.relax.dense import attention, convolution
from gnninterpreter.relax.dense.kernel import Kernel, dense_forwards

__all__ = ["KERNELS", "REQUIRED", "Kernel", "dense_forwards"]

KERNELS: dict[type, Kernel] = {
    _layers.GCNConv: convolution.gcn,
    _layers.GraphConv: convolution.graph_conv,
    _layers.SAGEConv: convolution.sage,
    _layers.GINConv: convolution.gin,
    _layers.GINEConv: convolution.gine,
    _layers.GATConv: attention.gat,
    _layers.GATv2Conv: attention.gatv2,
    _layers.TransformerConv: attention.transformer,
    _layers.NNConv: convolution.nn_conv,
    LinearNNConv: convolution.nn_conv,
}

# Relation layers choose edges by an integer type, which no reduction can weigh: for them the kernel
# is not the faster way but the only one.
REQUIRED: dict[type, Kernel] = dict.fromkeys(
    (_layers.RGCNConv, _layers.FastRGCNConv), convolution.relational
)
