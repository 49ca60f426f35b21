"""Valence: no atom has more bonds than chemistry allows. Other graphs are left alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.chem.elements import most_bonds
from gnninterpreter.chem.featurising import described
from gnninterpreter.chem.reading import KINDS, LENT, Reading, reading_of
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.objective.base import Proposals, Term
from gnninterpreter.spec import GraphSpec
from gnninterpreter.spec.encoding import dense_width, split_blocks

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

    name: ClassVar[str] = "valence"
    smooth: ClassVar[bool] = True

    def discrete(self, proposals: Proposals) -> Tensor | None:
        """How many bonds too many, [B]."""
        graphs = proposals.graphs
        reading = reading_of(graphs.spec)
        if reading is None:
            return None
        excess, broken = _judged(graphs, reading)
        return EACH * excess * excess.gt(1e-4) + BROKEN * broken

    def feasible(self, proposals: Proposals) -> Tensor | None:
        """Whether chemistry allows it, [B]."""
        cost = proposals.cost_of(self)
        return None if cost is None else cost <= 0


def allowed(graphs: DenseGraphs) -> Tensor:
    """Whether chemistry allows each of some graphs, [B]; those that are no molecules all are."""
    reading = reading_of(graphs.spec)
    if reading is None:
        return torch.ones(len(graphs), dtype=torch.bool, device=graphs.weight.device)
    return ~_judged(graphs, reading)[1]


@lru_cache(maxsize=64)
def meant(spec: GraphSpec) -> tuple[Tensor, Tensor]:
    """Which dense columns of nodes and of edges may stand in an answer at all, [F] and [D].

    Featurisers have codes for all elements and for bonds that no organic molecule has; what the
    data never holds is broken wherever it stands, so that it need not be tried.
    """
    found = [
        torch.ones(dense_width(blocks), dtype=torch.bool) for blocks in (spec.nodes, spec.edges)
    ]
    reading = reading_of(spec)
    if reading is None:
        return found[0], found[1]
    atoms, bonds = _tables(spec, torch.float64, torch.device("cpu"))
    known = atoms[1].eq(0)
    parts = split_blocks(found[0], spec.nodes)
    parts[reading.atom].copy_(known.any(dim=1))
    if reading.charge is not None and reading.charge.values is not None:
        parts[reading.charge.place].copy_(known.any(dim=0))
    if reading.bond is not None:
        split_blocks(found[1], spec.edges)[reading.bond].copy_(bonds[1].eq(0))
    return found[0], found[1]


def _judged(graphs: DenseGraphs, reading: Reading) -> tuple[Tensor, Tensor]:
    """How many bonds too many graphs have, and which of them are broken, [B] each."""
    excess = _excess(graphs, reading).sum(dim=1)
    broken = excess.gt(1e-4)
    ringed = "aromatic" in reading.kinds or reading.exact
    if ringed and not graphs.weight.requires_grad:
        broken = broken | _impossible(graphs, reading, ~broken)
    return excess, broken


def _excess(graphs: DenseGraphs, reading: Reading) -> Tensor:
    """Bonds that each node has too many, [B, N]; one for each atom or bond of no known kind."""
    elements = split_blocks(graphs.nodes, graphs.spec.nodes)[reading.atom]
    atoms, bonds = _tables(graphs.spec, elements.dtype, elements.device)
    charge = _charges(graphs, reading, elements)
    told: list[Tensor] = [((elements @ part) * charge).sum(-1) for part in atoms]
    most, unknown, brought, carbon = told
    used, strange = graphs.weight.sum(dim=2), torch.zeros_like(most)
    if reading.bond is not None and graphs.edges is not None:
        kinds = split_blocks(graphs.edges, graphs.spec.edges)[reading.bond]
        order, odd, aromatic = (graphs.weight * (kinds @ part) for part in bonds)
        # An aromatic bond counts once, and a carbon of a ring has one double bond besides.
        used = order.sum(dim=2) + aromatic.amax(dim=2) * carbon
        strange = odd.sum(dim=2)
    present = graphs.weight.amax(dim=2)
    return (used + brought * present - most).clamp_min(0) + unknown * present + strange


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
def _tables(spec: GraphSpec, dtype: torch.dtype, device: torch.device) -> tuple[Tensor, Tensor]:
    """What atoms and bonds of each category are.

    Atoms by element and charge, [4, E, Q]: most bonds, whether it is none that may be, hydrogens
    that its name brings, whether it is carbon. Bonds by kind, [3, K]: order, whether it is not
    understood, whether it is aromatic.
    """
    reading = reading_of(spec)
    assert reading is not None
    atoms = torch.zeros(4, len(reading.atoms), len(reading.charges))
    for e in range(len(reading.atoms)):
        for q in range(len(reading.charges)):
            atom = reading.charged_atom(e, q)
            if atom is None or (reading.seen and str(atom) not in reading.seen):
                atoms[:2, e, q] = torch.tensor([UNLIMITED, 1.0])
                continue
            most = most_bonds(atom.symbol, atom.charge)
            if reading.lends(atom.symbol):
                most = max(most, most_bonds(atom.symbol, LENT[atom.symbol]))
            carbon = float(atom.symbol == "C")
            found = (min(most, UNLIMITED), 0.0, float(atom.hydrogens or 0), carbon)
            atoms[:, e, q] = torch.tensor(found)
    orders = {"single": 1.0, "double": 2.0, "triple": 3.0, "aromatic": 1.0}
    bonds = [
        (orders.get(kind or "", 1.0), float(kind is None), float(kind == "aromatic"))
        for kind in reading.kinds
    ]
    kinds = torch.tensor(bonds).reshape(-1, 3).t()
    return atoms.to(device, dtype), kinds.to(device, dtype)


def _impossible(graphs: DenseGraphs, reading: Reading, rows: Tensor) -> Tensor:
    """Of some graphs, those whose rings cannot be as they are said to be, [B]."""
    assert graphs.edges is not None
    assert reading.bond is not None
    if not reading.exact:
        aromatic = split_blocks(graphs.edges, graphs.spec.edges)[reading.bond]
        aromatic = aromatic[..., reading.kinds.index("aromatic")] * graphs.weight
        rows = rows & aromatic.gt(0.5).flatten(1).any(dim=1)
    found = torch.zeros_like(rows)
    asked = rows.nonzero().flatten()
    if not asked.numel():
        return found
    some = graphs[asked]
    edges = some.weight.gt(0.5)
    present = edges.any(dim=2)
    place = present.cumsum(1) - 1
    graph, i, j = edges.triu(1).nonzero(as_tuple=True)
    assert some.edges is not None
    kinds = split_blocks(some.edges[graph, i, j], graphs.spec.edges)[reading.bond].argmax(-1)
    numbers = torch.tensor([KINDS.index(kind) for kind in reading.kinds], device=kinds.device)
    bonds = torch.stack([place[graph, i], place[graph, j], numbers[kinds]], dim=1)
    elements = split_blocks(some.nodes, graphs.spec.nodes)[reading.atom]
    charges = torch.tensor(reading.charges, device=kinds.device)
    charge = charges[_charges(some, reading, elements).argmax(-1)]
    atoms = torch.stack([elements.argmax(-1), charge], dim=2)[present]
    said = described(graphs.spec).said_of(
        atoms.cpu().numpy(),
        bonds.cpu().numpy(),
        present.sum(1).tolist(),
        graph.bincount(minlength=len(some)).tolist(),
        columns=False,
    )
    fine = [one.alike if reading.exact else one.allowed for one in said]
    found[asked] = ~torch.tensor(fine, dtype=torch.bool, device=found.device)
    return found
