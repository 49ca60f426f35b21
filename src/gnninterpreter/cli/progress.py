"""A run as it goes: a live table on a terminal, one plain line a class anywhere else.

`LiveProgress` is what ``gnninterpreter.explain(progress=True)`` uses, in scripts and notebooks as
well as on the command line. It writes to standard error, and if that fails it falls silent: a
display never costs a result.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.control import Control
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.segment import ControlType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation
    from gnninterpreter.search import Snapshot

WAITING = "waiting"
SEARCHING = "searching"
PHASES = {
    "shrink": "shrinking",
    "anneal": "walking",
    "gradient": SEARCHING,
    "local search": "refining",
    "iterated search": "trying again",
    "calibrate": "settling",
    "spread": "spreading",
    "shortcuts": "shortcuts",
}
REFRESHES_PER_SECOND = 8
# Seconds between two readings of a row's score.
READ_EVERY = 0.5
WIDEST_NAME = 30
# Graphs that are read between two lines where a line cannot be written again.
TELL_EVERY = 100_000
# Lines of a terminal that the lines above and below the rows take.
FRAME = 5


@dataclass
class Row:
    """One class of the table; its score and size are those of the best restart so far."""

    name: str
    state: str = WAITING
    share: float = 0.0
    score: str = ""
    nodes: str = ""
    edges: str = ""
    style: str = "dim"
    read: float = -math.inf

    def cells(self, bar_width: int) -> tuple[Text | ProgressBar | str, ...]:
        """What the table shows of it."""
        name = Text(self.name, no_wrap=True, overflow="ellipsis")
        bar = ProgressBar(total=1.0, completed=self.share, width=bar_width)
        done = "" if self.state == WAITING else f"{int(100 * self.share)}%"
        state = Text(self.state, style=self.style)
        return name, bar, done, self.score, self.nodes, self.edges, state


class LiveProgress:
    """Shows a run: one row a target with score, size and state, and what is left of all of them.

    It goes to standard error (standard output in a notebook, where standard error looks like a
    failure). A transient table goes away at the end, for callers that print their own.

    Example:
        >>> progress = LiveProgress(Console(stderr=True, width=120))
        >>> gi.explain(model, dataset, progress=progress)  # doctest: +SKIP
    """

    def __init__(self, console: Console | None = None, transient: bool = False) -> None:
        """Choose where to show the run; nothing is shown before `begin`."""
        self._console = _default_console() if console is None else console
        self._transient = transient
        self._rows: dict[str, Row] = {}
        self._current = ""
        self._live: Live | None = None
        self._began: float | None = None
        self._before = 0.0
        self._broken = False

    def reading(self, count: int) -> None:
        """Say how many graphs of a large data set were read so far."""
        with self._harmless() as console:
            if _rewritable(console):
                console.print(f"read {count:,} graphs", end="\r", highlight=False)
            elif count % TELL_EVERY == 0:
                console.print(f"read {count:,} graphs", highlight=False)

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """Print what was found out about the model, once, and open the table."""
        self._rows = {name: Row(name) for name in classes}
        self._began, self._before = None, 0.0
        with self._harmless() as console:
            if _rewritable(console):  # what `reading` left on the line may be longer
                console.control(Control((ControlType.ERASE_IN_LINE, 2)))
            console.print(f"explaining {model}", style="bold", markup=False, highlight=False)
            for line in inferred:
                console.print(f"  {line}", markup=False, highlight=False, soft_wrap=True)
            if _rewritable(console):
                self._live = Live(
                    get_renderable=self.table,
                    console=console,
                    refresh_per_second=REFRESHES_PER_SECOND,
                    transient=self._transient,
                    # Whatever a model prints goes where it would go without us.
                    redirect_stdout=False,
                    redirect_stderr=False,
                )
                self._live.start()

    def begin_class(self, name: str) -> None:
        """Mark a class as the one being explained."""
        self._current = name
        if self._began is None:
            # What an earlier call has finished took no time of this one.
            self._began, self._before = time.monotonic(), self.share()
        row = self._rows.setdefault(name, Row(name))
        row.state, row.style = SEARCHING, "cyan"

    def look(self, look: Snapshot) -> bool | None:
        """Take in how the restarts of a class stand; the best of them is shown."""
        self._current = look.target or self._current
        row = self._rows.get(self._current)
        if row is not None and not self._broken:
            row.state = PHASES.get(look.phase, look.phase)
            row.share = max(row.share, look.done)
            now = time.monotonic()
            # Scores have to be computed: not where nobody sees them, nor faster than they are read.
            if self._live is not None and now - row.read > READ_EVERY:
                best = int(look.score.nan_to_num(nan=-1.0).argmax())
                row.score = f"{float(look.score[best]):.3f}"
                row.edges = f"{int(look.edges[best])}"
                row.read = now
        return None

    def end_class(self, explanation: Explanation) -> None:
        """Show what a class came to."""
        row = self._rows.setdefault(explanation.name, Row(explanation.name))
        row.score = f"{explanation.probability.mean:.3f}"
        row.nodes, row.edges = str(explanation.num_nodes), str(explanation.num_edges)
        row.state, row.share = explanation.reason, 1.0
        row.style = "green" if explanation.converged else "yellow"
        if self._live is None:
            with self._harmless() as console:
                console.print(
                    f"{explanation.name}: {explanation.measured}, "
                    f"{row.nodes} nodes, {row.edges} edges, {row.state}, "
                    f"{explanation.seconds:.1f} s: {explanation.verdict}",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )

    def end(self) -> None:
        """Close the table."""
        live, self._live = self._live, None
        if live is not None:
            with self._harmless():
                live.stop()

    def table(self) -> Table:
        """The table as it stands; on a small screen only the rows around the current class."""
        table = Table(box=None, pad_edge=False)
        table.add_column("class", max_width=WIDEST_NAME)  # gives way where there is little room
        table.add_column("", no_wrap=True)
        for name in ("done", "score", "nodes", "edges"):
            table.add_column(name, justify="right", no_wrap=True)
        table.add_column("state", no_wrap=True)
        share, width = self.share(), min(max(self._console.width // 5 - 10, 6), 24)
        for row in (*self._visible(), Row("all", self._left(share), share, style="none")):
            table.add_row(*row.cells(width))
        return table

    def share(self) -> float:
        """Share of the whole run that is done; it never falls."""
        return sum(row.share for row in self._rows.values()) / max(len(self._rows), 1)

    def _left(self, share: float) -> str:
        """How long the rest may take, by what was done since the first search began."""
        if self._began is None or share - self._before <= 0 or share >= 1:
            return ""
        seconds = (time.monotonic() - self._began) * (1 - share) / (share - self._before)
        return f"about {_duration(seconds)} left"

    def _visible(self) -> list[Row]:
        rows = list(self._rows.values())
        room = max(1, self._console.height - FRAME)
        if len(rows) <= room or self._live is None:
            return rows
        current = next((i for i, row in enumerate(rows) if row.name == self._current), 0)
        first = min(max(0, current - room // 2), len(rows) - room)
        return rows[first : first + room]

    @contextmanager
    def _harmless(self) -> Iterator[Console]:
        """Give the console; a stream that is closed or full ends the display, not the run."""
        if self._broken:
            yield Console(quiet=True)
            return
        try:
            yield self._console
        except (OSError, ValueError):
            self._broken = True


def _duration(seconds: float) -> str:
    """A time for people, rounded up."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{round(seconds / 60)} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _rewritable(console: Console) -> bool:
    return console.is_terminal and not console.is_jupyter and not console.is_dumb_terminal


def _default_console() -> Console:
    console = Console(stderr=True)
    return Console() if console.is_jupyter else console
