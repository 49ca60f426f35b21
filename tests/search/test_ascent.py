"""The gradient search: what it keeps, when and why it stops, and that restarts stay apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import global_mean_pool

from gnninterpreter.distribution import GraphDistribution, Streams, around_density
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.objective import Aim, Certainty, Objective, Weighted
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Ascent, Monitor, Problem, Reason, Snapshot, State
from gnninterpreter.search import ascent as module
from gnninterpreter.search.gradient import Moment, Step
from tests.tiny import PLAIN, MeanDegree, aim, edges_only, problem, shapes

NAN = float("nan")


@dataclass
class Script:
    """A gradient written down beforehand: for each iteration, that of the edges of each restart."""

    steps: Callable[[int, GraphDistribution], Tensor]
    loss: Callable[[int], Tensor] | None = None
    calls: int = 0
    name: str = field(default="script", init=False)

    def __call__(self, distribution: GraphDistribution, moment: Moment, _: Streams) -> Step:
        self.calls += 1
        gradients = [torch.zeros_like(latent) for latent in distribution.latents()]
        gradients[0] = gradients[0] + self.steps(moment.iteration, distribution)
        loss = torch.zeros(distribution.restarts, dtype=torch.double)
        if self.loss is not None:
            loss = loss + self.loss(moment.iteration)
        return Step(loss, {}, gradients)


def stay(_: int, distribution: GraphDistribution) -> Tensor:
    return torch.zeros_like(distribution.edge_logits)


def recipe(**fields: Any) -> Ascent:
    chosen = {"iterations": 10, "optimizer": "sgd", "learning_rate": 1.0, "check_every": 1}
    return Ascent(**{**chosen, **fields})


def run(
    start: GraphDistribution,
    script: Script,
    task: Problem,
    how: Ascent,
    callbacks: tuple[Callable[[Snapshot], bool | None], ...] = (),
    found: list[bool] | None = None,
) -> State:
    streams, monitor = Streams(0, start.restarts), Monitor(callbacks, task, start.num_candidates)
    state = State.begin(start, task)
    if found is not None:
        state = state.with_(found=torch.tensor(found))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "gradient_of", lambda _: script)
        return how(task, state, streams, monitor)


def never(graphs: DenseGraphs) -> Tensor:
    return torch.zeros(len(graphs), dtype=torch.double)


def level(graphs: DenseGraphs) -> Tensor:
    """A cost that nothing changes."""
    return torch.zeros(len(graphs), dtype=torch.double)


# --- what is kept -------------------------------------------------------------------------------


def grow(iteration: int, distribution: GraphDistribution) -> Tensor:
    """Turn on one more edge of three at each iteration."""
    gradient = torch.zeros_like(distribution.edge_logits)
    if iteration < 3:
        gradient[:, iteration] = -10.0
    return gradient


def test_the_state_with_the_lowest_judged_cost_is_kept() -> None:
    start = edges_only([[-4.0, -4.0, -4.0]], 3)
    task = problem(lambda graphs: (graphs.num_edges - 2).abs(), never)
    found = run(start, Script(grow), task, recipe())
    assert found.distribution.edge_logits.tolist() == [[6.0, 6.0, -4.0]]
    assert found.evaluation.cost.tolist() == [0.0]
    assert found.evaluation.edges.tolist() == [2.0]
    assert found.history.iteration == list(range(1, 11))
    seen = [float(edges) for edges in found.history.expected_edges]
    assert seen[:3] == sorted(seen[:3])
    assert seen[2:] == [pytest.approx(3.0, abs=0.01)] * 8


def test_each_restart_keeps_its_own_best() -> None:
    start = edges_only([[-4.0] * 3, [6.0, -4.0, -4.0], [6.0, 6.0, 6.0]], 3)
    task = problem(lambda graphs: (graphs.num_edges - 2).abs(), never)
    found = run(start, Script(grow), task, recipe())
    expected = [[6.0, 6.0, -4.0], [16.0, 6.0, -4.0], [6.0, 6.0, 6.0]]
    assert found.distribution.edge_logits.tolist() == expected
    assert found.evaluation.cost.tolist() == [0.0, 0.0, 1.0]


def test_the_start_counts_as_a_state_and_is_left_as_it_was() -> None:
    start = edges_only([[6.0, 6.0, -4.0]], 3)
    before = start.edge_logits.clone()
    task = problem(lambda graphs: (graphs.num_edges - 2).abs(), never)
    found = run(start, Script(lambda i, d: torch.full_like(d.edge_logits, -9.0)), task, recipe())
    assert torch.equal(start.edge_logits, before)
    assert torch.equal(found.distribution.edge_logits, before)


def test_only_states_that_were_looked_at_can_be_kept() -> None:
    start = edges_only([[-4.0, -4.0, -4.0]], 3)
    task = problem(lambda graphs: (graphs.num_edges - 1).abs(), never)
    found = run(start, Script(grow), task, recipe(check_every=2, iterations=7))
    assert found.history.iteration == [2, 4, 6, 7]  # and the last one, always
    assert found.evaluation.edges.tolist() == [0.0]


def test_a_sharper_distribution_replaces_one_with_the_same_mode() -> None:
    start = edges_only([[1.0, 1.0, -1.0]], 3)
    script = Script(lambda i, d: torch.tensor([[-2.0, -2.0, 2.0]]).double())
    found = run(start, script, problem(level, two_edges), recipe(iterations=3))
    assert found.distribution.edge_logits[0, 0] > 4.0
    assert torch.equal(found.graphs.weight, start.mode().weight)


@pytest.mark.parametrize(("keep", "edges"), [("best", 2.0), ("last", 3.0)])
def test_the_paper_keeps_the_last_state_and_not_the_best(keep: str, edges: float) -> None:
    task = problem(lambda graphs: (graphs.num_edges - 2).abs(), never)
    found = run(edges_only([[-4.0] * 3], 3), Script(grow), task, recipe(keep=keep))
    assert found.evaluation.edges.tolist() == [edges]
    assert found.graphs.num_edges.tolist() == [edges]
    assert float(found.evaluation.cost) == edges - 2


def test_the_last_state_of_a_restart_that_has_ended_stays_while_others_go_on() -> None:
    task = problem(lambda g: -two_edges(g), two_edges)
    start = edges_only([[-0.1] * 3] * 2, 3)
    both = Script(lambda i, d: decide([2, 6])(i, d) + 0.01)
    found = run(start, both, task, recipe(keep="last"))
    alone = run(start.select([0]), Script(lambda i, d: decide([2])(i, d) + 0.01), task,
                recipe(keep="last"))  # fmt: skip
    assert list(found.iterations) == [3, 7]
    assert torch.equal(found.distribution.edge_logits[0], alone.distribution.edge_logits[0])


def test_what_a_callback_is_told_belongs_together() -> None:
    """Numbers and distribution are of the same state, not of the best and of the current one."""
    seen: list[Snapshot] = []
    task = problem(lambda graphs: (graphs.num_edges - 1).abs(), lambda g: g.num_edges / 4)
    run(edges_only([[-4.0] * 3], 3), Script(grow), task, recipe(), (seen.append,))
    for snapshot in seen:
        mode = snapshot.distribution.mode()
        assert torch.equal(snapshot.edges, mode.num_edges)
        assert torch.allclose(snapshot.score, mode.num_edges / 4)
    assert seen[-1].edges.tolist() == [3.0]


# --- why and when a restart ends ----------------------------------------------------------------


def decide(at: list[int]) -> Callable[[int, GraphDistribution], Tensor]:
    """Make each restart certain of two edges in its own iteration."""

    def steps(iteration: int, distribution: GraphDistribution) -> Tensor:
        gradient = torch.zeros_like(distribution.edge_logits)
        for r, when in enumerate(at):
            if iteration == when:
                gradient[r] = torch.tensor([-30.0, -30.0, 30.0])
        return gradient

    return steps


def two_edges(graphs: DenseGraphs) -> Tensor:
    return (graphs.num_edges == 2).double()


def test_converged_at_the_exact_iteration() -> None:
    start = edges_only([[-0.1] * 3] * 2, 3)
    script = Script(decide([2, 6]))
    found = run(start, script, problem(lambda g: -two_edges(g), two_edges), recipe())
    assert list(found.reasons) == [Reason.CONVERGED, Reason.CONVERGED]
    assert list(found.iterations) == [3, 7]
    assert script.calls == 7


@pytest.mark.parametrize("check_every", [3, 4])
def test_convergence_is_seen_at_the_next_look(check_every: int) -> None:
    start = edges_only([[-0.1] * 3], 3)
    script = Script(decide([3]))
    task = problem(lambda g: -two_edges(g), two_edges)
    found = run(start, script, task, recipe(check_every=check_every))
    assert list(found.iterations) == [4 if check_every == 4 else 6]
    assert script.calls == found.iterations[0]


def test_a_distribution_that_is_still_open_has_not_converged() -> None:
    start = edges_only([[0.1, 0.1, -0.1]], 3)
    task = problem(level, two_edges)
    found = run(start, Script(stay), task, recipe(patience=3))
    assert found.evaluation.score.tolist() == [1.0]
    assert list(found.reasons) == [Reason.PLATEAU]


def test_nor_has_one_that_expects_more_edges_than_the_limit() -> None:
    start = edges_only([[20.0, 20.0, -20.0]], 3)
    for limit, reason in ((1.5, Reason.RAN_OUT), (2.0, Reason.CONVERGED)):
        task = problem(level, two_edges, aim(max_edges=limit))
        found = run(start, Script(stay), task, recipe())
        assert found.reasons == (reason,)
        assert found.iterations == (10 if reason is Reason.RAN_OUT else 1,)


@pytest.mark.parametrize(("patience", "check_every", "ends"), [(2, 5, 10), (3, 1, 3), (1, 4, 4)])
def test_plateau_after_so_many_looks_without_progress(
    patience: int, check_every: int, ends: int
) -> None:
    script = Script(stay)
    how = recipe(iterations=100, patience=patience, check_every=check_every)
    found = run(edges_only([[1.0, 1.0, 1.0]], 3), script, problem(level, never), how)
    assert list(found.reasons) == [Reason.PLATEAU]
    assert list(found.iterations) == [ends]
    assert script.calls == ends


def test_progress_starts_the_patience_anew() -> None:
    start = edges_only([[-4.0, -4.0, -4.0]], 3)
    task = problem(lambda graphs: -graphs.num_edges, never)
    found = run(start, Script(grow), task, recipe(iterations=50, patience=4))
    assert list(found.iterations) == [7]  # progress at 1, 2 and 3, then four looks without


def test_around_a_graph_that_was_found_it_is_settled_soon_and_from_nothing_it_goes_on() -> None:
    start = edges_only([[5.0, 5.0, 5.0], [5.0, -5.0, -5.0]], 3)
    how = recipe(iterations=20, settled=2)
    both = run(start, Script(stay), problem(level, never), how, found=[True, False])
    assert list(both.iterations) == [2, 20]
    assert list(both.reasons) == [Reason.PLATEAU, Reason.RAN_OUT]
    script = Script(stay)
    alone = run(start, script, problem(level, never), how, found=[True, True])
    assert list(alone.iterations) == [2, 2]
    assert script.calls == 2


@pytest.mark.parametrize(("base", "ends"), [(0.0, 5), (1000.0, 2)])
def test_a_little_of_what_is_missing_is_no_progress(base: float, ends: int) -> None:
    """An edge more at each of three looks: a third of the cost, or a thousandth of it."""
    start = edges_only([[-4.0, -4.0, -4.0]], 3)
    task = problem(lambda graphs: base + 4 - graphs.num_edges, lambda graphs: never(graphs) + 0.99)
    found = run(start, Script(grow), task, recipe(iterations=50, settled=2), found=[True])
    assert list(found.iterations) == [ends]


def test_a_restart_that_has_ended_is_not_touched_by_the_others_going_on() -> None:
    def one_more_edge(iteration: int, distribution: GraphDistribution) -> Tensor:
        gradient = torch.zeros_like(distribution.edge_logits)
        if iteration == 1:
            gradient[1:, 1] = -10.0
        if iteration == 3:
            gradient[:, 0] = -10.0
        return gradient

    task = problem(lambda graphs: -graphs.num_edges, never)
    start = edges_only([[-4.0, -4.0, -4.0], [-4.0, -4.0, 5.0]], 3)
    how = recipe(iterations=20, patience=3)
    together = run(start, Script(one_more_edge), task, how)
    alone = run(start.select([0]), Script(one_more_edge), task, how)
    # The first gives up after three looks; the second has found something by then, and finds more.
    assert list(together.iterations) == [3, 7]
    assert list(alone.iterations) == [3]
    assert together.distribution.edge_logits.tolist() == [[-4.0, -4.0, -4.0], [6.0, 6.0, 5.0]]
    assert torch.equal(together.distribution.edge_logits[:1], alone.distribution.edge_logits)


def test_running_out_of_iterations_is_no_plateau() -> None:
    script = Script(stay)
    start = edges_only([[5.0, 5.0, 5.0], [5.0, -5.0, -5.0]], 3)
    found = run(start, script, problem(level, never), recipe())
    assert list(found.reasons) == [Reason.RAN_OUT, Reason.RAN_OUT]
    assert list(found.iterations) == [10, 10]
    assert script.calls == 10


def broken(where: str, at: int = 3) -> Script:
    """Something in the second restart is not finite from an iteration on."""

    def steps(iteration: int, distribution: GraphDistribution) -> Tensor:
        gradient = torch.full_like(distribution.edge_logits, -0.5)
        if where != "loss" and iteration >= at:
            gradient[1, 1] = NAN if where == "gradient" else torch.inf
        return gradient

    def loss(iteration: int) -> Tensor:
        value = torch.zeros(2, dtype=torch.double)
        value[1] = NAN if where == "loss" and iteration >= at else 0.0
        return value

    return Script(steps, loss)


@pytest.mark.parametrize("where", ["loss", "gradient", "infinite gradient"])
@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_what_is_not_finite_ends_one_restart_and_no_other(where: str, optimizer: str) -> None:
    start = edges_only([[-2.2, -1.2, -0.2]] * 2, 3)
    task = problem(lambda graphs: -graphs.num_edges, never)
    how = recipe(optimizer=optimizer)
    found = run(start, broken(where), task, how)
    fine = run(start, broken("nowhere", at=99), task, how)
    assert list(found.reasons) == [Reason.RAN_OUT, Reason.NON_FINITE]
    assert list(found.iterations) == [10, 4]
    assert torch.equal(found.distribution.edge_logits[0], fine.distribution.edge_logits[0])
    before = run(start, broken("nowhere", at=99), task, recipe(optimizer=optimizer, iterations=3))
    # The best state before it happened is still there.
    assert torch.equal(found.distribution.edge_logits[1], before.distribution.edge_logits[1])
    assert torch.isfinite(found.distribution.edge_logits).all()
    assert torch.isfinite(torch.stack(found.history.expected_edges)).all()


def test_the_search_ends_when_nothing_finite_is_left() -> None:
    script = Script(lambda i, d: torch.full_like(d.edge_logits, NAN))
    found = run(edges_only([[1.0] * 3] * 2, 3), script, problem(level, never), recipe())
    assert list(found.reasons) == [Reason.NON_FINITE] * 2
    assert list(found.iterations) == [1, 1]
    assert script.calls == 1


def test_what_happens_to_a_restart_after_it_has_converged_does_not_matter() -> None:
    def steps(iteration: int, distribution: GraphDistribution) -> Tensor:
        gradient = decide([1, 8])(iteration, distribution)
        gradient[0] = NAN if iteration > 3 else gradient[0]
        return gradient

    task = problem(lambda g: -two_edges(g), two_edges)
    found = run(edges_only([[-0.1] * 3] * 2, 3), Script(steps), task, recipe())
    assert list(found.reasons) == [Reason.CONVERGED] * 2
    assert list(found.iterations) == [2, 9]


def test_a_callback_that_returns_true_stops_the_search() -> None:
    seen: list[Snapshot] = []

    def stop_at_four(look: Snapshot) -> bool:
        seen.append(look)
        return look.iteration >= 4

    others: list[int] = []
    script = Script(decide([1, 99]))
    start = edges_only([[-0.1] * 3] * 2, 3)
    task = problem(lambda g: -two_edges(g), two_edges)
    found = run(
        start, script, task, recipe(iterations=50, check_every=2),
        (stop_at_four, lambda look: others.append(look.iteration)),
    )  # fmt: skip
    assert list(found.reasons) == [Reason.CONVERGED, Reason.STOPPED]
    assert list(found.iterations) == [2, 4]
    assert script.calls == 4
    assert others == [2, 4]
    look = seen[-1]
    assert (look.phase, look.iteration, look.iterations) == ("gradient", 4, 50)
    assert look.score.tolist() == pytest.approx([1.0, 0.0])
    assert look.edges.tolist() == [2.0, 0.0]
    assert look.distribution.restarts == 2


def test_callbacks_that_return_nothing_stop_nothing() -> None:
    script = Script(stay)
    run(
        edges_only([[1.0] * 3], 3), script, problem(level, never), recipe(),
        (lambda look: None, lambda look: False),
    )  # fmt: skip
    assert script.calls == 10


def test_reasons_read_as_plain_words() -> None:
    words = [str(reason) for reason in Reason]
    assert words == [
        "converged", "plateau", "iterations ran out", "budget not met", "non-finite", "stopped",
    ]  # fmt: skip


# --- with a real model --------------------------------------------------------------------------


class Curved(nn.Module):
    """The degree of a graph through a bend, so that the gradient depends on where one is."""

    def __init__(self) -> None:
        super().__init__()
        self.degree = MeanDegree(slope=0.5)

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        scores = self.degree.scores(x, edge_index, batch)
        return scores + scores.sin()


class Holed(Curved):
    """Has no answer where the mean degree is above three."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        degree = global_mean_pool(self.degree.conv(x, edge_index), batch)
        return torch.where(degree > 3.0, NAN, super().forward(x, edge_index, batch))


