"""The graphs a model is tried on before anything else: the user's own, or random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.datasets.base import fields_of, sizes_of
from gnninterpreter.errors import SpecError
from gnninterpreter.graphs import random_graphs
from gnninterpreter.spec import Block, Categorical, GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.derived import columns, fill
from gnninterpreter.spec.encoding import as_read, coded

if TYPE_CHECKING:
    from gnninterpreter.models.classifier import GraphClassifier

FIELDS = ("x", "edge_index", "edge_attr", "edge_type", "edge_weight", "pos")
COUNT = 12
MANY, CHUNK = 300, 100
# Graphs whose columns are compared with what the spec says of them.
LOOKED_AT = 2000


def prepare(graphs: Sequence[Data], model: GraphClassifier, as_given: bool = False) -> Batch:
    """Put graphs into one batch, in the types and on the device of the model.

    Derived columns are computed anew, as those of every answer are, unless wanted ``as_given``.
    """
    spec = model.spec
    batch = _joined(graphs).to(model.device)
    for key in FIELDS:
        value = batch.get(key)
        numbers = _numbers({"x": spec.nodes, "edge_attr": spec.edges}.get(key, ()))
        if value is not None and (value.is_floating_point() or numbers):
            batch[key] = value.to(model.dtype)
        elif value is not None and key in ("x", "edge_attr"):
            batch[key] = as_read(value, spec, model.dtype)
    attr = batch.get("edge_attr")
    if attr is not None and not attr.is_floating_point() and attr.numel() == attr.size(0):
        # One integer for each edge is its type, by whichever name the data has it.
        batch.edge_type = attr.view(-1)
    return batch if as_given else _as_they_came(fill(batch, spec), batch)


def _as_they_came(made: Batch, given: Batch) -> Batch:
    """Leave real graphs whose columns cannot be computed, as of odd molecules, as they came."""
    lost = made.get("impossible")
    if lost is None or not bool(lost.any()):
        return made
    owners = {"x": made.batch, "edge_attr": made.batch[made.edge_index[0]]}
    kept = lost.clone()
    for key, owner in owners.items():
        value = given.get(key)
        if value is not None:
            numbers = value.is_floating_point()
            wrong = ~torch.isfinite(value) if numbers else value < 0
            kept[owner[wrong.reshape(len(value), -1).any(dim=1)]] = False
    for key, owner in owners.items():
        if given.get(key) is not None:
            rows = kept[owner]
            made[key] = made[key].clone()
            made[key][rows] = given[key][rows]
    made["impossible"] = lost & ~kept
    return made


def choose(graphs: Sequence[Data], model: GraphClassifier, count: int) -> Batch:
    """A few graphs of which nodes, edges and graphs differ in number, which tells them apart."""
    with_nodes = [graph for graph in graphs if graph.num_nodes]
    if with_nodes:
        check_columns(prepare(with_nodes[:1], model), model.spec)
        check_one_hot(with_nodes[:LOOKED_AT], model.spec)
    large = [graph for graph in with_nodes if node_count(graph) > 1]
    for start in range(0, min(len(large), COUNT)):
        batch = prepare(large[start : start + count], model)
        if batch.num_graphs not in (batch.num_nodes, batch.num_edges):
            check_columns(batch, model.spec)
            return batch
    return model.drawn(count, 6).to_batch()


def varied(graphs: Sequence[Data], model: GraphClassifier, single: bool) -> Iterator[Batch]:
    """Many graphs, to see how far the outputs of a model go: data, then random and extreme ones."""
    step, most = (1, MANY // 5) if single else (CHUNK, MANY)
    known = [graph for graph in graphs if graph.num_nodes][:most]
    for start in range(0, len(known), step):
        yield prepare(known[start : start + step], model)
    generator = torch.Generator().manual_seed(0)
    for size, density in ((6, None), (16, None), (2, 1.0), (40, 1.0), (40, 0.02)):
        drawn = random_graphs(model.spec, 8, size, generator, density, model.dtype)
        for part in (drawn[i] for i in range(len(drawn))) if single else (drawn,):
            yield part.to_batch().to(model.device)


def check_columns(batch: Batch, spec: GraphSpec) -> None:
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


def check_one_hot(graphs: Sequence[Data], spec: GraphSpec) -> None:
    """See that columns that the spec calls one-hot are: of anything else kinds would be made up."""
    for field, blocks in (("x", spec.nodes), ("edge_attr", spec.edges)):
        known = fields_of(graphs, field) if blocks else ()
        rows = [value.cpu() for value in known if value is not None and len(value)]
        start = 0
        for block, part in (
            zip(blocks, columns(torch.cat(rows), blocks), strict=True) if rows else ()
        ):
            if isinstance(block, Categorical) and block.encoding != "index":
                last = start + block.width - 1
                _check_rows(part, block, f"columns {start} to {last} of '{field}'")
            start += block.width


def _check_rows(part: Tensor, block: Categorical, where: str) -> None:
    total = part.sum(1)
    if bool(((part != 0) & (part != 1)).any() | (total > 1).any()):
        raise SpecError(
            f"by the spec {where} are one choice, but rows of the data set several of them or "
            "hold other numbers; GraphSpec.from_dataset(dataset) reads features off the data"
        )
    if block.encoding == "one-hot" and bool((total == 0).any()):
        raise SpecError(
            f"by the spec {where} are one-hot, but rows of the data are all zero; if those are "
            f"none of the kinds, write Categorical({block.width + 1}, encoding='dummy')"
        )


def _joined(graphs: Sequence[Data]) -> Batch:
    """What a model reads of graphs; labels and other fields may differ in shape between them."""
    sizes = torch.tensor(sizes_of(graphs))
    batch = Batch(batch=torch.arange(len(graphs)).repeat_interleave(sizes))
    batch.ptr = torch.cat([torch.zeros(1, dtype=torch.long), sizes.cumsum(0)])
    for key in FIELDS:
        values = list(fields_of(graphs, key))
        if key == "x" and values[0] is None:
            values = [torch.ones(size, 1) for size in sizes.tolist()]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            # Graphs that were found may lie elsewhere than the data beside them.
            near = [value.to(known[0].device) for value in known]
            batch[key] = torch.cat(near, dim=1 if key == "edge_index" else 0)
        if key == "edge_index":
            each = torch.tensor([link.size(1) for link in known])
    first = batch.ptr[:-1].repeat_interleave(each)
    batch.edge_index = batch.edge_index + first.to(batch.edge_index.device)
    batch._num_graphs = len(graphs)
    return batch


def _numbers(blocks: tuple[Block, ...]) -> bool:
    """Whether columns are numbers by the spec, and floats to the model, however they came."""
    return bool(blocks) and not any(isinstance(b, Categorical) or coded(b) for b in blocks)
