"""A laid-out graph on matplotlib axes; matplotlib is looked up only here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnninterpreter.errors import needs
from gnninterpreter.report.appearance import INK, EdgeLook

if TYPE_CHECKING:
    from gnninterpreter.report.drawing import Drawing

FIGURE = (4.8, 3.4)
# Points of a letter for each unit of a node's radius, in a figure of that size.
LETTER = 0.72


def draw_on(drawing: Drawing, ax: Any, title: str) -> Any:
    """Draw on axes, which are made when None, and return them."""
    with needs("matplotlib", "report", "drawing on axes"):
        import matplotlib.pyplot as plt
        from matplotlib.lines import Line2D
        from matplotlib.patches import Circle
    if ax is None:
        _, ax = plt.subplots(figsize=FIGURE)
    scale = _scale(ax)
    for u, v, look, _ in drawing.edges():
        _edge(ax, drawing.ends(u, v), look, drawing.spec.directed, scale)
    for _, x, y, node in drawing.nodes():
        ax.add_patch(
            Circle((x, y), drawing.radius, facecolor=node.fill, edgecolor=node.stroke, zorder=2)
        )
        if node.label:
            size = LETTER * scale * drawing.radius
            ax.text(x, y, node.label, ha="center", va="center", fontsize=size, color=INK, zorder=3)
    handles = [
        Line2D([], [], color=entry.look.stroke, linestyle=_dashes(entry.look), label=entry.name)
        if isinstance(entry.look, EdgeLook)
        else Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            markersize=9 * scale,
            markerfacecolor=entry.look.fill,
            markeredgecolor=entry.look.stroke,
            label=entry.name,
        )
        for entry in drawing.legend()
    ]
    if handles:
        # Narrow enough to stay below its own axes where there are several side by side.
        ax.legend(
            handles=handles,
            loc="upper center",
            bbox_to_anchor=(0.5, 0),
            ncols=min(5, len(handles)),
            fontsize=9 * scale,
            handletextpad=0.3,
            columnspacing=1.0,
            handlelength=1.6,
            frameon=False,
        )
    width, height = drawing.size
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal")
    ax.set_title(title, fontsize=11 * max(scale, 0.75))
    ax.set_axis_off()
    return ax


def _scale(ax: Any) -> float:
    """How large the axes are beside a figure of their own: letters and lines shrink with them."""
    figure, place = ax.get_figure(), ax.get_position()
    width, height = figure.get_size_inches()
    share = min(
        place.width * width / (0.775 * FIGURE[0]), place.height * height / (0.77 * FIGURE[1])
    )
    return float(min(max(share, 0.4), 1.6))


def _edge(
    ax: Any,
    line: tuple[float, float, float, float],
    look: EdgeLook,
    directed: bool,
    scale: float,
) -> None:
    x1, y1, x2, y2 = line
    breadth = 1.8 * scale * look.breadth
    style = {"color": look.stroke, "linewidth": breadth, "linestyle": _dashes(look)}
    if directed:
        ax.annotate("", (x2, y2), (x1, y1), arrowprops={"arrowstyle": "-|>", **style}, zorder=1)
    else:
        ax.plot([x1, x2], [y1, y2], zorder=1, **style)


def _dashes(look: EdgeLook) -> Any:
    return (0, tuple(float(part) / 2 for part in look.dash.split())) if look.dash else "-"
