"""What a notebook shows of an explanation: prototype, core, verdict and the first numbers."""

from __future__ import annotations

from gnninterpreter.chem.drawing import formula_svg
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.report.drawing import core_svg, graph_svg
from gnninterpreter.report.svg import FONT, text
from gnninterpreter.report.words import core_words, shortcut_words, typical_words

COLOURS = {"good": "#00704f", "caution": "#845300", "bad": "#a32c17"}
SIZE = (340, 240)
CORE = (340, 130)


def card_html(explanation: Explanation) -> str:
    """One explanation as a small piece of HTML that needs no style sheet, for ``_repr_html_``."""
    verdict, title = explanation.verdict, explanation.target.title
    spec = explanation.spec
    drawing = formula_svg(explanation.best, spec, title, size=SIZE) or graph_svg(
        explanation.graph, spec, size=SIZE, title=title
    )
    symbol = "p = " if explanation.target.probable else ""
    numbers = (
        f"{symbol}{explanation.given} over {explanation.probability.n:,} samples · "
        f"{explanation.num_nodes} nodes, {explanation.num_edges} edges"
    )
    return (
        '<div style="display:inline-block;vertical-align:top;box-sizing:border-box;width:390px;'
        "max-width:calc(100% - 12px);margin:6px;padding:12px;"
        "border:1px solid #e2e5e9;border-radius:10px;background:#fff;color:#16202c;"
        f'font:14px/1.45 {text(FONT)}">'
        f'<div style="font-size:17px;font-weight:650">{text(title)}</div>'
        f'<div style="color:{COLOURS[verdict.level]};font-weight:600">'
        f"{text(verdict.word.capitalize())}</div>{drawing}"
        f"<div>{text(typical_words(explanation))}</div>"
        f'<div style="color:#5a6675">{text(numbers)}</div>'
        f"{_core(explanation)}{_shortcuts(explanation)}</div>"
    )


def cards_html(result: ExplanationSet) -> str:
    """All targets of a run, one card each."""
    return f"<div>{''.join(card_html(explanation) for explanation in result.values())}</div>"


def _core(explanation: Explanation) -> str:
    core, title = explanation.core, f"Core of {explanation.name}"
    drawing = "" if core is None else core_svg(core, explanation.spec, title, CORE)
    words = text(core_words(core, explanation))
    return f'<div style="font-weight:600;margin-top:8px">Core</div>{drawing}<div>{words}</div>'


def _shortcuts(explanation: Explanation) -> str:
    found = explanation.shortcuts
    if not found:
        return ""
    noun = "shortcut" if len(found) == 1 else "shortcuts"
    return (
        f'<div style="color:{COLOURS["caution"]};margin-top:8px">{len(found)} {noun}, the first: '
        f"{text(shortcut_words(found[0], explanation.target))}</div>"
    )
