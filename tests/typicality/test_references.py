import torch

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.typicality import references
from tests.typicality.some import KINDS, PLAIN, graph, path, ring


def everything(graphs: DenseGraphs) -> torch.Tensor:
    return torch.ones(len(graphs), dtype=torch.bool)


def has_triangle(graphs: DenseGraphs) -> torch.Tensor:
    power = graphs.weight @ graphs.weight @ graphs.weight
    return power.diagonal(dim1=1, dim2=2).sum(1) > 0


def test_graphs_that_fit_are_taken_whole():
    real = references([ring(5), ring(6), path(30)], PLAIN, 8, everything)
    assert real.whole
    assert real.graphs.num_nodes.tolist() == [5, 6]
    assert real.graphs.num_candidates == 8


def test_of_large_graphs_pieces_are_taken_that_the_model_is_certain_of():
    tail = [(i, i + 1) for i in range(2, 39)]
    large = graph([(0, 1), (1, 2), (0, 2), *tail], 40)
    real = references([large] * 3, PLAIN, 10, has_triangle, count=64)
    assert not real.whole
    assert real.certain.all()
    assert has_triangle(real.graphs).all()
    assert real.graphs.connected().all()
    assert real.graphs.num_nodes.max() <= 10
    # Cut down for different times, so that small ones are among them and large ones too.
    assert real.graphs.num_nodes.min() <= 5
    assert real.graphs.num_nodes.max() >= 7


def test_where_the_model_is_certain_of_none_all_pieces_are_taken():
    real = references([path(40)], PLAIN, 10, has_triangle, count=32)
    assert len(real.graphs) == 32
    assert not real.certain.any()


def test_graphs_without_edges_are_left_out():
    alone = graph([], 3, kinds=[0, 1, 2])
    assert references([alone], KINDS, 8, everything) is None
    assert len(references([alone, path(3, kinds=[0, 1, 2])], KINDS, 8, everything).graphs) == 1


def test_the_same_seed_takes_the_same_pieces():
    first, second = (references([path(40)], PLAIN, 10, everything, 5, 40) for _ in range(2))
    assert torch.equal(first.graphs.weight, second.graphs.weight)


def test_graphs_in_several_pieces_are_left_out_while_there_are_others():
    apart = graph([(0, 1), (2, 3)], 4)
    assert references([apart, ring(5)], PLAIN, 8, everything).graphs.num_nodes.tolist() == [5]
    assert references([apart], PLAIN, 8, everything).graphs.num_nodes.tolist() == [4]


def test_graphs_in_several_pieces_stand_for_themselves_by_the_largest_certain_part():
    """Most have a path of five, a triangle with a tail, and what is too small to be a part."""
    ends = [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (5, 7), (7, 8), (9, 10)]
    apart = [graph(ends, 12)] * 30
    real = references([*apart, ring(5)], PLAIN, 12, has_triangle)
    assert real.whole
    assert real.parted
    assert real.graphs.num_nodes.tolist() == [4] * 30
    assert has_triangle(real.graphs).all()
    assert references([*apart, ring(5)], PLAIN, 12, everything).graphs.num_nodes.max() == 5
    # Parts do not stand for values, nor where the model is certain of few; most that are whole do.
    assert not references([*apart, ring(5)], PLAIN, 12, has_triangle, parted=False).parted
    assert not references([*apart[:20], ring(5)], PLAIN, 12, has_triangle).parted
    # A class that is about being in pieces is not about its parts.
    twice = graph([(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)], 6)

    def two_triangles(graphs: DenseGraphs) -> torch.Tensor:
        return graphs.num_nodes.ge(6) | graphs.num_nodes.eq(4)

    assert not references([*apart, *[twice] * 10], PLAIN, 12, two_triangles).parted
    assert references([*apart, *[twice] * 5], PLAIN, 12, two_triangles).parted
    assert not references([*apart, *[ring(5)] * 30], PLAIN, 12, has_triangle).parted
