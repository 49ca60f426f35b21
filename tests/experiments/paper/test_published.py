from __future__ import annotations

import pytest

from gnninterpreter.experiments.paper import published
from gnninterpreter.models import load


@pytest.mark.parametrize("dataset", published.CLASSES)
def test_classes_are_those_of_the_bundled_models(dataset):
    names = load(dataset).spec.class_names
    assert set(published.CLASSES[dataset]) == set(names) - {"others"}


def test_every_class_has_its_figures():
    keys = {(d, c) for d, classes in published.CLASSES.items() for c in classes}
    assert len(keys) == 17
    assert set(published.OURS) == set(published.RANDOM) == set(published.F1) == keys


def test_probabilities_of_binary_models_add_up():
    for dataset in ("mutag", "is_acyclic", "color_consistency"):
        values = [published.RANDOM[dataset, c].mean for c in published.CLASSES[dataset]]
        assert sum(values) == pytest.approx(1.0)


def test_verification_has_as_many_motifs_as_the_paper():
    assert len(published.COMPLETE4_MEANS) == len(published.COMPLETE4_COUNTS) == 8
    assert len(published.HOUSEX_MEANS) == len(published.HOUSEX_COUNTS) == 9
    assert len(published.NITRO_MEANS) == len(published.NITRO_COUNTS) == 6
