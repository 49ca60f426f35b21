"""A user's model as the rest of the library sees it: graphs in, logits and embeddings out.

`GraphClassifier` finds out how the model is called, what its output means and where its embedding
lies, says so, and from then on answers every question about it the same way, whether the graphs are
discrete (the native model) or soft (the relaxation runs the same call).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from gnninterpreter.datasets.base import sizes_of
from gnninterpreter.errors import GNNInterpreterError, ModelError, SpecError
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.models.bundle import Bundle
from gnninterpreter.models.calling import (
    Convention,
    check_weights,
    dtype_and_device,
    infer_convention,
    native_module,
    written_by,
)
from gnninterpreter.models.embedding import EmbeddingPoint, check_embedding, find_embedding
from gnninterpreter.models.examples import COUNT, choose, prepare, varied
from gnninterpreter.models.final_operation import OperationRecorder
from gnninterpreter.models.fitting import coded_by_numbers, constant, named_columns
from gnninterpreter.models.frozen import frozen
from gnninterpreter.models.independence import differ, independent, undecided
from gnninterpreter.models.outputs import OutputReader, find_scores, parse_task, read_outputs
from gnninterpreter.models.task import Scores, Task
from gnninterpreter.spec import GraphSpec, read_labels

__all__ = ["GraphClassifier", "Scores"]

# Nodes that are asked about at once on a CPU.
CACHED_NODES = 4_000


class GraphClassifier:
    """Any graph-level model, with what was found out about it.

    Args:
        model: The trained model, or a bundle with it.
        spec: The graphs it takes.
        forward: How to call it, ``forward(model, data)``; inferred from its signature when omitted.
        embedding: Where the embedding is: a module name, or a callable ``embedding(model, data)``
            returning one row for each graph; what the readout produced when omitted.
        examples: Graphs to try it on, with labels to tell its task by; random ones when omitted.
        task: What it was trained to say: ``"multiclass"``, ``"binary"``, ``"multilabel"``,
            ``"regression"``, or PyG's ``ModelConfig``; told from outputs and labels when omitted.
        class_names: One name for each class, label or value; those of the spec when omitted.

    Attributes:
        reader: How its outputs are read, and why.
        spec: The graphs it takes, with a name for each column of its outputs.

    Raises:
        ModelError: If the model cannot be called or its output cannot be read.
        SpecError: If the spec disagrees with the examples.
    """

    def __init__(
        self,
        model: nn.Module | Bundle,
        spec: GraphSpec,
        *,
        forward: Callable[[nn.Module, Batch], Any] | None = None,
        embedding: str | Callable[[nn.Module, Batch], Tensor] | None = None,
        examples: Sequence[Data] | None = None,
        task: Any = "auto",
        class_names: Sequence[str] | None = None,
    ) -> None:
        self.model = model = native_module(model)
        if not isinstance(spec, GraphSpec):
            raise SpecError(f"spec must be a GraphSpec (got {type(spec).__name__})")
        if not (embedding is None or isinstance(embedding, str) or callable(embedding)):
            raise ModelError(
                "embedding must be the name of a module or a callable embedding(model, data) "
                f"(got {type(embedding).__name__})"
            )
        parse_task(task)
        self.spec = spec if class_names is None else spec.with_classes(class_names)
        self.dtype, self.device = dtype_and_device(model)
        self.convention: Convention = infer_convention(
            model,
            forward,
            bool(spec.edges),
            spec.has_edge_types,
            spec.attributes,
            spec.weighted,
            spec.looped,
        )
        if self.convention.arguments:
            read = {source for _, source in self.convention.arguments}
            kept = tuple(block for block in spec.attributes if block.name in read)
            self.spec = spec = replace(self.spec, attributes=kept)
        self._embedding_call = embedding if callable(embedding) else None
        self._written: tuple[str, ...] = ()
        self._width = 1  # of the embedding, once a graph was asked about
        graphs = examples or ()
        count = COUNT if self.convention.takes_batch else 1
        batch = choose(graphs, self, count)
        with self.frozen(), self.explaining_errors(), torch.no_grad():
            with OperationRecorder() as recorder:
                found, self._written = written_by(model, batch, self._raw)
            check_weights(model, found)
            self._check_rows(found.size(1), batch)
            self._check_positions(batch)
            self.reader: OutputReader = read_outputs(
                found,
                recorder.kind(found),
                read_labels(graphs),
                spec.metadata.get("task", "auto") if task == "auto" else task,
                lambda: self._more(graphs),
            )
            logits = self.reader(found.to(self.dtype))
            # Dropout or noise that evaluation mode does not switch off.
            self.noisy = differ(self.reader(self._raw(batch).to(self.dtype)), logits)
            self.spec = named_columns(self.spec, self.reader, class_names is not None)
            if task != "auto" or not self.task.exclusive or self.reader.notes:
                # What labels or the user said is known wherever the spec goes without them.
                reading = {"task": f"{self.task}, {self.reader.kind.value}"}
                self.spec = replace(self.spec, metadata={**self.spec.metadata, **reading})
            self.point = EmbeddingPoint("")
            if self._embedding_call is None:
                self.point = find_embedding(
                    model,
                    lambda: self._raw(batch),
                    batch.num_graphs,
                    embedding if isinstance(embedding, str) else None,
                )
            else:
                value = self._embedding_call(model, self._guarded(batch))
                check_embedding("embedding=", value, batch.num_graphs)
            known = self.noisy and self.convention.takes_batch
            apart = known or independent(self, batch, logits)
            self.undecided = not apart and undecided(self, batch, logits)
            self.batched = apart or self.undecided

    @classmethod
    def connect(cls, model: nn.Module | Bundle, spec: GraphSpec, **options: Any) -> GraphClassifier:
        """Wrap a model; edge features that it does not look at are left out of the spec.

        Where it insists on being given some all the same, they become constants. A model that
        fails on whole codes gets them as numbers, as from ``data.x.float()``. Options are those of
        `GraphClassifier`.
        """
        try:
            classifier = cls(model, spec, **options)
        except ModelError as error:
            numbers = coded_by_numbers(spec)
            if numbers is None or "dtype" not in str(error):
                raise
            with suppress(GNNInterpreterError):
                return cls.connect(model, numbers, **options)
            raise
        if not spec.edges or classifier._reads_edges():
            return classifier
        for edges in ((), tuple(constant(block) for block in spec.edges)):
            with suppress(GNNInterpreterError):
                other = cls(model, replace(spec, edges=edges), **options)
                other.score(other.drawn(4, 6, seed=1))
                return other
        return classifier

    @property
    def has_own_embedding(self) -> bool:
        """Whether the embedding comes from a callable of the user's."""
        return self._embedding_call is not None

    @property
    def task(self) -> Task:
        """What the model was trained to say."""
        return self.reader.task

    def frozen(self) -> AbstractContextManager[nn.Module]:
        """Use the model in evaluation mode with frozen parameters; it comes back as it came."""
        return frozen(self.model)

    def drawn(
        self, count: int, size: int, seed: int = 0, density: float | None = None
    ) -> DenseGraphs:
        """Random graphs such as the model takes, on ``size`` candidate nodes; where it is."""
        generator = torch.Generator().manual_seed(seed)
        return random_graphs(self.spec, count, size, generator, density, self.dtype).to(self.device)

    def describe(self) -> list[str]:
        """Say in a few short lines what was inferred."""
        embedding = "your own callable" if self._embedding_call else str(self.point)
        lines = [
            f"called as {self.convention}",
            f"output: {self.reader}",
            f"task: {self.task} ({self.reader.reason})",
            f"embedding: {embedding}",
            *self.reader.notes,
        ]
        if "note" in self.spec.metadata:
            lines.append(self.spec.metadata["note"])
        if self.convention.looped:
            lines.append("every node of the data has an edge to itself: graphs made here get them")
        if self.noisy:
            lines.append(
                "the same graph gets another score each time, also in evaluation mode: there is "
                "dropout or noise in forward, and figures vary by that"
            )
        if not self.convention.takes_batch:
            lines.append("takes no batch vector: graphs are scored one by one (slower)")
        elif self.undecided:
            lines.append(
                "which of several like nodes or edges it chooses is left to rounding: a graph may "
                "get another score with these in another order, or beside other graphs"
            )
        elif not self.batched:
            lines.append("graphs of one batch influence each other: scored one by one (slower)")
        return lines

    def call(self, data: Batch) -> Scores:
        """Run the model on a batch as it is, keeping gradients; the model must be frozen."""
        if self._embedding_call is not None:
            logits = self.reader(self._raw(data).to(self.dtype))
            embedding = self._embedding_call(self.model, self._guarded(data))
        else:
            with self.point.read(self.model) as found:
                logits = self.reader(self._raw(data).to(self.dtype))
            embedding = found[0] if found else logits
        if data.get("impossible") is not None:
            # What has no derived features is no graph of this kind, so there is nothing to say.
            nothing = data.impossible.unsqueeze(1)
            logits, embedding = (v.masked_fill(nothing, torch.nan) for v in (logits, embedding))
        self._width = embedding.size(1)
        # Some models compute their last step in another precision than their weights.
        return Scores(logits, embedding.to(self.dtype), self.task)

    @torch.no_grad()
    def score(self, graphs: DenseGraphs, chunk: int = 512) -> Scores:
        """Score discrete graphs with the native model: present nodes and edges, nothing else.

        Scores are where the graphs are, which need not be where the model is.
        A graph without edges has no nodes and cannot be asked about, nor one whose derived features
        do not exist; its logits and embedding are NaN, and `probability` counts it as 0.
        """
        asked = (~graphs.empty).nonzero().flatten()
        parts = []
        step = chunk if self.batched else 1
        with self.frozen(), self.explaining_errors():
            for start in range(0, asked.numel(), step):
                batch = graphs[asked[start : start + step]].to_batch()
                parts.append(self.call(batch.to(self.device)))
        width = self._width  # that of any graph, where none of these can be asked about
        logits = torch.full((len(graphs), self.spec.num_classes), torch.nan, dtype=self.dtype)
        embedding = torch.full((len(graphs), width), torch.nan, dtype=self.dtype)
        if parts:
            scores, where = Scores.cat(parts), asked.cpu()
            logits[where], embedding[where] = scores.logits.cpu(), scores.embedding.cpu()
        return Scores(logits, embedding, self.task).to(graphs.weight.device)

    def probability(self, graphs: DenseGraphs, target: int) -> Tensor:
        """Native class probability of each discrete graph, [B]; 0 where a graph is empty."""
        return self.score(graphs).probabilities[:, target].nan_to_num(nan=0.0)

    @torch.no_grad()
    def score_data(
        self, graphs: Sequence[Data], chunk: int | None = None, as_given: bool = False
    ) -> Scores:
        """Score PyG graphs with the native model, so many at once; where the first of them is.

        Their derived columns are computed anew unless they are wanted ``as_given``.
        """
        step = (chunk or 512) if self.batched else 1
        if chunk is None and self.device.type == "cpu" and graphs:
            # Layers with a matrix for each edge take twice as long where that leaves the cache.
            nodes = max(1, sum(sizes_of(graphs)))
            step = min(step, max(1, CACHED_NODES * len(graphs) // nodes))
        with self.frozen(), self.explaining_errors():
            cuts = (graphs[start : start + step] for start in range(0, len(graphs), step))
            batches = (prepare(part, self, as_given) for part in cuts)
            found = Scores.cat([self.call(batch) for batch in batches])
        return found.to(graphs[0].edge_index.device)

    def _raw(self, data: Batch) -> Tensor:
        """What the model returns for each graph, [B, outputs], as it is."""
        nodes, edges = data.x.size(0), data.edge_index.size(1)
        output = self.convention(self.model, self._guarded(data))
        return find_scores(output, int(data.num_graphs), nodes, edges)

    def _guarded(self, data: Batch) -> Batch:
        """Give the model something to write to, where it writes to what it is given."""
        if not self._written:
            return data
        data = copy(data)
        for key in self._written:
            data[key] = data[key].clone()
        return data

    def _more(self, graphs: Sequence[Data]) -> Tensor:
        """Outputs on many graphs; those on which the model fails say nothing here."""
        rows = []
        single = not self.convention.takes_batch
        for batch in varied(graphs, self, single):
            with suppress(Exception):
                rows.append(self._raw(batch))
        return torch.cat(rows)

    def _check_rows(self, width: int, batch: Batch) -> None:
        """Tell scores of one graph from one number for each of its nodes."""
        if self.convention.takes_batch:
            return
        other = self.drawn(1, 6 if batch.num_nodes == 5 else 5, density=1.0)
        if self._raw(other.to_batch()).size(1) != width:
            raise ModelError(
                f"the model returned {width} numbers for a graph of {int(batch.num_nodes)} nodes "
                "and other numbers of them for other sizes: node-level models are not supported "
                "yet; explain a graph-level one, or pass forward= with a readout"
            )

    def _check_positions(self, batch: Batch) -> None:
        """Refuse a model that cannot do without positions, which explanations do not have."""
        if batch.get("pos") is None:
            return
        bare = copy(batch)
        del bare["pos"]
        try:
            self._raw(bare)
        except Exception as error:
            raise ModelError(
                f"models of positions in space are not supported yet: {type(self.model).__name__} "
                "reads 'pos', which explanations do not have"
            ) from error

    def _reads_edges(self) -> bool:
        """Whether scores change with the edge features."""
        some, others = self.drawn(4, 6), self.drawn(4, 6, seed=1)
        changed = replace(some, edges=others.edges)
        return not torch.equal(self.score(some).logits, self.score(changed).logits)

    @contextmanager
    def explaining_errors(self) -> Iterator[None]:
        """Say what the model was given when it fails."""
        try:
            yield
        except GNNInterpreterError:
            raise
        except Exception as error:
            mend = "Check that the spec describes the data that the model was trained on, or "
            mend += "pass forward=" if self.convention.function is None else "mend forward="
            asked = re.search(r"Storage' object has no attribute '(\w+)'", str(error))
            if asked:
                mend = f"Graphs that are searched for have no {asked[1]!r}: pass "
                mend += f"forward=lambda model, data: ... that puts a usual data.{asked[1]} in"
            raise ModelError(
                f"the model failed on graphs with {self.spec.node_width} node and "
                f"{self.spec.edge_width} edge feature columns, called as {self.convention}: "
                f"{type(error).__name__}: {error}. {mend}"
            ) from error
