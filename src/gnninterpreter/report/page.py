"""The report: one self-contained HTML file that opens offline, and the cards of a notebook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gnninterpreter.chem.drawing import formula_svg
from gnninterpreter.files import write_atomically
from gnninterpreter.report.audit_section import audit_view
from gnninterpreter.report.content import class_view, repeat_command
from gnninterpreter.report.drawing import core_svg, graph_svg
from gnninterpreter.report.extras import ClassExtras, compute_extras, live_classifier
from gnninterpreter.report.svg import FONT
from gnninterpreter.report.templates import asset, page_script, rendered
from gnninterpreter.report.words import core_words, shortcut_words, typical_words
from gnninterpreter.spec import graph_list

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit
    from gnninterpreter.explanation import Explanation, ExplanationSet

COLOURS = {"good": "#00704f", "caution": "#845300", "bad": "#a32c17"}
CARD, CARD_CORE = (340, 240), (340, 130)


def write_report(
    result: ExplanationSet,
    path: str | Path,
    extras: Mapping[str, ClassExtras] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report of a run to a file, which is replaced where it is there.

    Args:
        result: What was explained.
        path: Where to.
        extras: By class name, what the live model says besides, as `compute_extras` gives it.
        audit: Findings to show before the classes.
    """
    return write_atomically(Path(path), render_page(result, extras, audit).encode())


def report_run(
    result: ExplanationSet,
    path: Path,
    model: Any = None,
    dataset: Any = None,
    *,
    forward: Callable[..., Any] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report of a run; see `ExplanationSet.report`."""
    extras = None
    if model is not None:
        dataset = None if dataset is None else graph_list(dataset)
        classifier = live_classifier(result, model, dataset, forward=forward)
        extras = compute_extras(result, classifier, dataset)
    return write_report(result, path, extras, audit)


def render_page(
    result: ExplanationSet,
    extras: Mapping[str, ClassExtras] | None = None,
    audit: Audit | None = None,
) -> str:
    """The text of the report; the same result gives the same text."""
    known = extras or {}
    explanations = result if audit is None else audit.explanations
    kinds = {one.target.kind for one in explanations.values()}
    return rendered(
        "page.html.jinja",
        result=result,
        classes=[class_view(one, known.get(name)) for name, one in explanations.items()],
        command=repeat_command(result),
        extras=list(known.values()),
        # What the page is about: classes, labels, values, boundaries, or some of each.
        kind=kinds.pop() if len(kinds) == 1 else "target" if kinds else "class",
        audit=None if audit is None else audit_view(audit),
        style=Markup(asset("page.css") + (asset("audit.css") if audit else "")),
        script=Markup(page_script()),
    )


def card_html(explanation: Explanation) -> str:
    """One explanation as a small piece of HTML that needs no style sheet, for ``_repr_html_``."""
    spec, core, shortcuts = explanation.spec, explanation.core, explanation.shortcuts
    title = explanation.target.title
    formula = formula_svg(explanation.best, spec, title, size=CARD)
    drawing = formula or graph_svg(explanation.graph, spec, size=CARD, title=title)
    return rendered(
        "notebook.html.jinja",
        one=explanation,
        font=FONT,
        colours=COLOURS,
        drawing=Markup(drawing),
        typical=typical_words(explanation),
        core=core and core_svg(core, spec, f"Core of {explanation.name}", CARD_CORE),
        about=core_words(core, explanation),
        first=shortcut_words(shortcuts[0], explanation.target) if shortcuts else "",
    )


def cards_html(result: ExplanationSet) -> str:
    """All targets of a run, one card each."""
    return f"<div>{''.join(card_html(explanation) for explanation in result.values())}</div>"
