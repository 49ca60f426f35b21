"""The live page in a real browser: click, edit, undo, share, download."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from gnninterpreter.web import Backend
from tests.web.pages import (
    MARKS,
    add_nodes,
    answer,
    clear,
    count,
    join,
    opened,
    page,
    sync_api,
)

__all__ = ["page"]
pytestmark = MARKS


def test_a_graph_made_by_hand_is_scored(page: Any) -> None:
    clear(page)
    sync_api.expect(page.locator("#answer")).to_contain_text("at least one")
    add_nodes(page, [(100, 80), (260, 80), (180, 200), (300, 220)])
    join(page, (0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))
    assert (count(page, "node"), count(page, "edge")) == (4, 6)
    sync_api.expect(page.locator("#figures")).to_contain_text("4 nodes, 6 edges")
    sync_api.expect(page.locator("#answer")).to_contain_text("<b>dense</b>")
    page.click('button[data-tool="delete"]')
    page.locator('[data-node="3"]').click()
    assert (count(page, "node"), count(page, "edge")) == (3, 3)


def test_undo_and_redo(page: Any) -> None:
    clear(page)
    add_nodes(page, [(100, 80), (260, 80)])
    join(page, (0, 1))
    page.click("#undo")
    assert count(page, "edge") == 0
    page.keyboard.press("Control+Shift+Z")
    assert count(page, "edge") == 1
    for _ in range(3):
        page.keyboard.press("Control+z")
    assert count(page, "node") == 0


def test_a_category_can_be_changed(page: Any) -> None:
    clear(page)
    add_nodes(page, [(100, 80)])
    page.select_option("#features select", label="blue")
    assert page.locator('[data-node="0"] text').text_content() == "B"
    assert page.locator('[data-node="0"]').get_attribute("aria-label") == "node 0 colour blue"


def test_nodes_can_be_dragged(page: Any) -> None:
    box = page.locator('[data-node="0"]').bounding_box()
    before = page.locator('[data-node="0"]').get_attribute("transform")
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 60, box["y"] + 50, steps=4)
    page.mouse.up()
    assert page.locator('[data-node="0"]').get_attribute("transform") != before
    page.click("#undo")
    assert page.locator('[data-node="0"]').get_attribute("transform") == before


def test_the_keyboard_is_enough(page: Any) -> None:
    clear(page)
    page.locator("#canvas").focus()
    page.keyboard.press("n")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert count(page, "node") == 2
    page.keyboard.press("e")
    page.locator('[data-node="0"]').focus()
    page.keyboard.press("Enter")
    page.locator('[data-node="1"]').focus()
    page.keyboard.press("Enter")
    assert count(page, "edge") == 1
    page.locator('[data-node="0"]').focus()
    page.keyboard.press("Delete")
    assert (count(page, "node"), count(page, "edge")) == (1, 0)


def test_a_link_holds_the_graph(page: Any, browser: Any, address: str) -> None:
    clear(page)
    add_nodes(page, [(100, 80), (260, 80), (180, 200)])
    join(page, (0, 1), (1, 2))
    page.click("#share")
    other, complaints = opened(browser, page.evaluate("location.href"))
    sync_api.expect(other.locator("#canvas .node")).to_have_count(3)
    assert count(other, "edge") == 2
    other.click("#clear")
    assert count(page, "node") == 3
    other.close()
    assert complaints == []


@pytest.mark.parametrize("link", ["#g=%%%", "#g=e30", "#g=eyJub2RlcyI6W1s5XV19"])
def test_a_damaged_link_says_so(browser: Any, address: str, link: str) -> None:
    page, complaints = opened(browser, address + "/" + link)
    sync_api.expect(page.locator("#hint")).to_contain_text("holds no graph")
    page.close()
    assert complaints == []


@pytest.mark.parametrize("form", ["svg", "png", "graphml", "json"])
def test_exports(page: Any, form: str) -> None:
    with page.expect_download() as caught:
        page.click(f'[data-export="{form}"]')
    content = caught.value.path().read_bytes()
    assert caught.value.suggested_filename == f"graph.{form}"
    if form == "json":
        assert set(json.loads(content)) == {"nodes", "edges"}
    else:
        assert content.startswith({"png": b"\x89PNG", "svg": b"<svg"}.get(form, b"<"))


def test_a_failing_model_shows_in_the_page(browser: Any, address: str) -> None:
    page, complaints = opened(browser, address)
    clear(page)
    add_nodes(page, [(60 + 45 * i, 100 + 60 * (i % 2)) for i in range(10)])
    join(page, *((i, i + 1) for i in range(9)))
    page.wait_for_selector("#answer.bad")
    assert "too much for me" in answer(page)
    page.click("#undo")
    page.wait_for_selector("#answer:not(.bad)")
    page.close()
    # The browser itself notes the status of the refusal; nothing else may be there.
    assert complaints
    assert all("status of 422" in complaint for complaint in complaints)


def test_the_rule_follows_the_bars_and_marks_a_contradiction(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, browser: Any, address: str
) -> None:
    monkeypatch.setattr(backend, "oracle", lambda graph: int(graph.num_nodes > 3))
    found, complaints = opened(browser, address)
    clear(found)
    add_nodes(found, [(100, 80), (260, 80), (180, 200), (300, 220)])
    join(found, (0, 1), (1, 2), (2, 3))
    sync_api.expect(found.locator("#answer.caution")).to_have_text(
        re.compile("^sparse, with .*; by rule <b>dense</b>$")
    )
    found.click("#undo")
    sync_api.expect(found.locator("#answer:not(.caution)")).to_contain_text("; by rule sparse")
    found.close()
    assert complaints == []


def test_the_report_works_under_the_policy_of_the_page(browser: Any, address: str) -> None:
    found = browser.new_page()
    complaints: list[str] = []
    found.on("console", lambda message: complaints.append(message.text))
    found.on("pageerror", lambda error: complaints.append(str(error)))
    found.goto(f"{address}/report")
    # Its script has run: zooming is its work.
    stage = found.locator("svg.graph .stage").first
    before = str(stage.get_attribute("transform"))
    found.locator('[data-zoom="1.25"]').first.click()
    sync_api.expect(stage).not_to_have_attribute("transform", before)
    with found.expect_download():
        found.locator('[data-download="svg"]').first.click()
    found.close()
    assert complaints == []


def test_phone_and_print(browser: Any, address: str) -> None:
    page, complaints = opened(browser, address, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.emulate_media(media="print")
    assert not page.locator(".toolbar").is_visible()
    page.close()
    assert complaints == []
