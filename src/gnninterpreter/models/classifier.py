"""A user's model as the rest of the library sees it: graphs in, logits and embeddings out.

`GraphClassifier` finds out how the model is called, what its output means and where its embedding
lies, says so, and from then on answers every question about it the same way, whether the graphs are
discrete (the native model) or soft (the relaxation runs the same call).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from gnninterpreter.errors import GNNInterpreterError, ModelError, SpecError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.borrowing import borrowed
from gnninterpreter.models.calling import Convention, infer_convention
from gnninterpreter.models.embedding import EmbeddingPoint, Tap, check_embedding, find_embedding
from gnninterpreter.models.outputs import OutputReader, find_scores
from gnninterpreter.models.task import Task
from gnninterpreter.spec import GraphSpec

__all__ = ["GraphClassifier", "Scores"]

EXAMPLES = 12


@dataclass(frozen=True)
class Scores:
    """What the model says of B graphs.

    Args:
        logits: Its outputs, [B, C]: logits of classes or labels, or the values of a regression.
        embedding: Embeddings, [B, D].
        task: How a row of outputs is read.
    """

    logits: Tensor
    embedding: Tensor
    task: Task = Task.MULTICLASS

    @property
    def log_probabilities(self) -> Tensor:
        """Log-probabilities of the classes or labels, [B, C]; of a regression there are none."""
        if self.task is Task.MULTILABEL:
            return torch.nn.functional.logsigmoid(self.logits)
        return self.logits.log_softmax(dim=-1)

    @property
    def probabilities(self) -> Tensor:
        """Probabilities of the classes or labels, [B, C]."""
        return self.log_probabilities.exp()


class GraphClassifier:
    """Any graph classifier, with what was found out about it.

    Args:
        model: The trained model.
        spec: The graphs it takes.
        forward: How to call it, ``forward(model, data)``; inferred from its signature when omitted.
        embedding: Where the embedding is: a module name, or a callable ``embedding(model, data)``
            returning one row for each graph; what the readout produced when omitted.
        examples: Graphs to try it on; random ones when omitted.

    Raises:
        ModelError: If the model cannot be called or its output cannot be read.
        SpecError: If the spec disagrees with the examples.
    """

    def __init__(
        self,
        model: nn.Module,
        spec: GraphSpec,
        *,
        forward: Callable[[nn.Module, Batch], Any] | None = None,
        embedding: str | Callable[[nn.Module, Batch], Tensor] | None = None,
        examples: list[Data] | None = None,
    ) -> None:
        """Try the model and find out what it is."""
        if not isinstance(model, nn.Module):
            raise ModelError(
                f"model must be a torch.nn.Module (got {type(model).__name__}); "
                "load the weights into the class they were trained with first"
            )
        self.model = model
        self.dtype, self.device = _dtype_and_device(model)
        self.convention: Convention = infer_convention(
            model, forward, bool(spec.edges), spec.has_edge_types
        )
        if not (embedding is None or isinstance(embedding, str) or callable(embedding)):
            raise ModelError(
                "embedding must be the name of a module or a callable embedding(model, data) "
                f"(got {type(embedding).__name__})"
            )
        self._embedding_call = embedding if callable(embedding) else None
        batch = self._examples(spec, examples)
        with self.borrow(), torch.no_grad():
            output = self._try(batch, spec)
            self.reader = OutputReader.infer(output, batch.num_graphs)
            self.task = Task.BINARY if self.reader.binary else Task.MULTICLASS
            logits = self.reader(output, batch.num_graphs)
            self.spec = _with_class_names(spec, logits.size(1))
            self.point = EmbeddingPoint("")
            if self._embedding_call is None:
                self.point = find_embedding(
                    model,
                    lambda: self.convention(model, batch),
                    batch.num_graphs,
                    embedding if isinstance(embedding, str) else None,
                )
            else:
                check_embedding("embedding=", self._embedding_call(model, batch), batch.num_graphs)
            self.batched = self._independent_of_batch(batch, logits)

    @contextmanager
    def borrow(self) -> Iterator[nn.Module]:
        """Use the model in evaluation mode with frozen parameters; it comes back as it came."""
        with borrowed(self.model) as model:
            yield model

    def describe(self) -> list[str]:
        """Say in a few short lines what was inferred."""
        embedding = "your own callable" if self._embedding_call else str(self.point)
        lines = [
            f"called as {self.convention}",
            f"output: {self.reader}",
            f"embedding: {embedding}",
        ]
        if not self.convention.takes_batch:
            lines.append("takes no batch vector: graphs are scored one by one (slower)")
        elif not self.batched:
            lines.append("graphs of one batch influence each other: scored one by one (slower)")
        return lines

    def call(self, data: Batch) -> Scores:
        """Run the model on a batch as it is, keeping gradients; the model must be borrowed."""
        if self._embedding_call is not None:
            logits = self.reader(self.convention(self.model, data), data.num_graphs)
            return Scores(logits, self._embedding_call(self.model, data))
        tap = Tap(self.point)
        with tap.attached(self.model):
            logits = self.reader(self.convention(self.model, data), data.num_graphs)
        return Scores(logits, logits if tap.value is None else tap.value)

    @torch.no_grad()
    def score(self, graphs: DenseGraphs, chunk: int = 512) -> Scores:
        """Score discrete graphs with the native model: present nodes and edges, nothing else.

        A graph without edges has no nodes and cannot be asked about; its logits and embedding are
        NaN, and `probability` counts it as 0.
        """
        asked = (~graphs.empty).nonzero().flatten()
        parts = []
        step = chunk if self.batched else 1
        with self.borrow():
            for start in range(0, asked.numel(), step):
                batch = graphs[asked[start : start + step]].to_batch()
                parts.append(self.call(batch.to(self.device)))
        width = parts[0].embedding.size(1) if parts else 1
        logits = torch.full((len(graphs), self.spec.num_classes), torch.nan, dtype=self.dtype)
        embedding = torch.full((len(graphs), width), torch.nan, dtype=self.dtype)
        if parts:
            where = asked.cpu()
            logits[where] = torch.cat([part.logits for part in parts]).cpu().to(self.dtype)
            embedding[where] = torch.cat([part.embedding for part in parts]).cpu().to(self.dtype)
        return Scores(logits.to(self.device), embedding.to(self.device))

    def probability(self, graphs: DenseGraphs, target: int) -> Tensor:
        """Native class probability of each discrete graph, [B]; 0 where a graph is empty."""
        return self.score(graphs).probabilities[:, target].nan_to_num(nan=0.0)

    def score_data(self, graphs: list[Data], chunk: int = 512) -> Scores:
        """Score PyG graphs with the native model."""
        step = chunk if self.batched else 1
        with self.borrow(), torch.no_grad():
            parts = [
                self.call(self._prepare(graphs[start : start + step]))
                for start in range(0, len(graphs), step)
            ]
        return Scores(
            torch.cat([part.logits for part in parts]),
            torch.cat([part.embedding for part in parts]),
        )

    def _prepare(self, graphs: list[Data]) -> Batch:
        batch = Batch.from_data_list([_bare(graph) for graph in graphs]).to(self.device)
        for key in ("x", "edge_attr", "edge_weight", "pos"):
            value = batch.get(key)
            if value is not None and value.is_floating_point():
                batch[key] = value.to(self.dtype)
        attr = batch.get("edge_attr")
        if attr is not None and not attr.is_floating_point() and attr.numel() == attr.size(0):
            # One integer for each edge is its type, by whichever name the data has it.
            batch.edge_type = attr.view(-1)
        return batch

    def _examples(self, spec: GraphSpec, examples: list[Data] | None) -> Batch:
        count = EXAMPLES if self.convention.takes_batch else 1
        given = [graph for graph in examples or () if graph.num_nodes][:count]
        if given:
            batch = self._prepare(given)
            _check_columns(batch, spec)
            return batch
        generator = torch.Generator().manual_seed(0)
        drawn: Batch = random_graphs(spec, count, 6, generator, dtype=self.dtype).to_batch()
        return drawn.to(self.device)

    def _try(self, batch: Batch, spec: GraphSpec) -> Any:
        try:
            output = self.convention(self.model, batch)
        except GNNInterpreterError:
            raise
        except Exception as error:
            raise ModelError(
                f"the model failed on graphs with {spec.node_width} node and {spec.edge_width} "
                f"edge feature columns, called as {self.convention}: "
                f"{type(error).__name__}: {error}. "
                "Check that the spec describes the data the model was trained on, or pass forward="
            ) from error
        find_scores(output, batch.num_graphs)
        return output

    def _independent_of_batch(self, batch: Batch, logits: Tensor) -> bool:
        """Whether a graph's scores are the same alone and in company."""
        if not self.convention.takes_batch:
            return False
        if batch.num_graphs < 2:
            return True
        last = batch.batch == batch.num_graphs - 1
        edges = last[batch.edge_index[1]]
        alone = Batch(x=batch.x[last], edge_index=batch.edge_index[:, edges] - last.nonzero()[0])
        for key, mine in (
            ("pos", last),
            ("edge_attr", edges),
            ("edge_type", edges),
            ("edge_weight", edges),
        ):
            if batch.get(key) is not None:
                alone[key] = batch[key][mine]
        alone.batch = torch.zeros(int(last.sum()), dtype=torch.long, device=self.device)
        alone.ptr = torch.tensor([0, int(last.sum())], device=self.device)
        alone._num_graphs = 1
        single = self.reader(self.convention(self.model, alone), 1)
        scale = logits.abs().max().clamp_min(1.0)
        return bool((single[0] - logits[-1]).abs().max() / scale < 1e-3)


