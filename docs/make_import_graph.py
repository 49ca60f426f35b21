"""Draws which package imports which into CONTRIBUTING.md, from the syntax trees.

An arrow that follows from others is left out (the transitive reduction, which only a graph without
cycles has), and so are the top modules that everybody may import.

    python docs/make_import_graph.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import networkx as nx

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.test_layout import COMPOSE, FLOW, LEFTMOST, files, imported, own_part  # noqa: E402

PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- import graph: make_import_graph.py -->\n", "<!-- end of import graph -->\n"


def import_graph() -> nx.DiGraph:
    """Every package and what it imports, lazily or not."""
    graph = nx.DiGraph()
    aside = {*COMPOSE, *LEFTMOST}
    for name, path in files().items():
        part = own_part(name)
        others = [other for other in imported(path) if other != part and other not in aside]
        if part not in aside:
            graph.add_node(part)
            graph.add_edges_from((part, other) for other in others)
    return graph


def drawn() -> str:
    """The graph as a Mermaid diagram, the packages of the flow with thick borders."""
    reduced = nx.transitive_reduction(import_graph())
    lines = [f"    {part} --> {other}" for part, other in sorted(reduced.edges)]
    flow = ",".join(part for part in FLOW if part in reduced)
    lines += [f"    class {flow} flow", "    classDef flow stroke-width:3px"]
    return "\n".join(["```mermaid", "flowchart RL", *lines, "```", ""])


def updated(text: str) -> str:
    """The page with the diagram as it is now."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    return before + BEGIN + drawn() + END + after


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
