"""The class view inside PyG's own explainer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.explain import Explainer

from gnninterpreter.errors import SpecError
from gnninterpreter.pyg import ModelLevelExplainer
from tests.tiny import trained_shapes

GRAPHS = {"mode": "multiclass_classification", "task_level": "graph", "return_type": "raw"}


class Flat(nn.Module):
    """The classifier of shapes, called as PyG's explainer calls models."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = trained_shapes()[0]

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor | None = None) -> Tensor:
        batch = x.new_zeros(len(x), dtype=torch.long) if batch is None else batch
        found: Tensor = self.inner(Batch(x=x, edge_index=edge_index, batch=batch))
        return found


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer(
        Flat().eval(),
        ModelLevelExplainer(trained_shapes()[1], restarts=2),
        explanation_type="model",
        node_mask_type="object",
        edge_mask_type="object",
        model_config=GRAPHS,
    )


def test_one_graph_has_masks_and_the_classes_beside_them(explainer: Explainer) -> None:
    star = trained_shapes()[1][1]
    explanation = explainer(star.x, star.edge_index)
    assert explanation.node_mask.shape == (star.num_nodes, 1)
    assert explanation.edge_mask.shape == (star.num_edges,)
    assert explanation.found[0].assigned == ("class 1",)
    result = explainer.algorithm.result
    assert result[1].best.num_nodes >= 3
    again = explainer(star.x, star.edge_index)
    assert explainer.algorithm.result is result
    assert torch.equal(again.node_mask, explanation.node_mask)


def test_graphs_of_a_batch_are_explained_each_by_itself(explainer: Explainer) -> None:
    graphs = trained_shapes()[1][9:12]
    batch = Batch.from_data_list(graphs)
    together = explainer(batch.x, batch.edge_index, batch=batch.batch)
    alone = [explainer(graph.x, graph.edge_index).node_mask for graph in graphs]
    assert torch.allclose(together.node_mask, torch.cat(alone))
    one = explainer(batch.x, batch.edge_index, batch=batch.batch, index=1)
    assert one.found[0] is None
    assert not one.node_mask[batch.batch != 1].any()


def test_what_it_cannot_explain_is_refused() -> None:
    with pytest.raises(ValueError, match="does not support"):
        Explainer(
            Flat(),
            ModelLevelExplainer([Data()]),
            explanation_type="model",
            node_mask_type="object",
            model_config={**GRAPHS, "task_level": "node"},
        )
    with pytest.raises(SpecError, match="either the training data or a result"):
        ModelLevelExplainer()


def test_what_belongs_to_nodes_and_edges_is_cut_with_them() -> None:
    class Seen:
        """Remembers the graphs it is asked about."""

        def __init__(self) -> None:
            self.graphs: list[Data] = []

        def explain_graph(self, graph: Data, model: nn.Module) -> Data:
            self.graphs.append(graph)
            return Data(node_mask=torch.ones(int(graph.num_nodes or 0), 1))

    class Any(nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor, **more: Tensor) -> Tensor:
            return torch.zeros(2, 2)

    seen = Seen()
    explainer = Explainer(
        Any(),
        ModelLevelExplainer(result=seen),  # type: ignore[arg-type]
        explanation_type="model",
        node_mask_type="object",
        model_config=GRAPHS,
    )
    edges = torch.tensor([[0, 1, 2, 3, 3], [1, 0, 3, 2, 4]])
    explainer(
        torch.arange(5.0).view(5, 1),
        edges,
        batch=torch.tensor([0, 0, 1, 1, 1]),
        edge_weight=torch.arange(5.0),
        pos=torch.arange(10.0).view(5, 2),
        of_all=torch.zeros(2, 3),
        scale=torch.tensor(2.0),
    )
    first, second = seen.graphs
    assert first.edge_weight.tolist() == [0, 1]
    assert second.edge_weight.tolist() == [2, 3, 4]
    assert second.edge_index.tolist() == [[0, 1, 1], [1, 0, 2]]
    assert second.pos.tolist() == [[4, 5], [6, 7], [8, 9]]
    assert sorted(first.keys()) == ["edge_index", "edge_weight", "num_nodes", "pos", "x"]
