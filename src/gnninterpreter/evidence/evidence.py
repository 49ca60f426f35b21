"""What is known about one explanation: checks with their figures, each passed, failed or not made.

`evidence_of` makes them, `verdict_on` draws the conclusion; reports, audits and the command line
only read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from gnninterpreter.errors import CheckpointError

# Said, but no reason for or against: a class may be the absence of something, and have no core.
TOLD = (
    "core covers",
    "necessary",
    "sufficient",
    "counts",
    "new",
    "margin",
    "thickness",
    "complexity",
)


@dataclass(frozen=True)
class Check:
    """One question asked about an explanation, in a word or two, and what came of it.

    Args:
        name: What is asked.
        passed: Whether it held; None where it was not checked.
        sentence: What was found, or why nothing was asked; without capital and full stop.
        value: The figure.
        reference: What the figure is held against.
        grave: Whether failing shows that something is wrong, and not only doubtful.
    """

    name: str
    passed: bool | None
    sentence: str
    value: float | int | str | None = None
    reference: float | int | str | None = None
    grave: bool = False

    @property
    def state(self) -> str:
        """``"passed"``, ``"failed"`` or ``"not checked"``; ``"noted"`` where it only tells."""
        if self.passed is None:
            return "not checked"
        if self.name in TOLD:
            return "noted"
        return "passed" if self.passed else "failed"


@dataclass(frozen=True)
class Evidence:
    """All checks of one explanation, in the order in which they were made; no two of the same name.

    Example:
        >>> evidence = Evidence((Check("certain", True, "samples get 0.995 on average", 0.995),))
        >>> evidence["certain"].state, evidence["audit"].state
        ('passed', 'not checked')
    """

    checks: tuple[Check, ...] = ()

    def __getitem__(self, name: str) -> Check:
        """The check of a name; one that was never made is not checked."""
        return next((check for check in self if check.name == name), Check(name, None, NOT_ASKED))

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    def with_state(self, passed: bool | None) -> tuple[Check, ...]:
        """The checks that passed (True), failed (False) or were not made (None)."""
        return tuple(check for check in self if check.passed is passed)

    def with_check(self, check: Check) -> Evidence:
        """The same with one more check, which takes the place of one of the same name."""
        if all(other.name != check.name for other in self):
            return Evidence((*self.checks, check))
        return Evidence(tuple(check if c.name == check.name else c for c in self))

    def to_json(self) -> list[dict[str, Any]]:
        """The checks as plain JSON values."""
        return [asdict(check) for check in self]

    @classmethod
    def from_json(cls, values: Iterable[Mapping[str, Any]]) -> Evidence:
        """Read what `to_json` wrote.

        Raises:
            CheckpointError: If it is no list of checks.
        """
        try:
            checks = tuple(Check(**check) for check in values)
        except TypeError as error:
            raise CheckpointError(f"stored evidence cannot be read: {error}") from error
        return cls(checks)


NOT_ASKED = "nobody asked"
NO_REAL_GRAPHS = "there were no real graphs to compare with"
HAS_NO_CORE = "there is no core"


def written(score: float) -> str:
    """A score in words that never round up to certainty."""
    return "over 0.999" if score >= 0.9995 else f"{score:.3f}"
