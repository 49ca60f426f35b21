"""What `explain` tells whoever shows its progress; only the command line draws it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation
    from gnninterpreter.search import Snapshot

__all__ = ["Progress", "Several"]


class Progress(Protocol):
    """Something that shows how a run goes."""

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """The run begins; ``inferred`` says what was found out about the model."""

    def begin_class(self, name: str) -> None:
        """The search for a class begins."""

    def look(self, look: Snapshot) -> bool | None:
        """The search is at this point; True stops it."""

    def end_class(self, explanation: Explanation) -> None:
        """A class is done."""

    def end(self) -> None:
        """The run is over, well or not."""


class Several:
    """Tells any number of how a run goes: a display, and trackers beside it; or nobody."""

    def __init__(self, members: Sequence[Progress] = ()) -> None:
        self.members = members

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """Tell all."""
        for member in self.members:
            member.begin(model, inferred, classes)

    def begin_class(self, name: str) -> None:
        """Tell all."""
        for member in self.members:
            member.begin_class(name)

    def look(self, look: Snapshot) -> bool | None:
        """Tell all; True of any stops the search."""
        answers = [member.look(look) for member in self.members]  # none is left out
        return any(answers)

    def end_class(self, explanation: Explanation) -> None:
        """Tell all."""
        for member in self.members:
            member.end_class(explanation)

    def end(self) -> None:
        """Tell all."""
        for member in self.members:
            member.end()
