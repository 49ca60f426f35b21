"""The live page for a chemist: SMILES in, validity with its reason, real graphs, cores."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import global_add_pool

pytest.importorskip("rdkit")

import gnninterpreter as gi
from gnninterpreter.chem import from_smiles
from gnninterpreter.search import Recipe
from gnninterpreter.spec import Categorical, GraphSpec
from gnninterpreter.web import Backend, create_app
from tests.web.conftest import serving
from tests.web.pages import MARKS, opened, sync_api

ATOMS = ("C", "N", "O", "N+", "O-", "Cl")
SPEC = GraphSpec(
    nodes=(Categorical(6, ATOMS, name="atom"),),
    edges=(Categorical(3, ("double", "single", "triple"), name="bond"),),
    class_names=("plain", "nitro"),
)
REAL = (
    ("CCO", 0), ("CCC", 0), ("CCCl", 0), ("CC(C)O", 0), ("CCN", 0), ("CC(=O)O", 0),
    ("C[N+](=O)[O-]", 1), ("CC[N+](=O)[O-]", 1), ("CCC[N+](=O)[O-]", 1), ("O=[N+]([O-])CCl", 1),
    ("OCC[N+](=O)[O-]", 1), ("CC(C)[N+](=O)[O-]", 1),
)  # fmt: skip


class Nitro(nn.Module):
    """Counts charged nitrogens, and double bonds a little."""

    def __init__(self) -> None:
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor, batch: Tensor) -> Tensor:
        double = global_add_pool(edge_attr[:, :1], batch[edge_index[0]], int(batch.max()) + 1)
        count = global_add_pool(x, batch)[:, 3] + 0.02 * double[:, 0]
        return torch.stack([4 - 8 * count, 8 * count - 4], dim=1) + 0 * self.unused


def real_graphs() -> list[Data]:
    graphs = []
    for smiles, label in REAL:
        graph = from_smiles(smiles, SPEC)
        graph.y = torch.tensor([label])
        graphs.append(graph)
    return graphs


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory) -> Backend:
    model = Nitro()
    result = gi.explain(
        model, real_graphs(), spec=SPEC, restarts=2, recipe=Recipe.auto(iterations=20),
        progress=False,
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("chemist") / "run"
    result.save(folder)
    return Backend(result, folder, model, real_graphs())


@pytest.fixture(scope="module")
def address(backend: Backend) -> Iterator[str]:
    with serving(create_app(backend)) as found:
        yield found


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as asked:
        yield asked


def test_the_state_says_what_can_be_chosen(client: httpx.Client) -> None:
    state = client.get("/api/state").json()
    assert state["molecules"] is True
    assert state["real"] == len(REAL)
    (bond,) = state["edges"]
    assert bond["names"][bond["first"]] == "single"


def test_smiles_become_a_graph_of_the_page_and_of_python(client: httpx.Client) -> None:
    found = client.post("/api/smiles", json={"smiles": "CC#N"}).json()
    assert found["graph"] == {
        "nodes": [[0], [0], [1]], "edges": [[0, 1, [1]], [1, 2, [2]]]
    }  # fmt: skip
    assert len(found["positions"]) == 3
    refused = client.post("/api/smiles", json={"smiles": "CN(C)(C)C"})
    assert refused.status_code == 422
    assert "N has 4 bonds, at most 3 (4 with a charge)" in refused.json()["error"]
    assert "no atom Br in the spec" in client.post("/api/smiles", json={"smiles": "CBr"}).text
    assert client.post("/api/smiles", json=["CC"]).status_code == 422


def test_a_graph_is_inspected(client: httpx.Client) -> None:
    graph = client.post("/api/smiles", json={"smiles": "OCC[N+](=O)[O-]"}).json()["graph"]
    found = client.post("/api/look", json=graph).json()
    assert found["molecule"]["smiles"] == "O=[N+]([O-])CCO"
    assert found["asked"] >= 1
    assert "nitro" in {core["name"] for core in found["cores"]}
    assert len(found["nearest"]) == 3
    assert found["nearest"][0]["label"] == "nitro"
    assert "<svg" in found["nearest"][0]["svg"]
    graph["edges"][0][2] = [2]  # a triple bond at the oxygen
    wrong = client.post("/api/look", json=graph).json()["molecule"]
    assert not wrong["valid"]
    assert wrong["reason"].startswith("O has 3 bonds, at most 2")
    assert client.post("/api/look", json={"nodes": [[0]], "edges": []}).status_code == 422


def test_real_graphs_can_be_opened(client: httpx.Client) -> None:
    assert client.get("/api/real/2").json()["graph"]["nodes"] == [[0], [0], [5]]
    assert client.get("/api/real/99").status_code == 422


@pytest.mark.parametrize("width", [1200, 390])
def test_a_molecule_is_pasted_and_edited(
    browser: Any, address: str, width: int, tmp_path: Path
) -> None:
    page, complaints = opened(browser, address, width)
    page.fill("#smiles", "OCC[N+](=O)[O-]")
    page.click("#paste button")
    sync_api.expect(page.locator("#written")).to_have_text("O=[N+]([O-])CCO")
    sync_api.expect(page.locator("#valid")).to_have_text("Valid")
    sync_api.expect(page.locator("#cores")).to_contain_text("nitro")
    sync_api.expect(page.locator("#near .tile")).to_have_count(3)
    sync_api.expect(page.locator("#answer")).to_contain_text("nitro")
    page.locator('[data-edge="0"]').focus()
    page.keyboard.press("Enter")
    page.select_option("#features select", label="triple")
    sync_api.expect(page.locator("#why")).to_contain_text("O has 3 bonds, at most 2")
    sync_api.expect(page.locator("#answer")).to_contain_text("no valid molecule")
    # Wherever the page is scrolled to on a phone, the answer can be read.
    page.evaluate("scrollTo(0, 0)")
    assert page.locator("#answer").bounding_box()["y"] < 900
    page.fill("#smiles", "C1CC")
    page.click("#paste button")
    sync_api.expect(page.locator("#hint")).to_contain_text("is not written as SMILES are")
    page.locator("#near .tile").first.click()
    sync_api.expect(page.locator("#hint")).to_contain_text("is open")
    sync_api.expect(page.locator("#valid")).to_have_text("Valid")
    page.screenshot(path=str(tmp_path / "page.png"), full_page=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
    assert [one for one in complaints if "422" not in one] == []


pytestmark = MARKS
