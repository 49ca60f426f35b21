"""Valence: no atom has more bonds than chemistry allows. Other graphs are left alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.chem.elements import most_bonds
from gnninterpreter.chem.molecules import LENT, possible
from gnninterpreter.chem.reading import Reading, reading_of
from gnninterpreter.graphs import DenseGraphs, split_blocks
from gnninterpreter.objective.base import Proposals, Term
from gnninterpreter.spec import GraphSpec

__all__ = ["Valence"]

# What an atom with too many bonds counts for at all, and what each bond too many adds.
BROKEN, EACH = 0.2, 0.05
UNLIMITED = 1000.0


@dataclass(frozen=True)
class Valence(Term):
    r"""The bonds that atoms have too many, :math:`\sum_i \max(0, \sum_j a_{ij} o_{ij} - v_i)`.

    Not in the paper. :math:`o_{ij}` is the order of a bond, :math:`v_i` what the element at node i
    allows with its charge; where the data says no charges, what it allows with the one that it
    lends itself to. Aromatic rings, which no sum decides, are looked at one by one, by RDKit where
    it is installed. Takes no part where the nodes are not named after elements.
    """

    smooth: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """Name in histories and reports."""
        return "valence"

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """How many bonds too many, [B]."""
        graphs = proposals.graphs
        reading = reading_of(graphs.spec)
        if reading is None:
            return None
        excess = _excess(graphs, reading).sum(dim=1)
        broken = excess.gt(1e-4)
        if "aromatic" in reading.kinds and not graphs.weight.requires_grad:
            broken = broken | _impossible(graphs, reading, ~broken)
        return EACH * excess * excess.gt(1e-4) + BROKEN * broken

    def feasible(self, proposals: Proposals) -> Tensor | None:
        """Whether chemistry allows it, [B]."""
        cost = self.discrete(proposals)
        return None if cost is None else cost <= 0


def _excess(graphs: DenseGraphs, reading: Reading) -> Tensor:
    """Bonds that each node has too many, [B, N]."""
    elements = split_blocks(graphs.nodes, graphs.spec.nodes)[reading.atom]
    limits, odd = (part.to(elements) for part in _tables(graphs.spec))
    charge = _charges(graphs, reading, elements)
    most = torch.einsum("bne,bnq,eq->bn", elements, charge, limits)
    unknown = elements @ odd[0, : elements.size(-1)]
    if reading.bond is None or graphs.edges is None:
        used, strange = graphs.weight.sum(dim=2), 0.0
    else:
        kinds = split_blocks(graphs.edges, graphs.spec.edges)[reading.bond]
        order, misfit = odd[1, : kinds.size(-1)], odd[2, : kinds.size(-1)]
        used = (graphs.weight * (kinds @ order)).sum(dim=2)
        strange = (graphs.weight * (kinds @ misfit)).sum(dim=2)
        # An aromatic bond counts once, and a carbon of a ring has one double bond besides.
        ringed = (graphs.weight * (kinds @ odd[3, : kinds.size(-1)])).amax(dim=2)
        used = used + ringed * (elements @ odd[4, : elements.size(-1)])
    used = used + (elements @ odd[5, : elements.size(-1)]) * (used > 0)
    present = graphs.weight.amax(dim=2)
    return (used - most).clamp_min(0) + unknown * present + strange


def _charges(graphs: DenseGraphs, reading: Reading, elements: Tensor) -> Tensor:
    """How far each node has each of the charges that may be, [B, N, Q]."""
    column = reading.charge
    if column is None:
        return elements.new_ones(*elements.shape[:2], 1)
    values = split_blocks(graphs.nodes, graphs.spec.nodes)[column.place]
    if column.values is not None:
        return values
    known = torch.tensor(reading.charges).to(elements)
    nearest = (values[..., column.offset, None].detach() - known).abs().argmin(-1)
    return torch.nn.functional.one_hot(nearest, len(known)).to(elements)


@lru_cache(maxsize=64)
def _tables(spec: GraphSpec) -> tuple[Tensor, Tensor]:
    """Most bonds of each element and charge, [E, Q]; and rows of what else matters.

    The rows: elements that are none; orders of bonds; bonds that are none; aromatic bonds; carbon;
    hydrogens that a name brings.
    """
    reading = reading_of(spec)
    assert reading is not None
    limits = torch.zeros(len(reading.atoms), len(reading.charges))
    rows = torch.zeros(6, max(len(reading.atoms), len(reading.kinds)))
    guessed = not reading.charged and reading.bond is not None
    for e, atom in enumerate(reading.atoms):
        if atom is None:
            rows[0, e] = 1.0
            limits[e] = UNLIMITED
            continue
        rows[4, e] = float(atom.symbol == "C")
        rows[5, e] = atom.hydrogens or 0
        for q, charge in enumerate(reading.charges):
            most = most_bonds(atom.symbol, atom.charge or charge)
            if guessed and atom.symbol in LENT:
                most = max(most, most_bonds(atom.symbol, LENT[atom.symbol]))
            limits[e, q] = min(most, UNLIMITED)
    orders = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.0}
    for k, kind in enumerate(reading.kinds):
        rows[1, k] = orders.get(kind or "", 1.0)
        rows[2, k] = float(kind is None)
        rows[3, k] = float(kind == "aromatic")
    return limits, rows


def _impossible(graphs: DenseGraphs, reading: Reading, rows: Tensor) -> Tensor:
    """Of some graphs, those with aromatic bonds that belong to no possible ring, [B]."""
    assert graphs.edges is not None
    assert reading.bond is not None
    kinds = split_blocks(graphs.edges, graphs.spec.edges)[reading.bond].argmax(-1)
    elements = split_blocks(graphs.nodes, graphs.spec.nodes)[reading.atom]
    charges = _charges(graphs, reading, elements).argmax(-1)
    bonds = torch.where(graphs.weight.gt(0.5), kinds + 1, 0).triu(1)
    aromatic = bonds.eq(reading.kinds.index("aromatic") + 1).flatten(1).any(dim=1)
    found = torch.zeros_like(rows)
    for b in (rows & aromatic).nonzero().flatten().tolist():
        ends = bonds[b].nonzero()
        listed = torch.cat([ends, bonds[b][ends[:, 0], ends[:, 1], None] - 1], 1).tolist()
        number = {i: k for k, i in enumerate(ends.unique().tolist())}
        named = zip(elements[b].argmax(-1).tolist(), charges[b].tolist(), strict=True)
        atoms = [reading.charged_atom(e, q) for e, q in named]
        found[b] = not possible(
            tuple(atom for i, atom in enumerate(atoms) if i in number and atom is not None),
            tuple((number[i], number[j], reading.kinds[k]) for i, j, k in listed),
            guess=not reading.charged,
        )
    return found
