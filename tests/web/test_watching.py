"""Explanations in a real browser: started, watched from two tabs, stopped, saved, found again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from gnninterpreter.web import Backend, create_app, searches
from tests.web.conftest import make_backend, serving
from tests.web.pages import MARKS, count, opened, page, sync_api

__all__ = ["page"]
pytestmark = MARKS


def start(page: Any, iterations: int) -> None:
    page.fill('[name="iterations"]', str(iterations))
    page.fill('[name="restarts"]', "2")
    page.click('#start button[type="submit"]')


def test_an_explanation_forms_and_is_saved(page: Any, backend: Backend) -> None:
    start(page, 40)
    page.wait_for_selector("#outcome:not([hidden])", timeout=60_000)
    sync_api.expect(page.locator("#forming svg")).to_have_count(1)
    sync_api.expect(page.locator("#curve path.run")).to_have_count(2)
    sync_api.expect(page.locator("#progress")).to_contain_text("sparse: done")
    sync_api.expect(page.locator("#progress")).to_contain_text("Not checked:")
    page.click("#open")
    sync_api.expect(page.locator("#canvas .node").first).to_be_visible()
    page.click("#save")
    sync_api.expect(page.locator("#saved")).to_contain_text("saved as")
    name = page.locator("#saved").inner_text().removeprefix("saved as ")
    assert (backend.folder / name / "run.json").is_file()
    sync_api.expect(page.locator("#saved-library button")).to_have_count(1)


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Searches that would take minutes."""
    whole = searches.LiveSearch.watch

    def watch(self: Any, seen: Any) -> bool:
        time.sleep(0.05)
        return whole(self, seen)

    monkeypatch.setattr(searches.LiveSearch, "watch", watch)


def test_a_stop_shows_at_once_and_gives_a_result(page: Any, slowly: None) -> None:
    start(page, 5000)
    sync_api.expect(page.locator("#progress")).to_contain_text("step")
    # Before the server has answered at all, the page says what it is about to do. Asked for within
    # the same turn: the next snapshot of the search may come at any moment.
    said, disabled = page.evaluate("""() => {
        const button = document.getElementById("stop");
        button.click();
        return [document.getElementById("progress").textContent, button.disabled];
    }""")
    assert said == "sparse: stopping…"
    assert disabled
    sync_api.expect(page.locator("#progress")).to_contain_text("sparse: stopped", timeout=60_000)
    sync_api.expect(page.locator("#open")).to_be_enabled()


def test_two_tabs_do_not_disturb_each_other(
    browser: Any, page: Any, address: str, slowly: None
) -> None:
    start(page, 5000)
    sync_api.expect(page.locator("#progress")).to_contain_text("step")
    other, complaints = opened(browser, address)
    assert other.locator("#progress").inner_text() == ""
    other.click("#clear")
    assert count(page, "node") > 0
    # The second tab may watch what the first has started, and both see how it ends.
    other.click("#running button")
    sync_api.expect(other.locator("#progress")).to_contain_text("step")
    other.click("#stop")
    for tab in (page, other):
        sync_api.expect(tab.locator("#progress")).to_contain_text("stopped", timeout=60_000)
    assert count(other, "node") == 0
    sync_api.expect(other.locator("#running button")).to_have_count(0)
    other.close()
    assert complaints == []


def test_what_was_saved_is_there_after_a_restart(browser: Any, tmp_path: Path) -> None:
    backend = make_backend(tmp_path / "run")
    for number in (1, 2):
        # Each server counts its searches from one, and none may replace what another has saved.
        with serving(create_app(backend)) as address:
            page, complaints = opened(browser, address)
            sync_api.expect(page.locator("#saved-library button")).to_have_count(number - 1)
            start(page, 20)
            page.wait_for_selector("#outcome:not([hidden])", timeout=60_000)
            page.click("#save")
            sync_api.expect(page.locator("#saved")).to_have_text(f"saved as saved/0-{number}")
            page.close()
            assert complaints == []
        backend = Backend(backend.result, backend.folder, backend.model)
    (backend.folder / "saved" / "0-3").mkdir()
    (backend.folder / "saved" / "0-3" / "run.json").write_text("{")
    with serving(create_app(backend)) as address:
        page, complaints = opened(browser, address)
        names = page.locator("#saved-library button")
        sync_api.expect(names).to_have_text(["sparse (0-1)", "sparse (0-2)"])
        page.click("#clear")
        page.click("#saved-library button")
        sync_api.expect(page.locator("#canvas .node").first).to_be_visible()
        page.close()
        assert complaints == []
