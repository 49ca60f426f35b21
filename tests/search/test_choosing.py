"""Which recipe each target is searched for with."""

from __future__ import annotations

import pytest

import gnninterpreter as gi
from gnninterpreter.models.task import Task
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.search.choosing import recipes_for


@pytest.mark.parametrize(("name", "left"), [("shape", "others"), ("motif", "others")])
def test_the_paper_s_recipe_leaves_classes_out_that_it_has_no_weights_for(
    name: str, left: str
) -> None:
    spec = gi.models.load(name).spec
    every = targets_of(None, spec, Task.MULTICLASS, None)
    wanted, said = recipes_for(every, "paper", name, every=True)
    assert {target.name for target, _ in wanted} == {*spec.class_names} - {left}
    assert said == [f"left out, since the paper gives no weights for it: {left}"]