def search_with(
    model: nn.Module, restarts: list[int], densities: list[float], target: int = 1
) -> State:
    """Search with some of the restarts, each with its own stream and first density."""
    classifier = GraphClassifier(model.double(), PLAIN, examples=shapes(range(5, 7))[:2])
    density = torch.tensor([densities[r] for r in restarts], dtype=torch.double)
    start = around_density(PLAIN, 7, density, Streams(0, restarts), dtype=torch.float64)
    after: Aim = aim(target, max_edges=12.0)
    objective = Objective((Weighted(Certainty()),))
    task = Problem(classifier, RelaxedModel(classifier), objective, after)
    how = Ascent(iterations=12, samples=4, check_every=4)
    return how(task, State.begin(start, task), Streams(1, restarts), Monitor((), task, 7))


@pytest.mark.parametrize("restarts", [1, 2])
def test_a_restart_comes_to_the_same_whatever_their_number(restarts: int) -> None:
    densities = [0.2, 0.35, 0.5, 0.3, 0.4]
    everyone = search_with(Curved(), list(range(5)), densities)
    few = search_with(Curved(), list(range(restarts)), densities)
    assert few.reasons == everyone.reasons[:restarts]
    assert few.iterations == everyone.iterations[:restarts]
    moved = everyone.distribution.edge_logits.std(dim=1)
    assert (moved > 0.1).all()
    for one, other in zip(few.distribution.latents(), everyone.distribution.latents(), strict=True):
        # Matrix products round the last bits by the size of the batch.
        assert torch.allclose(one, other[:restarts], rtol=0, atol=1e-10)


def test_a_model_without_an_answer_in_places_ends_only_restarts_that_go_there() -> None:
    densities = [0.15, 0.9, 0.2]
    found = search_with(Holed(), [0, 1, 2], densities, target=0)
    assert found.reasons[1] == Reason.NON_FINITE
    assert found.iterations[1] == 1
    for r in (0, 2):
        alone = search_with(Holed(), [r], densities, target=0)
        assert found.reasons[r] == alone.reasons[0] != Reason.NON_FINITE
        assert torch.allclose(
            found.distribution.edge_logits[r], alone.distribution.edge_logits[0], atol=1e-10
        )
