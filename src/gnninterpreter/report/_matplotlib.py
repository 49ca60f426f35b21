"""A laid-out graph on matplotlib axes; matplotlib is looked up only here."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from gnninterpreter.errors import MissingExtraError
from gnninterpreter.report.appearance import INK, EdgeLook

if TYPE_CHECKING:
    from gnninterpreter.report.drawing import Drawing

__all__ = ["draw_on", "figure_png"]


def draw_on(drawing: Drawing, ax: Any, title: str) -> Any:
    """Draw on axes, which are made when None, and return them."""
    try:
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        from matplotlib.patches import Circle
    except ImportError as error:
        raise MissingExtraError("drawing on axes", "matplotlib", "report") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(4.8, 3.4))
    for u, v, look, _ in drawing.edges():
        _edge(ax, drawing.ends(u, v), look, drawing.spec.directed)
    for _, x, y, node in drawing.nodes():
        ax.add_patch(
            Circle((x, y), drawing.radius, facecolor=node.fill, edgecolor=node.stroke, zorder=2)
        )
        if node.label:
            ax.text(x, y, node.label, ha="center", va="center", fontsize=8, color=INK, zorder=3)
    handles = [
        Line2D([], [], color=entry.look.stroke, linestyle=_dashes(entry.look), label=entry.name)
        if isinstance(entry.look, EdgeLook)
        else Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markersize=9,
            markerfacecolor=entry.look.fill,
            markeredgecolor=entry.look.stroke,
            label=entry.name,
        )
        for entry in drawing.legend()
    ]
    if handles:
        ax.legend(
            handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, frameon=False
        )
    width, height = drawing.size
    ax.set(xlim=(0, width), ylim=(height, 0), title=title, aspect="equal")
    ax.set_axis_off()
    return ax


def figure_png(draw: Callable[[Any], Any], dots_per_inch: int) -> bytes:
    """Let a function draw on axes of a figure that no window shows, and return it as PNG."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("writing PNG", "matplotlib", "report") from error
    figure = Figure(figsize=(4.8, 3.4))
    FigureCanvasAgg(figure)
    draw(figure.add_subplot())
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dots_per_inch, bbox_inches="tight")
    return buffer.getvalue()


def _edge(ax: Any, line: tuple[float, float, float, float], look: EdgeLook, directed: bool) -> None:
    x1, y1, x2, y2 = line
    style = {"color": look.stroke, "linewidth": 1.8 * look.breadth, "linestyle": _dashes(look)}
    if directed:
        ax.annotate("", (x2, y2), (x1, y1), arrowprops={"arrowstyle": "-|>", **style}, zorder=1)
    else:
        ax.plot([x1, x2], [y1, y2], zorder=1, **style)


def _dashes(look: EdgeLook) -> Any:
    return (0, tuple(float(part) / 2 for part in look.dash.split())) if look.dash else "-"
