"""Classes that are what is left: where the model sees nothing that speaks for another class.

Such a class has no core, and saying so is half an answer. The other half is what its graphs lack:
the cores of other classes. Taking those out shows whether the model then falls back to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from gnninterpreter.datasets.base import taken
from gnninterpreter.evidence.patterns.causes import Effect, random_others, random_piece
from gnninterpreter.evidence.patterns.core import Core
from gnninterpreter.evidence.patterns.matching import Plan
from gnninterpreter.evidence.patterns.parts import Parts
from gnninterpreter.evidence.patterns.real import RealGraphs, some
from gnninterpreter.evidence.patterns.typed import as_bits
from gnninterpreter.objective.target import Target

# Graphs that are cut in half to see whether it is worth a closer look, and share that must turn.
HALVED, TURNING = 24, 0.1
# Places that are taken out of one graph, and steps to find them.
PLACES, TRIED = 16, 1_000


def falls_back(
    real: RealGraphs,
    target: Target,
    other: Target,
    cores: Sequence[Core],
    most: int = 48,
    seed: int = 0,
) -> Effect | None:
    """Share of graphs of another class that turn to this one without the cores of theirs.

    Args:
        real: The real graphs.
        target: What they may turn to.
        other: What they are assigned to.
        cores: The cores of ``other``; every place of each is taken out.
        most: Most graphs that are changed.
        seed: Of which graphs, and of the nodes that are taken out instead for comparison.

    Returns:
        The share, beside as many other nodes, or a random piece as large where there are fewer
        others; None where no graph could be changed.
    """
    rng = np.random.default_rng([seed, target.index, other.index])
    plans = [Plan(core.typed, real.index) for core in cores]
    numbers = some(real.of(other), most, rng)
    parts = Parts(real.classifier, taken(real.graphs, numbers))
    asked: list[tuple[int, int]] = []
    for place, number in enumerate(numbers):
        graph = real.typed[number]
        found = [one for plan in plans for one in plan.some(number, TRIED, PLACES)]
        nodes = as_bits({node for one in found for node in one})
        whole = graph.whole
        drawn = random_others(graph, nodes, rng) or random_piece(graph, nodes.bit_count(), rng)
        if nodes != whole and drawn:
            asked += [(place, whole & ~nodes), (place, whole & ~drawn)]
    if not asked:
        return None
    turned = target.assigned(parts.scores(asked)).view(-1, 2)
    share, control = turned.to(torch.double).mean(dim=0).tolist()
    return Effect(share, control, len(turned))


def may_fall_back(real: RealGraphs, target: Target, other: Target, seed: int = 0) -> bool:
    """Whether graphs of another class turn to this one when half of their nodes are taken out.

    Takes one call of the model, where the cores of the other class take hundreds. Half a graph
    keeps few patterns whole, so that a class which is what is left shows itself.
    """
    rng = np.random.default_rng([seed, target.index, other.index])
    numbers = some(real.of(other), HALVED, rng)
    parts = Parts(real.classifier, taken(real.graphs, numbers))
    asked = []
    for place, number in enumerate(numbers):
        graph = real.typed[number]
        drawn = random_piece(graph, len(graph) // 2, rng)
        asked += [(place, graph.whole & ~drawn)] if drawn else []
    if not asked:
        return False
    turned = target.assigned(parts.scores(asked))
    return float(turned.double().mean()) >= TURNING
