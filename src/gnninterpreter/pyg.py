"""Inside PyG's own `torch_geometric.explain.Explainer`: the class view, linked to one prediction.

Example:
    >>> from torch_geometric.explain import Explainer
    >>> from gnninterpreter.pyg import ModelLevelExplainer
    >>> explainer = Explainer(model, ModelLevelExplainer(dataset), explanation_type="model",
    ...     node_mask_type="object", model_config=dict(mode="multiclass_classification",
    ...     task_level="graph", return_type="raw"))                       # doctest: +SKIP
    >>> explainer(data.x, data.edge_index, batch=data.batch).node_mask    # doctest: +SKIP
    >>> explainer.algorithm.result["mutagen"].best                        # doctest: +SKIP
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.explain import ExplainerAlgorithm
from torch_geometric.explain import Explanation as PyGExplanation
from torch_geometric.explain.config import MaskType, ModelTaskLevel

from gnninterpreter.api import explain
from gnninterpreter.errors import SpecError
from gnninterpreter.explanation import ExplanationSet

__all__ = ["ModelLevelExplainer"]


class ModelLevelExplainer(ExplainerAlgorithm):  # type: ignore[misc]
    """Explains the classes of a model once, and each prediction by the cores that it rests on.

    The node mask says how far the probability falls without the core that lies on a node. Every
    graph of a batch is explained by itself. ``explanation.found`` lists the cores of each graph.

    Args:
        dataset: Labelled graphs the model was trained on; as for `gnninterpreter.explain`.
        result: Explanations that were made before, instead of ``dataset``.
        options: Further arguments of `gnninterpreter.explain`, such as ``restarts`` and ``seed``.

    Attributes:
        result: The explanations of all classes; None before the first call.
    """

    def __init__(
        self, dataset: Any = None, result: ExplanationSet | None = None, **options: Any
    ) -> None:
        super().__init__()
        if (dataset is None) == (result is None) and "spec" not in options:
            raise SpecError("pass either the training data or a result of gnninterpreter.explain")
        self.dataset, self.result, self.options = dataset, result, options
        self._explained: nn.Module | None = None

    def supports(self) -> bool:
        """Whole graphs, and masks of whole nodes or edges."""
        masks = (self.explainer_config.node_mask_type, self.explainer_config.edge_mask_type)
        graphs = self.model_config.task_level == ModelTaskLevel.graph
        return graphs and all(mask in (None, MaskType.object) for mask in masks)

    def forward(
        self,
        model: nn.Module,
        x: Tensor,
        edge_index: Tensor,
        *,
        target: Tensor | None = None,
        index: int | Tensor | None = None,
        **kwargs: Any,
    ) -> PyGExplanation:
        """Explain predictions.

        Args:
            model: The model.
            x: Node features.
            edge_index: Edges.
            target: What each graph is explained as belongs to the model, so it is not used.
            index: The graph of the batch to explain; all of them when omitted.
            kwargs: What else the model takes: ``batch``, ``edge_attr`` and so on.
        """
        if self.result is None or self._explained not in (None, model):
            options = {"task": self.model_config, "progress": False, **self.options}
            self.result = explain(model, self.dataset, **options)
        self._explained = model
        batch = kwargs.pop("batch", None)
        if batch is None:
            batch = torch.zeros(x.size(0), dtype=torch.long, device=x.device)
        more = {name: value for name, value in kwargs.items() if torch.is_tensor(value)}
        whole = Data(x=x, edge_index=edge_index, num_nodes=x.size(0), **more)
        for name in more:  # what is of neither nodes nor edges cannot be cut
            if not (whole.is_node_attr(name) or whole.is_edge_attr(name)):
                del whole[name]
        wanted = None if index is None else set(torch.as_tensor(index).reshape(-1).tolist())
        node_mask = x.new_zeros(x.size(0), 1, dtype=torch.float)
        found: list[Any] = []
        for number in range(int(batch.max()) + 1 if batch.numel() else 0):
            nodes = (batch == number).nonzero().view(-1)
            if (wanted is not None and number not in wanted) or not len(nodes):
                found.append(None)
                continue
            found.append(self.result.explain_graph(whole.subgraph(nodes), model=model))
            node_mask[nodes] = found[-1].node_mask.to(node_mask)
        masks = {}
        if self.explainer_config.node_mask_type is not None:
            masks["node_mask"] = node_mask
        if self.explainer_config.edge_mask_type is not None:
            masks["edge_mask"] = node_mask[edge_index].amin(dim=0).view(-1)
        return PyGExplanation(**masks, found=found)
