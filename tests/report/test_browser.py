"""The report in a real browser: it answers to hand and keyboard and asks for nothing outside."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import networkx as nx
import pytest

from gnninterpreter.report import ClassExtras, Neighbour, Stop, write_report
from gnninterpreter.spec import Categorical, GraphSpec
from tests.browsing import MARKS, sync_api
from tests.report.conftest import make_result

pytestmark = MARKS


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with every section in it."""
    spec = GraphSpec(
        nodes=(Categorical(3, ("red", "green", "blue"), name="colour"),),
        edges=(Categorical(2, ("single", "double"), name="bond"),),
        class_names=("<b>chain</b> & co", "ring"),
    )
    near = Neighbour(nx.cycle_graph(4), "ring", 0.93, "p = 0.880")
    stops = (Stop(0.05, 5, 6, "0.310"), Stop(0.5, 5, 5, "0.990"), Stop(0.7, 4, 4, "0.420"))
    extras = {name: ClassExtras(stops=stops, neighbours=(near,)) for name in spec.class_names}
    return write_report(make_result(spec), tmp_path_factory.mktemp("report") / "audit.html", extras)


@pytest.fixture
def page(browser: Any, report: Path) -> Iterator[Any]:
    """The open report; afterwards there must have been no complaint and no request."""
    opened = browser.new_page(viewport={"width": 1200, "height": 900}, accept_downloads=True)
    complaints: list[str] = []
    requests: list[str] = []
    opened.on("console", lambda message: complaints.append(message.text))
    opened.on("pageerror", lambda error: complaints.append(str(error)))
    opened.on("request", lambda request: requests.append(request.url))
    opened.goto(report.as_uri())
    yield opened
    opened.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []


def canvas(page: Any) -> Any:
    return page.locator(".canvas").first


def stage(page: Any) -> str:
    return str(canvas(page).locator(".stage").get_attribute("transform"))


def centre(locator: Any) -> tuple[float, float]:
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_names_are_text_and_links_lead_to_classes(page: Any) -> None:
    assert page.locator("h2").first.inner_text() == "<b>chain</b> & co"
    assert page.locator(".overview .number").first.inner_text().startswith("probability ")
    page.locator(".overview a").nth(1).click()
    target = page.locator("#class-1")
    sync_api.expect(target).to_be_in_viewport(ratio=0.2)
    assert page.url.endswith("#class-1")


def test_long_names_are_not_cut(page: Any) -> None:
    name = page.locator(".bars .name").first
    name.evaluate("e => { e.textContent = 'no amide, ester, urea or carbamate' }")
    assert name.evaluate("e => e.scrollWidth <= e.clientWidth && e.clientHeight > 25")


def test_a_node_can_be_dragged_and_its_edges_follow(page: Any) -> None:
    node = canvas(page).locator(".node").first
    name = node.get_attribute("data-id")
    line = canvas(page).locator(f'line[data-u="{name}"], line[data-v="{name}"]').first
    before = centre(node.locator("circle"))
    ends = line.evaluate("e => [e.getAttribute('x1'), e.getAttribute('x2')]")
    page.mouse.move(*before)
    page.mouse.down()
    page.mouse.move(before[0] + 40, before[1] + 25, steps=4)
    page.mouse.up()
    after = centre(node.locator("circle"))
    assert after[0] - before[0] == pytest.approx(40, abs=1.5)
    assert after[1] - before[1] == pytest.approx(25, abs=1.5)
    assert line.evaluate("e => [e.getAttribute('x1'), e.getAttribute('x2')]") != ends
    assert stage(page) == "translate(0 0) scale(1)"


def test_the_background_pans_and_a_double_click_resets(page: Any) -> None:
    box = canvas(page).locator("svg").bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + 35, box["y"] + 25, steps=3)
    page.mouse.up()
    assert "scale(1)" in stage(page)
    assert stage(page) != "translate(0 0) scale(1)"
    page.mouse.dblclick(box["x"] + 5, box["y"] + 5)
    assert stage(page) == "translate(0 0) scale(1)"


