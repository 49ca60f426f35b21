"""The paper's classifiers, as plain PyG modules that a stored ``config`` can build again.

Each is a stack of message-passing layers with LeakyReLU, a global pooling and two dense layers
(paper, appendix "Experimental Details of GNN Classifiers"). The input of ``dense``, the first of
the two, is the pooled graph embedding that the explainer compares with the class means.
"""

from __future__ import annotations

import inspect
import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINEConv, NNConv
from torch_geometric.nn.aggr import MaxAggregation, MeanAggregation, SumAggregation

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.errors import ModelError

SLOPE = 0.01  # of LeakyReLU, PyTorch's default

POOLS: dict[str, type[nn.Module]] = {
    "sum": SumAggregation,
    "mean": MeanAggregation,
    "max": MaxAggregation,
}


class _Classifier(nn.Module, ABC):
    """Message-passing layers, pooling ("mean", "sum", "max", or "mean+sum"), two dense layers."""

    architecture: str

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        width: int,
        layers: int,
        pooling: str,
        edge_dim: int,
        **more: Any,
    ) -> None:
        super().__init__()
        names = pooling.split("+")
        if not set(names) <= set(POOLS):
            raise ModelError(
                f"pooling must be made of {', '.join(POOLS)}, joined by '+' (got {pooling!r})"
            )
        for label, value in (("width", width), ("layers", layers), ("num_classes", num_classes)):
            whole_number(label, value, 1, error=ModelError)
        self.config: dict[str, Any] = {
            "architecture": self.architecture,
            "in_channels": in_channels,
            "num_classes": num_classes,
            "width": width,
            "layers": layers,
            "pooling": pooling,
            **({"edge_dim": edge_dim} if edge_dim else {}),
            **more,
        }
        widths = [in_channels] + [width] * layers
        self.convs = nn.ModuleList(
            self._layer(a, b, edge_dim) for a, b in itertools.pairwise(widths)
        )
        self.activation = nn.LeakyReLU(SLOPE)
        self.pools = nn.ModuleList(POOLS[name]() for name in names)
        self.dense = nn.Linear(width * len(names), width)
        self.output = nn.Linear(width, num_classes)

    @abstractmethod
    def _layer(self, in_channels: int, out_channels: int, edge_dim: int) -> Any:
        """Build one convolution."""

    def initialize(self, generator: torch.Generator | None = None) -> None:
        """Draw every weight by Kaiming's rule for LeakyReLU and set every bias to zero."""
        with torch.no_grad():
            for parameter in self.parameters():
                if parameter.dim() < 2:
                    parameter.zero_()
                    continue
                _kaiming(parameter, parameter[0].numel(), generator)
            self._initialize_layers(generator)

    def _initialize_layers(self, generator: torch.Generator | None) -> None:
        """Redo the layers whose weights are laid out otherwise than [out, in]."""

    def _head(self, hidden: Tensor, batch: Tensor | None) -> Tensor:
        if batch is None:
            batch = torch.zeros(hidden.size(0), dtype=torch.long, device=hidden.device)
        embedding = torch.cat([pool(hidden, batch) for pool in self.pools], dim=-1)
        return cast(Tensor, self.output(self.activation(self.dense(embedding))))


class GCNClassifier(_Classifier):
    """GCN layers for graphs without edge features: MUTAG, Motif, Shape, Is_Acyclic.

    Example:
        >>> model = GCNClassifier(in_channels=1, num_classes=5, layers=4)
        >>> model(torch.ones(2, 1), torch.tensor([[0, 1], [1, 0]])).shape
        torch.Size([1, 5])
    """

    architecture = "gcn"

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        width: int = 64,
        layers: int = 3,
        pooling: str = "mean",
    ) -> None:
        super().__init__(in_channels, num_classes, width, layers, pooling, edge_dim=0)
        self.initialize()

    def _layer(self, in_channels: int, out_channels: int, edge_dim: int) -> Any:
        return GCNConv(in_channels, out_channels)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        """Return logits of shape [graphs, classes]; one graph where ``batch`` is omitted."""
        for conv in self.convs:
            x = self.activation(conv(x, edge_index))
        return self._head(x, batch)


class _EdgeClassifier(_Classifier):
    """What the two classifiers that read edge features share: the way they are called."""

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor | None = None
    ) -> Tensor:
        """Return logits of shape [graphs, classes]; one graph where ``batch`` is omitted."""
        for conv in self.convs:
            x = self.activation(conv(x, edge_index, edge_attr))
        return self._head(x, batch)


class LinearNNConv(NNConv):  # type: ignore[misc]
    """PyG's layer where the edge network is one dense layer, without a matrix for each edge.

    That of an edge is a sum of matrices, one for each of its features. What a node sends through
    all of them is computed first, a tenth of the memory, and then added up.
    """

    def message(self, x_j: Tensor, edge_attr: Tensor) -> Tensor:
        """Return a row for each edge."""
        matrices = torch.cat([self.nn.weight, self.nn.bias.unsqueeze(1)], dim=1)
        # One feature after the other: a product of matrices for each edge would take twice as long.
        by_feature = matrices.view(self.in_channels_l, self.out_channels, -1).mT.flatten(1)
        *sent, rest = torch.split(x_j @ by_feature, self.out_channels, dim=1)
        shares = torch.split(edge_attr, 1, dim=1)
        parts = [part * share for part, share in zip(sent, shares, strict=True)]
        return sum(parts[1:], parts[0]) + rest


