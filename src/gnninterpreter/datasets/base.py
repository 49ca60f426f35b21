"""The first link of the flow: labeled graphs, cached, reproducible, with a rule that checks them.

Every data set of the package is an `ExplainableDataset`: a PyG `InMemoryDataset` that knows its
`GraphSpec`, draws its graphs from a seed, and can tell the class of any graph by rule.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch_geometric.data import Data, InMemoryDataset

from gnninterpreter.arguments import whole_number
from gnninterpreter.datasets._storage import read_tensors, root_folder, write_tensors
from gnninterpreter.datasets.splits import Split, stratified_split
from gnninterpreter.errors import DataError
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.data import node_count

FIELDS = ("x", "edge_index", "edge_attr", "y")


@dataclass(frozen=True, eq=False)
class StoredGraphs(Sequence[Data]):
    """Graphs as they are stored, side by side; one is made when it is asked for."""

    tensors: Mapping[str, Tensor]
    slices: Mapping[str, Tensor]

    def __len__(self) -> int:
        return len(self.slices["edge_index"]) - 1

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return self.take(range(*place.indices(len(self))))
        place = range(len(self))[place]
        fields = {}
        for key, value in self.tensors.items():
            start, end = self.slices[key][place : place + 2].tolist()
            fields[key] = value.narrow(int(key == "edge_index"), start, end - start)
        return Data(**fields)

    def __iter__(self) -> Iterator[Data]:
        parts = [self.each(key) for key in self.tensors]
        for one in zip(*parts, strict=True):
            yield Data(**dict(zip(self.tensors, one, strict=True)))

    def each(self, key: str) -> Sequence[Tensor]:
        """One field of each graph."""
        sizes = self.slices[key].diff().tolist()
        return torch.split(self.tensors[key], sizes, int(key == "edge_index"))

    def take(self, numbers: Sequence[int]) -> StoredGraphs:
        """Some of the graphs in another order, side by side again."""
        which, tensors, slices = torch.tensor(numbers, dtype=torch.long), {}, {}
        for key, value in self.tensors.items():
            first, sizes = self.slices[key][which], self.slices[key].diff()[which]
            ends = torch.cat([sizes.new_zeros(1), sizes.cumsum(0)])
            rows = torch.arange(int(ends[-1])) + (first - ends[:-1]).repeat_interleave(sizes)
            tensors[key] = value.index_select(int(key == "edge_index"), rows)
            slices[key] = ends
        return StoredGraphs(tensors, slices)


def taken(graphs: Sequence[Data], numbers: Sequence[int]) -> Sequence[Data]:
    """Some of the graphs, in that order; those that are stored stay so."""
    if isinstance(graphs, StoredGraphs):
        return graphs.take(numbers)
    return [graphs[i] for i in numbers]


def fields_of(graphs: Sequence[Data], key: str) -> Sequence[Tensor | None]:
    """One field of each graph, None where it has none; no graph is made for it."""
    if isinstance(graphs, StoredGraphs):
        return graphs.each(key) if key in graphs.tensors else [None] * len(graphs)
    return [graph.get(key) for graph in graphs]


def sizes_of(graphs: Sequence[Data]) -> list[int]:
    """Number of nodes of each graph."""
    if isinstance(graphs, StoredGraphs):
        sizes: list[int] = graphs.slices["x"].diff().tolist()
        return sizes
    return [node_count(graph) for graph in graphs]


class ExplainableDataset(InMemoryDataset):  # type: ignore[misc]
    """Labeled graphs with a spec, a seed and a rule that tells the class.

    The cache file is named after everything the graphs depend on (data set, generator version,
    seed, parameters), repeats it in its header, and is renamed into place when complete: neither a
    stale nor a partial file is ever taken for the data set.

    Args:
        root: Folder for the cache; ``$GNNINTERPRETER_CACHE`` or the user's cache folder if omitted.
        transform: Applied to each graph when it is read.
        seed: The same seed gives the same graphs.
        progress: Whether to show a progress bar while generating.
        force_reload: Generate anew even where a cache file exists.
        download: Whether published files that are nowhere here are downloaded.

    Attributes:
        spec: Feature blocks and class names.
        metadata: What the graphs were made from, as plain JSON values.
        rule_of_thumb: Whether `oracle` only agrees with most of the labels, rather than define the
            classes; what contradicts it is then no proof of a mistake.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    spec: ClassVar[GraphSpec]
    rule_of_thumb: ClassVar[bool] = False
    num_graphs: int | None = None
    """How many graphs `generate` yields, where that is known before."""
    _tensors: dict[str, Tensor]

    def __init__(
        self,
        root: str | Path | None = None,
        transform: Callable[[Data], Data] | None = None,
        *,
        seed: int = 0,
        progress: bool = False,
        force_reload: bool = False,
        download: bool = True,
    ) -> None:
        self.seed = whole_number("seed", seed, 0, error=DataError)
        self.may_download = download
        self.progress = progress
        self.metadata: dict[str, Any] = vars(self).get("metadata", {})
        super().__init__(str(root_folder(root)), transform, log=False, force_reload=force_reload)
        self._adopt(self._tensors)
        del self._tensors

    @abstractmethod
    def generate(self) -> Iterator[Data]:
        """Yield graphs with ``x``, ``edge_index``, ``y`` and maybe ``edge_attr``."""

    @staticmethod
    @abstractmethod
    def oracle(graph: Data) -> int:
        """Return the class of a graph by rule and not by model; see ``rule_of_thumb``."""

    def parameters(self) -> Mapping[str, Any]:
        """Return what the graphs depend on besides the seed, as plain JSON values."""
        return {}

    def is_plain(self) -> bool:
        """Tell whether its graphs are exactly those stored: no transform, no subset."""
        return self.transform is None and self._indices is None and len(self) > 1

    def as_graphs(self) -> StoredGraphs | None:
        """All graphs, many times faster than PyG reads them; None if they are not as stored."""
        if not self.is_plain():
            return None
        return StoredGraphs({key: self._data[key] for key in self.slices}, dict(self.slices))

    def split(self, kind: str = "random", seed: int = 0) -> Split:
        """Split the graphs into 80% training, 10% validation and 10% test, class by class.

        Args:
            kind: ``"random"``; data sets of molecules have others.
            seed: The same seed gives the same split.

        Raises:
            DataError: If there is no such kind.
        """
        if kind != "random":
            raise DataError(f"'{self.name}' has only the split 'random' (got {kind!r})")
        return stratified_split(self.y, seed)

    @property
    def task(self) -> str:
        """``"multilabel"``, ``"regression"``, or nothing where each graph has one class."""
        return self.spec.metadata.get("task", "").partition(",")[0]

    @property
    def class_names(self) -> tuple[str, ...]:
        """Class names, in the order of the labels."""
        return self.spec.class_names

    @property
    def num_classes(self) -> int:
        """Number of classes, whether or not the data holds an example of each."""
        return self.spec.num_classes

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that decides which graphs these are."""
        return {
            "dataset": self.name,
            "version": self.version,
            "seed": self.seed,
            "parameters": dict(self.parameters()),
        }

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the graphs themselves, which a checkpoint keeps of its training data."""
        digest = hashlib.sha256()
        for key in FIELDS:
            if key in self._data:
                digest.update(key.encode())
                digest.update(np.ascontiguousarray(self._data[key].numpy()).tobytes())
                digest.update(np.ascontiguousarray(self.slices[key].numpy()).tobytes())
        return digest.hexdigest()

    @property
    def processed_dir(self) -> str:
        """Folder of the cache files, one for each data set."""
        return str(Path(self.root) / self.name)

    @property
    def processed_file_names(self) -> str:
        """Name of the cache file, which tells apart all that could be in it."""
        digest = hashlib.sha256(json.dumps(self.identity, sort_keys=True).encode()).hexdigest()
        return f"{self.name}-v{self.version}-seed{self.seed}-{digest[:10]}.safetensors"

    def process(self) -> None:
        """Generate the graphs and write the cache file."""
        graphs = []
        for graph in self._tracked(self.generate()):
            y = torch.as_tensor(graph.y)
            graph.y = y.float().reshape(1, -1) if self.task else y.long().reshape(1)
            graphs.append(graph)
        if not graphs:
            raise DataError(f"the data set '{self.name}' came out empty; check its parameters")
        data, slices = self.collate(graphs)
        tensors = {f"data.{key}": data[key] for key in FIELDS if key in data}
        tensors |= {f"slices.{key}": slices[key] for key in FIELDS if key in data}
        header = {"identity": self.identity, "metadata": self.metadata}
        write_tensors(Path(self.processed_paths[0]), tensors, header)
        self._tensors = tensors

    def _process(self) -> None:
        # PyG's own version trusts any file of the right name, prints, and pickles its settings
        # beside the data.
        if not self.force_reload and "_tensors" not in vars(self):
            self._read_cache()
        if "_tensors" not in vars(self):
            self._check_writable()
            self.process()

    def _check_writable(self) -> None:
        probe = Path(self.processed_dir) / f".{self.processed_file_names}.probe"
        try:
            probe.parent.mkdir(parents=True, exist_ok=True)
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise DataError(
                f"cannot write the data set '{self.name}' to {self.processed_dir} "
                f"({error.strerror}); give a folder that can be written as root="
            ) from error

    def _read_cache(self) -> bool:
        """Take the graphs from the cache file, where there is one and it is theirs."""
        path = Path(self.processed_paths[0])
        try:
            tensors, header = read_tensors(path)
        except (OSError, ValueError):
            return False
        if header.get("identity") != json.loads(json.dumps(self.identity)):
            return False
        self.metadata, self._tensors = dict(header.get("metadata", {})), tensors
        return True

    def _adopt(self, tensors: Mapping[str, Tensor]) -> None:
        keys = [key for key in FIELDS if f"data.{key}" in tensors]
        self._data = Data(**{key: tensors[f"data.{key}"] for key in keys})
        self.slices = {key: tensors[f"slices.{key}"] for key in keys}
        self._data.num_nodes = int(self.slices["x"][-1])
        self._data_list = None
        self.metadata |= {**self.identity, "graphs": len(self.slices["y"]) - 1}

    def _tracked(self, graphs: Iterator[Data]) -> Iterator[Data]:
        if not self.progress:
            return graphs
        from rich.progress import track

        title = f"Generating {self.name}"
        return iter(track(graphs, description=title, total=self.num_graphs))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)}, seed={self.seed})"


