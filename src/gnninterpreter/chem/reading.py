"""Which graphs are molecules, by their spec alone: where elements, charges and bonds are written.

Nothing here needs RDKit. The objective counts bonds by it, `chem.molecules` builds atoms by it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.elements import Atom, parse_atom
from gnninterpreter.graphs import node_rows
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from gnninterpreter.spec.encoding import codes

ORDERS = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.5}
"""Bonds that are understood, and what each takes of an atom's valence."""
KINDS: tuple[str | None, ...] = (*ORDERS, None)
"""The same by number; the last is of no known kind."""

LENT = {"N": 1, "O": 1, "B": -1}
"""Elements that lend themselves to a charge where there is a bond too many."""
FUNCTION = "molecule"
"""Name of what computes molecular columns, as stored specs keep it."""

_KINDS = {
    "1": "single", "-": "single", "2": "double", "=": "double", "3": "triple", "#": "triple",
    "1.5": "aromatic", "4": "aromatic", ":": "aromatic",
}  # fmt: skip
_OTHER = ("other", "unknown", "misc", "none", "*", "?", "")
_TRUE = ("true", "yes", "1", "aromatic")


@dataclass(frozen=True)
class Column:
    """Where a property is written: what a block's categories say, or a number at ``offset``."""

    place: int
    values: tuple[int, ...] | None = None
    offset: int = 0


@dataclass(frozen=True)
class Reading:
    """How the graphs of a spec are read as molecules.

    ``atom`` and ``bond`` are the blocks that name them, ``atoms`` and ``kinds`` what their
    categories are, None for "other". Charges and aromatic atoms may be written besides. ``seen``
    are the atoms that occur in the data, by name; empty where all may. ``exact``: columns are
    computed by RDKit, so that it has to read the same bonds.
    """

    atom: int
    atoms: tuple[Atom | None, ...]
    bond: int | None = None
    kinds: tuple[str | None, ...] = ()
    charge: Column | None = None
    aromatic: Column | None = None
    seen: frozenset[str] = frozenset()
    exact: bool = False

    @property
    def charged(self) -> bool:
        """Whether the data says charges at all; where not, they are guessed."""
        return self.charge is not None or any(atom and atom.charge for atom in self.atoms)

    def lends(self, symbol: str) -> bool:
        """Whether an element may have the charge it lends itself to, though the data says none.

        Kinds of bonds tell that it has one too many; without them the data has to hold it.
        """
        lent = LENT.get(symbol, 0)
        if self.charged or not lent:
            return False
        return self.bond is not None or str(Atom(symbol, lent)) in self.seen

    @property
    def charges(self) -> tuple[int, ...]:
        """Charges that atoms may have besides those in their names."""
        if self.charge is None:
            return (0,)
        return (-2, -1, 0, 1, 2, 3) if self.charge.values is None else self.charge.values

    def charged_atom(self, element: int, charge: int) -> Atom | None:
        """The atom of a category of elements and one of the charges, by its place among them."""
        return self.with_charge(element, self.charges[charge])

    def with_charge(self, element: int, charge: int) -> Atom | None:
        """The atom of a category of elements with a charge, unless its name says one."""
        return _with_charge(self.atoms[element], charge)

    @property
    def hydrogens(self) -> bool:
        """Whether hydrogens may be nodes of their own."""
        return any(atom is not None and atom.symbol == "H" for atom in self.atoms)

    def atoms_of(self, graph: Data, spec: GraphSpec) -> list[Atom | None]:
        """The atom at each node, with its charge."""
        return [self.with_charge(*both) for both in self.atom_cells(graph, spec).tolist()]

    def atom_cells(self, graph: Data, spec: GraphSpec) -> Tensor:
        """The category of the element and the charge at each node, [nodes, 2]."""
        cells = codes(node_rows(graph), spec.nodes)
        elements = cells[self.atom].long()
        charges = torch.zeros_like(elements) if self.charge is None else _read(self.charge, cells)
        return torch.stack([elements, charges.round().long()], dim=1)

    def bonds_of(self, graph: Data, spec: GraphSpec) -> dict[tuple[int, int], str | None]:
        """The kind of each bond, by its two nodes, the lesser first."""
        return {(i, j): KINDS[kind] for i, j, kind in self.bond_cells(graph, spec).tolist()}

    def bond_cells(self, graph: Data, spec: GraphSpec) -> Tensor:
        """The two nodes of each bond, the lesser first, and the number of its kind, [bonds, 3]."""
        i, j = graph.edge_index
        kinds = torch.full_like(i, KINDS.index("single"))
        if self.bond is not None and graph.get("edge_attr") is not None:
            numbers = [KINDS.index(kind) for kind in self.kinds]
            place = codes(graph.edge_attr, spec.edges)[self.bond]
            kinds = torch.tensor(numbers, device=i.device)[place.long()]
        elif self.aromatic is not None:
            flags = _read(self.aromatic, codes(node_rows(graph), spec.nodes)) > 0.5
            kinds = torch.where(flags[i] & flags[j], KINDS.index("aromatic"), kinds)
        return torch.stack([i, j, kinds], dim=1)[i < j]