def _bare(graph: Data) -> Data:
    """Keep what a model reads; labels and other fields may differ in shape between graphs."""
    keys = ("x", "edge_index", "edge_attr", "edge_type", "edge_weight", "pos")
    fields = {key: graph[key] for key in keys if graph.get(key) is not None}
    if "x" not in fields:
        fields["x"] = torch.ones(int(graph.num_nodes or 0), 1)
    return Data(**fields, num_nodes=graph.num_nodes)


def _check_columns(batch: Batch, spec: GraphSpec) -> None:
    """Compare the columns of the data with those of the spec."""
    attr = batch.get("edge_attr")
    attr = batch.get("edge_type") if attr is None else attr
    for field, value, width in (
        ("x", batch.x, spec.node_width),
        ("edge_attr", attr, spec.edge_width),
    ):
        columns = 0 if value is None else 1 if value.dim() == 1 else value.size(1)
        # Edge features that the spec leaves out are ones the model does not read.
        if columns != width and not (field == "edge_attr" and width == 0):
            raise SpecError(
                f"the spec describes {width} columns of '{field}' but the data has {columns}; "
                "GraphSpec.from_dataset(dataset) reads them off the data"
            )


def _dtype_and_device(model: nn.Module) -> tuple[torch.dtype, torch.device]:
    floats = [p for p in (*model.parameters(), *model.buffers()) if p.is_floating_point()]
    dtypes = {p.dtype for p in floats}
    if len(dtypes) > 1:
        raise ModelError(
            f"the model mixes floating-point types ({', '.join(sorted(map(str, dtypes)))}); "
            "call model.float() first"
        )
    dtype = dtypes.pop() if dtypes else torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float64):
        raise ModelError(
            f"the model is in {dtype}, too coarse for a gradient through it; "
            "call model.float() first"
        )
    return dtype, floats[0].device if floats else torch.device("cpu")


def _with_class_names(spec: GraphSpec, num_classes: int) -> GraphSpec:
    numbered = tuple(f"class {i}" for i in range(num_classes))
    # Names that were only counted off the labels end where the data does; the model knows of more.
    if spec.class_names == numbered[: spec.num_classes]:
        return replace(spec, class_names=numbered)
    if spec.num_classes != num_classes:
        raise ModelError(
            f"the model returns scores for {num_classes} classes but the spec names "
            f"{spec.num_classes} ({', '.join(spec.class_names)}); give one name for each output"
        )
    return spec
