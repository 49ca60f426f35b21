"""Two runs side by side as one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from markupsafe import Markup

from gnninterpreter.evidence.evidence import HAS_NO_CORE
from gnninterpreter.explanation import Explanation
from gnninterpreter.explanation.compare import ClassComparison, Comparison
from gnninterpreter.files import write_atomically
from gnninterpreter.report.sections import core_picture, graph_picture
from gnninterpreter.report.templates import asset, rendered

PROTOTYPE, CORE = (420, 280), (320, 200)
UNKNOWN = "not checked"


def write_comparison(comparison: Comparison, path: Path) -> Path:
    """Write the page."""
    text = rendered(
        "compare.html.jinja",
        comparison=comparison,
        classes=[
            {
                "name": one.name,
                "words": words(one),
                "sides": [_pictures(side) for side in one.sides],
                "rows": comparison_rows(one),
            }
            for one in comparison.classes
        ],
        lines=overall_lines(comparison),
        style=Markup(asset("page.css")),
    )
    return write_atomically(path, text.encode())


def overall_lines(comparison: Comparison) -> list[str]:
    """What is known about the two models beyond their classes."""
    lines = []
    if comparison.same_answers is not None:
        lines.append(
            f"Both give the same class to {comparison.same_answers:.1%} of {comparison.real:,} "
            "real graphs."
        )
    if None not in comparison.fidelity:
        one, other = comparison.fidelity
        lines.append(
            f"Patterns of real graphs say what the model says on {one:.1%} and {other:.1%} of "
            "graphs held out."
        )
    return lines


def comparison_rows(one: ClassComparison) -> list[tuple[str, str, str]]:
    """Figures of both sides, named."""
    rows = []
    sides = one.to_json()["sides"]
    for name, key, form in (
        ("verdict", "verdict", "{}"),
        ("mean probability", "probability", "{:.3f}"),
        ("prototype, nodes", "nodes", "{}"),
        ("prototype, edges", "edges", "{}"),
        ("typical", "typicality", "{:.0f}%"),
        ("core, nodes", "core_nodes", "{}"),
        ("share of the class with the core", "coverage", "{:.1%}"),
        ("core, times as often as elsewhere", "lift", "{:.1f}"),
        ("the other model gives its prototype", "crossed", "{:.3f}"),
        ("samples that the other model agrees on", "agreed", "{:.0%}"),
    ):
        said = [
            _missing(mine, key) if side is None or side[key] is None else form.format(side[key])
            for mine, side in zip(one.sides, sides, strict=True)
        ]
        rows.append((name, said[0], said[1]))
    return rows


def _missing(mine: Explanation | None, key: str) -> str:
    if mine is None:
        return "not explained"
    coreless = mine.evidence["core covers"].sentence == HAS_NO_CORE
    return "none" if coreless and key in ("core_nodes", "coverage", "lift") else UNKNOWN


def words(one: ClassComparison) -> str:
    """Whether the two found the same, in a sentence."""
    if one.same_prototype is None:
        return "Explained in one of the runs only."
    words = "The same prototype" if one.same_prototype else "Different prototypes"
    if one.same_core is None:
        return f"{words}; not both have a core."
    return f"{words}, {'the same core' if one.same_core else 'different cores'}."


def _pictures(one: Explanation | None) -> dict[str, Any]:
    if one is None:
        return {"explained": False, "prototype": None, "core": None}
    core = one.core
    return {
        "explained": True,
        "prototype": graph_picture(one.best, one, PROTOTYPE, "Prototype"),
        "core": None if core is None else core_picture(core, one, CORE),
    }