def atom_block(block: Any) -> bool:
    """Whether a block names elements: carbon and others, and perhaps a word for the rest."""
    if not isinstance(block, Categorical):
        return False
    names = [name for name in block.names if name.strip().lower() not in _OTHER]
    found = [parse_atom(name) for name in names]
    return all(found) and len(found) > 1 and any(a and a.symbol == "C" for a in found)


def is_molecular(spec: GraphSpec) -> bool:
    """Whether the graphs of a spec are molecules: a block of the nodes names elements."""
    return reading_of(spec) is not None


@lru_cache(maxsize=64)
def reading_of(spec: GraphSpec) -> Reading | None:
    """How the graphs of a spec are read as molecules; None where they are none.

    Example:
        >>> spec = GraphSpec(nodes=(Categorical(3, ("C", "N+", "O-")),))
        >>> reading_of(spec).charged
        True
    """
    place = next((i for i, block in enumerate(spec.nodes) if atom_block(block)), None)
    if place is None or spec.directed:
        return None
    block = spec.nodes[place]
    assert isinstance(block, Categorical)
    bond, kinds = _bonds(spec.edges)
    return Reading(
        atom=place,
        atoms=tuple(parse_atom(name) for name in block.names),
        bond=bond,
        kinds=kinds,
        charge=_column(spec.nodes, "charge", _number),
        aromatic=_column(spec.nodes, "aromatic", lambda name: int(name.lower() in _TRUE)),
        seen=frozenset(spec.metadata.get("atoms", "").split()),
        exact=bond is not None and any(block.function == FUNCTION for block in spec.derived),
    )


def _with_charge(atom: Atom | None, charge: int) -> Atom | None:
    """An atom with a charge, unless its name says one."""
    return atom if atom is None or atom.charge else Atom(atom.symbol, charge, atom.hydrogens)


def _read(column: Column, cells: list[Tensor]) -> Tensor:
    cell = cells[column.place]
    if column.values is None:
        return cell[:, column.offset]
    return torch.tensor(column.values, device=cell.device)[cell.long()]


def _column(blocks: Sequence[Any], word: str, read: Any) -> Column | None:
    """The block or the number whose name holds a word."""
    for place, block in enumerate(blocks):
        if isinstance(block, Categorical) and word in block.name.lower():
            values = [read(name) for name in block.names]
            if all(value is not None for value in values):
                return Column(place, tuple(values))
        elif isinstance(block, Continuous):
            for offset, name in enumerate(block.names):
                if word in name.lower() and "partial" not in name.lower():
                    return Column(place, None, offset)
    return None


def _number(name: str) -> int | None:
    """A charge; a word for all others counts as none."""
    if name.strip().lower() in _OTHER:
        return 0
    return int(float(name)) if re.fullmatch(r"\s*[+-]?\d+(\.0)?\s*", name) else None


def _bonds(blocks: Sequence[Any]) -> tuple[int | None, tuple[str | None, ...]]:
    """The edge block that names bonds: single at least, and another kind or only that."""
    for place, block in enumerate(blocks):
        if isinstance(block, Categorical):
            names = [name.strip().lower() for name in block.names]
            if "0" in names:  # numbers of categories, which are no orders
                continue
            kinds = tuple(_KINDS.get(name, name if name in ORDERS else None) for name in names)
            if "single" in kinds:
                return place, kinds
    return None, ()
