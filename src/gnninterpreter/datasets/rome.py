"""The Rome graphs, on which three of the data sets are built: found, checked and parsed."""

from __future__ import annotations

import tarfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from gnninterpreter.datasets.published import MissingFileError, PublishedFile
from gnninterpreter.errors import DataError

ARCHIVE = "rome-graphml.tgz"
SHA256 = "84de549313c79048d0e8157727f3e71aea6caf859336d1e790099110d55dc592"
URL = "https://www.graphdrawing.org/download/rome-graphml.tgz"
NUM_GRAPHS = 11_534


@dataclass(frozen=True)
class BaseGraph:
    """An undirected graph without features.

    Attributes:
        num_nodes: Number of nodes, which are counted from 0.
        edges: Each edge once, the smaller end first, in increasing order.
    """

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
    """Parse one undirected graph; loops, repeated edges and nodes without edges are dropped.

    Three of the Rome graphs have nodes without edges; without these all graphs are connected.
    """
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