def test_the_wheel_scrolls_the_page_until_the_drawing_is_in_use(page: Any) -> None:
    page.mouse.move(*centre(canvas(page)))
    page.mouse.wheel(0, -100)
    assert stage(page) == "translate(0 0) scale(1)"
    canvas(page).focus()
    page.mouse.wheel(0, -100)
    zoomed = canvas(page).locator(".stage")
    sync_api.expect(zoomed).not_to_have_attribute("transform", "translate(0 0) scale(1)")


def test_everything_works_from_the_keyboard(page: Any) -> None:
    canvas(page).focus()
    page.keyboard.press("+")
    assert "scale(1.25)" in stage(page)
    page.keyboard.press("ArrowRight")
    moved = stage(page)
    page.keyboard.press("0")
    assert stage(page) == "translate(0 0) scale(1)" != moved
    page.keyboard.press("n")
    picked = canvas(page).locator(".node.picked")
    before = picked.get_attribute("transform")
    page.keyboard.press("Shift+ArrowDown")
    assert picked.get_attribute("transform") != before
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "Zoom in"
    page.keyboard.press("Enter")
    assert "scale(1.25)" in stage(page)
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.evaluate("d => d.open")


def test_the_slider_goes_from_soft_to_strict(page: Any) -> None:
    page.locator("summary").first.click()
    section = page.locator(".softness").first
    slider, output = section.locator("input"), section.locator("output")

    def shown() -> int:
        return int(section.locator("line:not(.off)").count())

    assert shown() == 5
    assert "0.990" in output.inner_text()
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert shown() == 4
    assert "The model gives it 0.420." in output.inner_text()
    assert slider.get_attribute("aria-valuetext") == output.inner_text()
    page.keyboard.press("Home")
    assert shown() == 6
    assert (
        section.locator("line").evaluate_all("all => new Set(all.map(e => e.style.opacity)).size")
        > 1
    )
    page.keyboard.press("ArrowRight")
    assert shown() == 6
    assert section.locator(".node.off").count() == 0


@pytest.mark.parametrize("kind", ["svg", "png", "graphml", "json"])
def test_downloads(page: Any, kind: str, tmp_path: Path) -> None:
    with page.expect_download() as waiting:
        page.locator(f'[data-download="{kind}"]').first.click()
    assert waiting.value.suggested_filename == f"b_chain_b_co.{kind}"
    saved = tmp_path / f"graph.{kind}"
    waiting.value.save_as(saved)
    content = saved.read_bytes()
    if kind == "png":
        assert content.startswith(b"\x89PNG")
        assert int.from_bytes(content[16:20], "big") == 2 * 520
    elif kind == "json":
        assert json.loads(content)["class"] == "<b>chain</b> & co"
    elif kind == "graphml":
        assert nx.parse_graphml(content.decode()).number_of_nodes() == 5
    else:
        root = ElementTree.fromstring(content)
        assert "Colour" in "".join(root.itertext()), "the legend goes along"
        assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    small = page.locator("button").evaluate_all(
        "all => all.filter(b => b.offsetHeight < 30).length"
    )
    assert small == 0, "buttons stay large enough for a finger"


def test_printing_opens_what_is_folded_and_hides_controls(page: Any) -> None:
    assert not page.locator("details").first.evaluate("d => d.open")
    page.evaluate("""() => addEventListener('beforeprint', () => {
        window.opened = [...document.querySelectorAll('details')].every((d) => d.open);
    })""")
    assert len(page.pdf()) > 10_000
    assert page.evaluate("window.opened")
    assert not page.locator("details").first.evaluate("d => d.open")
    page.emulate_media(media="print")
    assert not page.locator(".downloads").first.is_visible()
    begins = "card => getComputedStyle(card).breakBefore"
    assert page.locator("article.card").first.evaluate(begins) == "page"


def test_without_scripts_everything_can_still_be_read(browser: Any, report: Path) -> None:
    opened = browser.new_page(java_script_enabled=False)
    opened.goto(report.as_uri())
    section = opened.locator(".softness").first
    assert section.locator("line:not(.off)").count() == 5
    hidden = "all => all.map(e => getComputedStyle(e).visibility)"
    assert set(section.locator(".off").evaluate_all(hidden)) == {"hidden"}
    assert opened.locator("text=Unstable over restarts").first.is_visible()
    assert not opened.locator(".downloads").first.is_visible()
    opened.close()
