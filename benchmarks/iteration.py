"""Milliseconds for each restart-iteration: the algorithm as the paper writes it, and ours.

Both are measured side by side in one run on one thread, on the bundled Shape classifier:

(a) for each of K samples one sparse PyG forward pass over the complete graph, one restart at a
    time, every message scaled by its edge weight;
(b) ours, with 1, 8 and 64 restarts in one batch.

Usage: python benchmarks/iteration.py [--nodes 10 25 50 100] [--samples 10] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor
from torch_geometric.data import Batch
from torch_geometric.explain.algorithm.utils import clear_masks, set_masks

import gnninterpreter as gi
from gnninterpreter.distribution import GraphDistribution, Streams, uniform_start
from gnninterpreter.models import GraphClassifier
from gnninterpreter.objective import Goal, Iterate
from gnninterpreter.relax import RelaxedModel
from gnninterpreter.search import Recipe, RelaxedGradient

TARGET = "wheel"


class AsWritten:
    """The paper's algorithm, one restart: K passes over the complete graph, then a step."""

    def __init__(self, classifier: GraphClassifier, nodes: int, goal: Goal, recipe: Recipe) -> None:
        """Begin at random edge probabilities on the given number of nodes."""
        self.classifier, self.goal, self.recipe = classifier, goal, recipe
        start = uniform_start(classifier.spec, nodes, Streams(0, 1))
        self.edge_logits = start.edge_logits[0].clone().requires_grad_()
        self.optimizer = torch.optim.SGD([self.edge_logits], lr=1e-6)
        pairs = torch.triu_indices(nodes, nodes, 1)
        self.edge_index = torch.cat([pairs, pairs.flip(0)], dim=1)
        self.x = torch.ones(nodes, 1)
        self.batch = torch.zeros(nodes, dtype=torch.long)
        self.distribution = start
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self) -> None:
        """Do one iteration."""
        losses = [self.sample_loss() for _ in range(self.recipe.samples)]
        distribution = self.distribution.with_latents(
            [self.edge_logits.unsqueeze(0), *self.distribution.node_logits]
        )
        loss = torch.stack(losses).mean() + self.regularisation(distribution)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sample_loss(self) -> Tensor:
        """Draw one sample and send it through the model."""
        u = torch.rand(self.edge_logits.shape, generator=self.generator).clamp(1e-6, 1 - 1e-6)
        weight = ((self.edge_logits + torch.logit(u)) / 0.2).sigmoid()
        data = Batch(x=self.x, edge_index=self.edge_index, batch=self.batch)
        data._num_graphs = 1
        model = self.classifier.model
        set_masks(model, torch.cat([weight, weight]), self.edge_index, apply_sigmoid=False)
        scores = self.classifier.call(data)
        clear_masks(model)
        mean = self.goal.mean_embedding
        assert mean is not None
        target = int(self.goal.target[0])
        similarity = torch.cosine_similarity(scores.embedding, mean[:1])
        return -scores.logits[0, target] - similarity[0]

    def regularisation(self, distribution: GraphDistribution) -> Tensor:
        """Return the terms on the latent parameters."""
        empty = torch.zeros(1, 1, 1)
        iterate = Iterate(distribution, empty, empty, self.goal)
        terms = [t for t in self.recipe.terms if not t.term.per_sample]
        return torch.stack([t.weight(500, 2000) * t.term(iterate)[0] for t in terms]).sum()


def ours(
    relaxed: RelaxedModel, nodes: int, goal: Goal, recipe: Recipe, restarts: int
) -> Callable[[], None]:
    """One iteration of our loop, R restarts in one batch: losses, gradients, optimiser step."""
    distribution = uniform_start(relaxed.classifier.spec, nodes, Streams(0, restarts))
    streams = Streams(0, restarts, purpose=1)
    gradient = RelaxedGradient(relaxed)
    parameters = distribution.latents()
    optimizer = torch.optim.SGD(parameters, lr=1e-6)

    def iteration() -> None:
        step = gradient(distribution, goal, recipe, 500, streams)
        for parameter, g in zip(parameters, step.gradients, strict=True):
            parameter.grad = g
        optimizer.step()

    return iteration


def milliseconds(run: Callable[[], None], seconds: float) -> float:
    """Median time of one call, in milliseconds, over calls that fill the given time."""
    for _ in range(2):
        run()
    times: list[float] = []
    while sum(times) < seconds or len(times) < 5:
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return 1000 * statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--nodes", type=int, nargs="+", default=[10, 25, 50, 100])
    parser.add_argument("--restarts", type=int, nargs="+", default=[1, 8, 64])
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    bundle = gi.models.load("shape")
    classifier = GraphClassifier(bundle.model, bundle.spec)
    relaxed = RelaxedModel(classifier)
    recipe = Recipe.paper("shape", TARGET, samples=arguments.samples)
    target = bundle.spec.class_index(TARGET)
    rows = []
    print(f"{'N':>4} {'restarts':>9} {'ms / restart-iteration':>23} {'times fewer than (a)':>21}")
    for nodes in arguments.nodes:

        def goal(restarts: int) -> Goal:
            return Goal(
                torch.full((restarts,), target),
                bundle.statistics.mean_embedding[target].expand(restarts, -1),
                torch.full((restarts,), 25.0),
                torch.full((restarts,), float(nodes)),  # noqa: B023
                torch.zeros(restarts),
            )

        with classifier.frozen():
            as_written = AsWritten(classifier, nodes, goal(1), recipe)
            reference = milliseconds(as_written, arguments.seconds)
        print(f"{nodes:>4} {'(a)':>9} {reference:>23.3f} {1.0:>21.1f}")
        rows.append({"nodes": nodes, "restarts": "as written", "ms": reference, "ratio": 1.0})
        for restarts in arguments.restarts:
            with relaxed.session():
                run = ours(relaxed, nodes, goal(restarts), recipe, restarts)
                each = milliseconds(run, arguments.seconds) / restarts
            ratio = reference / each
            print(f"{nodes:>4} {restarts:>9} {each:>23.3f} {ratio:>21.1f}", flush=True)
            rows.append({"nodes": nodes, "restarts": restarts, "ms": each, "ratio": ratio})
    if arguments.json:
        arguments.json.write_text(json.dumps({"torch": torch.__version__, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
