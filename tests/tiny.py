"""Small things that several tests share: specs, graphs by hand, aims, models without training."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import networkx as nx
import torch
from hypothesis import strategies as st
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GraphConv, global_mean_pool
from torch_geometric.utils import from_networkx

from gnninterpreter.distribution import GraphDistribution, Streams, uniform_start
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.profile import Profile
from gnninterpreter.objective import (
    Aim,
    ClassTarget,
    Iterate,
    Objective,
    Proposals,
    Term,
    Weighted,
)
from gnninterpreter.search import Monitor, Problem, Recipe
from gnninterpreter.spec import Block, Categorical, Continuous, GraphSpec

_AUTO = Recipe.auto


def quick_auto(**settings: object) -> Recipe:
    """`Recipe.auto` with short walks, which are half of its time where graphs are tiny."""
    return _AUTO(**settings).with_phase("anneal", steps=20)


PLAIN = GraphSpec(class_names=("a", "b"))
COLOURED = GraphSpec(nodes=(Categorical(2, name="colour"),), class_names=("a", "b"))
RICH = GraphSpec(
    nodes=(Categorical(2), Continuous(1, -1.0, 3.0), Categorical(3)),
    edges=(Categorical(3), Continuous(2, 0.0, 2.0)),
    class_names=("a", "b"),
)
DIRECTED = GraphSpec(
    nodes=(Categorical(2),), edges=(Categorical(2),), class_names=("a", "b"), directed=True
)
SPECS = {"plain": PLAIN, "coloured": COLOURED, "rich": RICH, "directed": DIRECTED}


def blocks() -> st.SearchStrategy[Block]:
    """Categorical and continuous feature blocks."""
    categorical = st.integers(1, 4).map(Categorical)
    dummy = st.integers(2, 4).map(lambda size: Categorical(size, encoding="dummy"))
    bounds = st.tuples(st.integers(-3, 3), st.integers(0, 3))
    continuous = st.tuples(st.integers(1, 3), bounds).map(
        lambda drawn: Continuous(drawn[0], float(drawn[1][0]), float(sum(drawn[1])))
    )
    return categorical | dummy | continuous


def specs() -> st.SearchStrategy[GraphSpec]:
    """Any number of blocks on nodes and edges, directed or not."""
    return st.builds(
        GraphSpec,
        nodes=st.lists(blocks(), min_size=0, max_size=3).map(tuple),
        edges=st.lists(blocks(), min_size=0, max_size=2).map(tuple),
        class_names=st.just(("a", "b")),
        directed=st.booleans(),
    )


def distribution(
    spec: GraphSpec,
    num_candidates: int,
    restarts: int = 1,
    seed: int = 0,
    dtype: torch.dtype = torch.float64,
) -> GraphDistribution:
    """A distribution with random latents."""
    return uniform_start(spec, num_candidates, Streams(seed, restarts), dtype)


def edges_only(
    logits: Sequence[Sequence[float]], num_candidates: int, *, directed: bool = False
) -> GraphDistribution:
    """A distribution without features, its edge logits given by hand."""
    spec = GraphSpec(class_names=("a", "b"), directed=directed)
    values = torch.tensor(logits, dtype=torch.float64)
    ones = values.new_zeros(len(values), num_candidates, 1)
    return GraphDistribution(spec, num_candidates, values, (ones,))


def graph(
    num_candidates: int,
    edges: Iterable[tuple[int, int]],
    spec: GraphSpec = PLAIN,
    colours: Sequence[int] | None = None,
    dtype: torch.dtype = torch.float64,
) -> DenseGraphs:
    """One discrete graph from its edges (source, target), with categories of its first block."""
    weight = torch.zeros(1, num_candidates, num_candidates, dtype=dtype)
    for source, target in edges:
        weight[0, target, source] = 1.0
        if not spec.directed:
            weight[0, source, target] = 1.0
    nodes = torch.ones(1, num_candidates, 1, dtype=dtype)
    if isinstance(spec.nodes[0], Categorical):
        chosen = torch.tensor(colours if colours is not None else [0] * num_candidates)
        nodes = nn.functional.one_hot(chosen, spec.nodes[0].size).to(dtype).unsqueeze(0)
    features = None
    if spec.edges:
        features = torch.zeros(1, num_candidates, num_candidates, spec.edge_width, dtype=dtype)
        features[..., 0] = 1.0
    return DenseGraphs(spec, weight, nodes, features)


def stack(graphs: Sequence[DenseGraphs]) -> DenseGraphs:
    """Several graphs on as many candidate nodes as one batch."""
    edges = None
    if graphs[0].edges is not None:
        edges = torch.cat([g.edges for g in graphs if g.edges is not None])
    weight = torch.cat([g.weight for g in graphs])
    return DenseGraphs(graphs[0].spec, weight, torch.cat([g.nodes for g in graphs]), edges)


def every_graph(num_candidates: int, spec: GraphSpec = PLAIN) -> DenseGraphs:
    """All graphs on some nodes, with every choice of the first block's categories."""
    ordered = [(i, j) for i in range(num_candidates) for j in range(num_candidates) if i != j]
    pairs = ordered if spec.directed else [(i, j) for i, j in ordered if i < j]
    first = spec.nodes[0]
    size = first.size if isinstance(first, Categorical) else 1
    found = []
    for present in product((False, True), repeat=len(pairs)):
        edges = [pair for pair, there in zip(pairs, present, strict=True) if there]
        choices = product(range(size), repeat=num_candidates)
        found += [graph(num_candidates, edges, spec, colours) for colours in choices]
    return stack(found)


