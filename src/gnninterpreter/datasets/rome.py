"""The Rome graphs, stand-ins for them, and what the three data sets on them share."""

from __future__ import annotations

import logging
import tarfile
import zlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.arguments import one_of, whole_number
from gnninterpreter.datasets._storage import root_folder
from gnninterpreter.datasets.base import ExplainableDataset
from gnninterpreter.datasets.published import MissingFileError, PublishedFile
from gnninterpreter.errors import DataError

ARCHIVE = "rome-graphml.tgz"
SHA256 = "84de549313c79048d0e8157727f3e71aea6caf859336d1e790099110d55dc592"
URL = "https://www.graphdrawing.org/download/rome-graphml.tgz"
NUM_GRAPHS = 11_534
BASES = ("auto", "rome", "synthetic")

# Measured on the 11,534 Rome graphs: numbers of nodes at every twentieth quantile, ...
SIZE_QUANTILES = (
    10, 14, 17, 22, 29, 35, 37, 39, 40, 43, 47, 53, 58, 62, 68, 74, 79, 86, 92, 96, 100
)  # fmt: skip
# ... and mean and standard deviation of edges per node for graphs of these sizes.
DENSITY_SIZES = (14, 24, 35, 44, 55, 64, 75, 84, 95)
DENSITY_MEANS = (1.183, 1.202, 1.259, 1.317, 1.331, 1.340, 1.337, 1.350, 1.352)
DENSITY_STDS = (0.185, 0.139, 0.114, 0.114, 0.104, 0.100, 0.084, 0.082, 0.077)

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BaseGraph:
    """An undirected graph without features: each edge once, the smaller end first, in order."""

    num_nodes: int
    edges: tuple[tuple[int, int], ...]


def find_archive(root: Path, *, download: bool = True) -> Path:
    """Find an archive of the Rome graphs whose hash is right, downloading it where allowed."""
    try:
        return PublishedFile((ARCHIVE,), URL, SHA256).find(root, download=download)
    except MissingFileError as error:
        raise MissingFileError(f"{error}, or use base='synthetic'") from error


def read_archive(path: Path) -> list[BaseGraph]:
    """Parse every graph of an archive, in the order of their names."""
    try:
        found = sorted(_members(path))
    except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
        raise DataError(
            f"{path} is truncated or not a .tgz archive ({error}); delete it and fetch it again"
        ) from error
    if not found:
        raise DataError(f"{path} holds no rome/grafo*.graphml files; fetch it again from {URL}")
    return [parse_graphml(text, name) for _, name, text in found]


def parse_graphml(text: bytes, name: str) -> BaseGraph:
    """Parse one undirected graph; loops, repeated edges and nodes without edges are dropped."""
    try:
        document = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise DataError(f"{name} is not GraphML: {error}") from error
    # Some writers put every tag into GraphML's namespace, others do not.
    graph = next((part for part in document.iter() if _tag(part) == "graph"), None)
    if _tag(document) != "graphml" or graph is None:
        raise DataError(f"{name} is not a GraphML graph: its first tag is <{_tag(document)}>")
    numbers: dict[str | None, int] = {}
    pairs: list[tuple[str | None, str | None]] = []
    for part in graph:
        if part.tag.endswith("node"):
            numbers[part.get("id")] = len(numbers)
        elif part.tag.endswith("edge"):
            pairs.append((part.get("source"), part.get("target")))
    try:
        ends = [(numbers[source], numbers[target]) for source, target in pairs]
    except KeyError as error:
        raise DataError(f"{name} has an edge to a node it does not list, {error}") from error
    touched = sorted({node for pair in ends if pair[0] != pair[1] for node in pair})
    order = {node: index for index, node in enumerate(touched)}
    edges = {(order[min(pair)], order[max(pair)]) for pair in ends if pair[0] != pair[1]}
    return BaseGraph(len(touched), tuple(sorted(edges)))


def synthetic_graph(rng: np.random.Generator) -> BaseGraph:
    """Draw a connected graph: a random recursive tree with random edges on top."""
    levels = np.linspace(0.0, 1.0, len(SIZE_QUANTILES))
    size = round(float(np.interp(rng.random(), levels, SIZE_QUANTILES)))
    mean = float(np.interp(size, DENSITY_SIZES, DENSITY_MEANS))
    std = float(np.interp(size, DENSITY_SIZES, DENSITY_STDS))
    count = max(size - 1, round(size * float(rng.normal(mean, std))))
    order = rng.permutation(size).tolist()
    parents = (rng.random(size - 1) * np.arange(1, size)).astype(int).tolist()
    edges = {_pair(order[i + 1], order[parent]) for i, parent in enumerate(parents)}
    while len(edges) < count:
        for i, j in rng.integers(size, size=(count - len(edges), 2)).tolist():
            if i != j:
                edges.add(_pair(i, j))
    return BaseGraph(size, tuple(sorted(edges)))


def _pair(i: int, j: int) -> tuple[int, int]:
    return (min(i, j), max(i, j))


def _members(path: Path) -> Iterator[tuple[int, str, bytes]]:
    """Yield number, name and text of the graphs, reading the archive once from front to back."""
    with tarfile.open(path, mode="r|gz") as archive:
        for member in archive:
            name = Path(member.name).name
            if not (member.isfile() and name.startswith("grafo") and name.endswith(".graphml")):
                continue
            stream = archive.extractfile(member)
            number = name.removeprefix("grafo").split(".")[0]
            if stream is not None:
                yield int(number) if number.isdigit() else 0, name, stream.read()


def _tag(element: ElementTree.Element) -> str:
    return element.tag.rsplit("}", 1)[-1]


class RomeDataset(ExplainableDataset):
    """A data set made from base graphs, each decorated and labeled on its own.

    ``base`` is ``"rome"``, ``"synthetic"`` (graphs with Rome's sizes and densities), or ``"auto"``:
    Rome where it can be had, synthetic otherwise. What was used is logged in one line and kept in
    ``metadata["base"]``. Of the 11,534 base graphs ``num_graphs`` are drawn at random.
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
        self.seed = whole_number("seed", options.get("seed", 0), 0, error=DataError)
        count = NUM_GRAPHS if num_graphs is None else num_graphs
        self.num_graphs = whole_number("num_graphs", count, 1, NUM_GRAPHS, error=DataError)
        self.root = str(root_folder(root))
        self.base = "rome" if base == "auto" else base
        self.may_download = options.get("download", True)
        self._archive: Path | None = None
        if base == "auto" and (options.get("force_reload") or not self._read_cache()):
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
            self._archive = find_archive(Path(self.root), download=self.may_download)
            logger.info("%s: built on the Rome graphs of %s", self.name, self._archive)
        except MissingFileError as error:
            if not self.may_download:
                raise  # They could be had, so that nothing may stand in for them.
            self.base = "synthetic"
            logger.warning("%s: built on synthetic graphs, since %s", self.name, error)

    def _base_graphs(self) -> Sequence[BaseGraph] | Iterator[BaseGraph]:
        if self.base == "synthetic":
            # A stream of their own, so that graph i has the same base in every data set.
            return (
                synthetic_graph(np.random.default_rng([self.seed, index, 1]))
                for index in range(self.num_graphs)
            )
        found = self._archive or find_archive(Path(self.root), download=self.may_download)
        graphs = read_archive(found)
        if self.num_graphs < len(graphs):
            rng = np.random.default_rng(self.seed)
            chosen = np.sort(rng.choice(len(graphs), self.num_graphs, replace=False))
            graphs = [graphs[index] for index in chosen]
        return graphs
