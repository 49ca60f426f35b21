"""A whole run with the model on a GPU, pretended where there is none: it comes to the same."""

from __future__ import annotations

from copy import deepcopy

import pytest
import torch
import torch_geometric.transforms as T  # noqa: N812
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_mean_pool

import gnninterpreter as gi
from gnninterpreter.audit import audit
from gnninterpreter.explanation import ExplanationSet
from tests.pretended import pretended_gpu
from tests.tiny import fit, seeded, shapes, trained_shapes

pytestmark = pytest.mark.filterwarnings("ignore:.*can be accelerated via the 'torch-scatter'")

RECIPES = {"auto": gi.Recipe.auto(), "certain": gi.Recipe.certain(iterations=10)}


class Encoded(nn.Module):
    """Reads nodes with encodings beside them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.out = GraphConv(3, 8), nn.Linear(8, 3)

    def forward(self, data: Data) -> Tensor:
        """Return class logits."""
        hidden = self.conv(data.x, data.edge_index).relu()
        logits: Tensor = self.out(global_mean_pool(hidden, data.batch))
        return logits


def real() -> list[Data]:
    """Enough graphs of each of three classes for every check."""
    return shapes(range(4, 26))


def explained(model: nn.Module, data: list[Data], **settings: object) -> ExplanationSet:
    return gi.explain(model, data, targets=[0], restarts=2, progress=False, **settings)


def same(one: ExplanationSet, other: ExplanationSet) -> bool:
    """Whether two runs come to the same graph, piece and verdict."""
    a, b = one[0].to("cpu"), other[0].to("cpu")
    cores = [[core.graph.edge_index.tolist() for core in found.cores] for found in (a, b)]
    graphs = [found.best.edge_index.tolist() for found in (a, b)]
    return graphs[0] == graphs[1] and cores[0] == cores[1] and a.verdict == b.verdict


def test_devices_do_not_mix_and_waiting_is_counted() -> None:
    with pretended_gpu() as gpu:
        there = torch.zeros(2, 3, device="cuda")
        assert there.is_cuda
        assert (there + 1).sum(1).device.type == "cuda"
        assert there.to("cpu").device.type == "cpu"
        with pytest.raises(RuntimeError, match="same device"):
            there + torch.ones(3)
        assert not gpu.waits
        assert bool((there == 0).all())
        assert dict(gpu.waits) == {"__bool__": 1}


@pytest.mark.parametrize("name", list(RECIPES))
def test_a_run_for_the_time_of_which_the_model_is_moved(name: str) -> None:
    model, _ = trained_shapes()
    here = explained(model, real(), recipe=RECIPES[name])
    with pretended_gpu() as gpu:
        there = explained(model, real(), recipe=RECIPES[name], device="cuda")
        assert not next(model.parameters()).is_cuda
        assert not there[0].best.edge_index.is_cuda
    assert sum(gpu.waits.values())
    assert not gpu.recorded_waits
    assert same(here, there)


def test_a_bundled_model_whose_environments_were_counted() -> None:
    bundle = gi.models.load("is_acyclic")
    settings = {"targets": [0], "restarts": 2, "progress": False}
    here = gi.explain(bundle, **settings)
    with pretended_gpu():
        there = gi.explain(bundle, device="cuda", **settings)
    assert there[0].restarts[0].percentile is not None
    assert same(here, there)


def test_a_model_that_lives_there_takes_what_was_found() -> None:
    model, _ = trained_shapes()
    here = explained(model, real())
    with pretended_gpu():
        moved = deepcopy(model).to("cuda")
        there = explained(moved, [graph.to("cuda") for graph in real()])
        samples = there[0].sample(3)
        scores = moved(Batch.from_data_list([there[0].best, *samples]))
        assert scores.is_cuda
        assert int(scores[0].argmax()) == 0
        assert str(there.fidelity(real())) == str(here.fidelity(real()))
    assert same(here, there)


def test_columns_that_follow_from_the_graph() -> None:
    torch.manual_seed(1)  # signs of eigenvectors are drawn
    encode = T.AddLaplacianEigenvectorPE(2, attr_name=None, is_undirected=True)
    data = [encode(graph) for graph in real()[:36]]
    model = fit(seeded(Encoded), data)
    here = explained(model, data)
    with pretended_gpu():
        there = explained(model, data, device="cuda")
    assert same(here, there)


def test_an_audit() -> None:
    model, _ = trained_shapes()
    with pretended_gpu():
        found = audit(
            deepcopy(model).to("cuda"), real(), hosts=4, targets=[0], restarts=2, progress=False
        )
    assert found.checked