class DrawnDataset(ExplainableDataset):
    """A data set whose graphs are drawn one by one, each from a random stream of its own."""

    num_graphs: int
    default_graphs: ClassVar[int]
    fewest_graphs: ClassVar[int] = 1

    def __init__(self, *args: Any, num_graphs: int | None = None, **options: Any) -> None:
        count = self.default_graphs if num_graphs is None else num_graphs
        self.num_graphs = whole_number("num_graphs", count, self.fewest_graphs, error=DataError)
        super().__init__(*args, **options)

    @abstractmethod
    def draw(self, index: int, rng: np.random.Generator) -> Data:
        """Return the labeled graph with this number."""

    def generate(self) -> Iterator[Data]:
        """Yield the graphs; each has its own random stream."""
        for index in range(self.num_graphs):
            yield self.draw(index, np.random.default_rng([self.seed, index]))

    def parameters(self) -> Mapping[str, Any]:
        """Return the number of graphs."""
        return {"num_graphs": self.num_graphs}


def undirected_graph(
    num_nodes: int,
    edges: np.ndarray[Any, Any] | Sequence[tuple[int, int]],
    label: int,
    *,
    x: Tensor | None = None,
    edge_attr: Tensor | None = None,
) -> Data:
    """Return a graph with each edge as given, and then each reversed; ``x`` is ones if omitted."""
    pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    forth = torch.from_numpy(np.ascontiguousarray(pairs.T))
    data = Data(
        x=torch.ones(num_nodes, 1) if x is None else x,
        edge_index=torch.cat([forth, forth.flip(0)], dim=1),
        y=torch.tensor([label]),
    )
    if edge_attr is not None:
        data.edge_attr = torch.cat([edge_attr, edge_attr])
    return data


