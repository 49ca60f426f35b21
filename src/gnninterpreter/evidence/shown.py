"""What explanations leave out of graphs, and whether the model goes by it.

Graphs made here are nodes joined by plain edges, and what follows from the rest of a graph is
computed from it. Real graphs may hold more: nodes without an edge, an edge twice or from a node to
itself, the handedness of a molecule. What a model makes of such things no explanation can show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy

import torch
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.core import column_name
from gnninterpreter.evidence.reaching import Case, percent
from gnninterpreter.evidence.thresholds import AGREEING_SHARE, PROBABLE
from gnninterpreter.graphs import table
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.examples import prepare
from gnninterpreter.spec.data import node_count
from gnninterpreter.typicality.pieces import cut

LOOPS = "without edges from a node to itself"
TWICE = "without edges that are there twice"
LONE = "without nodes that have no edge"


def left_out(case: Case) -> Check | None:
    """Whether the model says something else of real graphs that are shown as answers are."""
    if case.classifier is None:
        return None
    plain = [_plain(graph) for graph in case.drawn]
    derived = bool(case.explanation.spec.derived)
    if not derived and not any(why for _, why in plain):
        return None
    # Attributes of their own are computed in any case: graphs made here have them by no other way.
    as_given = derived and not case.explanation.spec.attributes
    given, shown = (
        case.target.assigned(case.classifier.score_data(graphs, as_given=one)).tolist()
        for graphs, one in ((case.drawn, as_given), ([graph for graph, _ in plain], False))
    )
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
