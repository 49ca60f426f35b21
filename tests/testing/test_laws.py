"""The checks a user runs on a layer of their own; `tests/relax` runs them on everybody else's."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch_geometric import nn as gnn

from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.testing import (
    TinyClassifier,
    assert_absent_means_absent,
    assert_discrete_consistency,
    discrete_error,
    path_error,
)

SPEC = GraphSpec((Categorical(3),))


class GoodLayer(gnn.MessagePassing):
    """Mean of the neighbours: a reduction like any other."""

    def __init__(self) -> None:
        super().__init__(aggr="mean")
        self.lin = nn.Linear(3, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.propagate(edge_index, x=self.lin(x))


class BadLayer(GoodLayer):
    """Divides by the number of listed edges, which no weight can change."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return super().forward(x, edge_index) / edge_index.size(1)


@pytest.mark.parametrize("wrapped", [False, True], ids=["model", "classifier"])
def test_a_good_layer_passes(wrapped: bool) -> None:
    model = TinyClassifier(GoodLayer(), 4).double()
    subject = GraphClassifier(model, SPEC) if wrapped else model
    worst = assert_discrete_consistency(subject, SPEC)
    assert worst == max(discrete_error(subject, SPEC, dense=dense) for dense in (False, True))
    assert_absent_means_absent(subject, SPEC)
    assert path_error(subject, SPEC) < 1e-12


def test_a_bad_layer_fails_with_its_error() -> None:
    model = TinyClassifier(BadLayer(), 4)
    message = r"the generic path is off by [\d.e-]+ on discrete graphs, where less than 0.0001"
    with pytest.raises(AssertionError, match=message):
        assert_discrete_consistency(model, SPEC)
    assert discrete_error(model, SPEC) > 1e-3


def test_limits_depend_on_the_precision_and_may_be_given() -> None:
    model = TinyClassifier(GoodLayer(), 4)
    with pytest.raises(AssertionError, match="less than 0 is allowed"):
        assert_discrete_consistency(model, SPEC, limit=0.0)
    with pytest.raises(AssertionError, match="less than 1e-09 is allowed"):
        assert_discrete_consistency(TinyClassifier(BadLayer(), 4).double(), SPEC)


def test_output_that_is_not_a_number_is_an_infinite_error() -> None:
    class Broken(GoodLayer):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            out = super().forward(x, edge_index)
            return out + (0 if edge_index.size(1) < 6 * x.size(0) else torch.nan)

    model = TinyClassifier(Broken(), 4)
    assert discrete_error(model, SPEC, sizes=(9,)) == torch.inf


def test_the_call_may_be_given() -> None:
    class TwoParts(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = TinyClassifier(GoodLayer(), 4)

        def forward(self, left: object, right: object) -> Tensor:
            return self.body(left)

    assert_discrete_consistency(TwoParts(), SPEC, forward=lambda model, data: model(data, None))
    assert_absent_means_absent(TwoParts(), SPEC, forward=lambda model, data: model(data, None))