def aim(
    target: int = 0,
    *,
    mean: Sequence[float] | None = None,
    max_edges: float = 100.0,
    max_nodes: int = 100,
    similarity: float = -1.0,
) -> Aim:
    """What a search is after: a class, within limits, like a mean embedding where one is given."""
    profile = None
    if mean is not None:
        quantiles = torch.full((101,), similarity, dtype=torch.double)
        profile = Profile(10, 5.0, 5.0, torch.tensor(mean, dtype=torch.double), quantiles)
    return Aim(ClassTarget(target, "ab"[target]), max_nodes, max_edges, profile)


def iterate(
    of: GraphDistribution,
    *,
    logits: Tensor | None = None,
    embedding: Tensor | None = None,
    after: Aim | None = None,
) -> Iterate:
    """What a term sees; scores of two samples and two classes unless given."""
    restarts = of.restarts
    scores = torch.zeros(restarts, 2, 2, dtype=torch.float64) if logits is None else logits
    graphs = of.relaxed(scores.size(1), 0.2, Streams(0, restarts))
    parts = Scores(scores, scores if embedding is None else embedding)
    return Iterate(of, graphs, parts, after or aim())


class Oracle(GraphClassifier):
    """A classifier whose logits are a function of the dense graphs, without any model."""

    def __init__(self, logits: Callable[[DenseGraphs], Tensor]) -> None:
        self.logits = logits
        self.asked = 0
        self.device, self.dtype = torch.device("cpu"), torch.float64

    def score(self, graphs: DenseGraphs, chunk: int = 512) -> Scores:
        self.asked += len(graphs)
        logits = self.logits(graphs)
        return Scores(logits, logits)


@dataclass(frozen=True)
class Given(Term):
    """A term that is a function of the dense graphs, and so is what it allows."""

    cost: Callable[[DenseGraphs], Tensor]
    allows: Callable[[DenseGraphs], Tensor] | None = None

    def discrete(self, proposals: Proposals) -> Tensor:
        return self.cost(proposals.graphs)

    def feasible(self, proposals: Proposals) -> Tensor | None:
        return None if self.allows is None else self.allows(proposals.graphs)


