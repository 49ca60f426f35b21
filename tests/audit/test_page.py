"""The findings in a real browser: readable on a phone, no complaint, nothing asked for outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from gnninterpreter.audit.findings import Audit, Evidence, Finding, Kind, Severity
from gnninterpreter.report import write_report
from tests.audit.conftest import SPEC, plain
from tests.browsing import MARKS
from tests.report.conftest import make_result


def made(severity: Severity, rate: float) -> Finding:
    graph = plain(nx.cycle_graph(5), 0)
    return Finding(
        Kind.LOOKALIKE,
        severity,
        "dense",
        "Look-alikes of <i>rings</i> pass",
        "A sentence with <script>alert(1)</script> in it.",
        numbers={"strongest flip rate": rate, "hosts": 60},
        evidence=(Evidence(graph, "a ring & more"),),
        graphs=(graph,),
    )


@pytest.fixture
def report(tmp_path: Path) -> Path:
    result = make_result(SPEC)
    rates = [{"flip rates": {"the <i>ring</i>": {"double covers": rate}}} for rate in (0.9, 0.06)]
    numbers = [{"test accuracy": a, **rate} for a, rate in zip((0.98, 0.97), rates, strict=True)]
    before = Audit(result, (made(Severity.HIGH, 0.9),), numbers[0])
    after = Audit(result, (made(Severity.LOW, 0.06),), numbers[1], ("one thing",), before)
    return write_report(result, tmp_path / "audit.html", audit=after)


def test_names_are_escaped_and_before_and_after_are_there(report: Path) -> None:
    page = report.read_text()
    assert "<script>alert(1)" not in page
    assert "Audit: 1 finding (1 low)" in page
    assert "prediction flips with double covers of the &lt;i&gt;ring&lt;/i&gt; joined on" in page
    assert "<td>90% of graphs</td><td>6% of graphs</td>" in page
    assert "<td>0.980</td><td>0.970</td>" in page


def test_no_findings_are_said_to_be_none(tmp_path: Path) -> None:
    result = make_result(SPEC)
    page = write_report(result, tmp_path / "a.html", audit=Audit(result, ())).read_text()
    assert "Audit: no findings" in page
    assert "no proof" in page


@MARKS[0]
@MARKS[1]
def test_in_a_browser(browser: Any, report: Path) -> None:
    complaints: list[str] = []
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.on("console", lambda message: complaints.append(message.text))
    page.on("request", lambda r: r.url.startswith("file:") or complaints.append(r.url))
    page.goto(report.as_uri())
    page.click(".audit-line a")
    assert page.locator("#audit .finding svg").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.emulate_media(media="print")
    assert page.locator("#audit table").is_visible()
    page.close()
    assert complaints == []
