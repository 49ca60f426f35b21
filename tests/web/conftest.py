"""A live page over a model that needs no training and fails when it is told to."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from torch import Tensor

import gnninterpreter as gi
from gnninterpreter.search import Recipe
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.web import Backend, create_app, make_server
from tests.tiny import MeanDegree

SPEC = GraphSpec(
    nodes=(Categorical(3, ("red", "green", "blue"), name="colour"),),
    class_names=("sparse", "<b>dense</b>"),
)
TRIANGLE = {"nodes": [[0], [1], [2]], "edges": [[0, 1], [1, 2], [0, 2]]}
MOST = 9


class Fragile(MeanDegree):
    """Fails on graphs of more than nine nodes."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if int(batch.bincount().max()) > MOST:
            raise RuntimeError("too much for me")
        return self.scores(x, edge_index, batch)


def make_backend(folder: Path) -> Backend:
    model = Fragile(3)
    result = gi.explain(
        model,
        spec=SPEC,
        restarts=2,
        recipe=Recipe.auto(iterations=20, max_nodes=6),
        progress=False,
    )
    result.save(folder)
    return Backend(result, folder, model)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Backend:
    return make_backend(tmp_path_factory.mktemp("live") / "run")


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """A real server in a thread of this process; gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = make_server(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listener.close()
    assert app.state.searches.close(60)


@pytest.fixture(scope="module")
def address(backend: Backend) -> Iterator[str]:
    with serving(create_app(backend)) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as opened:
        yield opened
