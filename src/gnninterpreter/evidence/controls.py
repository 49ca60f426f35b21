"""The check whether any graph would do: random ones are held against an explanation.

Random graphs are in one piece, with as many nodes and about as many edges as the explanation and
with features that real ones have: features drawn evenly would hold rare kinds and odd numbers
everywhere, which models react to.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check, written
from gnninterpreter.evidence.labels import explained
from gnninterpreter.evidence.patterns.answers import LEFT_OVER
from gnninterpreter.evidence.patterns.real import chosen
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import AGREEING_SHARE, RANDOM_GRAPHS, RANDOM_SHARE
from gnninterpreter.graphs import DenseGraphs, dense_graphs, mirrored, node_rows, random_graphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.scores import roc_auc
from gnninterpreter.objective import ValueTarget
from gnninterpreter.spec import Continuous, GraphSpec
from gnninterpreter.spec.data import node_count
from gnninterpreter.spec.derived import columns
from gnninterpreter.typicality.typicality import FEWEST_GRAPHS

# Real graphs that lend their features.
LENDING = 64
# Pairs of nodes that random graphs may have together, and how many there are at least.
MOST_PAIRS, FEWEST_RANDOM = 2**24, 20
MORE = 2
# Of a graph of the class and another the larger is this often the same one, and size may tell them.
TOLD_BY_SIZE = 0.85
# Share of how values differ that goes along with size, where an end of the scale may be size.
GROWING = 0.8


def random_control(case: Case) -> Check:
    """Would a random graph of the same size have done?"""
    name, explanation, classifier = "random graphs", case.explanation, case.classifier
    if classifier is None:
        return Check(name, None, "the model is not at hand to be asked about random graphs")
    nodes = explanation.num_nodes
    if nodes < 2:
        return Check(name, None, "there is no graph to compare random ones with")
    lending = _lending(case)
    if (core := explanation.core) is not None and core.makes:
        # Kinds that make the class would bring it along: nothing would be left to size.
        lending = [graph for graph in lending if core.held_by(graph) is False] or lending
    graphs = _drawn(case, classifier, nodes, explanation.num_edges, lending)
    spec = classifier.spec
    own_look = _look(explanation.best, spec)
    others = [i for i, one in enumerate(graphs.to_data_list()) if _look(one, spec) != own_look]
    if not others:
        return Check(name, None, "no other graph of this size and density can be drawn")
    scores = classifier.score(graphs[torch.tensor(others)])
    given = case.target.given(scores)
    mean, best, own = float(given.mean()), float(given.max()), explanation.probability.mean
    words = written(mean), written(best)
    if not case.target.probable:
        rows = scores.outputs.double().nan_to_num(nan=0.0)
        typical, top = rows.mean(0).tolist(), rows[int(given.argmax())].tolist()
        words = case.target.written(typical), case.target.written(top)
    sentence = (
        f"random graphs of this size get {words[0]} on average, "
        f"and the best of {len(others)} gets {words[1]}"
    )
    passed = mean < RANDOM_SHARE * own
    if isinstance(case.target, ValueTarget):
        # The score falls slowly beside what was asked for: of values it counts which have it.
        mean = float(case.target.assigned(scores).double().mean())
        passed = mean < AGREEING_SHARE
    elsewhere = [graph for graph, mine in case.asked or _asked(case, lending) if not mine]
    if len(elsewhere) < FEWEST_GRAPHS:  # how large a handful is says nothing of size
        elsewhere = []
    if not passed and case.target.probable and mean <= 0.5:
        sentence += ": this one is not special"
    elif not passed and case.answers.left_over:
        sentence += f": {LEFT_OVER}, as in most random graphs"
        name = "left over"
    elif (
        not passed
        and case.target.probable
        and (
            # So too where no real graphs are known, or none of another class.
            not lending
            or _usual_mean(case, classifier, elsewhere or lending, lending) >= RANDOM_SHARE * own
        )
    ):
        sentence += f": {case.target.noun} is what the model says of most graphs, and this one is "
        sentence += "not special"
    elif not passed:
        sentence += f": as many nodes and edges are enough for {case.target.noun}"
        name = "size and density"
    elif leak := (_leak if case.target.probable else _grows)(case, classifier, lending, own):
        return Check("size and density", False, *leak)
    return Check(name, passed, sentence, mean, own)


def _lending(case: Case) -> Sequence[Data]:
    """Real graphs that lend their features, of all classes alike, wherever they come from.

    One model must not have two verdicts, so that where its data is not at hand what is kept of it
    has to do: with features drawn evenly, rare kinds would be everywhere.
    """
    if case.graphs:
        return chosen(case.graphs, LENDING, abs(case.explanation.seed))
    rows = [row for row in case.kept if row]
    return [graph for row in rows for graph in chosen(row, LENDING // len(rows), evenly=False)]


def _asked(case: Case, graphs: Sequence[Data]) -> list[tuple[Data, bool]]:
    """Real graphs that are kept, and whether each is given what was asked for."""
    if case.classifier is None or not graphs or case.graphs:
        return []
    given = case.target.assigned(case.classifier.score_data(list(graphs)))
    return list(zip(graphs, given.tolist(), strict=True))


def _leak(
    case: Case, classifier: GraphClassifier, lending: Sequence[Data], own: float
) -> tuple[str, float, float] | None:
    """Whether being as large as the class is enough for it; the prototype may be its smallest."""
    sides = [[graph for graph, one in case.asked if one == side] for side in (True, False)]
    if not lending or min(map(len, sides)) < FEWEST_GRAPHS:
        return None
    mine = torch.tensor([one for _, one in case.asked])
    given = case.target.given(case.said).cpu()[mine]
    # Of a model that is seldom sure, what it says of most of the class.
    own = min(own, float(given.mean()))
    apart = [abs(roc_auc(torch.tensor(one).double(), mine) - 0.5) for one in _sizes(case)]
    if max(apart) < TOLD_BY_SIZE - 0.5:
        return None
    means = [_usual_mean(case, classifier, side, lending) for side in sides]
    if means[0] < RANDOM_SHARE * own or means[1] > 0.5:
        return None
    sentence = (
        f"random graphs as large as those {case.target.members} get {written(means[0])} on "
        f"average, as large as the others {written(means[1])}: as many nodes and edges are enough "
        f"for {case.target.noun}"
    )
    return sentence, means[0], own


def _grows(
    case: Case, classifier: GraphClassifier, lending: Sequence[Data], own: float
) -> tuple[str, float, float] | None:
    """Whether an end of a scale is for the most part being as large, or as small, as its graphs."""
    target, mine = case.target, torch.tensor([one for _, one in case.asked])
    ends = isinstance(target, ValueTarget) and isinstance(target.aim, str)
    if not lending or not ends or int(mine.sum()) < FEWEST_GRAPHS:
        return None
    values = case.said.outputs[:, target.index].double().cpu()
    sizes = [torch.tensor(one).double() for one in _sizes(case)]
    along = max(explained(sign * one, values) for one in sizes for sign in (1, -1))
    if along < GROWING:
        return None
    graphs = [graph for graph, one in case.asked if one]
    drawn = _as_large(case, classifier, graphs, lending).outputs[:, target.index].double()
    usual, real = float(values.median()), float(values[mine].mean())
    got = float(drawn.nan_to_num(nan=usual).mean())
    way = (got - usual) / (real - usual) if real != usual else 0.0
    if way < AGREEING_SHARE:
        return None
    sentence = (
        f"{percent(along)} of how values differ goes along with the size of graphs (r2), and "
        f"random ones as large as those {target.members} get {got:.3g} on average, where these "
        f"get {real:.3g} and most {usual:.3g}: for the most part it is as many nodes and edges"
    )
    return sentence, way, AGREEING_SHARE


def _sizes(case: Case) -> tuple[list[int], list[int]]:
    """How many nodes and edges real graphs have."""
    graphs = [graph for graph, _ in case.asked]
    return [node_count(graph) for graph in graphs], [graph.edge_index.size(1) for graph in graphs]


def _usual_mean(
    case: Case, classifier: GraphClassifier, graphs: Sequence[Data], lending: Sequence[Data]
) -> float:
    """Mean score of random graphs as large as some."""
    return float(case.target.given(_as_large(case, classifier, graphs, lending)).mean())


def _as_large(
    case: Case, classifier: GraphClassifier, graphs: Sequence[Data], lending: Sequence[Data]
) -> Scores:
    """Scores of random graphs with as many nodes and edges as some have, by their medians."""
    nodes = max(2, round(median(node_count(graph) for graph in graphs)))
    edges = round(median(graph.edge_index.size(1) / classifier.spec.ways for graph in graphs))
    return classifier.score(_drawn(case, classifier, nodes, edges, lending))


def _drawn(
    case: Case, classifier: GraphClassifier, nodes: int, edges: int, lending: Sequence[Data]
) -> DenseGraphs:
    """Random graphs of a size, with the features of real nodes and edges where there are some."""
    spec, dtype = classifier.spec, classifier.dtype
    generator = torch.Generator().manual_seed(case.explanation.seed)
    # Up to two edges more: trees would otherwise be held against trees alone.
    about = (edges, edges + MORE)
    count = min(RANDOM_GRAPHS, max(FEWEST_RANDOM, MOST_PAIRS // nodes**2))
    features = random_graphs(spec, count, nodes, generator, density=0.5, dtype=dtype)
    weight = connected_weights(count, nodes, about, spec.directed, generator).to(dtype)
    rows, links = features.nodes, features.edges
    real = dense_graphs([graph.cpu() for graph in lending], spec, dtype) if lending else None
    if real is not None and not real.empty.all():
        rows = _lent(real.nodes[real.presence > 0.5], rows.shape[:2], generator)
        if real.edges is not None:
            links = _lent(real.edges[real.weight > 0.5], weight.shape, generator)
            links = links if spec.directed else mirrored(links)
    graphs = DenseGraphs(spec, weight, rows, links)
    return graphs[graphs.possible]


def connected_weights(
    count: int, nodes: int, edges: tuple[int, int], directed: bool, generator: torch.Generator
) -> Tensor:
    """Random graphs in one piece, [count, nodes, nodes]: a random tree and random further edges.

    Of the fewest and most ``edges`` at least ``nodes - 1`` and at most all pairs are taken; in a
    directed graph an edge and its reverse are two.
    """
    weight, which = torch.zeros(count, nodes, nodes), torch.arange(count)
    for node in range(1, nodes):
        other = (torch.rand(count, generator=generator) * node).long()
        here = torch.full_like(other, node)
        turned = (torch.rand(count, generator=generator) < 0.5) & directed
        weight[which, torch.where(turned, other, here), torch.where(turned, here, other)] = 1.0
    free = 1 - torch.eye(nodes) if directed else torch.ones(nodes, nodes).tril(-1)
    low, high = (max(0, min(one, int(free.sum())) - (nodes - 1)) for one in edges)
    if high:
        more = torch.randint(low, high + 1, (count, 1), generator=generator)
        order = torch.rand(count, nodes, nodes, generator=generator) * free * (1 - weight)
        places = order.flatten(1).topk(high, dim=1).indices
        added = (torch.arange(high) < more).to(weight.dtype)
        weight += torch.zeros(count, nodes * nodes).scatter(1, places, added).view_as(weight)
    return weight if directed else weight + weight.transpose(1, 2)


def _lent(rows: Tensor, shape: Sequence[int], generator: torch.Generator) -> Tensor:
    """Rows of real graphs, drawn at random."""
    return rows[torch.randint(len(rows), tuple(shape), generator=generator)]


def _look(graph: Data, spec: GraphSpec) -> list[tuple[float, ...]]:
    """Degree and kind of each node, sorted: the same for graphs that are the same.

    Numbers do not count: any graph of as many nodes and edges would differ by them.
    """
    degrees = torch.bincount(graph.edge_index[0], minlength=node_count(graph))
    kinds = [
        part
        for part, block in zip(columns(node_rows(graph), spec.nodes), spec.nodes, strict=True)
        if not isinstance(block, Continuous)
    ]
    rows = torch.cat([degrees.unsqueeze(1), *kinds], dim=1)
    return sorted(tuple(row) for row in rows.tolist())
