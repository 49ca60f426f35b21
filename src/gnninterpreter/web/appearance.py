"""What the page has to know about features to draw and change them."""

from __future__ import annotations

from typing import Any

from gnninterpreter.chem.elements import parse_atom
from gnninterpreter.chem.reading import atom_block, reading_of
from gnninterpreter.report.appearance import edge_look, legend, node_look
from gnninterpreter.report.templates import rendered
from gnninterpreter.spec import Block, Categorical, GraphSpec

ATOMS = Categorical(2, ("C", "N"))


def describe_block(block: Block, seen: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A feature block as JSON values, with the look of its categories."""
    if not isinstance(block, Categorical):
        return {
            "kind": "continuous",
            "name": block.name,
            "names": list(block.names),
            "constant": block.constant,
            "low": block.low,
            "high": block.high,
        }
    alone = GraphSpec(nodes=(block,), edges=(block,))
    nodes = [node_look({block.name: name}, alone) for name in block.names]
    edges = [edge_look({block.name: name}, alone) for name in block.names]
    return {
        "kind": "categorical",
        "name": block.name,
        "names": list(block.names),
        "fills": [look.fill for look in nodes],
        "strokes": [look.stroke for look in nodes],
        "labels": [look.label for look in nodes],
        "lines": [look.stroke for look in edges],
        "dashes": [look.dash for look in edges],
        "breadths": [look.breadth for look in edges],
        **_choices(block, seen),
    }


def _choices(block: Categorical, seen: frozenset[str]) -> dict[str, Any]:
    """Which categories are offered, and which one new nodes or edges begin with."""
    offered = [True] * block.size
    names = [name.lower() for name in block.names]
    if atom_block(block):
        atoms = [parse_atom(name) for name in block.names]
        symbols = {known.symbol for name in seen if (known := parse_atom(name))}
        offered = [atom is not None and (not symbols or atom.symbol in symbols) for atom in atoms]
        first = block.names.index("C") if "C" in block.names else 0
    else:
        bonds = reading_of(GraphSpec(nodes=(ATOMS,), edges=(block,)))
        kinds = bonds.kinds if bonds is not None else ()
        offered = [kind is not None for kind in kinds] or offered
        first = kinds.index("single") if kinds else 0
        first = names.index("0") if not kinds and "0" in names and "-1" in names else first
    return {"offered": offered, "first": first}


def legend_html(spec: GraphSpec) -> str:
    """The lines of the legend, the same as in the report."""
    return rendered("legend.html.jinja", legend=legend(spec, _present(spec)))


def _present(spec: GraphSpec) -> set[tuple[str, str]] | None:
    """What the legend keeps where there are too many categories: those that are offered."""
    reading = reading_of(spec)
    if reading is None or not reading.seen:
        return None
    found = set()
    for kind, blocks in (("node", spec.nodes), ("edge", spec.edges)):
        for block in blocks:
            if isinstance(block, Categorical):
                offered = _choices(block, reading.seen)["offered"]
                names = zip(block.names, offered, strict=True)
                found |= {(kind, name) for name, fine in names if fine}
    return found