def summarize(dataset: ExplainableDataset, *, oracle_graphs: int | None = None) -> dict[str, Any]:
    """Count what a table of data sets shows, as plain JSON values.

    The oracle is asked about ``oracle_graphs``, all when omitted; an undirected edge counts
    once.
    """
    nodes = dataset.slices["x"].diff().double().mean()
    edges = dataset.slices["edge_index"].diff().double().mean()
    asked = len(dataset) if oracle_graphs is None else min(oracle_graphs, len(dataset))
    asked = asked if dataset.oracle is not None else 0
    graphs = (dataset[index] for index in range(asked))
    agreeing = sum(dataset.oracle(graph) == int(graph.y) for graph in graphs)
    if not dataset.task:
        counts = dataset.y.bincount(minlength=dataset.num_classes).tolist()
    else:
        counts = (dataset.y == 1 if dataset.task == "multilabel" else ~dataset.y.isnan()).sum(0)
        counts = counts.tolist()
    return {
        "name": dataset.name,
        "graphs": len(dataset),
        "mean_nodes": float(nodes),
        "mean_edges": float(edges) / dataset.spec.ways,
        "classes": dict(zip(dataset.class_names, counts, strict=True)),
        "node_features": [name for block in dataset.spec.nodes for name in block.names],
        "edge_features": [name for block in dataset.spec.edges for name in block.names],
        "oracle_agreement": agreeing / asked if asked else None,
        "metadata": dict(dataset.metadata),
    }
