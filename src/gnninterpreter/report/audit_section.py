"""The findings of an audit as the page shows them: ranked, with pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from gnninterpreter.report.drawing import small_svg
from gnninterpreter.report.sections import Tile

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit, Finding
    from gnninterpreter.spec import GraphSpec

PICTURE = (230, 170)
LEVELS = {"high": "bad", "medium": "caution", "low": "good"}


def audit_view(audit: Audit) -> dict[str, Any]:
    """Gather what the page shows of an audit, by the names that its template has for it."""
    spec = audit.explanations.spec
    counts = audit.counts()
    listed = ", ".join(f"{count} {severity}" for severity, count in counts.items() if count)
    total = sum(counts.values())
    worst = next((severity for severity, count in counts.items() if count), "low")
    plural = "finding" if total == 1 else "findings"
    return {
        "level": LEVELS[worst],
        "headline": f"Audit: {total} {plural} ({listed})" if total else "Audit: no findings",
        "verdicts": [(name, one.verdict) for name, one in audit.explanations.items()],
        "findings": [_finding_view(finding, spec) for finding in audit.findings],
        "checked": [line[:1].upper() + line[1:] for line in audit.checked],
        "comparison": _comparison(audit),
        "payload": audit.to_json(with_graphs=False),
    }


def _finding_view(finding: Finding, spec: GraphSpec) -> dict[str, Any]:
    return {
        **vars(finding),
        "level": LEVELS[str(finding.severity)],
        "numbers": [(name, _written(value)) for name, value in finding.numbers.items()],
        "tiles": [
            Tile(Markup(small_svg(shown.graph, spec, PICTURE, shown.caption)), shown.caption)
            for shown in finding.evidence
        ],
        "graphs": len(finding.graphs),
    }


def _written(value: float | int | str) -> str:
    if not isinstance(value, float):
        return str(value)
    # What is small is not nothing.
    return f"{value:.1g}" if 0 < abs(value) < 0.0005 else f"{value:.3f}".rstrip("0").rstrip(".")


def _comparison(audit: Audit) -> list[tuple[str, str, str]]:
    """Before and after training again: counts of findings, and how often predictions flip."""
    if audit.before is None:
        return []
    before, after = audit.before.counts(), audit.counts()
    rows = [
        (f"findings of {severity} severity", str(before[severity]), str(after[severity]))
        for severity in after
    ]
    rates = [one.numbers.get("flip rates", {}) for one in (audit.before, audit)]
    for what, families in rates[0].items():
        for family, rate in families.items():
            name = family if family == "random graphs" else f"{family} of {what}"
            then, now = (
                "not asked" if share is None else f"{100 * share:.0f}% of graphs"
                for share in (rate, rates[1].get(what, {}).get(family))
            )
            rows.append((f"prediction flips with {name} joined on", then, now))
    for name in ("test accuracy", "test ROC-AUC"):
        values = [one.numbers.get(name) for one in (audit.before, audit)]
        if None not in values:
            rows.append((name, *(f"{float(value):.3f}" for value in values)))  # type: ignore[arg-type]
    return rows
