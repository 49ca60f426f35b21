"""What a notebook shows of an explanation: prototype, core, verdict and the first numbers."""

from __future__ import annotations

from markupsafe import Markup

from gnninterpreter.chem.drawing import formula_svg
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.report.drawing import core_svg, graph_svg
from gnninterpreter.report.svg import FONT
from gnninterpreter.report.templates import rendered
from gnninterpreter.report.words import core_words, shortcut_words, typical_words

COLOURS = {"good": "#00704f", "caution": "#845300", "bad": "#a32c17"}
SIZE, CORE = (340, 240), (340, 130)


def card_html(explanation: Explanation) -> str:
    """One explanation as a small piece of HTML that needs no style sheet, for ``_repr_html_``."""
    spec, core, shortcuts = explanation.spec, explanation.core, explanation.shortcuts
    title = explanation.target.title
    formula = formula_svg(explanation.best, spec, title, size=SIZE)
    drawing = formula or graph_svg(explanation.graph, spec, size=SIZE, title=title)
    inner = "" if core is None else core_svg(core, spec, f"Core of {explanation.name}", CORE)
    return rendered(
        "notebook.html.jinja",
        one=explanation,
        font=FONT,
        colours=COLOURS,
        drawing=Markup(drawing),
        typical=typical_words(explanation),
        core=Markup(inner),
        about=core_words(core, explanation),
        first=shortcut_words(shortcuts[0], explanation.target) if shortcuts else "",
    )


def cards_html(result: ExplanationSet) -> str:
    """All targets of a run, one card each."""
    return f"<div>{''.join(card_html(explanation) for explanation in result.values())}</div>"
