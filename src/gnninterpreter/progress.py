"""What `explain` tells whoever shows its progress; only the command line draws it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from gnninterpreter.errors import SpecError
from gnninterpreter.views import view

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation
    from gnninterpreter.search import Snapshot

__all__ = ["Progress", "Several", "display_of"]


class Progress(Protocol):
    """Something that shows how a run goes.

    Classes that are searched for together all begin before the first of them ends, and a snapshot
    says which it tells of. One that also has a method ``reading`` is called with the number of
    graphs that were read so far, while a data set of thousands is read.
    """

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """The run begins; ``inferred`` says what was found out about the model."""

    def begin_class(self, name: str) -> None:
        """The search for a class begins."""

    def look(self, look: Snapshot) -> bool | None:
        """The search for a class is at this point; True stops it and those beside it."""

    def end_class(self, explanation: Explanation) -> None:
        """A class is done."""

    def end(self) -> None:
        """The run is over, well or not."""


def _all(name: str) -> Callable[..., bool]:
    def tell(self: Several, *args: object) -> bool:
        answers = [getattr(member, name)(*args) for member in self.members]  # none is left out
        return any(answers)

    return tell


class Several:
    """Tells any number of how a run goes: a display, and trackers beside it; or nobody.

    True of any stops the search.
    """

    def __init__(self, members: Sequence[Progress] = ()) -> None:
        self.members = members

    begin, begin_class, look = _all("begin"), _all("begin_class"), _all("look")
    end_class, end = _all("end_class"), _all("end")


def display_of(progress: Any) -> Any:
    """What shows the progress of a run: what was given, the usual display for True, or nothing."""
    if progress is False or progress is None:
        return Several()
    if progress is True:
        return view("progress")()
    needed = ("begin", "begin_class", "look", "end_class", "end")
    if isinstance(progress, type) or not all(callable(getattr(progress, n, None)) for n in needed):
        raise SpecError(
            "progress must be True, False or an object with the methods of "
            f"gnninterpreter.progress.Progress (got {progress!r:.60})"
        )
    return progress
