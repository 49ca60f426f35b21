from __future__ import annotations

import pytest
import torch

from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.spec.encoding import split_blocks
from gnninterpreter.testing import random_soft_graphs

NODES = (Categorical(3), Continuous(2, (-1.0, 5.0), (1.0, 6.0)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("edges", [(), (Categorical(2), Continuous(1))], ids=["none", "edges"])
def test_soft_graphs_are_soft_and_valid(directed: bool, edges: tuple[Categorical, ...]) -> None:
    spec = GraphSpec(NODES, edges, directed=directed)
    graphs = random_soft_graphs(spec, 6, 5, torch.Generator().manual_seed(0), dtype=torch.float64)
    apart = ~torch.eye(5, dtype=torch.bool).expand(6, -1, -1)
    assert ((graphs.weight > 0) & (graphs.weight < 1))[apart].all()
    assert not graphs.weight[~apart].any()
    assert torch.equal(graphs.weight, graphs.weight.transpose(1, 2)) is not directed
    categories, numbers = split_blocks(graphs.nodes, NODES)
    assert torch.allclose(categories.sum(-1), torch.ones(6, 5, dtype=torch.float64))
    assert ((categories > 0) & (categories < 1)).all()
    assert ((numbers[..., 1] >= 5) & (numbers[..., 1] <= 6)).all()
    if edges:
        assert torch.equal(graphs.edges, graphs.edges.transpose(1, 2)) is not directed
    else:
        assert graphs.edges is None


def test_the_generator_alone_decides() -> None:
    one, two, other = (
        random_soft_graphs(GraphSpec(NODES), 2, 4, torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    )
    assert torch.equal(one.weight, two.weight)
    assert torch.equal(one.nodes, two.nodes)
    assert not torch.equal(one.weight, other.weight)
