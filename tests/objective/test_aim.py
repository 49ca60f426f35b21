"""Aims of several targets: what each row of a batch is after."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.profile import Profile
from gnninterpreter.models.task import Task
from gnninterpreter.objective import Aim, Aims, ClassTarget, beside

ONE = Aim(ClassTarget(0, "a"), 4, 5.0, Profile(20, 4.0, 5.0, torch.tensor([1.0, 0.0])))
OTHER = Aim(
    ClassTarget(1, "b"), 6, 8.0, Profile(20, 6.0, 8.0, torch.tensor([0.0, 1.0])), enough=0.9
)


def both(restarts: int = 2) -> Aims:
    found = beside([ONE, OTHER], restarts, torch.zeros(()))
    assert isinstance(found, Aims)
    return found


def test_one_aim_stays_what_it_is() -> None:
    assert beside([ONE], 3, torch.zeros(())) is ONE
    rows = torch.tensor([0])
    assert ONE.rows(7) is ONE.select(rows) is ONE.alone(0) is ONE
    assert torch.zeros(1, 2)[ONE.own].shape == (2,)


def test_each_row_has_its_own_figures() -> None:
    aim = both().rows(8)
    assert aim.max_edges.tolist() == [5.0] * 4 + [8.0] * 4
    assert aim.enough.tolist() == pytest.approx([0.9999] * 4 + [0.9] * 4)
    assert aim.rows(8) is aim
    assert both().certain.tolist() == pytest.approx([0.99] * 4)


def test_graphs_that_restarts_cannot_share_are_refused() -> None:
    with pytest.raises(ValueError, match="9 graphs cannot be shared by 4 restarts"):
        both().rows(9)


def test_some_rows_keep_their_aims() -> None:
    some = both().select(torch.tensor([1, 2, 3]))
    assert some.counts == (1, 2)
    assert some.select(slice(1, 3)).counts == (0, 2)
    assert some.select(torch.tensor([True, False, True])).max_nodes.tolist() == [4, 6]
    assert both().alone(1).rows(3).max_nodes.tolist() == [6, 6, 6]


def test_each_row_is_scored_by_its_own_target() -> None:
    logits = torch.tensor([[2.0, 0.0], [0.0, 3.0], [1.0, 0.0], [0.0, 4.0]])
    scores, aim = Scores(logits, logits, Task.MULTICLASS), both()
    expected = torch.cat(
        [
            one.target.log_score(Scores(p, p, scores.task))
            for one, p in zip((ONE, OTHER), (logits[:2], logits[2:]), strict=True)
        ]
    )
    assert torch.equal(aim.target.log_score(scores), expected)
    assert aim.target.raw_score(scores).tolist() == [2.0, 0.0, 0.0, 4.0]
    alike = aim.likeness(logits)
    assert alike is not None
    assert alike.tolist() == pytest.approx([1, 0, 0, 1])
    # Samples of restarts beside each other, too.
    wide = aim.likeness(logits.unsqueeze(1).expand(-1, 3, -1))
    assert wide is not None
    assert torch.equal(wide[:, 2], alike)


def test_the_same_graph_with_another_aim_has_another_key() -> None:
    keys = both().marked(torch.tensor([5, 5, 5, 5]))
    assert keys[0] == keys[1] != keys[2] == keys[3]
    assert replace(ONE).marked(keys) is keys
