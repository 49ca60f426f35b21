"""Letting XGNN's policy build graphs: freely, as its rollouts do, or in the world it learns in."""

from __future__ import annotations

import torch
from torch import Tensor

from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.baselines.xgnn.policy import Policy
from gnninterpreter.models.classifier import GraphClassifier


def kept(before: State, legal: Tensor, value: Tensor) -> Tensor:
    """Which actions stay: legal ones whose reward is not negative, and every first edge.

    Differs from the paper: it undoes every action with a negative reward. Where the first edge has
    one, and there is only one kind of node, all its episodes would stay at a single node, whose
    only action has probability 1 and so no gradient: nothing could ever be learned. A graph without
    edges is no explanation anyway.
    """
    return legal & ((value >= 0) | (before.count < 2))


@torch.no_grad()
def roll_out(
    policy: Policy, rules: Rules, state: State, steps: int, generator: torch.Generator
) -> tuple[State, Tensor]:
    """Let the policy build on until it breaks a rule or has taken all its steps.

    Returns:
        The last legal state of each graph, and which ended by a broken rule, [B].
    """
    active = torch.ones(state.count.numel(), dtype=torch.bool)
    for _ in range(steps):
        start, end, _ = policy(state, generator)
        after, legal = rules.apply(state, start, end)
        active = active & legal
        if not bool(active.any()):
            break
        state = after.where(active, state)
    return state, ~active


@torch.no_grad()
def generate(
    policy: Policy,
    rules: Rules,
    classifier: GraphClassifier,
    target: int,
    count: int,
    steps: int,
    generator: torch.Generator,
) -> State:
    """Build graphs as an episode does: an action that breaks a rule or costs the class is undone.

    The published explanation is the graph that an episode leaves behind, and there a step with a
    negative reward is taken back. Here the reward of a step is ``p_c - 1/l`` alone, without the
    rollouts of training. A policy that is left to itself has no way to stop: only a broken rule
    ends its graphs, and where all nodes are of one kind it cannot even tell a legal action from an
    illegal one. (On a regular graph a normalised convolution gives every row the same embedding,
    new nodes included, so that half of all graphs would end as a single edge.)
    """
    state = rules.begin(count, classifier.dtype)
    chance = 1.0 / classifier.spec.num_classes
    for _ in range(steps):
        if not bool(rules.legal(state).any()):
            break
        start, end, _ = policy(state, generator)
        after, legal = rules.apply(state, start, end)
        found = classifier.probability(rules.graphs(after), target).cpu()
        state = after.where(kept(state, legal, found - chance), state)
    return state
