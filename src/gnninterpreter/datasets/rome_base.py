"""What the three data sets on the Rome graphs share: where their base graphs come from."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.datasets._storage import root_folder
from gnninterpreter.datasets.base import ExplainableDataset
from gnninterpreter.datasets.published import MissingFileError
from gnninterpreter.datasets.rome import (
    NUM_GRAPHS,
    SHA256,
    BaseGraph,
    find_archive,
    read_archive,
    synthetic_graph,
)
from gnninterpreter.errors import DataError

BASES = ("auto", "rome", "synthetic")

logger = logging.getLogger(__name__)


class RomeDataset(ExplainableDataset):
    """A data set made from base graphs, each decorated and labeled on its own.

    Args:
        root: Folder for the cache, also looked in for the Rome archive.
        transform: Applied to each graph when it is read.
        base: ``"rome"``, ``"synthetic"`` (graphs with Rome's sizes and densities), or ``"auto"``:
            Rome where it can be had, synthetic otherwise. What was used is logged in one line and
            kept in ``metadata["base"]``.
        num_graphs: How many base graphs to use, drawn at random; all 11,534 when omitted.
        **options: ``seed``, ``progress`` and ``force_reload``.
    """

    num_graphs: int

    def __init__(
        self,
        root: str | Path | None = None,
        transform: Callable[[Data], Data] | None = None,
        *,
        base: str = "auto",
        num_graphs: int | None = None,
        **options: Any,
    ) -> None:
        one_of("base", base, BASES, DataError)
        self.seed = options.get("seed", 0)
        count = NUM_GRAPHS if num_graphs is None else num_graphs
        self.num_graphs = whole_number("num_graphs", count, 1, NUM_GRAPHS, error=DataError)
        self.root = str(root_folder(root))
        self.base = "rome" if base == "auto" else base
        self._archive: Path | None = None
        if base == "auto" and (options.get("force_reload") or self._read_cache() is None):
            self._choose_base()
        super().__init__(root, transform, **options)

    @abstractmethod
    def decorate(self, base: BaseGraph, rng: np.random.Generator) -> Data:
        """Return a labeled graph made from a base graph."""

    def parameters(self) -> Mapping[str, Any]:
        """Return which base graphs were used, and how many."""
        source = {"archive": SHA256[:16]} if self.base == "rome" else {}
        return {"base": self.base, "num_graphs": self.num_graphs, **source}

    def generate(self) -> Iterator[Data]:
        """Yield the decorated graphs; each has its own random stream."""
        self.metadata["base"] = self.base
        for index, base in enumerate(self._base_graphs()):
            yield self.decorate(base, np.random.default_rng([self.seed, index]))

    def _choose_base(self) -> None:
        try:
            self._archive = find_archive(Path(self.root))
            logger.info("%s: built on the Rome graphs of %s", self.name, self._archive)
        except MissingFileError as error:
            self.base = "synthetic"
            logger.warning("%s: built on synthetic graphs, since %s", self.name, error)

    def _base_graphs(self) -> Sequence[BaseGraph] | Iterator[BaseGraph]:
        if self.base == "synthetic":
            # A stream of their own, so that graph i has the same base in every data set.
            return (
                synthetic_graph(np.random.default_rng([self.seed, index, 1]))
                for index in range(self.num_graphs)
            )
        graphs = read_archive(self._archive or find_archive(Path(self.root)))
        if self.num_graphs < len(graphs):
            rng = np.random.default_rng(self.seed)
            chosen = np.sort(rng.choice(len(graphs), self.num_graphs, replace=False))
            graphs = [graphs[index] for index in chosen]
        return graphs
