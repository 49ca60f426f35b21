"""The rule of thumb of MUTAG: nitro groups and rings."""

from __future__ import annotations

from torch_geometric.data import Data

from gnninterpreter.datasets.families import adjacency, count_cycles

NITROGEN, OXYGEN = 1, 2


def nitro_groups(graph: Data) -> int:
    """Count the NO2 groups: a nitrogen with two oxygens that have no other neighbor."""
    return len(_nitro(graph))


def looks_mutagenic(graph: Data) -> bool:
    """Tell a mutagen by rule: a nitro group, and either a second one or three rings.

    Nitro groups and fused aromatic rings are what Debnath et al. (1991) relate to mutagenicity. All
    188 molecules of MUTAG have a nitro group; the rule agrees with the label of 167 (0.888).
    """
    nitro = nitro_groups(graph)
    return nitro >= 1 and (nitro >= 2 or count_cycles(graph) >= 3)


def _nitro(graph: Data) -> dict[int, tuple[int, int]]:
    """Return the nitrogen of each nitro group with its two oxygens."""
    neighbors = adjacency(graph)
    atoms = graph.x.argmax(1).tolist()
    ends = {i for i, others in neighbors.items() if atoms[i] == OXYGEN and len(others) == 1}
    found = {i: sorted(others & ends) for i, others in neighbors.items() if atoms[i] == NITROGEN}
    return {i: (pair[0], pair[1]) for i, pair in found.items() if len(pair) == 2}
