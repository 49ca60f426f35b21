"""How long the live page takes to answer an edit of a 50-node graph, in a real browser.

For each bundled model: a quick run, the real server in a process of its own, and Debian's chromium,
which clicks edges away and brings them back. Measured in the page itself, for every edit:

- ``request``: from sending the graph to the last byte of the answer (resource timing),
- ``screen``: from the click (the event's own time) to the first frame after the bars have changed.

With ``--while-searching`` a search for another explanation runs on the same server meanwhile.

    python benchmarks/live.py [--edits 40] [--out benchmarks/results/live.json]
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import os
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx

import gnninterpreter as gi
from gnninterpreter.files import write_atomically
from gnninterpreter.search import Recipe
from gnninterpreter.spec import Block, Categorical, GraphSpec

NODES, EDGES_PER_NODE = 50, 2
LIMIT = 100.0
CHROMIUM = "/usr/bin/chromium"
WATCH = """
() => {
  window.seen = { clicked: 0, shown: 0 };
  addEventListener("click", (event) => (window.seen.clicked = event.timeStamp), true);
  const shown = () => (window.seen.shown = performance.now());
  const painted = () => requestAnimationFrame(() => setTimeout(shown));
  new MutationObserver(painted).observe(document.getElementById("figures"), { childList: true });
}
"""
READ = """
() => {
  const { clicked, shown } = window.seen;
  const asked = performance.getEntriesByType("resource");
  const last = asked.filter((entry) => entry.name.endsWith("/api/score")).pop();
  const [request, screen] = [last.responseEnd - last.startTime, shown - clicked];
  return { request, screen, before: last.startTime - clicked, after: shown - last.responseEnd };
}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edits", type=int, default=40)
    parser.add_argument("--models", nargs="*", default=list(gi.models.bundled_names()))
    parser.add_argument("--while-searching", action="store_true")
    parser.add_argument("--out", type=Path)
    wanted = parser.parse_args()
    found = {name: measure(name, wanted.edits, wanted.while_searching) for name in wanted.models}
    content = {
        "schema": 1,
        "kind": "live page",
        "nodes": NODES,
        "edges": NODES * EDGES_PER_NODE,
        "edits": wanted.edits,
        "searching meanwhile": wanted.while_searching,
        "limit in ms": LIMIT,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "load average": round(os.getloadavg()[0], 1),
        "models": found,
    }
    print(json.dumps(content, indent=1))
    if wanted.out is not None:
        write_atomically(wanted.out, (json.dumps(content, indent=1) + "\n").encode())


def measure(name: str, edits: int, searching: bool) -> dict[str, Any]:
    """Edit a graph of one model again and again."""
    bundle = gi.models.load(name)
    quick = Recipe.auto(iterations=20, walk_steps=20)
    with tempfile.TemporaryDirectory() as folder:
        run = gi.explain(bundle, targets=0, restarts=1, recipe=quick, progress=False)
        run.save(folder, overwrite=True)
        with served(folder) as address, browser() as opened:
            page = opened.new_page(viewport={"width": 1200, "height": 900})
            page.goto(f"{address}#g={linked(bundle.spec)}")
            page.wait_for_selector("#bars .target")
            page.evaluate(WATCH)
            if searching:
                page.fill('[name="restarts"]', "8")
                page.fill('[name="iterations"]', "5000")
                page.click('#start button[type="submit"]')
            times = [edit(page, number) for number in range(edits + 4)][4:]
    return {kind: summed([time[kind] for time in times]) for kind in ("request", "screen")}


def edit(page: Any, number: int) -> dict[str, float]:
    """One click that changes the graph: an edge goes, or comes back."""
    page.evaluate("() => (window.seen.shown = 0)")
    if number % 2:
        page.click("#undo")
    else:
        page.click('button[data-tool="delete"]')
        x, y = page.evaluate(
            "(e) => { const box = document.querySelectorAll('#canvas .line')[e]"
            ".getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; }",
            number,
        )
        page.mouse.click(x, y)
    page.wait_for_function("() => window.seen.shown > 0")
    # The rule of the data set is asked after the bars are there; it must not overlap the next.
    page.wait_for_timeout(250)
    return dict(page.evaluate(READ))


def linked(spec: GraphSpec) -> str:
    """A ring with chords, in a circle, as the page's links hold it."""

    def first(blocks: tuple[Block, ...]) -> list[Any]:
        return [0 if isinstance(b, Categorical) else _middle(b) for b in blocks]

    graph = nx.circulant_graph(NODES, [1, 7])
    turn = 2 * math.pi / NODES
    state = {
        "nodes": [first(spec.nodes)] * NODES,
        "edges": [[i, j, first(spec.edges)] if spec.edges else [i, j] for i, j in graph.edges],
        "positions": [
            [360 + 210 * math.cos(turn * i), 240 + 210 * math.sin(turn * i)] for i in range(NODES)
        ],
    }
    return base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")


def _middle(block: Any) -> list[float] | None:
    if block.constant:
        return None
    return [(low + high) / 2 for low, high in zip(block.low, block.high, strict=True)]


def summed(times: list[float]) -> dict[str, float]:
    """Median, 95th percentile and worst, in ms."""
    ordered = sorted(times)
    late = ordered[math.ceil(0.95 * len(ordered)) - 1]
    numbers = {"median": statistics.median(ordered), "p95": late, "worst": ordered[-1]}
    return {name: round(value, 1) for name, value in numbers.items()}


@contextmanager
def served(folder: str) -> Iterator[str]:
    """The real server; gives its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "gnninterpreter", "serve", folder, "--port", "0"],
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout is not None
        found = re.search(r"http://\S+/", process.stdout.readline())
        assert found is not None
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        yield opened
        opened.close()


if __name__ == "__main__":
    main()
