"""The report: one self-contained HTML file that opens offline, from disk, in any browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gnninterpreter.files import write_atomically
from gnninterpreter.report.audit_section import audit_view
from gnninterpreter.report.content import class_view, repeat_command
from gnninterpreter.report.extras import ClassExtras, compute_extras, live_classifier
from gnninterpreter.report.templates import asset, page_script, rendered
from gnninterpreter.spec import graph_list

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit
    from gnninterpreter.explanation import Explanation, ExplanationSet


def write_report(
    result: ExplanationSet,
    path: str | Path,
    extras: Mapping[str, ClassExtras] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report of a run.

    Args:
        result: What was explained.
        path: Where to; an existing file is replaced.
        extras: By class name, what the live model says besides, as `compute_extras` gives it.
        audit: Findings to show before the classes.

    Returns:
        The path.

    Raises:
        OutputError: If the place cannot be written.
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
    return rendered(
        "page.html.jinja",
        result=result,
        classes=[class_view(one, known.get(name)) for name, one in explanations.items()],
        command=repeat_command(result),
        missing=_missing(known),
        **_lead(explanations),
        audit=None if audit is None else audit_view(audit),
        style=Markup(asset("page.css") + (asset("audit.css") if audit else "")),
        script=Markup(page_script()),
    )


def _lead(explanations: Mapping[str, Explanation]) -> dict[str, str]:
    """What the page is about: classes, labels, values, boundaries, or some of each."""
    kinds = {one.target.kind for one in explanations.values()}
    kind = kinds.pop() if len(kinds) == 1 else "target" if kinds else "class"
    firm = "a prototype that the model is certain of and that could pass for a real graph"
    value = "a prototype to which the model gives such a value and that could pass for a real graph"
    between = "a prototype that the model cannot tell from either class"
    nouns = {"class": "classes", "boundary": "boundaries"}
    what = {"value": value, "boundary": between}.get(kind, firm)
    return {"noun": nouns.get(kind, f"{kind}s"), "lead": f"For each {kind}: {what}"}


def _missing(extras: Mapping[str, ClassExtras]) -> str:
    """What the page would show besides if it had the model, or the data."""
    if not extras:
        return (
            "Written without the model: what it gives to each sample and along the slider is not "
            "here. Name it with --model, or pass it to report()."
        )
    if not any(extra.neighbours for extra in extras.values()):
        return (
            "Written without the data: the nearest real graphs are not here. "
            "Name it with --data, or pass it to report()."
        )
    return ""
