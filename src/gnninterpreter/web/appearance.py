"""What the page has to know about features to draw and change them."""

from __future__ import annotations

from typing import Any

from gnninterpreter.report.appearance import edge_look, legend, node_look
from gnninterpreter.spec import Block, Categorical, GraphSpec

__all__ = ["describe_block", "describe_legend"]


def describe_block(block: Block) -> dict[str, Any]:
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
    }


def describe_legend(spec: GraphSpec) -> list[dict[str, Any]]:
    """The lines of the legend, the same as in the report, as JSON values."""
    return [
        {"kind": entry.kind, "topic": entry.topic, "name": entry.name, **vars(entry.look)}
        for entry in legend(spec)
    ]
