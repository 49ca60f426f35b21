"""Audits every bundled model, keeps what was found, and brings the table of the docs up to date.

``python benchmarks/audit.py [NAME ...] [--jobs N]`` writes ``benchmarks/results/audit/NAME.json``
for each model (all of them when none is named), and then the table in ``docs/audits.md`` from the
files that are there. ``--table`` does the table alone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results" / "audit"
DOCS = Path(__file__).parents[1] / "docs" / "audits.md"
BEGIN, END = "<!-- findings: begin -->\n", "<!-- findings: end -->\n"


def one(name: str) -> dict[str, Any]:
    """Audit a model and keep the findings, with the graphs that are shown."""
    import gnninterpreter as gi
    from gnninterpreter.audit import audit

    found = audit(gi.models.load(name), seed=0, progress=False)
    values = {"name": name, **found.to_json(with_graphs=False)}
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(values) + "\n", encoding="utf-8")
    return values


def table() -> str:
    """All findings that are kept, a line for each, the gravest first."""
    import gnninterpreter as gi

    lines = ["| Model | Severity | Finding | Figures |", "|---|---|---|---|"]
    for name in gi.models.bundled_names():
        path = RESULTS / f"{name}.json"
        if not path.exists():
            continue
        values = json.loads(path.read_text(encoding="utf-8"))
        shown = name
        for finding in values["findings"]:
            lines.append(
                f"| {shown} | {finding['severity']} | {finding['title']} | {figures(finding)} |"
            )
            shown = ""
        if not values["findings"]:
            lines.append(f"| {shown} | | none | |")
    return "\n".join(lines) + "\n"


def figures(finding: dict[str, Any]) -> str:
    """The figures that say most about a finding, in words."""
    n = finding["numbers"]
    if finding["kind"] == "look-alike":
        share = f"on average {n['mean flip rate']:.0%}, random {n['random flip rate']:.0%}"
        return f"{n['fooling']} of {n['look-alikes']} pass; {share}"
    if finding["kind"] == "missed pattern":
        most = f", most with {n['worst variant']}" if "worst variant" in n else ""
        return f"wrong about {n['wrong share']:.0%}{most}"
    if finding["kind"] == "disagreement":
        return f"{n['wrong graphs']} of {n['distinct graphs']} graphs"
    if finding["kind"] == "default class":
        right = f", right on {1 - n['wrong by rule']:.0%}" if "wrong by rule" in n else ""
        return f"{n['share']:.0%} of random graphs{right}"
    return f"p = {n['probability']:.3f} after {n['changes']}"


def write_table() -> None:
    """Put the table between its two marks in the docs."""
    text = DOCS.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    DOCS.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


def main() -> None:
    """Read the arguments and do what they say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2, help="models at a time, a thread each")
    parser.add_argument("--table", action="store_true", help="only the table of the docs")
    given = parser.parse_args()
    if not given.table:
        import gnninterpreter as gi
        from gnninterpreter.experiments.store import map_jobs

        names = given.names or list(gi.models.bundled_names())
        for name, values in map_jobs(one, names, given.jobs):
            print(f"{name}: {values['counts']}, {values['numbers']['seconds']} s")
            for finding in values["findings"]:
                print(f"  {finding['severity']}: {finding['title']}. {finding['sentence']}")
    write_table()


if __name__ == "__main__":
    main()
