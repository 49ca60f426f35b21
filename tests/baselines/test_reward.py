from __future__ import annotations

import pytest
import torch

from gnninterpreter.baselines import XGNN
from gnninterpreter.errors import SpecError

PROBABILITY = torch.tensor([0.9, 0.2])
ROLLOUTS = torch.tensor([[1.0, 0.6], [0.1, 0.3]])
FINE = torch.tensor([True, True])
WHOLE = torch.zeros(2, 2, dtype=torch.bool)


def test_paper_form_by_hand():
    # 0.9 - 0.5 + ((1 - 0.5) + (0.6 - 0.5)) / 2, and 0.2 - 0.5 + ((0.1 - 0.5) + (0.3 - 0.5)) / 2.
    found = XGNN().rewarded(1 / 2, PROBABILITY, ROLLOUTS, FINE, WHOLE)
    assert found.tolist() == pytest.approx([0.7, -0.6])


def test_paper_form_with_a_broken_rule_and_weights():
    legal = torch.tensor([False, True])
    found = XGNN().rewarded(1 / 2, PROBABILITY, ROLLOUTS, legal, WHOLE)
    assert found.tolist() == pytest.approx([0.7 - 2.0, -0.6])
    found = XGNN(rollout_weight=3.0, rule_weight=0.5).rewarded(
        1 / 2, PROBABILITY, ROLLOUTS, legal, WHOLE
    )
    assert found.tolist() == pytest.approx([0.4 + 3 * 0.3 - 0.5, -0.3 + 3 * -0.3])


def test_chance_depends_on_the_number_of_classes():
    found = XGNN().rewarded(1 / 4, PROBABILITY, ROLLOUTS, FINE, WHOLE)
    assert found.tolist() == pytest.approx([0.65 + 0.55, -0.05 - 0.05])


def test_reference_form_by_hand():
    broken = torch.tensor([[False, True], [False, False]])
    legal = torch.tensor([True, False])
    found = XGNN(reward="reference").rewarded(1 / 2, PROBABILITY, ROLLOUTS, legal, broken)
    # 0.1 + 0.4 + 2 (0.5 - 0.1) / 2; and -1 for an action that breaks a rule, whatever else.
    assert found.tolist() == pytest.approx([0.9, -1.0])


def test_unknown_form():
    with pytest.raises(SpecError, match="paper, reference"):
        XGNN(reward="other")
