"""The sections of a class as pictures with a line below: answers, galleries, slider, search.

The prototype has the page's large drawing; these stand beside it and below.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import networkx as nx
from markupsafe import Markup
from torch_geometric.data import Data

from gnninterpreter.chem.drawing import formula_svg
from gnninterpreter.evidence.patterns.core import Core, with_names
from gnninterpreter.explanation import Explanation
from gnninterpreter.explanation.sampler import PopulationSampler
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report import gallery
from gnninterpreter.report.charts import curve_svg, dots_svg
from gnninterpreter.report.drawing import Drawing, small_svg
from gnninterpreter.report.extras import Neighbour
from gnninterpreter.report.gallery import DRAWS, MODE, SHOWN, SampleGroup, Stop, mode_graph
from gnninterpreter.report.layout import layout
from gnninterpreter.report.svg import render
from gnninterpreter.report.words import core_words, counts_words, shortcut_words, typical_words

Item = TypeVar("Item")

EXEMPLARS, SHORTCUTS, MORE_CORES = 3, 4, 4
CORE, SMALL, TILE = (360, 230), (240, 160), (220, 140)
SAMPLE, NEAR, CANVAS = (180, 136), (300, 220), (520, 400)
MOST_TILE_EDGES = 900
MOST_ROWS = 24


@dataclass(frozen=True)
class Tile:
    """A small drawing with what is to be read below it."""

    drawing: Markup
    caption: str
    detail: str = ""


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
    nodes = marked_nodes(graph)
    title = f"Real graph: {graph.num_nodes} nodes" + f", {len(nodes)} of the core" * bool(nodes)
    return small_svg(graph, explanation.spec, SMALL, title, nodes)


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


def core_picture(core: Core, explanation: Explanation, size: tuple[int, int]) -> Markup:
    """A core as a small picture: the formula of a piece where it is one of a molecule.

    Nodes have numbers where it says what theirs have to be.
    """
    spec, told = explanation.spec, {node for one in core.ranges for node in one.nodes}
    told |= {node for node, blocks in enumerate(core.free) if blocks}
    title = _sized(f"Core of {explanation.target.title}", core.num_nodes, core.num_edges)
    free = [node for node, any_ in enumerate(core.open) if any_]
    formula = formula_svg(core.graph, spec, title, piece=True, size=size, free=free, numbered=told)
    if formula:
        return Markup(formula)
    named = with_names(core.graph, spec, core.open, core.free)
    nx.set_node_attributes(named, {node: node for node in named} if told else {}, "_number")
    return small_svg(named, spec, size, title)


def graph_picture(
    graph: Data, explanation: Explanation, size: tuple[int, int], what: str
) -> Markup:
    """A graph of an explanation as a small picture, with what it is as its title."""
    edges = int(graph.num_edges) // explanation.spec.ways
    title = _sized(f"{what} of {explanation.target.title}", graph.num_nodes, edges)
    return small_svg(graph, explanation.spec, size, title)


def _sized(what: str, nodes: int | None, edges: int) -> str:
    return f"{what}: {nodes} nodes, {edges} edges"


def sample_tiles(
    explanation: Explanation, groups: Sequence[SampleGroup], outputs: Sequence[Sequence[float]]
) -> list[Tile]:
    """Distinct graphs among the samples, each node in the same place throughout.

    Graphs of a population have no nodes in common, so each of them has a layout of its own.
    """
    drawn = isinstance(explanation.sampler, PopulationSampler)
    start = None if drawn else layout(mode_graph(explanation), SAMPLE[0] / SAMPLE[1])
    tiles = []
    for i, group in enumerate(_few(groups, [group.graph for group in groups])):
        given = explanation.target.said(outputs[i]) if i < len(outputs) else ""
        # How often one was drawn says nothing where all are as likely.
        caption, detail = (given, "") if drawn else (f"{group.count} of {DRAWS}", given)
        title = _sized("A sample", len(group.graph), group.graph.number_of_edges())
        title += f", drawn {group.count} times in {DRAWS}"
        graph = group.data or group.graph
        drawing = small_svg(graph, explanation.spec, SAMPLE, title, start=start)
        tiles.append(Tile(drawing, caption, detail))
    return tiles


def mode_tiles(explanation: Explanation) -> list[Tile]:
    """Distinct explanation graphs that the restarts found, with their shares."""
    symbol = "p" if explanation.target.probable else "score"
    modes = explanation.modes()[:SHOWN]
    graphs = [to_networkx(mode.graph, explanation.spec) for mode in modes]
    tiles = []
    for mode, graph in zip(_few(modes, graphs), graphs, strict=False):
        count = len(mode.restarts)
        title = _sized(f"Found by {count} restarts", len(graph), graph.number_of_edges())
        caption = f"{count} of {len(explanation.restarts)} restarts"
        detail = f"{mode.kind}, " * bool(mode.kind) + f"{symbol} = {mode.probability:.3f}"
        tiles.append(Tile(small_svg(mode.graph, explanation.spec, SAMPLE, title), caption, detail))
    return tiles


def _few(items: Sequence[Item], graphs: Sequence[nx.Graph]) -> Sequence[Item]:
    """The first few; of graphs with hundreds of edges only two or three, for the file's sake."""
    edges = max((graph.number_of_edges() for graph in graphs[:SHOWN]), default=0)
    return items[: max(2, min(SHOWN, MOST_TILE_EDGES // max(edges, 1)))]


def neighbour_tiles(explanation: Explanation, neighbours: Sequence[Neighbour]) -> list[Tile]:
    """The nearest real graphs."""
    return [
        Tile(
            small_svg(near.graph, explanation.spec, NEAR, f"Real graph: {near.label}"),
            near.label,
            f"similarity {near.similarity:.3f}, {near.said}",
        )
        for near in neighbours
    ]


def soft_view(explanation: Explanation, asked: Sequence[Stop]) -> dict[str, Any] | None:
    """All edges above the lowest threshold, and what each stop of the slider keeps of them.

    None where the distribution has settled: there is nothing between the thresholds to look at.
    """
    found = list(asked) or gallery.stops(explanation)
    if len(found) < 2:
        return None
    graph = gallery.soft_graph(explanation, found[0].threshold)
    start = layout(graph.subgraph(mode_graph(explanation)), CANVAS[0] / CANVAS[1])
    drawing = Drawing.of(graph, explanation.spec, CANVAS, start)
    title = f"Edges of {explanation.target.title} by their probability"
    faintest = (
        f"Every edge down to {found[0].threshold:g}, as faint as it is improbable. Samples get "
        f"{explanation.given} on average."
    )
    listed: list[dict[str, Any]] = [{"threshold": None, "sentence": faintest}]
    for stop in found:
        given = f" The model gives it {stop.said}." if stop.said else ""
        named = "the most probable graph, " * (stop.threshold == MODE)
        kept = f"{named}{stop.nodes} nodes and {stop.edges} edges"
        said = f"At least {stop.threshold:g}: {kept}.{given}"
        listed.append({"threshold": stop.threshold, "sentence": said})
    return {
        "drawing": render(drawing, title, show_legend=False, threshold=MODE),
        "stops": listed,
        "initial": 1 + next(i for i, stop in enumerate(found) if stop.threshold == MODE),
        "listed": json.dumps(listed),
    }


def search_view(explanation: Explanation) -> dict[str, Any]:
    """Curves of the search and the spread over restarts."""
    restarts, choice = explanation.restarts, explanation.choice
    score = "probability" if explanation.target.probable else "score"
    means = [restart.mean_probability for restart in restarts]
    best = sorted(range(len(restarts)), key=lambda r: (r != choice, -means[r]))[:MOST_ROWS]
    curves = []
    for curve in [one for one in explanation.history if one.iterations]:
        given = curve.name == "probability"
        drawn = curve_svg(curve, choice, (0.0, 1.0) if given else None)
        curves.append((score if given else curve.name, drawn))
    return {
        "curves": curves,
        "dots": dots_svg(means, choice, f"Mean {score} of each of {len(restarts)} restarts"),
        "rows": [(r, restarts[r]) for r in best],
        "left_out": len(restarts) - len(best),
    }
