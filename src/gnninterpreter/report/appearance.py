"""How features look: colour, dash pattern and short name of a node or edge, and the legend.

Colour never carries a meaning alone: nodes show a short name, edge categories differ in their
dashes, and fills are light enough for dark text. So a drawing reads the same in print and with any
form of colour blindness.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gnninterpreter.chem.elements import colour as element_colour
from gnninterpreter.chem.reading import atom_block
from gnninterpreter.evidence.patterns.core import ANY_KIND
from gnninterpreter.spec import PALETTE, Block, Categorical, Continuous, GraphSpec

INK = "#16202c"
ANY_FILL, ANY_STROKE = "#f0f1f3", "#7a8591"
NODE_FILL, NODE_STROKE = "#dbe6f3", "#3f5773"
EDGE_STROKE, BOND_STROKE = "#66727f", "#5a6675"
LOW_FILL, HIGH_FILL = "#f3f6fa", "#7fb0d6"
BONDS = {"single": ("", 1.0), "double": ("", 2.2), "triple": ("", 3.4), "aromatic": ("5 4", 1.5)}
"""Chemical bonds have looks of their own: dash pattern and breadth."""
DASHES = ("", "7 4", "2 4", "10 4 2 4", "14 5", "4 2")
SHORT = 3
LONGEST_LEGEND = 10


@dataclass(frozen=True)
class NodeLook:
    """How one node is drawn."""

    fill: str
    stroke: str
    label: str
    hint: str


@dataclass(frozen=True)
class EdgeLook:
    """How one edge is drawn; ``plain`` where no feature colours it."""

    stroke: str
    dash: str
    hint: str
    plain: bool = True
    breadth: float = 1.0


@dataclass(frozen=True)
class LegendEntry:
    """One line of the legend: what it is about, a sample of it, and its name."""

    kind: str
    topic: str
    name: str
    look: NodeLook | EdgeLook


def node_look(attributes: Mapping[str, Any], spec: GraphSpec) -> NodeLook:
    """Look of a node whose features `gnninterpreter.graphs.to_networkx` has named."""
    if attributes == ANY_KIND:
        return NodeLook(ANY_FILL, ANY_STROKE, "any", "any kind")
    hint = _hint(attributes)
    for block in _categories(spec.nodes):
        if attributes.get(block.name) in block.names:
            return _category(block, block.names.index(attributes[block.name]), hint)
    name, low, high = _first_number(spec.nodes) or ("", 0.0, 0.0)
    if name in attributes:
        value = float(attributes[name])
        fill = _mixed(LOW_FILL, HIGH_FILL, min(max((value - low) / (high - low), 0.0), 1.0))
        return NodeLook(fill, NODE_STROKE, f"{value:.2g}"[:5], hint)
    return NodeLook(NODE_FILL, NODE_STROKE, "", hint)


def numbered(look: NodeLook, number: int, spec: GraphSpec) -> NodeLook:
    """The look of a node with its number: beside its kind, or in place of a number of its own."""
    if _categories(spec.nodes):
        return replace(look, label=f"{look.label}·{number}")
    return NodeLook(NODE_FILL, NODE_STROKE, str(number), look.hint)


def edge_look(attributes: Mapping[str, Any], spec: GraphSpec) -> EdgeLook:
    """Look of an edge, likewise."""
    hint = _hint(attributes)
    for block in _categories(spec.edges):
        if attributes.get(block.name) in block.names:
            i = block.names.index(attributes[block.name])
            dash, breadth = BONDS.get(block.names[i].lower(), (DASHES[i % len(DASHES)], 1.0))
            plain = block.names[i].lower() in BONDS and _uncoloured(block)
            stroke = BOND_STROKE if plain else _colour(block, i)
            return EdgeLook(stroke, dash, hint, plain=False, breadth=breadth)
    return EdgeLook(EDGE_STROKE, "", hint)


def legend(spec: GraphSpec, present: set[tuple[str, str]] | None = None) -> list[LegendEntry]:
    """Lines of the legend: what colours nodes and edges, categories or the ends of a number."""
    entries = [
        LegendEntry(kind, block.name, name, look({block.name: name}, spec))
        for kind, blocks, look in (("node", spec.nodes, node_look), ("edge", spec.edges, edge_look))
        for block in _categories(blocks)[:1]
        for name in block.names
    ]
    shown = None if _categories(spec.nodes) else _first_number(spec.nodes)
    if shown is not None:
        ends = [(f"{end:.3g}", node_look({shown[0]: end}, spec)) for end in shown[1:]]
        entries = [LegendEntry("node", shown[0], *end) for end in ends] + entries
    topics = {entry.kind: entry.topic for entry in entries}
    if len(topics) == 2 and len(set(topics.values())) == 1:
        entries = [replace(entry, topic=f"{entry.kind} {entry.topic}") for entry in entries]
    if present is not None and len(entries) > LONGEST_LEGEND:
        entries = [entry for entry in entries if (entry.kind, entry.name) in present]
    return entries


def short_names(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names that fit inside a node: as they are, as unique beginnings, or as numbers.

    >>> short_names(("red", "orange", "green"))
    ('R', 'O', 'G')
    >>> short_names(("C", "Cl", "Br"))
    ('C', 'Cl', 'Br')
    """
    if all(len(name) <= 2 for name in names):
        return names
    for length in range(1, SHORT + 1):
        short = tuple(name[:length].capitalize() for name in names)
        if len(set(short)) == len(names):
            return short
    return tuple(str(i) for i in range(len(names)))


def _categories(blocks: tuple[Block, ...]) -> list[Categorical]:
    """What may colour a node or an edge; what the model reads comes first."""
    known = (block for block in blocks if isinstance(block, Categorical))
    return sorted(known, key=lambda block: not block.read)


def _first_number(blocks: tuple[Block, ...]) -> tuple[str, float, float] | None:
    """Name, least and largest value of the first number that varies."""
    for block in blocks:
        if isinstance(block, Continuous):
            low, high = np.atleast_1d(block.low, block.high)
            for name, least, most in zip(block.names, low.tolist(), high.tolist(), strict=True):
                if least < most:
                    return name, least, most
    return None


def _category(block: Categorical, i: int, hint: str) -> NodeLook:
    colour = _colour(block, i)
    return NodeLook(
        _mixed("#ffffff", colour, 0.34),
        _mixed("#000000", colour, 0.85),
        short_names(block.names)[i],
        hint,
    )


def _uncoloured(block: Categorical) -> bool:
    """Whether nobody chose colours for it."""
    return block.colors == Categorical(block.size).colors


def _colour(block: Categorical, i: int) -> str:
    """The category's own colour where it can be read, since it comes from outside.

    Atoms that nobody coloured are shown as chemists do.
    """
    if _uncoloured(block) and atom_block(block):
        return element_colour(block.names[i]) or PALETTE[i % len(PALETTE)]
    colour = block.colors[i].strip()
    if re.fullmatch(r"#[0-9a-fA-F]{3}", colour):
        return "#" + "".join(2 * digit for digit in colour[1:])
    return colour if re.fullmatch(r"#[0-9a-fA-F]{6}", colour) else PALETTE[i % len(PALETTE)]


def _mixed(one: str, other: str, share: float) -> str:
    pairs = [(int(one[k : k + 2], 16), int(other[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _hint(attributes: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{name} {value:.3g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in attributes.items()
    )
