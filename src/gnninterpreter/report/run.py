"""The report of a run with everything that the live model, data and an audit can add to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnninterpreter.report.extras import compute_extras
from gnninterpreter.report.live import live_classifier
from gnninterpreter.report.page import write_report

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit
    from gnninterpreter.explanation import ExplanationSet


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
        classifier = live_classifier(result, model, dataset, forward=forward)
        extras = compute_extras(result, classifier, dataset)
    return write_report(result, path, extras, audit)
