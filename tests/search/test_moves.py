"""Moves: each number does what it says, and the first-order guess is exact for linear costs."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.graphs import DenseGraphs, random_graphs
from gnninterpreter.search.moves import MoveSpace
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.tiny import PLAIN, graph

SIZE = 5
BLOCKS = (Categorical(2), Continuous(1, 0.0, 0.4), Categorical(3))
MIXED = {
    "undirected": GraphSpec(nodes=BLOCKS, edges=(Categorical(3), Continuous(1, 0.0, 0.4))),
    "directed": GraphSpec(nodes=BLOCKS, edges=(Categorical(2),), directed=True),
    "plain": PLAIN,
}
CPU = torch.device("cpu")


def some(spec: GraphSpec, count: int = 4, seed: int = 0) -> DenseGraphs:
    generator = torch.Generator().manual_seed(seed)
    return random_graphs(spec, count, SIZE, generator, dtype=torch.float64, absent=1)


def expected_moves(one: DenseGraphs) -> list[DenseGraphs]:
    """Every move on one graph, in order, written out."""
    spec, found = one.spec, []
    target, source = pair_ends(SIZE, spec.directed, CPU)
    pairs = list(zip(target.tolist(), source.tolist(), strict=True))
    for i, j in pairs:
        weight = one.weight.clone()
        weight[0, i, j] = 1 - weight[0, i, j]
        if not spec.directed:
            weight[0, j, i] = weight[0, i, j]
        found.append(replace(one, weight=weight))
    owners = columns(spec.nodes)
    for node in range(SIZE):
        for column, owner in enumerate(owners):
            nodes = one.nodes.clone()
            if owner is not None:
                nodes[0, node, [c for c, o in enumerate(owners) if o == owner]] = 0.0
                nodes[0, node, column] = 1.0
            found.append(replace(one, nodes=nodes))
    if one.edges is not None:
        owners = columns(spec.edges)
        for i, j in pairs:
            for column, owner in enumerate(owners):
                edges = one.edges.clone()
                if owner is not None:
                    same = [c for c, o in enumerate(owners) if o == owner]
                    for a, b in [(i, j)] if spec.directed else [(i, j), (j, i)]:
                        edges[0, a, b, same] = 0.0
                        edges[0, a, b, column] = 1.0
                found.append(replace(one, edges=edges))
    for node in range(SIZE):
        weight = one.weight.clone()
        weight[0, node] = weight[0, :, node] = 0.0
        found.append(replace(one, weight=weight))
    return found


def columns(blocks: tuple[Categorical | Continuous, ...]) -> list[int | None]:
    owners: list[int | None] = []
    for b, block in enumerate(blocks):
        owners += [b] * block.size if isinstance(block, Categorical) else [None] * block.dim
    return owners


def same(one: DenseGraphs, other: DenseGraphs) -> bool:
    edges = one.edges is None or torch.equal(one.edges, other.edges)
    return edges and torch.equal(one.weight, other.weight) and torch.equal(one.nodes, other.nodes)


def natively_same(one: DenseGraphs, other: DenseGraphs) -> bool:
    """Whether the native model would receive the same graph, node by node."""

    def seen(graphs: DenseGraphs) -> tuple[object, ...]:
        here = graphs.weight[0].gt(0.5)
        present = here.any(0) | here.any(1)
        kinds = () if graphs.edges is None else graphs.edges[0][here].tolist()
        return here.tolist(), graphs.nodes[0][present].tolist(), kinds

    return seen(one) == seen(other)


@pytest.mark.parametrize("name", MIXED)
def test_the_moves_are_counted_by_kind(name: str) -> None:
    spec = MIXED[name]
    space = MoveSpace(spec, SIZE, CPU)
    pairs = 20 if spec.directed else 10
    node_columns, edge_columns = len(columns(spec.nodes)), len(columns(spec.edges))
    assert space.sizes == (pairs, SIZE * node_columns, pairs * edge_columns, SIZE)
    assert space.total == sum(space.sizes)


@pytest.mark.parametrize("name", MIXED)
def test_every_move_does_what_its_number_says(name: str) -> None:
    graphs = some(MIXED[name])
    space = MoveSpace(graphs.spec, SIZE, CPU)
    for b in range(len(graphs)):
        expected = expected_moves(graphs[b])
        assert len(expected) == space.total
        repeated = graphs[[b] * space.total]
        made = space.apply(repeated, torch.arange(space.total))
        for number, wanted in enumerate(expected):
            assert same(made[number], wanted), number
        assert same(repeated[0], graphs[b])  # what was given is left as it was


def test_each_graph_gets_its_own_move_and_minus_one_makes_none() -> None:
    graphs = some(MIXED["undirected"])
    space = MoveSpace(graphs.spec, SIZE, CPU)
    moves = torch.tensor([space.total - 1, -1, 0, 12])
    made = space.apply(graphs, moves)
    assert same(made[1], graphs[1])
    for b in (0, 2, 3):
        assert same(made[b], expected_moves(graphs[b])[int(moves[b])])


@pytest.mark.parametrize("name", MIXED)
def test_nothing_that_matters_is_left_out(name: str) -> None:
    graphs = some(MIXED[name], count=6, seed=1)
    spec = graphs.spec
    space = MoveSpace(spec, SIZE, CPU)
    possible = space.possible(graphs)
    target, source = pair_ends(SIZE, spec.directed, CPU)
    assert possible.shape == (6, space.total)
    for b in range(6):
        here = graphs.weight[b].gt(0.5)
        present = here.any(0) | here.any(1)
        assert not present.all()
        for number, made in enumerate(expected_moves(graphs[b])):
            apart = number < space.sizes[0] and not (
                present[target[number]] or present[source[number]]
            )
            assert bool(possible[b, number]) == (
                not natively_same(made, graphs[b]) and not apart
            ), number


@pytest.mark.parametrize("directed", [False, True])
def test_an_empty_graph_may_begin_with_any_edge(directed: bool) -> None:
    spec = replace(PLAIN, directed=directed)
    space = MoveSpace(spec, SIZE, CPU)
    possible = space.possible(graph(SIZE, [], spec))[0]
    assert possible[: space.sizes[0]].all()
    assert not possible[space.sizes[0] :].any()


@pytest.mark.parametrize("name", MIXED)
def test_the_guess_is_exact_for_a_linear_cost(name: str) -> None:
    graphs = some(MIXED[name], seed=2)
    space = MoveSpace(graphs.spec, SIZE, CPU)
    generator = torch.Generator().manual_seed(3)

    def slopes(like: torch.Tensor) -> torch.Tensor:
        return torch.randn(like.shape, generator=generator, dtype=torch.float64)

    of_weight, of_nodes = slopes(graphs.weight), slopes(graphs.nodes)
    of_edges = None if graphs.edges is None else slopes(graphs.edges)

    def cost(one: DenseGraphs, b: int) -> float:
        total = (one.weight[0] * of_weight[b]).sum() + (one.nodes[0] * of_nodes[b]).sum()
        if one.edges is not None and of_edges is not None:
            total = total + (one.edges[0] * of_edges[b]).sum()
        return float(total)

    guess = space.predicted(graphs, of_weight, of_nodes, of_edges)
    possible = space.possible(graphs)
    for b in range(len(graphs)):
        before = cost(graphs[b], b)
        for number, made in enumerate(expected_moves(graphs[b])):
            if possible[b, number]:
                change = cost(made, b) - before
                assert float(guess[b, number]) == pytest.approx(change, abs=1e-9), number
