"""The board of the live page in a real browser: zoom, pan, drag, springs, legend, files."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.web.pages import (
    MARKS,
    add_nodes,
    answer,
    clear,
    count,
    join,
    opened,
    page,
    place_of,
    sync_api,
)

__all__ = ["page"]
pytestmark = MARKS


def view(page: Any) -> str | None:
    found = page.locator("#canvas .scene").get_attribute("transform")
    return None if found is None else str(found)


def middle(page: Any, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def drag(page: Any, start: tuple[float, float], by: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + by[0], start[1] + by[1], steps=5)
    page.mouse.up()


def test_a_registry_package_draws(page: Any) -> None:
    assert page.evaluate("d3.version").startswith("5.")


def test_nodes_are_dragged_where_the_pointer_goes_also_when_zoomed(page: Any) -> None:
    page.click('[data-view="in"]')
    x, y = middle(page, '[data-node="0"] circle')
    before = place_of(page, 0)
    drag(page, (x, y), (40, 30))
    after = middle(page, '[data-node="0"] circle')
    assert after == pytest.approx((x + 40, y + 30), abs=2)
    page.click("#undo")
    assert place_of(page, 0) == before


def test_the_background_pans_and_the_wheel_zooms(page: Any) -> None:
    clear(page)
    add_nodes(page, [(200, 150), (300, 150)])
    page.click('button[data-tool="select"]')
    box = page.locator("#canvas").bounding_box()
    drag(page, (box["x"] + 20, box["y"] + 20), (30, 10))
    moved = view(page)
    assert moved is not None
    assert "translate(" in moved
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.wheel(0, -300)
    sync_api.expect(page.locator("#canvas .scene")).not_to_have_attribute("transform", moved)
    page.click('[data-view="fit"]')
    assert view(page) == "translate(0,0) scale(1)"
    assert count(page, "node") == 2


def test_the_wheel_scrolls_the_page_until_the_board_is_clicked(page: Any) -> None:
    before = view(page)
    x, y = middle(page, "#canvas")
    page.mouse.move(x, y)
    page.mouse.wheel(0, 200)
    page.wait_for_function("() => scrollY > 0")
    assert view(page) == before


def test_an_edge_is_drawn_from_node_to_node(page: Any) -> None:
    clear(page)
    add_nodes(page, [(100, 80), (260, 80)])
    page.click('button[data-tool="edge"]')
    (x, y), (to_x, to_y) = middle(page, '[data-node="0"]'), middle(page, '[data-node="1"]')
    drag(page, (x, y), (to_x - x, to_y - y))
    assert count(page, "edge") == 1
    drag(page, (x, y), (30, 90))
    assert (count(page, "edge"), count(page, "node")) == (1, 2)
    page.click("#undo")
    assert count(page, "edge") == 0


def test_nodes_are_clicked_where_they_shall_be_also_when_zoomed(page: Any) -> None:
    clear(page)
    page.click('[data-view="out"]')
    box = page.locator("#canvas").bounding_box()
    add_nodes(page, [(90, 70)])
    assert middle(page, '[data-node="0"] circle') == pytest.approx(
        (box["x"] + 90, box["y"] + 70), abs=2
    )


def test_springs_pull_and_come_to_rest(page: Any) -> None:
    clear(page)
    add_nodes(page, [(100, 80), (150, 80), (125, 120)])
    join(page, (0, 1), (1, 2), (0, 2))
    before = [place_of(page, n) for n in range(3)]
    page.click("#springs")
    assert page.locator("#springs").get_attribute("aria-pressed") == "true"
    for _ in range(600):
        page.wait_for_timeout(100)
        if [place_of(page, n) for n in range(3)] != before:
            break
    else:
        pytest.fail("nothing moved in a minute")
    page.click("#springs")
    rest = [place_of(page, n) for n in range(3)]
    page.wait_for_timeout(100)
    assert [place_of(page, n) for n in range(3)] == rest
    assert count(page, "edge") == 3


def test_arrows_move_a_node_or_the_view(page: Any) -> None:
    x, y = place_of(page, 0)
    page.locator('[data-node="0"]').focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert place_of(page, 0) == (x + 10, y + 10)
    assert page.evaluate("document.activeElement.dataset.node") == "0"
    page.locator("#canvas").focus()
    page.keyboard.press("ArrowLeft")
    assert view(page) == "translate(24,0) scale(1)"
    page.keyboard.press("0")
    assert view(page) == "translate(0,0) scale(1)"


def test_the_legend_has_the_real_names(page: Any) -> None:
    assert page.locator("#legend dt").text_content() == "colour"
    items = page.locator("#legend .item").all_inner_texts()
    assert [" ".join(item.split()) for item in items] == ["R red", "G green", "B blue"]


def test_tidy_lays_out_anew(page: Any) -> None:
    clear(page)
    add_nodes(page, [(100, 80), (150, 80), (125, 120)])
    join(page, (0, 1), (1, 2), (0, 2))
    before = [place_of(page, n) for n in range(3)]
    page.click("#tidy")
    sync_api.expect(page.locator('[data-node="0"]')).not_to_have_attribute(
        "transform", "translate({:g},{:g})".format(*before[0])
    )
    page.click("#undo")
    assert [place_of(page, n) for n in range(3)] == before


def upload(page: Any, name: str, content: str) -> None:
    page.set_input_files(
        "#import", {"name": name, "mimeType": "application/json", "buffer": content.encode()}
    )


def test_a_file_is_opened(page: Any) -> None:
    upload(page, "path.json", json.dumps({"nodes": [[0], [1], [2]], "edges": [[0, 1], [1, 2]]}))
    sync_api.expect(page.locator("#hint")).to_have_text("path.json is open.")
    assert (count(page, "node"), count(page, "edge")) == (3, 2)
    sync_api.expect(page.locator("#figures")).to_contain_text("3 nodes, 2 edges")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is no JSON"),
        ("[]", "an object"),
        (json.dumps({"nodes": [[0]] * 10_000, "edges": []}), "at most 300 nodes"),
        (json.dumps({"nodes": [[7]], "edges": []}), "from 0 to 2"),
        (json.dumps({"nodes": [[0]] * 400_000, "edges": []}), "at most 1000 kB"),
    ],
)
def test_a_bad_file_is_refused_in_the_page(
    browser: Any, address: str, content: str, said: str
) -> None:
    page, complaints = opened(browser, address)
    before = (count(page, "node"), answer(page))
    upload(page, "graph.json", content)
    sync_api.expect(page.locator("#hint.bad")).to_contain_text(said)
    assert (count(page, "node"), answer(page)) == before
    page.close()
    assert all("status of 4" in complaint for complaint in complaints)
