"""Which columns of a data set follow from its graphs, and whether they agree with what is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Batch, Data

from gnninterpreter.errors import DataError
from gnninterpreter.spec.blocks import Block, Derived
from gnninterpreter.spec.derived import columns, fill
from gnninterpreter.spec.spec import GraphSpec
from gnninterpreter.spec.structure import laplacian
from gnninterpreter.spec.transforms import profile_block, transform_blocks

# Graphs that are looked at, and nodes of the largest of them.
GRAPHS, NODES, FIRST, CHUNK, ROWS = 100, 300, 5, 64, 20
CLOSE = 1e-4
KNOWN = {"x", "edge_index", "edge_attr", "edge_type", "edge_weight", "pos", "y", "batch", "ptr"}

LEAST = {"local degree profile": 5, "random walk": 2, "degree one-hot": 2, "degree one-hot/in": 2}

Infer = Callable[[Tensor], tuple[Block, ...]]


def split_derived(
    graphs: Sequence[Data], spec: GraphSpec, features: Any, infer: Infer
) -> GraphSpec:
    """Return the spec with the columns that transforms made as derived blocks."""
    made = transform_blocks(features, graphs)
    nodes = _with_last(graphs, "x", spec.nodes, made.pop("x", []), infer)
    edges = _with_last(graphs, "edge_attr", spec.edges, made.pop("edge_attr", []), infer)
    own = [block for blocks in made.values() for block in blocks if isinstance(block, Derived)]
    kept = [block for block in spec.attributes if block.name not in made]
    flat = {k: v for k, v in spec.metadata.items() if k != "note"}
    found = replace(spec, nodes=nodes, edges=edges, attributes=(*kept, *own), metadata=flat)
    check_agreement(graphs, found)
    return found


def _with_last(
    graphs: Sequence[Data], key: str, blocks: tuple[Block, ...], last: list[Block], infer: Infer
) -> tuple[Block, ...]:
    """The blocks with the last columns as given, the others as they were where that is possible."""
    if not last:
        return blocks
    taken = sum(block.width for block in last)
    given = [graph.get(key) for graph in graphs]
    rows = [part for part in given if part is not None]
    width = 0 if not rows else rows[0].reshape(rows[0].size(0), -1).size(1)
    if width < taken:
        raise DataError(
            f"features= appends {taken} columns to '{key}' but the data has {width}; apply the "
            "transform to the data first, as it was when the model was trained"
        )
    left, count = list(blocks), 0
    while left and count < taken:
        count += left.pop().width
    if width > taken and (count != taken or not left):
        values = torch.cat([part.reshape(part.size(0), -1) for part in rows])
        left = list(infer(values[:, : width - taken]))
    codes = bool(rows) and not rows[0].is_floating_point()
    coded = [replace(b, encoding="index") if codes and isinstance(b, Derived) else b for b in last]
    return (*(left if width > taken else ()), *coded)


def check_agreement(graphs: Sequence[Data], spec: GraphSpec) -> None:
    """Compute the derived columns of real graphs, and compare."""
    named = (("x", spec.nodes), ("edge_attr", spec.edges))
    places = [one for one in named if any(isinstance(block, Derived) for block in one[1])]
    places += [(block.name, (block,)) for block in spec.attributes]
    fit = [i for i, g in enumerate(graphs) if g.num_edges and int(g.num_nodes or 0) <= NODES]
    for start in range(0, len(fit), CHUNK):
        numbers = fit[start : start + CHUNK]
        batch = Batch.from_data_list([_bare(graphs[i], spec, i) for i in numbers])
        made = fill(batch, spec)
        for key, blocks in places:
            parts = (columns(value[key], blocks) for value in (batch, made))
            owner = batch.batch[batch.edge_index[0]] if key == "edge_attr" else batch.batch
            column = 0
            for block, mine, theirs in zip(blocks, *parts, strict=True):
                if isinstance(block, Derived):
                    wrong = ~_close(block, mine.double(), theirs.double(), batch)
                    for row, k in wrong.nonzero()[:1].tolist():
                        number = numbers[int(owner[row])]
                        inner = row - int((owner < owner[row]).sum())
                        raise DataError(
                            f"column {column + k} of '{key}' of graph {number} is "
                            f"{float(mine[row, k]):.4g} in row {inner}, where {block.function!r} "
                            f"gives {float(theirs[row, k]):.4g}; give features= as the columns "
                            "were made when the model was trained"
                        )
                column += block.width


def _close(block: Derived, mine: Tensor, made: Tensor, batch: Batch) -> Tensor:
    if block.function == "laplacian":
        # Signs are arbitrary, and so is the choice among vectors of one eigenvalue.
        graphs = batch.to_data_list()
        parts = torch.split(mine, [int(graph.num_nodes) for graph in graphs])
        return torch.cat([_are_eigenvectors(*one) for one in zip(parts, graphs, strict=True)])
    return (mine - made).abs() <= CLOSE * (1 + made.abs())


def _are_eigenvectors(vectors: Tensor, graph: Data) -> Tensor:
    """Which columns are vectors of the eigenvalues of the Laplacian, smallest but one first."""
    size = vectors.size(0)
    edges = torch.zeros(size, size, dtype=torch.double)
    edges[graph.edge_index[0], graph.edge_index[1]] = 1.0
    matrix = laplacian(edges)
    values = torch.linalg.eigvalsh(matrix)[1 : vectors.size(1) + 1]
    if values.numel() < vectors.size(1):
        return torch.zeros_like(vectors, dtype=torch.bool)
    rest = (matrix @ vectors - vectors * values).abs().amax(0)
    good: Tensor = (rest < 1e-3) & ((vectors.square().sum(0) - 1).abs() < 1e-3)
    return good.expand_as(vectors)


def recognised(graphs: Sequence[Data], key: str) -> list[tuple[int, Derived]]:
    """First columns and blocks of "x" or an attribute that plainly follow from the graph."""
    fit = [graph for graph in graphs if graph.num_edges and int(graph.num_nodes or 0) <= NODES]
    some = [
        Data(edge_index=graph.edge_index, num_nodes=graph.num_nodes, **{key: graph[key]})
        for graph in fit[:: max(len(fit) // GRAPHS, 1)][:GRAPHS]
    ]
    # A handful of rows may look like anything, and most data is told by its first graphs.
    few = sum(int(graph.num_nodes or 0) for graph in some) < ROWS
    if few or not _found(some[:FIRST], key, sure=False):
        return []
    # What holds for the first alone is returned too, so that it can be said where it ends.
    found = _found(some, key, sure=True) or _found(some[:FIRST], key, sure=True)
    return [(start, _bounded(block, graphs, key, start)) for start, block in found]


def _bounded(block: Derived, graphs: Sequence[Data], key: str, start: int) -> Derived:
    """Say of degrees how they end, which a few graphs may not show.

    As a code they go no further than in the data; the last of one-hot columns may stand for all
    that is above it, too.
    """
    rows = [graph[key].reshape(int(graph.num_nodes or 0), -1) for graph in graphs]
    if block.function == "degree" and block.encoding == "index":
        most = max(int(part[:, start].max()) for part in rows if part.numel())
        return replace(block, settings={**block.options, "most": most})
    if block.function == "degree one-hot":
        end = int(not block.options.get("in_degree"))
        ends = (graph.edge_index[1 - end] for graph in graphs)
        counts = [e.bincount(minlength=len(part)) for e, part in zip(ends, rows, strict=True)]
        width = _last_for_all(torch.cat(rows)[:, start:], torch.cat(counts), block.width)
        if width:
            settings = {**block.options, "beyond": True}
            return replace(block, width=width, names=(), settings=settings)
    return block


def _last_for_all(values: Tensor, degree: Tensor, most: int) -> int:
    """Number of one-hot columns of which the last stands for all larger degrees; 0 if none does."""
    above = values[degree == degree.max()]
    last = int(above[0, :most].argmax()) if len(above) and above.size(1) else 0
    plain = last < 1 or last == int(degree.max())
    if plain or not bool((values[degree >= last, last] == 1).all()):
        return 0
    return last + 1


def own_attributes(graphs: Sequence[Data]) -> tuple[Derived, ...]:
    """Attributes of the nodes under names of their own that follow from the graph."""
    found = []
    for key in graphs[0].keys():  # noqa: SIM118 - a Data is no mapping
        value = graphs[0][key]
        numbers = isinstance(value, Tensor) and value.dim() == 2 and value.is_floating_point()
        if key in KNOWN or not numbers or not all(_of_nodes(graph, key) for graph in graphs):
            continue
        for start, block in recognised(graphs, key):
            own = replace(block, name=key, names=())
            with suppress(DataError):
                if start == 0 and block.width == value.size(1):
                    check_agreement(graphs, GraphSpec(attributes=(own,)))
                    found.append(own)
    return tuple(found)


def _of_nodes(graph: Data, key: str) -> bool:
    """Whether an attribute has a row for each node; one of the whole graph has one."""
    value = graph.get(key)
    return isinstance(value, Tensor) and value.dim() == 2 and len(value) == graph.num_nodes


def _found(graphs: Sequence[Data], key: str, sure: bool) -> list[tuple[int, Derived]]:
    batch = Batch.from_data_list(list(graphs))
    given = batch[key].reshape(batch[key].size(0), -1)
    codes = not given.is_floating_point()
    values, width = given.double(), given.size(1)
    tables = _tables(batch, width, codes)

    def run(function: str, start: int) -> int:
        """How many columns from here on are what the function gives, 0 if too few are."""
        if function == "laplacian":
            return 0 if codes else _run_of_vectors(graphs, key, start)
        rest, table = values[:, start:], tables[function]
        count = min(rest.size(1), table.size(1))
        near = (rest[:, :count] - table[:, :count]).abs() <= CLOSE * (1 + rest[:, :count].abs())
        count = int(near.all(dim=0).long().cumprod(0).sum())
        part = rest[:, :count]
        if count < LEAST.get(function, 1) or (sure and not bool((part != part[:1]).any())):
            return 0
        if function.startswith("degree one-hot"):
            above = ~part.sum(1).bool()
            if bool(above.any()) and count < rest.size(1):
                # One column more may stand for all degrees above.
                more = rest[:, count].eq(1).eq(above)
                return count + 1 if bool(more.all()) else 0
            if not bool((part.sum(1) == 1).all()):
                return 0
            # Columns of degrees beyond all that occur are zeros, and so is a walk of one step.
            least = int(part.any(dim=0).nonzero().max()) + 1
            walks = (c for c in range(least, count) if run("random walk", start + c))
            return next(walks, count) if "random walk" in tables else count
        return count

    found, start = [], 0
    while start < width:
        counts = ((run(function, start), function) for function in (*tables, "laplacian"))
        count, function = next((one for one in counts if one[0]), (0, ""))
        if count:
            found.append((start, _block(function, count, codes)))
        start += max(count, 1)
    return found


def _block(function: str, count: int, codes: bool) -> Derived:
    encoding = "index" if codes else "numbers"
    if function == "local degree profile":
        return profile_block()
    kind, _, settings = function.partition("/")
    name = "degree" if kind.startswith("degree") else kind
    chosen = {"in_degree": True} if settings else {}
    return Derived(kind, count, name=name, encoding=encoding, settings=chosen)


def _tables(batch: Batch, width: int, codes: bool) -> dict[str, Tensor]:
    """What each function gives, those of many columns first."""
    asked = {"local degree profile": 5, "random walk": width, "degree one-hot": width}
    asked |= {"degree one-hot/in": width, "degree": 1, "degree/in": 1, "clustering": 1}
    found = {}
    for function, count in asked.items():
        if codes and not function.startswith("degree"):
            continue
        block = _block(function, count, codes=False)
        plain = Data(
            x=torch.zeros(int(batch.num_nodes), count, dtype=torch.double),
            edge_index=batch.edge_index,
            batch=batch.batch,
            num_nodes=batch.num_nodes,
        )
        made = fill(plain, GraphSpec(nodes=(block,)))
        if not bool(made.impossible.any()):
            found[function] = made.x
    return found


def _run_of_vectors(graphs: Sequence[Data], key: str, start: int) -> int:
    """Number of Laplacian vectors that begin at a column, in every graph."""
    count: int = graphs[0][key].size(1) - start
    for graph in graphs:
        if not count:
            break
        part = graph[key][:, start : start + count].double()
        good = _are_eigenvectors(part[:, : max(part.size(0) - 1, 0)], graph)
        if good.size(1) < count:
            return 0
        count = int(good.all(dim=0).long().cumprod(0).sum())
    return count


def _bare(graph: Data, spec: GraphSpec, number: int) -> Data:
    """What the spec speaks of; a column of ones where there are no features."""
    count = int(graph.num_nodes or 0)
    bare = Data(x=graph.get("x"), edge_index=graph.edge_index, num_nodes=count)
    if bare.x is None:
        bare.x = torch.ones(count, 1)
    if spec.edges:
        bare.edge_attr = graph.get("edge_attr")
    for block in spec.attributes:
        if graph.get(block.name) is None:
            raise DataError(f"graph {number} has no '{block.name}', which features= makes")
        bare[block.name] = graph[block.name]
    return bare
