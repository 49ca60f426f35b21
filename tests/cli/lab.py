"""A user's own module, as the command line finds it: models and data sets, good and bad."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_add_pool, global_mean_pool

from gnninterpreter.models import Bundle, load


class Degrees(nn.Module):
    """Calls a graph dense where its mean degree is above two; nothing to train."""

    def __init__(self, in_channels: int = 1) -> None:
        super().__init__()
        self.conv = GraphConv(in_channels, 1)
        self.head = nn.Linear(1, 2)
        with torch.no_grad():
            self.conv.lin_rel.weight.fill_(1.0 / in_channels)
            self.conv.lin_rel.bias.zero_()
            self.conv.lin_root.weight.zero_()
            self.head.weight.copy_(torch.tensor([[-4.0], [4.0]]))
            self.head.bias.copy_(torch.tensor([8.0, -8.0]))

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.head(global_mean_pool(self.conv(x, edge_index), batch))


class Oxygens(nn.Module):
    """Calls a molecule oxidised where it has oxygens; reads the codes of PyG's `from_smiles`."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(1, 2)
        with torch.no_grad():
            self.head.weight.copy_(torch.tensor([[-8.0], [8.0]]))
            self.head.bias.copy_(torch.tensor([4.0, -4.0]))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        double = global_add_pool((edge_attr[:, :1] == 2).float(), batch[edge_index[0]], len(x))
        oxygen = global_add_pool((x[:, :1] == 8).float(), batch)
        return self.head(oxygen + 0.01 * double[: len(oxygen)])


class Talkative(Degrees):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        print("I am called")
        return super().forward(x, edge_index, batch)


class NotANumber(Degrees):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) * float("nan")


class OneRowForAll(Degrees):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch).sum(0, keepdim=True)


class NeverDense(Degrees):
    """Gives the second class next to nothing, whatever the graph."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return super().forward(x, edge_index, batch) * 1e-3 + torch.tensor([5.0, -5.0])


class Odd(Degrees):
    def forward(self, graph_of_mine: Tensor, its_edges: Tensor, who: Tensor) -> Tensor:
        return super().forward(graph_of_mine, its_edges, who)


def odd_forward(model: nn.Module, data: Batch) -> Tensor:
    return model(data.x, data.edge_index, data.batch)


def half() -> nn.Module:
    return Degrees().half()


def mixed() -> nn.Module:
    model = Degrees()
    model.head.double()
    return model


def fails() -> nn.Module:
    raise RuntimeError("the weights\nare not here")


def interrupts() -> nn.Module:
    raise KeyboardInterrupt


def unreadable_checkpoint() -> Bundle:
    return load("no such model")


def state_dict() -> dict[str, Tensor]:
    return dict(Degrees().state_dict())


def graphs(width: int = 1, labels: tuple[int, ...] = (0, 1)) -> list[Data]:
    """Paths are sparse (0), complete graphs are dense (1)."""
    found = []
    for size in (4, 5, 6):
        pairs = torch.combinations(torch.arange(size)).t()
        path = torch.stack([torch.arange(size - 1), torch.arange(1, size)])
        for label, edges in enumerate((path, pairs)):
            if label in labels:
                both = torch.cat([edges, edges.flip(0)], dim=1)
                found.append(Data(x=torch.ones(size, width), edge_index=both, y=label))
    return found


def wide_graphs() -> list[Data]:
    return graphs(width=3)


def dense_graphs() -> list[Data]:
    return graphs(labels=(1,))


model = Degrees()
talkative, odd, oxygens = Talkative(), Odd(), Oxygens()
not_a_number, one_row_for_all, never_dense = NotANumber(), OneRowForAll(), NeverDense()
some_graphs = graphs()
no_graphs: list[Data] = []
numbers = [1, 2, 3]
answer = 42


def walked_through() -> Iterator[Data]:
    yield from graphs()
