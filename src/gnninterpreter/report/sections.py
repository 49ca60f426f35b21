"""The lower sections of a class: galleries, the slider from soft to discrete, and the search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import networkx as nx
from markupsafe import Markup

from gnninterpreter.explanation import Explanation, Restart
from gnninterpreter.explanation.sampler import PopulationSampler
from gnninterpreter.graphs import to_networkx
from gnninterpreter.report.charts import curve_svg, dots_svg
from gnninterpreter.report.drawing import Drawing, small_svg
from gnninterpreter.report.extras import Neighbour
from gnninterpreter.report.gallery import (
    DRAWS,
    MODE,
    SHOWN,
    SampleGroup,
    Stop,
    mode_graph,
    soft_graph,
    stops,
)
from gnninterpreter.report.layout import layout
from gnninterpreter.report.svg import render

Item = TypeVar("Item")

TILE, NEAR = (180, 136), (300, 220)
CANVAS = (520, 400)
MOST_TILE_EDGES = 900
MOST_ROWS = 24


@dataclass(frozen=True)
class Tile:
    """A small drawing with what is to be read below it."""

    drawing: Markup
    caption: str
    detail: str = ""


def sample_tiles(
    explanation: Explanation, groups: Sequence[SampleGroup], outputs: Sequence[Sequence[float]]
) -> list[Tile]:
    """Distinct graphs among the samples, each node in the same place throughout.

    Graphs of a population have no nodes in common, so each of them has a layout of its own.
    """
    drawn = isinstance(explanation.sampler, PopulationSampler)
    start = None if drawn else layout(mode_graph(explanation), TILE[0] / TILE[1])
    tiles = []
    for i, group in enumerate(_few(groups, [group.graph for group in groups])):
        given = explanation.target.said(outputs[i]) if i < len(outputs) else ""
        # How often one was drawn says nothing where all are as likely.
        caption, detail = (given, "") if drawn else (f"{group.count} of {DRAWS}", given)
        title = (
            f"A sample: {group.graph.number_of_nodes()} nodes, "
            f"{group.graph.number_of_edges()} edges, drawn {group.count} times in {DRAWS}"
        )
        drawing = small_svg(group.data or group.graph, explanation.spec, TILE, title, start=start)
        tiles.append(Tile(Markup(drawing), caption, detail))
    return tiles


def mode_tiles(explanation: Explanation) -> list[Tile]:
    """Distinct explanation graphs that the restarts found, with their shares."""
    tiles = []
    modes = explanation.modes()[:SHOWN]
    graphs = [to_networkx(mode.graph, explanation.spec) for mode in modes]
    for mode, graph in zip(_few(modes, graphs), graphs, strict=False):
        count = len(mode.restarts)
        title = (
            f"Found by {count} restarts: {graph.number_of_nodes()} nodes, "
            f"{graph.number_of_edges()} edges"
        )
        drawing = small_svg(mode.graph, explanation.spec, TILE, title)
        caption = f"{count} of {len(explanation.restarts)} restarts"
        named = f"{mode.kind}, " if mode.kind else ""
        symbol = "p" if explanation.target.probable else "score"
        tiles.append(Tile(Markup(drawing), caption, f"{named}{symbol} = {mode.probability:.3f}"))
    return tiles


def _few(items: Sequence[Item], graphs: Sequence[nx.Graph]) -> Sequence[Item]:
    """The first few; of graphs with hundreds of edges only two or three, for the file's sake."""
    edges = max((graph.number_of_edges() for graph in graphs[:SHOWN]), default=0)
    return items[: max(2, min(SHOWN, MOST_TILE_EDGES // max(edges, 1)))]


def neighbour_tiles(explanation: Explanation, neighbours: Sequence[Neighbour]) -> list[Tile]:
    """The nearest real graphs."""
    return [
        Tile(
            Markup(small_svg(near.graph, explanation.spec, NEAR, f"Real graph: {near.label}")),
            near.label,
            f"similarity {near.similarity:.3f}, {near.said}",
        )
        for near in neighbours
    ]


def soft_view(explanation: Explanation, asked: Sequence[Stop]) -> dict[str, Any] | None:
    """All edges above the lowest threshold, and what each stop of the slider keeps of them.

    None where the distribution has settled: there is nothing between the thresholds to look at.
    """
    found = list(asked) or stops(explanation)
    if len(found) < 2:
        return None
    graph = soft_graph(explanation, found[0].threshold)
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
        "drawing": Markup(render(drawing, title, show_legend=False, threshold=MODE)),
        "stops": listed,
        "initial": 1 + next(i for i, stop in enumerate(found) if stop.threshold == MODE),
        "listed": json.dumps(listed),
    }


def search_view(explanation: Explanation) -> dict[str, Any]:
    """Curves of the search and the spread over restarts."""
    restarts, choice = explanation.restarts, explanation.choice
    score = "probability" if explanation.target.probable else "score"
    curves = [
        (
            score if curve.name == "probability" else curve.name,
            Markup(curve_svg(curve, choice, (0.0, 1.0) if curve.name == "probability" else None)),
        )
        for curve in explanation.history
        if curve.iterations
    ]
    means = [restart.mean_probability for restart in restarts]
    best = sorted(range(len(restarts)), key=lambda r: (r != choice, -means[r]))[:MOST_ROWS]
    dots = dots_svg(means, choice, f"Mean {score} of each of {len(restarts)} restarts")
    return {
        "curves": curves,
        "dots": Markup(dots),
        "spread": _spread(restarts, score),
        "rows": [(r, restarts[r]) for r in best],
        "choice": choice,
        "left_out": len(restarts) - len(best),
    }


def _spread(restarts: Sequence[Restart], score: str) -> str:
    def span(values: list[float], digits: int) -> str:
        low, high = f"{min(values):.{digits}f}", f"{max(values):.{digits}f}"
        return low if low == high else f"{low} to {high}"

    parts = [
        f"mean {score} {span([r.mean_probability for r in restarts], 3)}",
        f"{span([float(r.nodes) for r in restarts], 0)} nodes",
        f"{span([float(r.edges) for r in restarts], 0)} edges",
    ]
    similar = [r.similarity for r in restarts if r.similarity is not None]
    if similar:
        parts.append(f"similarity {span(similar, 3)}")
    written = ", ".join(parts)
    return written[0].upper() + written[1:]
