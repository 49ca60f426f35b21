"""What a search is after: one target, or several whose restarts are rows of one batch.

Restarts never see each other, so those of several targets can be searched for together: the first
rows of a batch are those of the first target, the next those of the next, and so on. Everything
that depends on the target asks the aim, which knows what each row is after.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

import torch
from torch import Tensor

from gnninterpreter.mixing import GOLDEN
from gnninterpreter.models.classifier import Scores
from gnninterpreter.models.profile import CERTAIN, Profile
from gnninterpreter.objective.target import Target
from gnninterpreter.typicality import (
    FEWEST_GRAPHS,
    EitherBank,
    Measuring,
    SideBySide,
    Typicality,
    TypicalityBank,
    spans_of,
)

# What differs from target to target in numbers.
FIGURES = (
    "max_nodes", "max_edges", "enough", "certain", "log_enough", "log_certain", "least_similarity",
)  # fmt: skip


@dataclass(frozen=True)
class Aim:
    """A target within limits (the paper's budget B among them).

    ``profile`` is what real graphs of the target look like, ``enough`` the score beyond which more
    is no gain, ``certain`` the one that a restart is content with.
    """

    target: Target
    max_nodes: int
    max_edges: float
    profile: Profile | None = None
    enough: float = 0.9999
    certain: float = CERTAIN

    @property
    def typicality(self) -> Typicality | None:
        """What is kept of real graphs of the target, where anything is."""
        return None if self.profile is None else self.profile.typicality

    @property
    def bank(self) -> Measuring | EitherBank | None:
        """What says how typical of the target a graph is, where real graphs are known."""
        return None if self.typicality is None else self.typicality.bank

    @property
    def mean_embedding(self) -> Tensor | None:
        """Mean of the embeddings of real graphs, [D], where it is known."""
        return None if self.profile is None else self.profile.mean_embedding

    @property
    def log_enough(self) -> float:
        """Logarithm of the score beyond which more is no gain."""
        return math.log(self.enough)

    @property
    def log_certain(self) -> float:
        """Logarithm of the score that counts as certain."""
        return math.log(CERTAIN if self.profile is None else self.profile.certain)

    @property
    def least_similarity(self) -> float:
        """Similarity below which a graph counts as unlike the class."""
        return -1.0 if self.profile is None else self.profile.least_similarity

    @property
    def judged(self) -> bool:
        """Whether there are real graphs enough to call a graph typical or not."""
        return self.profile is not None and self.profile.count >= FEWEST_GRAPHS

    def likeness(self, embedding: Tensor) -> Tensor | None:
        """Cosine similarity of embeddings to the mean of the target; None where none is known."""
        mean = self.mean_embedding
        if mean is None:
            return None
        return torch.cosine_similarity(embedding, mean.to(embedding), dim=-1)

    # What follows is the same of several aims, each for its own rows.

    @property
    def aims(self) -> tuple[Aim, ...]:
        """All of them."""
        return (self,)

    @property
    def spans(self) -> list[slice]:
        """Rows of each."""
        return [slice(None)]

    @property
    def own(self) -> int | Tensor:
        """Place of each row's aim among all: of a table with a row for each, ``table[own]``."""
        return 0

    def rows(self, count: int) -> Aim:
        """The same of so many graphs, as many of each restart, those of one beside each other."""
        return self

    def select(self, rows: Tensor | slice) -> Aim:
        """The same of some of the rows, which are in order."""
        return self

    def alone(self, place: int) -> Aim:
        """The same of graphs that are all after one of them."""
        return self

    def marked(self, keys: Tensor) -> Tensor:
        """Keys of graphs, [B], so that those with other aims have others."""
        return keys


@dataclass(frozen=True)
class _Targets:
    """Several targets, each of which is asked for its own rows."""

    of: Aims

    def log_score(self, scores: Scores) -> Tensor:
        """Logarithm of how far outputs are what was asked for, [B]."""
        return self._each(scores, lambda target, own: target.log_score(own))

    def raw_score(self, scores: Scores) -> Tensor:
        """The output itself, before any softmax, [B]."""
        return self._each(scores, lambda target, own: target.raw_score(own))

    def _each(self, scores: Scores, ask: Callable[[Target, Scores], Tensor]) -> Tensor:
        return torch.cat([ask(aim.target, scores.select(rows)) for aim, rows in self.of.live()])


def _of_each(name: str) -> property:
    """A figure of each row's aim, [B]."""
    return property(lambda self: self._of_rows[name])


@dataclass(frozen=True)
class Aims:
    """Several aims beside each other, made by `beside`; read like one, with a number for each row.

    Args:
        aims: What is asked for.
        counts: How many rows are after each, the first rows after the first.
        table: Figures and mean embeddings of all, [Q] and [Q, D], where the model is.
        banks: What says how typical graphs are of each target; None unless all have it.
    """

    aims: tuple[Aim, ...]
    counts: tuple[int, ...]
    table: dict[str, Tensor]
    banks: SideBySide | None
    _wide: dict[int, Aims] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def own(self) -> Tensor:
        """Place of each row's aim among all, [B]."""
        # Filled where it is needed: a copy from the host would wait for all that a GPU has to do.
        own = torch.empty(sum(self.counts), dtype=torch.long, device=self.table["enough"].device)
        for place, rows in enumerate(self.spans):
            own[rows] = place
        return own

    @cached_property
    def spans(self) -> list[slice]:
        """Rows of each."""
        ends = [*accumulate(self.counts)]
        return [slice(end - count, end) for count, end in zip(self.counts, ends, strict=True)]

    def rows(self, count: int) -> Aims:
        """The same of so many graphs, as many of each restart, those of one beside each other."""
        total = sum(self.counts)
        if count == total:
            return self
        if count % max(total, 1):
            raise ValueError(f"{count} graphs cannot be shared by {total} restarts")
        if count not in self._wide:
            counts = tuple(own * (count // total) for own in self.counts)
            self._wide[count] = replace(self, counts=counts, _wide={})
        return self._wide[count]

    def select(self, rows: Tensor | slice) -> Aims:
        """The same of some of the rows, which are in order."""
        spans = spans_of(self.own[rows], len(self.aims))
        return replace(self, counts=tuple(own.stop - own.start for own in spans), _wide={})

    def alone(self, place: int) -> Aims:
        """The same of graphs that are all after one of them."""
        counts = tuple(int(other == place) for other in range(len(self.aims)))
        return replace(self, counts=counts, _wide={})

    def marked(self, keys: Tensor) -> Tensor:
        """Keys of graphs, [B], so that those with other aims have others."""
        return keys + self.own * GOLDEN

    @cached_property
    def target(self) -> _Targets:
        """What is asked for."""
        return _Targets(self)

    @cached_property
    def bank(self) -> SideBySide | None:
        """What says how typical of its row's target a graph is; None unless all have it."""
        return None if self.banks is None else self.banks.for_(self.own, self.spans)

    def live(self) -> list[tuple[Aim, slice]]:
        """Each aim that any row has, and its rows; the first where there are no rows."""
        every = list(zip(self.aims, self.spans, strict=True))
        return [(aim, own) for aim, own in every if own.stop > own.start] or every[:1]

    @property
    def judged(self) -> bool:
        """Whether there are real graphs enough to call a graph typical or not."""
        return all(aim.judged for aim in self.aims)

    def likeness(self, embedding: Tensor) -> Tensor | None:
        """Cosine similarity of embeddings to the means of their targets; None where unknown."""
        mean = self.mean_embedding
        if mean is None:
            return None
        mean = mean.view(-1, *[1] * (embedding.dim() - 2), embedding.size(-1))
        return torch.cosine_similarity(embedding, mean.to(embedding), dim=-1)

    @cached_property
    def _of_rows(self) -> dict[str, Tensor]:
        return {name: self.table[name][self.own] for name in FIGURES}

    max_nodes, max_edges = _of_each("max_nodes"), _of_each("max_edges")
    enough, log_enough = _of_each("enough"), _of_each("log_enough")
    certain, log_certain = _of_each("certain"), _of_each("log_certain")
    least_similarity = _of_each("least_similarity")

    @property
    def mean_embedding(self) -> Tensor | None:
        """Mean of the embeddings of real graphs of each row's target, [B, D]."""
        means = self.table.get("mean_embedding")
        return None if means is None else means[self.own]


def beside(aims: Sequence[Aim], restarts: int, like: Tensor) -> Aim | Aims:
    """Several aims, each for as many restarts; one is left as it is."""
    if len(aims) == 1:
        return aims[0]
    table = {name: like.new_tensor([getattr(aim, name) for aim in aims]) for name in FIGURES}
    means = [aim.mean_embedding for aim in aims]
    if all(mean is not None for mean in means):
        table["mean_embedding"] = torch.stack([mean for mean in means if mean is not None])
    known = [aim.bank for aim in aims]
    banks = [bank for bank in known if isinstance(bank, TypicalityBank)]
    whole = SideBySide.of(banks) if len(banks) == len(known) else None
    return Aims(tuple(aims), (restarts,) * len(aims), table, whole)