class NNConvClassifier(_EdgeClassifier):
    """NNConv layers whose edge network is one dense layer: Cyclicity."""

    architecture = "nnconv"

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        edge_dim: int,
        width: int = 32,
        layers: int = 5,
        pooling: str = "mean",
        aggregation: str = "sum",
    ) -> None:
        """Build the layers; ``aggregation`` is how a node joins its messages."""
        self.aggregation = aggregation
        super().__init__(
            in_channels, num_classes, width, layers, pooling, edge_dim, aggregation=aggregation
        )
        self.initialize()

    def _layer(self, in_channels: int, out_channels: int, edge_dim: int) -> Any:
        network = nn.Linear(edge_dim, in_channels * out_channels)
        return LinearNNConv(in_channels, out_channels, network, aggr=self.aggregation)

    def _initialize_layers(self, generator: torch.Generator | None) -> None:
        # The edge network's outputs are matrices that a message of `in_channels` values meets, so
        # that is their fan-in. Taken for an ordinary layer (fan-in 2) they would blow up the
        # signal sixteenfold a layer.
        for conv in self.convs:
            layer = cast(Any, conv)
            _kaiming(layer.nn.weight, 2 * layer.in_channels_l, generator)


class GATClassifier(_EdgeClassifier):
    """GAT layers whose attention reads the edge features too: ColorConsistency."""

    architecture = "gat"

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        edge_dim: int,
        width: int = 16,
        layers: int = 3,
        pooling: str = "sum",
        heads: int = 1,
    ) -> None:
        """Build the layers; ``heads`` attention heads share the width between them."""
        if heads < 1 or width % heads:
            raise ModelError(f"heads must divide width (got heads={heads}, width={width})")
        self.heads = heads
        super().__init__(in_channels, num_classes, width, layers, pooling, edge_dim, heads=heads)
        self.initialize()

    def _layer(self, in_channels: int, out_channels: int, edge_dim: int) -> Any:
        each = out_channels // self.heads
        return GATConv(in_channels, each, heads=self.heads, edge_dim=edge_dim)


class GINEClassifier(_EdgeClassifier):
    """GINE layers with batch norm, dropout and shortcuts around them: the four sets of molecules.

    Args:
        in_channels: Width of the node features.
        num_classes: Number of outputs.
        edge_dim: Width of the edge features.
        width: Width of every hidden layer.
        layers: Number of message-passing layers.
        pooling: As for the others.
        dropout: Share of values left out in training, after each layer.
    """

    architecture = "gine"

    def __init__(
        self,
        in_channels: int,
        num_classes: int,
        edge_dim: int,
        width: int = 64,
        layers: int = 4,
        pooling: str = "mean+sum",
        dropout: float = 0.1,
    ) -> None:
        super().__init__(width, num_classes, width, layers, pooling, edge_dim, dropout=dropout)
        self.config["in_channels"] = in_channels
        self.embed = nn.Linear(in_channels, width)
        self.norms = nn.ModuleList(nn.BatchNorm1d(width) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.initialize()

    def _layer(self, in_channels: int, out_channels: int, edge_dim: int) -> Any:
        network = nn.Sequential(
            nn.Linear(in_channels, out_channels), nn.ReLU(), nn.Linear(out_channels, out_channels)
        )
        return GINEConv(network, edge_dim=edge_dim)

    def _initialize_layers(self, generator: torch.Generator | None) -> None:
        for norm in self.norms:
            cast(nn.BatchNorm1d, norm).reset_parameters()

    def forward(
        self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor | None = None
    ) -> Tensor:
        """Return outputs of shape [graphs, classes]; see `NNConvClassifier.forward`."""
        x = self.embed(x)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = x + self.dropout(self.activation(norm(conv(x, edge_index, edge_attr))))
        return self._head(x, batch)


ARCHITECTURES: dict[str, type[_Classifier]] = {
    cls.architecture: cls
    for cls in (GCNClassifier, NNConvClassifier, GATClassifier, GINEClassifier)
}


def rebuild(config: Mapping[str, Any], weights: Mapping[str, Tensor]) -> nn.Module:
    """Build a stored classifier; its config is held against the weights before anything is made."""
    full = [weight for weight in weights.values() if weight.numel()]
    most = max([len(weights), *(size for weight in full for size in weight.shape)])
    for name, value in config.items():
        large = isinstance(value, (int, float)) and not -most <= value <= most
        if large or (isinstance(value, str) and len(value) > 100):
            raise ModelError(
                f"its weights and its {name} do not belong together (got {value!r:.40})"
            )
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in build(config).state_dict().items()}
    if shapes != {name: value.shape for name, value in weights.items()}:
        raise ModelError("its weights and its description do not belong together")
    model = build(config)
    model.load_state_dict(weights)
    return model


def build(config: Mapping[str, Any], generator: torch.Generator | None = None) -> nn.Module:
    """Build the classifier that a ``config`` describes."""
    settings = dict(config)
    name = settings.pop("architecture", None)
    cls = ARCHITECTURES[one_of("architecture", name, ARCHITECTURES, ModelError)]
    try:
        inspect.signature(cls).bind(**settings)
    except TypeError as error:
        raise ModelError(f"cannot build a '{name}' classifier: {error}") from error
    model = cls(**settings)
    model.initialize(generator)
    return model


def _kaiming(parameter: Tensor, fan_in: int, generator: torch.Generator | None) -> None:
    gain = math.sqrt(2.0 / (1.0 + SLOPE**2))
    parameter.normal_(0.0, gain / math.sqrt(fan_in), generator=generator)
