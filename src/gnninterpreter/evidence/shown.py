"""What explanations leave out of graphs, and whether the model goes by it.

Graphs made here are nodes joined by plain edges, and what follows from the rest of a graph is
computed from it. Real graphs may hold more: nodes without an edge, an edge twice or from a node to
itself, the handedness of a molecule, nodes in an order that says something. What a model makes of
such things no explanation can show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from functools import partial
from operator import ne

import torch
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.core import column_name
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import AGREEING_SHARE, PROBABLE
from gnninterpreter.graphs import table
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.models.examples import prepare
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.pieces import cut

# Graphs whose nodes are put into another order.
SHUFFLED = 200
LOOPS = "without edges from a node to itself"
TWICE = "without edges that are there twice"
LONE = "without nodes that have no edge"


def left_out(case: Case) -> Check | None:
    """Whether the model says something else of real graphs that are shown as answers are."""
    if case.classifier is None:
        return None
    if (order := _by_order(case)) is not None:
        return order
    plain = case.once("plain", lambda: [_plain(graph) for graph in case.drawn])
    derived = bool(case.explanation.spec.derived)
    if not derived and not any(why for _, why in plain):
        return None
    # Attributes of their own are computed in any case: graphs made here have them by no other way.
    as_given = derived and not case.explanation.spec.attributes
    parts = (case.drawn, as_given), ([graph for graph, _ in plain], False)
    said = case.once("as shown", partial(_scored, case.classifier, parts))
    given, shown = (case.target.assigned(scores).tolist() for scores in said)
    turned = [row for row in range(len(plain)) if given[row] != shown[row]]
    share = len(turned) / len(plain)
    if share <= 1 - PROBABLE:
        return None
    reasons = Counter(reason for row in turned for reason in plain[row][1])
    if as_given:
        reasons.update(_computed([case.drawn[row] for row in turned], case.classifier))
    often = [why for why, count in reasons.items() if count >= AGREEING_SHARE * len(turned)]
    sentence = (
        f"the model goes by what explanations leave out: it says something else of "
        f"{percent(share)} of the real graphs where they are shown as explanations are, "
        f"{' and '.join(sorted(often)) or 'with less than they hold'}"
    )
    return Check("nothing left out", False, sentence, share, 1 - PROBABLE, grave=True)


def _by_order(case: Case) -> Check | None:
    """Whether the model says something else of real graphs whose nodes are numbered anew."""
    if case.classifier is None or case.classifier.noisy or not case.drawn:
        return None
    said = case.once("renumbered", partial(_of_renumbered, case, case.classifier))
    shown = case.target.assigned(said).tolist()
    given = [mine for _, mine in case.asked[:SHUFFLED]]
    share = sum(map(ne, given, shown)) / len(given)
    if share <= 1 - PROBABLE:
        return None
    sentence = (
        f"the model goes by the order of nodes, which is chance in explanations: it says something "
        f"else of {percent(share)} of the real graphs once their nodes are numbered anew"
    )
    return Check("nothing left out", False, sentence, share, 1 - PROBABLE, grave=True)


def _of_renumbered(case: Case, classifier: GraphClassifier) -> Scores:
    rng = torch.Generator().manual_seed(abs(case.explanation.seed))
    return classifier.score_data([_renumbered(graph, rng) for graph in case.drawn[:SHUFFLED]])


def _scored(
    classifier: GraphClassifier, parts: Sequence[tuple[Sequence[Data], bool]]
) -> list[Scores]:
    return [classifier.score_data(graphs, as_given=as_given) for graphs, as_given in parts]


def _renumbered(graph: Data, rng: torch.Generator) -> Data:
    """The same graph with its nodes in another order, and edges in the order of their nodes."""
    count = node_count(graph)
    order = torch.randperm(count, generator=rng)
    place = order.argsort()
    made, ends = copy(graph), place[graph.edge_index.cpu()]
    edges = (ends[0] * count + ends[1]).argsort(stable=True)
    made.edge_index = ends[:, edges].to(graph.edge_index.device)
    for key, value in graph:
        if key != "edge_index" and torch.is_tensor(value):
            rows = order if graph.is_node_attr(key) else edges if graph.is_edge_attr(key) else None
            if rows is not None:
                made[key] = value[rows.to(value.device)]
    return made


def _plain(graph: Data) -> tuple[Data, list[str]]:
    """A graph as explanations have it, and what that leaves out."""
    ends, count = graph.edge_index, node_count(graph)
    keep = ends[0] != ends[1]
    why: list[str] = []
    if not keep.any():
        return graph, why
    if not keep.all():
        why.append(LOOPS)
    _, code = torch.unique(ends[0] * count + ends[1], return_inverse=True)
    first = torch.full((int(code.max()) + 1,), len(code)).scatter_reduce(
        0, code.cpu(), torch.arange(len(code)), "amin"
    )
    once = torch.zeros_like(keep).index_fill(0, first.to(keep.device), True)
    if not once.all():
        why.append(TWICE)
    keep = keep & once
    if why:
        graph = copy(graph)
        graph.edge_index = ends[:, keep]
        for key in ("edge_attr", "edge_type", "edge_weight"):
            if graph.get(key) is not None:
                graph[key] = graph[key][keep]
    touched = graph.edge_index.unique()
    if len(touched) < count:
        why.append(LONE)
        graph = cut(graph, touched.tolist())
    return graph, why


def _computed(graphs: Sequence[Data], classifier: GraphClassifier) -> Counter[str]:
    """In how many graphs each derived column is not what answers would have there."""
    spec, found = classifier.spec, Counter[str]()
    for graph in graphs:
        given, shown = (prepare([graph], classifier, as_given=one) for one in (True, False))
        for key, blocks in (("x", spec.nodes), ("edge_attr", spec.edges)):
            if blocks and given.get(key) is not None:
                other = (table(given[key]) != table(shown[key])).any(dim=0).nonzero().flatten()
                names = {column_name(blocks, column) for column in other.tolist()}
                found.update(f"with {name} computed from the rest" for name in names)
    return found
