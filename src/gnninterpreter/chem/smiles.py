"""SMILES in: one molecule, or a table of them with labels.

What RDKit refuses is told with its row and the reason, and the rest goes on.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.arguments import path_of, several
from gnninterpreter.chem.elements import SYMBOLS, Atom
from gnninterpreter.chem.featurising import graph_of
from gnninterpreter.chem.molecules import problem_of, rdkit_chem
from gnninterpreter.chem.presets import Preset, preset
from gnninterpreter.chem.reading import Reading, reading_of
from gnninterpreter.chem.recognition import preset_spec
from gnninterpreter.errors import DataError
from gnninterpreter.files import MOST_BYTES, read_file
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.spec import Block, Derived, GraphList, GraphSpec

LARGEST = 1e18
"""A label beyond this is none."""
LONGEST = 2000
"""Characters of a SMILES that are read; longer ones are no drugs."""
MOST_TOLD = 5
MISSING = ("nan", "-nan", "+nan", "na", "n/a", "#n/a", "null")
"""What tables write for a label that is not there, in any case."""


def parse_smiles(smiles: str) -> Any:
    """An RDKit molecule."""
    Chem = rdkit_chem("reading SMILES")
    from rdkit import rdBase

    text = str(smiles).strip()
    if not text or len(text) > LONGEST:
        raise DataError("the SMILES is empty" if not text else "the SMILES is too long")
    # Older ones can only be silenced.
    with getattr(rdBase, "CaptureErrorLog", rdBase.BlockLogs)() as log:
        molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None:
        told = str(getattr(log, "messages", ""))
        said = re.search(r"Parse Error: (.+?)(?: while| for|$)", told, re.M)
        why = f": {said[1]}" if said else ""
        raise DataError(f"{text[:60]!r} is not written as SMILES are{why}")
    with rdBase.BlockLogs():
        wrong = problem_of(molecule)
        if wrong:
            raise DataError(f"{text[:60]!r} is no molecule: {wrong}")
        return Chem.MolFromSmiles(text)


def from_smiles(
    smiles: str, features: GraphSpec | Preset | str, *, hydrogens: bool | None = None
) -> Data:
    """A molecule as a graph.

    Args:
        smiles: The molecule; one in several parts stays in several parts.
        features: The spec of the graphs, or the featuriser that makes them (``"pyg"``, ``"ogb"``).
        hydrogens: Whether hydrogens become nodes; where the spec has such nodes when omitted.

    Example:
        >>> from_smiles("CCO", "pyg").x[:, 0].tolist()
        [6, 6, 8]

    Raises:
        DataError: If RDKit refuses it, or the spec has no such atoms or bonds.
        MissingExtraError: If RDKit is not installed.
    """
    molecule = parse_smiles(smiles)
    if not isinstance(features, GraphSpec):
        return graph_of(molecule, preset(features))
    reading = reading_of(features)
    if reading is None:
        raise DataError("SMILES need a spec whose nodes are named after elements")
    Chem = rdkit_chem()
    if hydrogens is None:
        hydrogens = reading.hydrogens and not reading.exact
    if hydrogens:
        molecule = Chem.AddHs(molecule)
    if "aromatic" not in reading.kinds:
        Chem.Kekulize(molecule, clearAromaticFlags=True)
    nodes = [_node(atom, reading, features) for atom in molecule.GetAtoms()]
    edges: list[list[Any]] = []
    for bond in molecule.GetBonds():
        ends = [bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()]
        edges.append([*ends, _bond(bond, reading, features)] if features.edges else ends)
    return graph_from_json({"nodes": nodes, "edges": edges}, features)


@dataclass(frozen=True)
class Refused:
    """A row that was left out: its number in the file (the header is row 1), and why."""

    row: int
    smiles: str
    reason: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.reason}"


@dataclass(frozen=True)
class SmilesTable:
    """Molecules read from a table; ``parted`` of them are in several parts, and stay so."""

    graphs: GraphList
    refused: tuple[Refused, ...] = ()
    parted: int = 0

    @property
    def lines(self) -> list[str]:
        """What is to be said about the reading."""
        said = [f"{len(self.graphs):,} molecules read"]
        if self.refused:
            said.append(f"{len(self.refused):,} rows left out")
            said += [f"  {one}" for one in self.refused[:MOST_TOLD]]
            if len(self.refused) > MOST_TOLD:
                said.append(f"  and {len(self.refused) - MOST_TOLD:,} more")
        if self.parted:
            said.append(f"{self.parted:,} molecules are in several parts, and stay so")
        return said


def read_smiles(
    path: str | Path,
    labels: str | Sequence[str],
    features: GraphSpec | Preset | str = "pyg",
    *,
    column: str | None = None,
) -> SmilesTable:
    """Read a table (CSV, also gzipped) of SMILES and labels.

    Args:
        path: The file; its first row names the columns.
        labels: The column of the label; several for a model with several labels, of which some may
            be missing. Words become classes in alphabetical order.
        features: The spec of the graphs, or the featuriser that makes them.
        column: The column of the SMILES; the one called so when omitted.

    Raises:
        DataError: If the file, a column or every label is missing, or no molecule can be read.
    """
    path = path_of("path", path, DataError)
    wanted = [labels] if isinstance(labels, str) else several("labels", labels, "columns")
    if not wanted:
        raise DataError("labels must name at least one column (got none)")
    rows = _rows(path)
    smiles = _column(rows[0], "smiles" if column is None else column, path)
    names = [_column(rows[0], name, path) for name in wanted]
    kept: list[tuple[int, Data, list[str]]] = []
    refused: list[Refused] = []
    parted = 0
    for number, row in enumerate(rows, start=2):
        written = [" ".join((row[name] or "").split()) for name in names]
        written = ["" if cell.lower() in MISSING else cell for cell in written]
        text = (row[smiles] or "").strip()
        try:
            if not any(written):
                raise DataError("no label")
            kept.append((number, from_smiles(text, features), written))
            kept[-1][1].smiles = text
            parted += "." in text
        except DataError as error:
            refused.append(Refused(number, text, str(error)))
    if not kept:
        if all(one.reason == "no label" for one in refused):
            raise DataError(f"every label in {', '.join(names)} of {path} is missing")
        raise DataError(f"no molecule in {path} can be read; {refused[0]}")
    values, classes = _labels([written for *_, written in kept], names, path)
    graphs = GraphList(graph for _, graph, _ in kept)
    for graph, value in zip(graphs, values, strict=True):
        graph.y = value
    graphs.name = path.name.split(".")[0]
    graphs.class_names = classes or None
    if not isinstance(features, GraphSpec):
        graphs.spec = preset_spec(features, graphs, classes)
    else:
        graphs.spec = features
    return SmilesTable(graphs, tuple(refused), parted)


def _rows(path: Path) -> list[dict[str, str]]:
    try:
        content = read_file(path, MOST_BYTES)
        if path.suffix == ".gz":
            content = gzip.GzipFile(fileobj=io.BytesIO(content)).read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise ValueError(f"unpacked it has more than {MOST_BYTES:,} bytes")
        text = io.StringIO(content.decode("utf-8-sig").lstrip(), newline="")
        rows = list(csv.DictReader(text))
    except (OSError, EOFError, ValueError, csv.Error, zlib.error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"cannot read the table {path} ({why})") from error
    if not rows:
        raise DataError(f"the table {path} has no rows below its first, which names the columns")
    return rows


def _column(row: Mapping[str, str], name: Any, path: str | Path) -> str:
    if not isinstance(name, str):
        raise DataError(f"the name of a column must be text (got {name!r:.60})")
    if name in row:
        return name
    alike = [key for key in row if key is not None and key.lower() == name.lower()]
    if len(alike) == 1:
        return alike[0]
    known = ", ".join([key for key in row if key is not None][:20])
    raise DataError(f"{path} has no column {name!r:.60}; it has {known}")


def _labels(
    rows: list[list[str]], names: list[str], path: str | Path
) -> tuple[list[Tensor], tuple[str, ...]]:
    """The labels as tensors, and the names of classes where there are some."""
    try:
        numbers = [[float(cell) if cell else float("nan") for cell in row] for row in rows]
    except ValueError:
        if len(names) > 1:
            raise DataError(f"labels in {', '.join(names)} of {path} must be numbers") from None
        words = sorted({row[0] for row in rows})
        return [torch.tensor([words.index(row[0])]) for row in rows], tuple(words)
    if any(abs(cell) > LARGEST for row in numbers for cell in row):
        raise DataError(
            f"labels in {', '.join(names)} of {path} must be numbers between {-LARGEST:.0e} and "
            f"{LARGEST:.0e}"
        )
    if len(names) > 1:
        return [torch.tensor([row]) for row in numbers], tuple(names)
    whole = all(row[0] == round(row[0]) and row[0] >= 0 for row in numbers)
    return [torch.tensor([int(row[0])] if whole else row) for row in numbers], ()


def _node(atom: Any, reading: Reading, spec: GraphSpec) -> list[Any]:
    """The entry of an atom in JSON, one value for each block."""
    wanted = Atom(atom.GetSymbol(), atom.GetFormalCharge())
    known: dict[int, Any] = {reading.atom: _category(wanted, reading)}
    for column, word, value in (
        (reading.aromatic, "aromatic", int(atom.GetIsAromatic())),
        (reading.charge, "charge", wanted.charge),
    ):
        if column is None:
            continue
        if column.values is not None and value not in column.values:
            raise DataError(f"there is no {word} of {value} in the spec")
        block = spec.nodes[column.place]
        if column.values is None and getattr(block, "dim", 1) > 1:
            raise DataError(f"SMILES do not say what all of '{block.name}' of an atom is")
        told = [float(value)] if column.values is None else column.values.index(value)
        known[column.place] = told
    return _entry(spec.nodes, known, "an atom")


def _entry(blocks: Sequence[Block], known: Mapping[int, Any], of: str) -> list[Any]:
    """What is known by place; nothing for what is computed or constant."""
    for place, block in enumerate(blocks):
        free = not isinstance(block, Derived) and not getattr(block, "constant", False)
        if free and place not in known:
            raise DataError(f"SMILES do not say what '{block.name}' of {of} is")
    return [known.get(place) for place in range(len(blocks))]


def _category(wanted: Atom, reading: Reading) -> int:
    """The category of an atom; its charge counts where the names say charges."""
    apart = reading.charge is not None or not reading.charged
    for place, atom in enumerate(reading.atoms):
        if atom is None or atom.symbol != wanted.symbol or atom.hydrogens is not None:
            continue
        if apart or atom.charge == wanted.charge:
            return place
    name = wanted.symbol if apart else str(wanted)
    known = [str(atom) for atom in reading.atoms if atom is not None]
    listed = ", ".join(known[:20]) if len(known) < len(SYMBOLS) else "the elements"
    raise DataError(f"there is no atom {name} in the spec, which has {listed}")


def _bond(bond: Any, reading: Reading, spec: GraphSpec) -> list[Any]:
    kind, known = str(bond.GetBondType()).lower(), {}
    if reading.bond is not None:
        if kind not in reading.kinds:
            raise DataError(f"there is no {kind} bond in the spec")
        known[reading.bond] = reading.kinds.index(kind)
    return _entry(spec.edges, known, "a bond")