def problem(
    cost: Callable[[DenseGraphs], Tensor],
    score: Callable[[DenseGraphs], Tensor] | None = None,
    after: Aim | None = None,
    *,
    allows: Callable[[DenseGraphs], Tensor] | None = None,
    certain: float = 0.99,
) -> Problem:
    """A problem whose costs and scores are functions of the dense graphs; without one, 1."""

    def logits(graphs: DenseGraphs) -> Tensor:
        given = torch.ones(len(graphs)).double() if score is None else score(graphs).double()
        logs = given.clamp(1e-300, 1 - 1e-16).log()
        return torch.stack([logs, (1 - given).clamp_min(1e-300).log()], dim=1)

    objective = Objective((Weighted(Given(cost, allows)),))
    return Problem(Oracle(logits), None, objective, replace(after or aim(), certain=certain))


def unwatched(of: Problem, candidates: int = 5) -> Monitor:
    """A monitor that nobody listens to."""
    return Monitor((), of, candidates)


class MeanDegree(nn.Module):
    """Calls a graph dense where its mean degree is above two; nothing to train."""

    def __init__(self, in_channels: int = 1, slope: float = 4.0) -> None:
        super().__init__()
        self.conv = GraphConv(in_channels, 1)
        self.head = nn.Linear(1, 2)
        with torch.no_grad():
            self.conv.lin_rel.weight.fill_(1.0)
            self.conv.lin_rel.bias.zero_()
            self.conv.lin_root.weight.zero_()
            self.head.weight.copy_(torch.tensor([[-slope], [slope]]))
            self.head.bias.copy_(torch.tensor([2 * slope, -2 * slope]))

    def scores(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        found: Tensor = self.head(global_mean_pool(self.conv(x, edge_index), batch))
        return found

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.scores(x, edge_index, batch)


class Shapes(nn.Module):
    """Two convolutions and a mean; tells cycles, stars and complete graphs apart once trained."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = GraphConv(1, width)
        self.second = GraphConv(width, width)
        self.head = nn.Linear(width, 3)

    def forward(self, data: Batch) -> Tensor:
        x = self.first(data.x, data.edge_index).relu()
        x = self.second(x, data.edge_index).relu()
        logits: Tensor = self.head(global_mean_pool(x, data.batch))
        return logits


def shapes(sizes: Iterable[int] = range(4, 12)) -> list[Data]:
    """Cycles, stars and complete graphs."""
    graphs = []
    for n in sizes:
        kinds = (nx.cycle_graph(n), nx.star_graph(n - 1), nx.complete_graph(min(n, 7)))
        for label, drawn in enumerate(kinds):
            data = from_networkx(drawn)
            data.x = torch.ones(data.num_nodes, 1)
            data.y = torch.tensor([label])
            graphs.append(data)
    return graphs


def fit(model: nn.Module, graphs: list[Data], epochs: int = 60, seed: int = 0) -> nn.Module:
    """Train a model on a handful of graphs, whole batches at a time, from its first weights."""
    order = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(epochs):
        for part in torch.randperm(len(graphs), generator=order).split(10):
            batch = Batch.from_data_list([graphs[i] for i in part.tolist()])
            loss = nn.functional.cross_entropy(model(batch), batch.y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return model.eval()


def seeded(make: Callable[[], nn.Module], seed: int = 0) -> nn.Module:
    """Make a module with given first weights, leaving the global generator alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return make()


@lru_cache(maxsize=1)
def trained_shapes() -> tuple[nn.Module, list[Data]]:
    """A trained classifier of shapes and its data; made once."""
    graphs = shapes()
    return fit(seeded(Shapes), graphs, epochs=150), graphs


def degree_classifier(spec: GraphSpec = PLAIN) -> GraphClassifier:
    """`MeanDegree` in float64, as the rest of the library sees it."""
    return GraphClassifier(MeanDegree(spec.node_width).double(), spec)
