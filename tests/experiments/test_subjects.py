"""Models with their graphs, by name or by reference."""

from __future__ import annotations

import pytest

from gnninterpreter.errors import DataError, ModelError
from gnninterpreter.experiments.subjects import subject


def test_a_model_that_is_not_there_or_comes_without_graphs() -> None:
    with pytest.raises(ModelError, match="cannot be imported"):
        subject("nowhere.at.all:model")
    with pytest.raises(DataError, match="comes without real graphs"):
        subject("tests.experiments.realism.own:model")


def test_a_model_of_ones_own_with_its_graphs() -> None:
    name = "tests.experiments.realism.own"
    found = subject(f"{name}:model@{name}:graphs")
    assert found.spec.num_classes == 2
    assert len(found.real(0)) == 6
    assert found.is_real(found.graphs[3])
    assert found.oracle is None
