"""The report: explanations as drawings and as one self-contained page."""

from gnninterpreter.report.drawing import draw, graph_svg
from gnninterpreter.report.page import write_report
from gnninterpreter.report.verdict import Finding, Verdict, verdict_on

__all__ = ["Finding", "Verdict", "draw", "graph_svg", "verdict_on", "write_report"]
