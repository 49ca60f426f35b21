"""XGNN (Yuan et al., 2020): a policy that learns to build graphs of a class, edge by edge."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from gnninterpreter.arguments import check_positive, one_of, whole_number
from gnninterpreter.baselines.baseline import Baseline, Drawing
from gnninterpreter.baselines.xgnn.building import Rules, State
from gnninterpreter.baselines.xgnn.policy import Policy, generate, kept, roll_out
from gnninterpreter.errors import TargetError
from gnninterpreter.explanation import Curve
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.objective.target import ClassTarget, Target

CHECK_EVERY, TRIALS = 10, 100
FORMS = ("paper", "reference")
STEP_BONUS, INVALID, INVALID_ROLLOUT = 0.1, -1.0, -0.1


@dataclass(frozen=True)
class XGNN(Baseline):
    """Train a graph generator by policy gradient on the class probability.

    Minimises ``-R log pi`` with the reward R of `rewarded`. Works for graphs with one categorical
    node feature or none and without edge features.

    Differs from the published method: ``parallel`` episodes run side by side and share each update,
    and all rollouts of all of them are one batch; a rollout ends where the policy breaks a rule, as
    in the reference code; an episode ends where no legal action is left, since nothing can be
    learned there; a first edge is never undone (see `kept`); the explanation is what the policy
    builds in the world it was trained in (see `generate`), 1,000 times instead of once. Every ten
    updates 100 graphs are drawn, the policy with the highest mean class probability is kept, and
    training ends when that is high enough or has not grown for ``patience`` looks, since late
    updates often spoil it (the reward of broken rules comes to outweigh all else).

    Args:
        max_steps: Most actions of an episode or rollout.
        rollouts: Rollouts from each state.
        reward: ``"paper"``, with lambda 1 as ``rollout_weight`` and lambda 2 as ``rule_weight``, or
            ``"reference"``.
        valencies: Most edges of each node type, by name; MUTAG's where the types are its atoms.
        start: Type of the first node, by name or index.
        stop_probability: Mean class probability at which training ends; above 1 it never does.

    Example:
        >>> import gnninterpreter as gi
        >>> bundle = gi.models.load("mutag")
        >>> XGNN().explain(bundle, targets="mutagen")["mutagen"].best  # doctest: +SKIP
    """

    episodes: int = 200
    max_steps: int = 30
    max_nodes: int = 5
    rollouts: int = 10
    parallel: int = 10
    learning_rate: float = 0.01
    reward: str = "paper"
    rollout_weight: float = 1.0
    rule_weight: float = 2.0
    valencies: Mapping[str, int] | None = None
    start: str | int = 0
    stop_probability: float = 0.99
    patience: int = 20

    method: ClassVar[str] = "xgnn"

    def __post_init__(self) -> None:
        for name in ("episodes", "max_steps", "rollouts", "parallel", "patience"):
            whole_number(name, getattr(self, name), 1)
        check_positive(self.learning_rate, "learning_rate")
        one_of("reward", self.reward, FORMS)

    def prepare(
        self,
        classifier: GraphClassifier,
        target: Target,
        statistics: ClassStatistics | None,
        seed: int,
    ) -> Drawing:
        """Train a policy for one class."""
        if not isinstance(target, ClassTarget):
            raise TargetError(f"XGNN explains classes only (got the {target.quantity})")
        index = target.index
        rules = Rules.of(classifier.spec, self.max_nodes, self.valencies, self.start)
        generator = torch.Generator().manual_seed(seed)
        policy = Policy(rules.num_types, generator).to(classifier.dtype)
        rewards = self.train(policy, rules, classifier, index, generator)

        def draw(n: int, seed: int) -> DenseGraphs:
            # Another stream than that of the training, which began from the same seed.
            stream = torch.Generator().manual_seed((seed + 2**32) % 2**63)
            built = generate(policy, rules, classifier, index, n, self.max_steps, stream)
            return rules.graphs(built)

        curve = Curve("reward", list(range(len(rewards))), [[value] for value in rewards])
        return Drawing(draw, len(rewards), (curve,))

    def rewarded(
        self, chance: float, probability: Tensor, rollouts: Tensor, legal: Tensor, broken: Tensor
    ) -> Tensor:
        """What each action is worth, [B], from probabilities after it and after rollouts, [B, R].

        With ``f(G) = p_c(G) - 1/l`` for l classes, where 1/l is the chance, the paper's form is
        ``f(G') + rollout_weight * mean f(rollouts of G') - rule_weight * [rule broken]``. The
        reference code's form is ``0.1 + f(G') + 2 * mean f(rollouts)`` for a legal action, in which
        a rollout that breaks a rule counts as -0.1, and -1 for any other.
        """
        now, later = probability - chance, rollouts - chance
        if self.reward == "paper":
            value = now + self.rollout_weight * later.mean(1)
            return value - self.rule_weight * (~legal).to(value)
        later = later.masked_fill(broken, INVALID_ROLLOUT)
        value = STEP_BONUS + now + 2.0 * later.mean(1)
        return value.masked_fill(~legal, INVALID)

    def train(
        self,
        policy: Policy,
        rules: Rules,
        classifier: GraphClassifier,
        target: int,
        generator: torch.Generator,
    ) -> list[float]:
        """Train a policy in place, and keep the best it was; return the mean rewards."""
        optimizer = torch.optim.Adam(policy.parameters(), self.learning_rate, betas=(0.9, 0.99))
        chance = 1.0 / classifier.spec.num_classes

        @torch.no_grad()
        def worth(after: State, legal: Tensor) -> Tensor:
            """Reward of the actions that led to a state; all graphs are scored in one call."""
            many = after.each(lambda part: part.repeat_interleave(self.rollouts, dim=0))
            final, broken = roll_out(policy, rules, many, self.max_steps, generator)
            both = after.each(lambda *parts: torch.cat(parts), final)
            found = classifier.probability(rules.graphs(both), target).cpu()
            now, later = found[: legal.numel()], found[legal.numel() :].view(-1, self.rollouts)
            return self.rewarded(chance, now, later, legal, broken.view(-1, self.rollouts))

        history: list[float] = []
        best, found, since = -1.0, copy.deepcopy(policy.state_dict()), 0
        for _ in range(max(1, round(self.episodes / self.parallel))):
            state = rules.begin(self.parallel, classifier.dtype)
            for _ in range(self.max_steps):
                open_ = rules.legal(state).flatten(1).any(1)
                done = best >= self.stop_probability or since >= self.patience
                if not bool(open_.any()) or done:
                    break
                start, end, log_probability = policy(state, generator)
                after, legal = rules.apply(state, start, end)
                value = worth(after, legal)
                loss = -(value * log_probability)[open_].mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                state = after.where(kept(state, legal, value), state)
                history.append(float(value[open_].mean()))
                if len(history) % CHECK_EVERY == 0:
                    built = generate(
                        policy, rules, classifier, target, TRIALS, self.max_steps, generator
                    )
                    mean = float(classifier.probability(rules.graphs(built), target).mean())
                    since += 1
                    if mean > best:
                        best, found, since = mean, copy.deepcopy(policy.state_dict()), 0
        policy.load_state_dict(found)
        return history
