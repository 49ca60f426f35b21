"""The live page in a real browser: what its tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browsing import MARKS, sync_api

__all__ = [
    "MARKS",
    "add_nodes",
    "answer",
    "clear",
    "count",
    "join",
    "opened",
    "page",
    "place_of",
    "sync_api",
]


def opened(browser: Any, address: str, width: int = 1200) -> tuple[Any, list[str]]:
    page = browser.new_page(viewport={"width": width, "height": 900}, accept_downloads=True)
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    origin = address.partition("#")[0]
    page.on(
        "request",
        lambda request: (
            request.url.startswith((origin, "data:", "blob:")) or complaints.append(request.url)
        ),
    )
    page.goto(address)
    page.wait_for_selector("#bars .target")
    return page, complaints


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """The open page; afterwards there must have been no complaint and no foreign request."""
    found, complaints = opened(browser, address)
    yield found
    found.close()
    assert complaints == []


def count(page: Any, kind: str) -> int:
    return int(page.locator(f"#canvas .{kind}").count())


def clear(page: Any) -> None:
    page.click("#clear")
    sync_api.expect(page.locator("#canvas .node")).to_have_count(0)


def add_nodes(page: Any, places: list[tuple[int, int]]) -> None:
    page.click('[data-tool="node"]')
    for x, y in places:
        page.locator("#canvas").click(position={"x": x, "y": y})


def join(page: Any, *pairs: tuple[int, int]) -> None:
    page.click('button[data-tool="edge"]')
    for i, j in pairs:
        page.locator(f'[data-node="{i}"]').click()
        page.locator(f'[data-node="{j}"]').click()


def answer(page: Any) -> str:
    return str(page.locator("#answer").inner_text())


def place_of(page: Any, node: int) -> tuple[float, float]:
    """Where a node stands on the board, before any zoom."""
    text = str(page.locator(f'[data-node="{node}"]').get_attribute("transform"))
    x, y = text.removeprefix("translate(").removesuffix(")").split(",")
    return float(x), float(y)
