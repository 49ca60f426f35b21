"""Reading a `GraphSpec` off a data set: one-hot blocks, index codes, ranges, direction, classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.utils import coalesce, is_undirected

from gnninterpreter.errors import DataError
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec
from gnninterpreter.spec.data import GraphList, graph_list
from gnninterpreter.spec.derived import table
from gnninterpreter.spec.labels import read_labels
from gnninterpreter.spec.recognition import check_agreement, own_attributes, recognised
from gnninterpreter.spec.spec import WEIGHT
from gnninterpreter.views import view

LOOK_FOR_DIRECTION = 200
# Integers are read as categories up to FEW of them whatever the data, up to MANY where each is
# borne out by some rows, and as numbers beyond.
FEW, MANY, ROWS_EACH = 128, 1000, 10
# Whole numbers that spread no further than this stay whole: flags, charges, small counts.
LEVELS = 16
# Flags of which no row has two are one choice where at least this many rows would have two if they
# had nothing to do with each other.
TOGETHER = 20.0


def infer_spec(dataset: Any) -> GraphSpec:
    """Infer the spec of the graphs in a data set."""
    graphs = graph_list(dataset)
    found: GraphSpec | None = view("molecules")(graphs)
    if found is not None:
        return replace(found, class_names=found.class_names or _class_names(graphs))
    x = _stack([graph.get("x") for graph in graphs], "x")
    attr = _stack([graph.get("edge_attr") for graph in graphs], "edge_attr")
    metadata = {}
    for name, value in (("x", x), ("edge_attr", attr)):
        _check_finite(graphs, name, value)
        if value is not None and value.dim() == 1:
            metadata[name] = "flat"
        if value is not None and not _are_codes(value):
            metadata["note"] = (
                f"whole numbers in '{name}' go up to {int(value.max())}: read as numbers, "
                "not as categories"
            )
    nodes = _node_blocks(graphs, x, metadata)
    attributes = own_attributes(graphs)
    told = [f"'{block.name}' ({block.function})" for block in attributes]
    if told:
        _add_note(metadata, f"{' and '.join(told)} of the nodes follows from the graph")
    edges = () if attr is None or not len(attr) else infer_blocks(table(attr))
    if graphs.weighted:
        edges = tuple(
            replace(block, name=WEIGHT, names=(WEIGHT,)) if isinstance(block, Continuous) else block
            for block in edges
        )
    inferred = GraphSpec(
        nodes=nodes,
        attributes=attributes,
        edges=edges,
        class_names=_class_names(graphs),
        directed=not all(
            is_undirected(coalesce(g.edge_index)) for g in graphs[:LOOK_FOR_DIRECTION]
        ),
        metadata=metadata,
    )
    named: GraphSpec = view("named molecules")(graphs, inferred)
    return named


def _node_blocks(
    graphs: GraphList, x: Tensor | None, metadata: dict[str, str]
) -> tuple[Block, ...]:
    """Blocks of the columns of ``x``, those that follow from the graph told apart."""
    if x is None:
        return ()
    values = table(x)
    blocks: list[Block] = []
    told, end = [], 0
    for start, block in recognised(graphs, "x"):
        blocks += infer_blocks(values[:, end:start]) if start > end else ()
        blocks.append(block)
        end = start + block.width
        last = f" to {end - 1}" if block.width > 1 else ""
        where = f"column{'s' if last else ''} {start}{last} of 'x'"
        told.append(f"{where} recognised as {block.function}, computed from the graph")
    blocks += infer_blocks(values[:, end:]) if end < values.size(1) else ()
    try:
        if told:
            check_agreement(graphs, GraphSpec(nodes=tuple(blocks)))
    except DataError as error:
        # Nearly is not plainly: what does not hold everywhere is read as free.
        blocks, told = list(infer_blocks(values)), [f"not recognised as derived: {error}"]
    for note in told:
        _add_note(metadata, note)
    return tuple(blocks)


def _check_finite(graphs: GraphList, name: str, values: Tensor | None) -> None:
    if values is None or bool(torch.isfinite(values).all()):
        return
    number = next(i for i, graph in enumerate(graphs) if not torch.isfinite(graph[name]).all())
    raise DataError(
        f"'{name}' must hold finite numbers (got NaN or infinity in graph {number}); fill them, or "
        "leave such graphs out"
    )


def _add_note(metadata: dict[str, str], note: str) -> None:
    metadata["note"] = f"{metadata['note']}; {note}" if "note" in metadata else note


def infer_blocks(values: Tensor) -> tuple[Block, ...]:
    """Cut the columns of a feature matrix into blocks.

    Integers are index codes, one block for each column, unless there are too many of them. Among
    real columns, neighbouring 0/1 columns of which exactly one is set in every row are a one-hot
    block, and so are those of which one or none is, where that cannot be chance; what is left is
    continuous, between the smallest and the largest value seen.

    Example:
        >>> infer_blocks(torch.tensor([[1.0, 0.0, 3.5], [0.0, 1.0, -1.0]]))[0].size
        2
    """
    if not values.size(0):
        raise DataError("the dataset has no rows to read features off; give spec= instead")
    if not values.is_floating_point():
        if bool((values < 0).any()):
            raise DataError(
                f"integer features are read as categories from 0 on (got {int(values.min())}); "
                "turn them into floats if they are numbers"
            )
        if _are_codes(values):
            sizes = (int(column.max()) + 1 for column in values.t())
            return _named([Categorical(size, encoding="index") for size in sizes])
        return (_numbers(values),)
    if not bool(torch.isfinite(values).all()):
        raise DataError("features must be finite numbers (got NaN or infinity); fill or drop them")
    blocks: list[Block] = []
    start = loose = 0
    while start < values.size(1):
        end = _one_hot_end(values, start)
        if end - start > 1:
            blocks += [*_loose(values[:, loose:start]), Categorical(end - start)]
            start = loose = end
        else:
            start += 1
    return _named([*blocks, *_loose(values[:, loose:])])


def _loose(values: Tensor) -> list[Block]:
    """Blocks of columns of which no run is one-hot: choices with rows of zeros, and numbers."""
    blocks: list[Block] = []
    before = 0
    for start, end in [*_choices(values), (values.size(1), values.size(1))]:
        blocks += [_numbers(values[:, before:start])] if start > before else []
        blocks += [Categorical(end - start + 1, encoding="dummy")] if end > start else []
        before = end
    return blocks


def _choices(values: Tensor) -> list[tuple[int, int]]:
    """Runs of flags, no two of a run set in one row though chance would have set many."""
    flags = ((values == 0) | (values == 1)).all(0)
    hot = torch.where(flags, values, 0).float()
    # Rows that have two flags, and how many would if flags had nothing to do with each other.
    both, counts = hot.t() @ hot, hot.sum(0, dtype=torch.double)
    chance = torch.outer(counts, counts) / len(values)

    def within(least: int, most: int) -> list[tuple[int, int]]:
        best, found = TOGETHER, None
        for start in range(least, most):
            told = 0.0
            for end in range(start, most if counts[start] else start):
                if not flags[end] or bool(both[start:end, end].any()):
                    break
                told += float(chance[start:end, end].sum())
                if told > best:
                    best, found = told, (start, end + 1)
        if found is None:
            return []
        return [*within(least, found[0]), found, *within(found[1], most)]

    return within(0, values.size(1))


def _numbers(values: Tensor) -> Continuous:
    least, most = values.amin(0), values.amax(0)
    whole = (values == values.round()).all(0) & (least < most) & (most - least <= LEVELS)
    whole &= values.size(0) >= ROWS_EACH  # a few rows may be whole by chance
    low, high = tuple(least.tolist()), tuple(most.tolist())
    return Continuous(values.size(1), low, high, whole=tuple(whole.tolist()))


def _named(blocks: list[Block]) -> tuple[Block, ...]:
    """Number the categories where there are several; `GraphSpec` tells other blocks apart."""
    several = sum(isinstance(block, Categorical) for block in blocks) > 1
    return tuple(
        replace(block, name=f"feature {k}") if several and isinstance(block, Categorical) else block
        for k, block in enumerate(blocks)
    )


def _are_codes(values: Tensor) -> bool:
    """Whether values may be categories: not too many for the rows that bear them out."""
    if values.is_floating_point() or not values.numel():
        return True
    count, rows = int(values.max()) + 1, values.size(0)
    return count <= max(FEW, min(MANY, rows // ROWS_EACH))


def _one_hot_end(values: Tensor, start: int) -> int:
    """Return the end of the one-hot block that begins at a column, or ``start`` if none does."""
    total = values.new_zeros(values.size(0))
    for end in range(start, values.size(1)):
        column = values[:, end]
        if not bool(((column == 0) | (column == 1)).all()):
            return start
        total = total + column
        if bool((total > 1).any()):
            return start
        if bool((total == 1).all()):
            return end + 1
    return start


def _stack(parts: Sequence[Tensor | None], name: str) -> Tensor | None:
    present = [part for part in parts if part is not None]
    if not present:
        return None
    widths = {tuple(part.shape[1:]) for part in present}
    if len(widths) > 1:
        raise DataError(
            f"the graphs of the dataset disagree on the columns of '{name}' (got {sorted(widths)})"
        )
    return torch.cat(present)


def _class_names(graphs: GraphList) -> tuple[str, ...]:
    if graphs.class_names:
        return tuple(graphs.class_names)
    labels = read_labels(graphs)
    if labels is None or not labels.classes:
        return ()
    return tuple(f"class {i}" for i in range(int(labels.known.max()) + 1))
