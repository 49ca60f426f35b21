from __future__ import annotations

import math

import numpy as np
import pytest

from gnninterpreter.errors import DataError
from gnninterpreter.experiments.metrics import degree_mmd, spectrum_mmd
from gnninterpreter.experiments.metrics.discrepancy import clustering_mmd, mmd
from tests.experiments.metrics.molecules import molecule


def test_mmd_of_two_points():
    # One histogram each, at distance 1: 1 + 1 - 2 exp(-1/2).
    a, b = [np.array([1.0, 0.0])], [np.array([0.0, 1.0])]
    assert mmd(a, b, sigma=1.0) == pytest.approx(2 - 2 * math.exp(-0.5))
    assert mmd(a, a, sigma=1.0) == 0.0
    # Two bins of width 0.1 apart, whatever the mass.
    c, d = [np.array([0.0, 2.0])], [np.array([0.0, 0.0, 0.0, 5.0])]
    assert mmd(c, d, sigma=0.2, width=0.1) == pytest.approx(2 - 2 * math.exp(-0.5))
    with pytest.raises(DataError):
        mmd(a, [], sigma=1.0)


def test_discrepancies_tell_paths_from_complete_graphs():
    path = molecule("C C C C", [(0, 1), (1, 2), (2, 3)])
    full = molecule("C C C C", [(i, j) for i in range(4) for j in range(i)])
    for measure in (degree_mmd, clustering_mmd, spectrum_mmd):
        assert measure([path], [path]) == pytest.approx(0.0)
        assert measure([path], [full]) > 0.1
