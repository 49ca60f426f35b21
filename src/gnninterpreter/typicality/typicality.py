"""All that is kept of the real graphs of one class: how to compare with them, where to begin."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.datasets._storage import below
from gnninterpreter.equality import ByValue
from gnninterpreter.errors import CheckpointError
from gnninterpreter.spec import GraphSpec
from gnninterpreter.typicality.bank import TypicalityBank
from gnninterpreter.typicality.density import with_density
from gnninterpreter.typicality.environments import Environments
from gnninterpreter.typicality.exemplars import Exemplars, choose_exemplars
from gnninterpreter.typicality.fitting import fit
from gnninterpreter.typicality.kinds import Kinds
from gnninterpreter.typicality.references import Certain, references
from gnninterpreter.typicality.sizes import least_nodes

if TYPE_CHECKING:
    from gnninterpreter.typicality.either import EitherBank

# With fewer real graphs a percentile among them says nothing.
FEWEST_GRAPHS = 10


@dataclass(frozen=True, eq=False)
class Typicality(ByValue):
    """What real graphs of a class look like; small, so that it is stored beside a model.

    A bank, which says how typical a graph is, and exemplars that the model is certain of.
    """

    bank: TypicalityBank | EitherBank
    exemplars: Exemplars

    @classmethod
    def of(
        cls,
        graphs: Sequence[Data],
        spec: GraphSpec,
        max_nodes: int,
        certain: Certain,
        environments: Environments | None = None,
        density: bool = True,
    ) -> Typicality | None:
        """Learn it from real graphs of the class.

        Args:
            graphs: The graphs.
            spec: What their features mean.
            max_nodes: Most nodes an explanation may have.
            certain: Says which of some graphs the model is certain of.
            environments: What real graphs hold, those of other classes too; counted over these
                graphs when omitted.
            density: Whether to compare edges per node, too; not of a range of values, of which a
                model is never certain.

        Returns:
            What was learned; None where there are too few graphs to compare with.
        """
        # Where columns follow from the graph few graphs are possible at all, so that a search has
        # to begin at real ones; how typical an answer is, is then not told.
        if len(graphs) < (2 if spec.derived else FEWEST_GRAPHS):
            return None
        # A part of a graph need not have its value.
        real = references(graphs, spec, max_nodes, certain, parted=density)
        bank = None if real is None else fit(real)
        if real is None or bank is None:
            return None
        if not real.whole:
            pieces = real.graphs[real.certain]
            least = least_nodes(graphs, pieces, bank.graph_frame, int(bank.limits[0]))
            bank = bank.from_size(least)
            # Where pieces were cut out, nodes have lost neighbours that they have in the graphs.
            environments = Environments.counted([real.graphs])
        bank = bank.with_kinds(Kinds.of(graphs, spec))
        known = Environments.of(graphs, spec) if environments is None else environments
        bank = bank.with_environments(known, real.graphs)
        if density and real.whole and not real.parted:
            bank = with_density(bank, graphs, spec, float(real.certain.double().mean()))
        found = cls(bank, choose_exemplars(real, bank))
        # As it will be read back, so that a search comes to the same before and after storing.
        return cls.from_tensors(found.tensors(), spec)

    def to(self, device: torch.device | str) -> Typicality:
        """The same on another device."""
        return Typicality(self.bank.to(device), self.exemplars.to(device))

    def tensors(self) -> dict[str, Tensor]:
        """Return it as named tensors."""
        return {
            f"{part}.{name}": value
            for part, holder in (("bank", self.bank), ("exemplars", self.exemplars))
            for name, value in holder.tensors().items()
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], spec: GraphSpec) -> Typicality:
        """Read what `tensors` wrote."""
        bank = TypicalityBank.from_tensors(below(tensors, "bank."))
        exemplars = Exemplars.from_tensors(below(tensors, "exemplars."), spec)
        try:
            bank.percentile(exemplars.graphs[:1])
            bank.penalty(exemplars.graphs[:1])
        except (IndexError, KeyError, RuntimeError, ValueError):
            raise CheckpointError(
                "stored typicality does not fit the graphs that the model takes; store it again"
            ) from None
        return cls(bank, exemplars)
