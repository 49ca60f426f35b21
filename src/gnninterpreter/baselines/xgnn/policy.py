"""XGNN's policy: where the next edge of a graph begins and ends, and graphs built by it."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.models.classifier import GraphClassifier

WIDTHS = (8, 16, 24, 32)
START_WIDTH, END_WIDTH = 16, 24


class Policy(nn.Module):
    """A graph convolutional network with a head for each end of the new edge.

    Rows are the M nodes, present or not, and the T candidate nodes, one of each type, unattached.
    Linear to 8, graph convolutions 8-16-24-32 with ReLU on ``D^-1/2 (A + I) D^-1/2``; the start
    head is 32-16-ReLU6-1 for each node, the end head the same over pairs with the start node,
    64-24-ReLU6-1. Both are softmaxes over the rows that are allowed.

    Differs from the reference code: the log-probability is that of the masked softmax, which is
    what was sampled from; there it is taken over all rows.
    """

    def __init__(self, num_types: int, generator: torch.Generator | None = None) -> None:
        """Draw Glorot weights; biases are zero."""
        super().__init__()
        self.num_types = num_types
        self.embed = nn.Linear(num_types, WIDTHS[0])
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(WIDTHS))
        last = WIDTHS[-1]
        self.start = nn.Sequential(
            nn.Linear(last, START_WIDTH), nn.ReLU6(), nn.Linear(START_WIDTH, 1)
        )
        self.end = nn.Sequential(
            nn.Linear(2 * last, END_WIDTH), nn.ReLU6(), nn.Linear(END_WIDTH, 1)
        )
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight, generator=generator)
                nn.init.zeros_(module.bias)

    def forward(self, state: State, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
        """Draw one action for each graph: start and end, [B], and its log-probability, [B]."""
        hidden = self._encode(state)
        batch, m = state.present.shape
        row = torch.arange(batch)
        start_scores = self.start(hidden[:, :m]).squeeze(-1)
        start_log = start_scores.masked_fill(~state.present, -torch.inf).log_softmax(1)
        start = torch.multinomial(start_log.detach().exp(), 1, generator=generator).squeeze(1)
        chosen = hidden[row, start].unsqueeze(1).expand(-1, hidden.size(1), -1)
        end_scores = self.end(torch.cat([hidden, chosen], dim=2)).squeeze(-1)
        allowed = torch.cat(
            [state.present, torch.ones(batch, self.num_types, dtype=torch.bool)], dim=1
        )
        allowed[row, start] = False
        end_log = end_scores.masked_fill(~allowed, -torch.inf).log_softmax(1)
        end = torch.multinomial(end_log.detach().exp(), 1, generator=generator).squeeze(1)
        return start, end, start_log[row, start] + end_log[row, end]

    def _encode(self, state: State) -> Tensor:
        """Embed all rows, [B, M + T, 32]."""
        batch, m, t = state.types.shape
        candidates = torch.eye(t, dtype=state.types.dtype).expand(batch, t, t)
        adjacent = torch.zeros(batch, m + t, m + t, dtype=state.types.dtype)
        adjacent[:, :m, :m] = state.weight
        adjacent = adjacent + torch.eye(m + t, dtype=state.types.dtype)
        scale = adjacent.sum(2).rsqrt()
        spread = scale.unsqueeze(2) * adjacent * scale.unsqueeze(1)
        hidden: Tensor = self.embed(torch.cat([state.types, candidates], dim=1))
        for layer in self.layers:
            hidden = (spread @ layer(hidden)).relu()
        return hidden


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
    """Let the policy build on; return the last legal states, and which broke a rule, [B]."""
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
