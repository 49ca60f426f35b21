"""Motifs attached to base graphs, and nitro groups attached to random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.audit.lookalikes import ColoredGraph, distinct_graphs, lifts, lookalikes
from gnninterpreter.datasets._storage import cache_folder
from gnninterpreter.datasets.motif import COLORS, MOTIFS
from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.datasets.published import MissingFileError
from gnninterpreter.datasets.rome import BaseGraph, find_archive, read_archive, synthetic_graph
from gnninterpreter.evidence import class_counts, gabriel_edges, join
from gnninterpreter.experiments.paper.bundled import bundle, classifier
from gnninterpreter.fingerprints import data_fingerprint, model_fingerprint
from gnninterpreter.interchange import graph_to_json

PURPLE = 4
GROUPS = 5
NITROGEN, OXYGEN = ATOMS.index("N"), ATOMS.index("O")
# Shares of the atoms among the 3,371 of MUTAG.
ATOM_SHARES = (2395 / 3371, 345 / 3371, 593 / 3371, 12 / 3371, 1 / 3371, 23 / 3371, 2 / 3371)


def depends_on(function: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The model, and the base graphs where motifs are attached to them."""
    if function == "attach":
        return {"model": model_fingerprint("motif"), "data": data_fingerprint("motif")}
    return {"model": model_fingerprint("mutag")}


def motif_sets() -> dict[str, list[ColoredGraph]]:
    """The motifs of each experiment, the ground truth last: 7 + 1 and 8 + 1, as in the paper."""
    complete, house = MOTIFS["complete-4"], MOTIFS["house-x"]
    return {
        "complete-4": [*lookalikes(complete, 2), *lookalikes(complete, 1)],
        "house-x": [*_sharing_purple(house), *lookalikes(house, 1)],
    }


def _sharing_purple(motif: Sequence[tuple[int, int]]) -> list[ColoredGraph]:
    """Two copies of all nodes but purple, the last, which is there once and joined to both.

    Every node but purple sees what it sees in the motif; purple sees twice as many neighbors.
    """
    bound = ColoredGraph.make(range(PURPLE), [edge for edge in motif if PURPLE not in edge])
    hub = [(2 * i + copy, 2 * PURPLE) for i, j in motif if j == PURPLE for copy in (0, 1)]
    joined = (
        ColoredGraph.make([*lift.nodes, PURPLE], [*lift.edges, *hub]) for lift in lifts(bound, 2)
    )
    return sorted(distinct_graphs(joined), key=lambda one: tuple(one.edges))


def attach(name: str, bases: int, seed: int) -> dict[str, Any]:
    """Attach every motif of an experiment to the same base graphs and classify the results."""
    graphs, source = _bases(bases, seed)
    found = [
        asdict(class_counts(classifier("motif"), attached(graphs, motif, seed)))
        for motif in motif_sets()[name]
    ]
    return {"source": source, "motifs": found}


def attached(bases: Sequence[BaseGraph], motif: ColoredGraph, seed: int) -> list[Data]:
    """Attach a motif to randomly colored base graphs by one edge each.

    Colors, base node and the place on the motif depend on the seed and the base alone, so that
    every motif meets the same graphs.
    """
    spec = bundle("motif").spec
    part = motif.to_data(spec)
    graphs = []
    for index, base in enumerate(bases):
        rng = np.random.default_rng([seed, index])
        forth = torch.tensor(base.edges, dtype=torch.long).t()
        colors = torch.from_numpy(rng.integers(len(COLORS), size=base.num_nodes))
        graph = Data(
            x=torch.eye(len(COLORS))[colors], edge_index=torch.cat([forth, forth.flip(0)], dim=1)
        )
        at, place = int(rng.integers(base.num_nodes)), float(rng.random())
        graphs.append(join(spec, graph, part, at, int(place * len(motif.nodes))))
    return graphs


def nitro(atoms: str, count: int, seed: int) -> dict[str, Any]:
    """Classify random graphs with 0 to 5 nitro groups."""
    shares = None if atoms == "uniform" else ATOM_SHARES
    drawn = (nitro_graphs(index, seed, shares) for index in range(count))
    sets = [list(graphs) for graphs in zip(*drawn, strict=True)]
    return {
        "groups": [asdict(class_counts(classifier("mutag"), graphs)) for graphs in sets],
        "examples": [graph_to_json(graphs[0], bundle("mutag").spec) for graphs in sets],
    }


def nitro_graphs(index: int, seed: int, shares: Sequence[float] | None = None) -> list[Data]:
    """A Gabriel graph of 5 to 10 random atoms with 0, 1, ..., 5 nitro groups.

    Five groups of three atoms hang at five anchors: a centre bonded to the anchor and to two more
    atoms. In the graph with k nitro groups the first k of them are NO2, the others random atoms
    that are not NO2. Nothing else differs between the six graphs.
    """
    rng = np.random.default_rng([seed, index])
    size = int(rng.integers(5, 11))
    edges = gabriel_edges(rng.random((size, 2)))
    atoms = rng.choice(len(ATOMS), size, p=shares).tolist()
    anchors = rng.integers(size, size=GROUPS).tolist()
    groups: list[list[int]] = []
    while len(groups) < GROUPS:
        drawn = rng.choice(len(ATOMS), 3, p=shares).tolist()
        if drawn != [NITROGEN, OXYGEN, OXYGEN]:
            groups.append(drawn)
    for number, anchor in enumerate(anchors):
        centre = size + 3 * number
        edges = [*edges, (anchor, centre), (centre, centre + 1), (centre, centre + 2)]
    forth = torch.tensor(edges, dtype=torch.long).t()
    both = torch.cat([forth, forth.flip(0)], dim=1)
    graphs = []
    for count in range(GROUPS + 1):
        nitro = [NITROGEN, OXYGEN, OXYGEN] * count
        rest = [atom for group in groups[count:] for atom in group]
        graphs.append(Data(x=torch.eye(len(ATOMS))[[*atoms, *nitro, *rest]], edge_index=both))
    return graphs


@lru_cache(maxsize=2)
def _bases(count: int, seed: int) -> tuple[list[BaseGraph], str]:
    try:
        graphs = read_archive(find_archive(Path(cache_folder()), download=False))
    except MissingFileError:
        made = [synthetic_graph(np.random.default_rng([seed, i])) for i in range(count)]
        return made, "synthetic"
    chosen = np.random.default_rng(seed).choice(len(graphs), count, replace=False)
    return [graphs[i] for i in sorted(chosen.tolist())], "Rome"
