"""The answers about one class as pictures with a line below: core, exemplars and shortcuts.

The prototype has the page's large drawing; these stand beside it and below.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from torch_geometric.data import Data

from gnninterpreter.explanation import Explanation
from gnninterpreter.report.drawing import core_svg, small_svg
from gnninterpreter.report.sections import Tile
from gnninterpreter.report.words import core_words, counts_words, shortcut_words, typical_words

EXEMPLARS = 3
SHORTCUTS = 4
MORE_CORES = 4
CORE = (360, 230)
SMALL = (240, 160)
TILE = (220, 140)


def answers_view(explanation: Explanation) -> dict[str, Any]:
    """Draw the answers of an explanation, by the names that the page's template has for them.

    What it does not have is empty; ``about`` then says why there is no core.
    """
    first, real = explanation.core, explanation.exemplars(EXEMPLARS)
    return {
        "typical": typical_words(explanation),
        "core": None if first is None else core_picture(first, explanation, CORE),
        "about": f"{core_words(first, explanation)} {counts_words(explanation)}".strip(),
        "more": [
            Tile(core_picture(core, explanation, TILE), "", core_words(core, explanation))
            for core in explanation.cores[1 : 1 + MORE_CORES]
        ],
        "exemplars": [
            Tile(real_graph_svg(graph, explanation), *_caption(graph, explanation))
            for graph in real
        ],
        "marked": any(marked_nodes(graph) for graph in real),
        "shortcuts": [
            Tile(
                graph_picture(shortcut.graph, explanation, TILE, "Shortcut"),
                "",
                shortcut_words(shortcut, explanation.target),
            )
            for shortcut in explanation.shortcuts[:SHORTCUTS]
        ],
    }


def marked_nodes(graph: Data) -> frozenset[int]:
    """Nodes of a real graph on which the core lies."""
    mask = graph.get("core_mask")
    return frozenset() if mask is None else frozenset(mask.nonzero().flatten().tolist())


def real_graph_svg(graph: Data, explanation: Explanation) -> Markup:
    """A real graph with its core marked: the skeletal formula where it is a molecule."""
    nodes, spec = marked_nodes(graph), explanation.spec
    title = f"Real graph: {graph.num_nodes} nodes" + f", {len(nodes)} of the core" * bool(nodes)
    return Markup(small_svg(graph, spec, SMALL, title, nodes))


def _caption(graph: Data, explanation: Explanation) -> tuple[str, str]:
    """What its label says, and what the model says; and where it is not the first core it holds."""
    given, names = graph.get("probability"), explanation.spec.class_names
    truth = graph.get("truth") or explanation.target.truth(graph.get("y"), names)
    said = graph.get("said") or ("" if given is None else f"p = {float(given):.3f}")
    core = graph.get("core", 0)
    if explanation.cores and core:
        held = "contains no core" if core < 0 else f"contains further core {core}"
        said = f"{said}; {held}" if said else held
    return truth, said


def core_picture(core: Any, explanation: Explanation, size: tuple[int, int]) -> Markup:
    """A core as a small picture, with what it is as its title."""
    title = f"Core of {explanation.target.title}: {core.num_nodes} nodes, {core.num_edges} edges"
    return Markup(core_svg(core, explanation.spec, title, size))


def graph_picture(
    graph: Data, explanation: Explanation, size: tuple[int, int], what: str
) -> Markup:
    """A graph of an explanation as a small picture, with what it is as its title."""
    edges = int(graph.num_edges) // (1 if explanation.spec.directed else 2)
    title = f"{what} of {explanation.target.title}: {graph.num_nodes} nodes, {edges} edges"
    return Markup(small_svg(graph, explanation.spec, size, title))
