"""The data of bundled models."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from gnninterpreter.datasets.base import StoredGraphs
from gnninterpreter.models import at_hand
from gnninterpreter.models.at_hand import data_at_hand


def test_data_that_a_result_still_holds_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    bundle: Any = SimpleNamespace(
        dataset_name="shape", training={"data": {"seed": 0, "fingerprint": "known"}}
    )
    read = []

    def load(name: str, *, seed: int, download: bool) -> Any:
        assert not download
        read.append((name, seed))
        graphs = StoredGraphs({}, {"edge_index": torch.arange(2)})
        return SimpleNamespace(fingerprint="known", as_graphs=lambda: graphs)

    monkeypatch.setattr(at_hand, "load_dataset", load)
    held, _ = data_at_hand(bundle)
    assert held is not None
    assert data_at_hand(bundle)[0] is held
    assert read == [("shape", 0)]
    del held
    gc.collect()
    assert data_at_hand(bundle)[0] is not None
    assert len(read) == 2
