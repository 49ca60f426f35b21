"""The report: explanations as drawings, as notebook cards and as one self-contained page."""

from gnninterpreter.report.drawing import draw, graph_svg
from gnninterpreter.report.extras import (
    ClassExtras,
    Neighbour,
    compute_extras,
    live_classifier,
)
from gnninterpreter.report.gallery import Stop
from gnninterpreter.report.page import card_html, cards_html, report_run, write_report

__all__ = [
    "ClassExtras",
    "Neighbour",
    "Stop",
    "card_html",
    "cards_html",
    "compute_extras",
    "draw",
    "graph_svg",
    "live_classifier",
    "report_run",
    "write_report",
]
