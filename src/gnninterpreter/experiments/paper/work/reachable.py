"""The best that XGNN's game allows: what a perfect policy could build, by beam search."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.models.classifier import GraphClassifier

PRIME = 2**31 - 1
# Of colour refinement.
ROUNDS = 4


@dataclass(frozen=True)
class Reached:
    """The best graph that was found; ``complete`` if the beam never had to leave one out."""

    probability: float
    nodes: int
    edges: int
    graphs: int
    complete: bool


@torch.no_grad()
def best_reachable(
    rules: Rules, classifier: GraphClassifier, target: int, width: int = 500
) -> Reached:
    """Search all sequences of legal actions, keeping the most probable graphs of each length.

    Two graphs count as the same if four rounds of colour refinement do not tell them apart, which
    connected ones of up to five nodes always are; neither does a message-passing model of that
    depth.
    """
    state = rules.begin(1, classifier.dtype)
    best, at, looked, complete = 0.0, (1, 0), 0, True
    while True:
        graph, start, end = rules.legal(state).nonzero(as_tuple=True)
        if not graph.numel():
            break
        grown, _ = rules.apply(state.select(graph), start, end)
        grown = grown.select(_distinct(grown))
        found = classifier.probability(rules.graphs(grown), target).cpu()
        looked += found.numel()
        order = found.argsort(descending=True, stable=True)
        top = int(order[0])
        if float(found[top]) > best:
            best = float(found[top])
            at = (int(grown.count[top]), int(grown.weight[top].sum()) // 2)
        complete = complete and order.numel() <= width
        state = grown.select(order[:width])
    return Reached(best, *at, looked, complete)


def _distinct(state: State) -> Tensor:
    """Indices of graphs, one for each multiset of refined colours."""
    kinds = torch.arange(1, state.types.size(2) + 1)
    weight, present = state.weight.long(), state.present.long()
    colour = (state.types.long() @ kinds) * present
    for _ in range(ROUNDS):
        # Whole numbers modulo a prime: no rounding, and different neighbourhoods hardly collide.
        hashed = (colour * colour % PRIME * 48271 + colour * 16807 + 11) % PRIME
        around = (weight @ hashed.unsqueeze(-1)).squeeze(-1)
        colour = (hashed * 69621 + around) % PRIME * present
    seen: dict[tuple[int, ...], int] = {}
    for index, key in enumerate(colour.sort(dim=1).values.tolist()):
        seen.setdefault(tuple(key), index)
    return torch.tensor(sorted(seen.values()), dtype=torch.long)
