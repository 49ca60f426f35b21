"""What `explain` tells whoever shows its progress; only the command line draws it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation
    from gnninterpreter.search import Snapshot

__all__ = ["Progress", "Silent"]


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


class Silent:
    """Shows nothing."""

    def begin(self, model: str, inferred: list[str], classes: list[str]) -> None:
        """Show nothing."""

    def begin_class(self, name: str) -> None:
        """Show nothing."""

    def look(self, look: Snapshot) -> bool | None:
        """Show nothing."""
        return None

    def end_class(self, explanation: Explanation) -> None:
        """Show nothing."""

    def end(self) -> None:
        """Show nothing."""
