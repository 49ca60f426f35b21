"""The check whether an answer is one of the real graphs."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.patterns.core import storable
from gnninterpreter.evidence.patterns.real import in_order
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.graphs import node_rows
from gnninterpreter.isomorphism import same_graph
from gnninterpreter.spec.data import node_count

# Real graphs of the size of an answer that are compared with it one by one.
FEW = 100


def new(case: Case) -> Check:
    """Is it one of the real graphs, or none of them? Either is fine, and said."""
    explanation, graphs = case.explanation, case.graphs
    if graphs is None or not explanation.num_edges:
        return Check("new", None, "there is no data to look the graph up in")
    best, spec = explanation.best.cpu(), explanation.spec
    size = (node_count(best), int(best.num_edges))
    ordered, count = in_order(graphs), 0
    alike = ordered.where((ordered.nodes == size[0]) & (ordered.edges == size[1]))
    marks = _marks(best)
    for graph in alike:
        # To compare two graphs takes many times as long as to see that these differ.
        if len(alike) > FEW and not _near(_marks(graph), marks):
            continue
        stored = storable(graph, spec, torch.float32)
        count += stored is not None and same_graph(best, stored, spec)
    sentence = f"it is none of the {len(graphs):,} real graphs"
    if count:
        times = "once" if count == 1 else f"{count:,} times"
        sentence = f"it is a real graph of the data, which holds it {times}"
    return Check("new", True, sentence, count, len(graphs))


def _marks(graph: Data) -> Tensor:
    """Degrees in order, and the sum of each feature: the same for the same graph."""
    ends = graph.edge_index.cpu()
    apart = ends[0] != ends[1]
    degrees = ends[1][apart].bincount(minlength=node_count(graph)).sort()[0]
    parts = [degrees, node_rows(graph).cpu().double().sum(0)]
    for name in ("edge_attr", "edge_type"):
        if graph.get(name) is not None:
            parts.append(graph[name].cpu()[apart].double().sum(0))
            break
    return torch.cat([part.double().flatten() for part in parts])


def _near(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape:
        return True
    known = one.isfinite() & other.isfinite()
    return bool(torch.allclose(one[known], other[known], rtol=1e-3, atol=1e-3))
