"""Question 5: the smallest change that turns an explanation into another class.

All single changes are tried, so that "one change" is exact; for more, the most promising graphs of
each step are kept (a beam), so that the number is an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.audit.context import Context
from gnninterpreter.audit.findings import Evidence, Finding, Kind, Severity
from gnninterpreter.explanation import Explanation
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.optim.batches import compact, repeat, widened, with_varied_absent_nodes
from gnninterpreter.optim.moves import MoveSpace
from gnninterpreter.spec import Categorical

__all__ = ["SmallChange", "small_change_findings", "smallest_change"]

MOST_CHANGES = 4
BEAM = 6
NEW_NODES = 5
CERTAIN = 0.9


@dataclass(frozen=True)
class SmallChange:
    """A change that the model answers with another class.

    Args:
        graph: The changed graph.
        changes: What was changed, in words.
        label: The class the model now says.
        probability: With which probability.
    """

    graph: Data
    changes: tuple[str, ...]
    label: int
    probability: float


def smallest_change(
    graphs: DenseGraphs, target: int, context: Context, most: int = MOST_CHANGES
) -> SmallChange | None:
    """Find few changes after which the model no longer says a class; the graph stays in one piece.

    Args:
        graphs: One discrete graph.
        target: The class it has.
        context: The model.
        most: Most changes to try.

    Returns:
        The change, of the fewest found the most certain one; None where there is none so small.
    """
    beam = with_varied_absent_nodes(_roomy(graphs))
    space = MoveSpace(beam.spec, beam.num_candidates, beam.weight.device)
    whole = bool(beam.connected().all())
    told: list[tuple[str, ...]] = [()]
    for _ in range(most):
        possible = space.possible(beam)
        owner, move = possible.nonzero(as_tuple=True)
        changed = space.apply(beam[owner], move)
        usable = ~changed.empty
        if whole:
            usable = usable & changed.connected()
        if not bool(usable.any()):
            return None
        owner, move, changed = owner[usable], move[usable], changed[usable]
        probabilities = context.classifier.score(changed).probabilities.nan_to_num(nan=0.0)
        label = probabilities.argmax(dim=1)
        sure = probabilities.gather(1, label.unsqueeze(1)).squeeze(1)
        flipped = torch.where(label != target, sure, -1.0)
        best = int(flipped.argmax())
        if float(flipped[best]) > 0:
            words = _words(space, beam[int(owner[best])], int(move[best]))
            return SmallChange(
                changed[best].to_data_list()[0],
                (*told[int(owner[best])], words),
                int(label[best]),
                float(sure[best]),
            )
        keep = _distinct(probabilities[:, target])[:BEAM]
        told = [
            (*told[int(owner[k])], _words(space, beam[int(owner[k])], int(move[k]))) for k in keep
        ]
        beam = with_varied_absent_nodes(changed[torch.tensor(keep)])
    return None


def small_change_findings(explanation: Explanation, context: Context) -> tuple[list[Finding], str]:
    """Turn an explanation into another class by as little as possible.

    Where the rule still gives the changed graph its old class, or any other than the model now
    says, the model is wrong; where the rule agrees, it has merely drawn its border well.

    Returns:
        At most one finding, and what was asked in a short sentence.
    """
    name = explanation.name
    mode = explanation.distribution.select([explanation.choice]).mode()
    mode = mode.to(context.classifier.device)
    start = int(context.predict([explanation.best])[0][0]) if explanation.num_edges else -1
    if start != explanation.target:
        return [], f"{name}: no graph of the class to change"
    found = smallest_change(mode, explanation.target, context)
    if found is None:
        return [], f"{name}: no change of up to {MOST_CHANGES} steps leads to another class"
    count = len(found.changes)
    other = context.names[found.label]
    steps = "one change" if count == 1 else f"{count} changes"
    asked = f"{name}: {steps} to \u201c{other}\u201d"
    truth = context.truth(found.graph)
    if truth == found.label:
        return [], f"{asked}, and the rule agrees"
    certain = found.probability >= CERTAIN
    severity = Severity.LOW
    if truth is not None and count <= 2:
        severity = (Severity.HIGH if certain and count == 1 else Severity.MEDIUM).at_most(
            context.gravest
        )
    rule = "" if truth is None else f" By the rule it is \u201c{context.names[truth]}\u201d."
    sentence = (
        f"After {steps} ({'; '.join(found.changes)}) the model says \u201c{other}\u201d with a "
        f"probability of {found.probability:.3f}.{rule}"
    )
    label = f"p({other}) = {found.probability:.3f}"
    return [
        Finding(
            Kind.SMALL_CHANGE,
            severity,
            name,
            f"{steps.capitalize()} from \u201c{name}\u201d to \u201c{other}\u201d",
            sentence,
            weight=found.probability / count,
            numbers={
                "changes": count,
                "probability": round(found.probability, 4),
                "new class": other,
            },
            evidence=(
                Evidence(explanation.best, f"p({name}) = {explanation.mode_probability:.3f}"),
                Evidence(context.labelled(found.graph, truth), label),
            ),
            graphs=(context.labelled(found.graph, truth),),
        )
    ], asked


def _roomy(graphs: DenseGraphs) -> DenseGraphs:
    """The graph on its own nodes and a few absent ones, one for each first category."""
    small = compact(graphs)
    first = graphs.spec.nodes[0]
    room = min(first.size, NEW_NODES) if isinstance(first, Categorical) else 1
    present = int(repeat(small, 1).num_nodes.max())
    return widened(small, present + room)


def _distinct(values: Tensor) -> list[int]:
    """Places of the smallest values, equal ones (mostly mirror images) once."""
    seen: set[float] = set()
    found = []
    for place in values.argsort().tolist():
        value = round(float(values[place]), 9)
        if value not in seen:
            seen.add(value)
            found.append(place)
    return found


def _words(space: MoveSpace, graph: DenseGraphs, move: int) -> str:
    """Say what a move does; nodes have the numbers they have in the explanation graph."""
    pairs, node_changes, edge_changes, _ = space.sizes
    target, source = space._ends
    if move < pairs:
        i, j = int(target[move]), int(source[move])
        present = graph.weight[0].gt(0.5)
        touched = present.any(dim=0) | present.any(dim=1)
        if bool(present[i, j]):
            return f"take out the edge between nodes {j} and {i}"
        if bool(touched[i]) and bool(touched[j]):
            return f"join nodes {j} and {i}"
        return f"hang a new node on node {j if bool(touched[j]) else i}"
    move -= pairs
    if move < node_changes:
        width = graph.nodes.size(2)
        return f"make node {move // width} {_category(graph.spec.nodes, move % width)}"
    move -= node_changes
    if move < edge_changes and graph.edges is not None:
        width = graph.edges.size(3)
        i, j = int(target[move // width]), int(source[move // width])
        kind = _category(graph.spec.edges, move % width)
        return f"make the edge between nodes {j} and {i} {kind}"
    return f"take out node {move - edge_changes}"


def _category(blocks: tuple[object, ...], column: int) -> str:
    for block in blocks:
        size = block.size if isinstance(block, Categorical) else getattr(block, "dim", 1)
        if column < size:
            return block.names[column] if isinstance(block, Categorical) else "different"
        column -= size
    return "different"
