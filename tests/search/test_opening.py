"""Opening: as much entropy as good samples allow; what bad ones have in common is closed."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.batches import widened
from gnninterpreter.distribution import GraphDistribution, Streams, centred, from_graphs
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective import Memory
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Calibrate, Shrink
from gnninterpreter.search.calibration import calibrated
from gnninterpreter.search.opening import GOOD_SHARE, opened, verified
from gnninterpreter.search.problem import Problem
from tests.search.known import STAR, begun, known_problem, typicality
from tests.tiny import aim, graph, stack, unwatched

SQUARE = [(0, 1), (1, 2), (2, 3), (3, 0)]


def at_most(edges: int, memory: bool = True) -> Any:
    """Graphs with more edges lack as much as they have too many."""

    def lack(graphs: DenseGraphs) -> Tensor:
        return 10 * (graphs.num_edges - edges).clamp_min(0)

    judge = SimpleNamespace(
        good=lambda graphs, new=False: lack(graphs) <= 0,
        passes=lambda proposals: lack(proposals.graphs) <= 0,
        lacking=lambda proposals: lack(proposals.graphs),
        relaxed=True,
        soft_scores=lambda graphs: None,
        aim=aim(),
        memory=memory or None,
    )
    judge.select = lambda rows: judge
    return judge


def squares(count: int) -> DenseGraphs:
    return stack([graph(6, SQUARE)] * count)


def absent(graphs: DenseGraphs) -> list[Tensor]:
    """Edges may be added, none may be left out."""
    sides = from_graphs(graphs)
    return [sides.edge_logits < 0, *(torch.zeros_like(x) > 0 for x in sides.node_logits)]


def learned(problem: Any, steps: int, restarts: int = 2) -> GraphDistribution:
    graphs = squares(restarts)
    return opened(problem, graphs, absent(graphs), Streams(1, restarts), steps)


def test_where_nothing_lacks_everything_that_is_free_is_opened() -> None:
    few, many = learned(at_most(99), 1), learned(at_most(99), 40)
    free = absent(squares(2))[0]
    assert (many.edge_probability[free] > 0.4).all()
    assert (few.edge_probability[free] < 0.33).all()
    assert (many.edge_probability[~free] > 0.999).all()


def test_learning_opens_no_further_than_samples_allow() -> None:
    wide = learned(at_most(99), 40).entropy()
    found = learned(at_most(5), 40)
    assert (found.entropy() < wide).all()
    over = found.discrete(200, Streams(2, 2)).num_edges.view(2, -1) > 5
    assert (over.double().mean(1) < 0.3).all()


def test_a_restart_is_opened_the_same_whatever_their_number() -> None:
    one, three = learned(at_most(5), 10, 1), learned(at_most(5), 10, 3)
    assert torch.allclose(one.edge_logits, three.edge_logits[:1], atol=1e-5)


def test_asking_about_all_samples_or_about_bad_ones_alone_comes_to_the_same() -> None:
    some, all_of_them = learned(at_most(5), 10), learned(at_most(5, memory=False), 10)
    assert torch.allclose(some.edge_logits, all_of_them.edge_logits, atol=1e-5)


def test_what_bad_samples_have_in_common_is_closed_and_the_rest_stays_open() -> None:
    graphs = squares(1)
    free = absent(graphs)[0]
    wide = from_graphs(graphs).with_latents(
        [torch.where(free, -1.0, 12.0), *from_graphs(graphs).latents()[1:]]
    )

    def diagonal(drawn: DenseGraphs, new: bool = False) -> Tensor:
        return drawn.weight[:, 0, 2] < 0.5

    found, share = verified(
        SimpleNamespace(  # type: ignore[arg-type]
            select=lambda rows: SimpleNamespace(good=diagonal), meanwhile=lambda asked: None
        ),
        wide,
        lambda some, rows: centred(some, graphs[rows]),
        300,
        Streams(3, 1),
        lambda number, tried: False,
    )
    assert float(share) >= GOOD_SHARE
    theta = found.to_dense(found.edge_probability)[0]
    assert float(theta[0, 2]) < 0.05
    assert float(theta[1, 3]) > 0.1


def test_calibrating_a_known_class_leaves_samples_certain_and_typical() -> None:
    problem: Problem = known_problem()
    state = Shrink()(problem, begun(problem), Streams(3, 4), unwatched(problem, 10))
    found, share = calibrated(problem, state.distribution, state.graphs, Streams(4, 4))
    assert (share >= GOOD_SHARE).all()
    assert torch.equal(found.mode().weight, state.graphs.weight)
    drawn = found.discrete(50, Streams(9, 4))
    assert problem.good(drawn).double().mean() >= 0.9
    assert Calibrate().opening > 1


def test_a_restart_is_opened_the_same_beside_larger_graphs() -> None:
    plain = known_problem(STAR)
    exemplars = typicality(STAR).exemplars.graphs
    order = exemplars.num_edges.argsort()
    both = widened(exemplars[order[torch.tensor([2, -1])]], 12).to(plain.classifier.dtype)
    found = []
    for graphs in (both, both[:1]):
        problem = replace(plain, relaxed=RelaxedModel(plain.classifier), memory=Memory())
        problem.__dict__["asks_native"] = False
        learned, streams = from_graphs(graphs, 0.9), Streams(5, 2).select(torch.arange(len(graphs)))
        with RelaxedModel(plain.classifier).session():
            found.append(calibrated(problem, learned, graphs, streams, opening=8)[0])
    beside, alone = (one.edge_probability[0] for one in found)
    assert both.num_edges[0] < both.num_edges[1]
    assert ((alone > 1e-3) & (alone < 0.999)).any()  # something is open
    assert torch.allclose(alone, beside, atol=1e-5)
