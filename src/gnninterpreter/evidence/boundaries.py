"""What the border between two classes is like, in the space of embeddings (GNNBoundary).

*Margin*: how near real graphs of a class come to it. *Thickness*: how far a graph has to go from
the border until the model prefers its class clearly. *Complexity*: in how many directions the
border extends. `adjacency` tells whether two classes have a border in common at all.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.errors import DataError
from gnninterpreter.evidence.evidence import Check
from gnninterpreter.evidence.reaching import Case
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.head import scores_of_embeddings
from gnninterpreter.objective import BoundaryTarget

CLEARLY = 0.75
POINTS = 50
PAIRS = 100
SAMPLES = 200
MOST = 500
NO_DATA = "there are no real graphs of both classes, or no samples on the boundary"
NO_HEAD = "the model's outputs depend on more than the embedding"


def margin(own: Tensor, border: Tensor) -> float:
    """Least distance between embeddings of a class, [N, D], and of the border, [M, D]."""
    return float(torch.cdist(own.double(), border.double()).min())


def thickness(
    classifier: GraphClassifier,
    own: Tensor,
    border: Tensor,
    classes: tuple[int, int],
    seed: int = 0,
) -> float | None:
    """Mean length of the way from the border to a class on which the model is not yet clear.

    ``own`` are embeddings of real graphs of the first of the classes, ``border`` those of the
    border. It is distance times the share of the way where the probability of the class is not 0.75
    above that of the other; None where outputs depend on more than the embedding.
    """
    generator = torch.Generator().manual_seed(seed)
    starts = border[torch.randint(len(border), (PAIRS,), generator=generator)]
    ends = own[torch.randint(len(own), (PAIRS,), generator=generator)]
    found = scores_of_embeddings(classifier, _between(starts, ends))
    if found is None:
        return None
    p = found.probabilities.view(PAIRS, POINTS, -1)
    unclear = (p[..., classes[0]] - p[..., classes[1]] < CLEARLY).double().mean(1)
    return float(((ends - starts).double().norm(dim=1).cpu() * unclear.cpu()).mean())


def complexity(border: Tensor) -> float:
    """Entropy of the spread of the border over directions, from 0 (one) to 1 (all alike)."""
    rows = border.double()
    spread = torch.linalg.eigvalsh(torch.cov(rows.t()).reshape(rows.size(1), -1)).clamp_min(0)
    if rows.size(1) < 2 or not float(spread.sum()) > 0:
        return 0.0
    share = spread / spread.sum()
    return float(torch.special.entr(share).sum()) / math.log(rows.size(1))


def adjacency(
    classifier: GraphClassifier, graphs: list[Data], first: int, second: int, seed: int = 0
) -> float | None:
    """Share of ways between graphs of two classes on which the model says no third class.

    Graphs are sorted by what the model says of them. None where outputs depend on more than the
    embedding.

    Raises:
        DataError: If the model gives no graph to one of the classes.
    """
    scores = classifier.score_data(graphs)
    said = scores.logits.argmax(1)
    generator, ends = torch.Generator().manual_seed(seed), []
    for c in (first, second):
        mine = scores.embedding[said == c]
        if not len(mine):
            name = classifier.spec.class_names[c]
            raise DataError(f"the model gives none of the graphs to class {name!r}; pass others")
        ends.append(mine[torch.randint(len(mine), (PAIRS,), generator=generator)])
    found = scores_of_embeddings(classifier, _between(ends[0], ends[1]))
    if found is None:
        return None
    along = found.logits.argmax(1).view(PAIRS, POINTS)
    return float(((along == first) | (along == second)).all(1).double().mean())


def boundary_checks(case: Case) -> tuple[Check, ...]:
    """Margin, thickness and complexity of the boundary that an explanation is about."""
    target, classifier = case.target, case.classifier
    names = ("margin", "thickness", "complexity")
    if not isinstance(target, BoundaryTarget) or classifier is None or case.graphs is None:
        return tuple(Check(name, None, NO_DATA) for name in names)
    graphs = list(case.graphs)[:MOST]
    real, drawn = classifier.score_data(graphs), case.explanation.sample_dense(SAMPLES)
    samples = classifier.score(drawn)
    border = samples.embedding[target.assigned(samples)]
    sides = (target.index, target.other), (target.other, target.index)
    own = [real.embedding[real.logits.argmax(1) == side[0]] for side in sides]
    if not len(border) or not all(map(len, own)):
        return tuple(Check(name, None, NO_DATA) for name in names)
    margins = [margin(rows, border) for rows in own]
    thick = [
        thickness(classifier, rows, border, side) for rows, side in zip(own, sides, strict=True)
    ]
    varied = complexity(border) if len(border) > 1 else 0.0
    kinds = len(torch.unique(border.float().round(decimals=3), dim=0))
    near = f"real graphs come as near as {_both(margins, target)}, in the embedding"
    spread = f"samples of {kinds} kinds spread over directions with {varied:.2f} of the most"
    unclear = Check("thickness", None, NO_HEAD)
    if both := [value for value in thick if value is not None]:
        words = f"the model is unclear for {_both(both, target)} of the way to real graphs"
        unclear = Check("thickness", True, words, min(both))
    return (
        Check("margin", True, near, min(margins)),
        unclear,
        Check("complexity", True, f"{spread} entropy", varied, 1.0),
    )


def _both(values: list[float], target: BoundaryTarget) -> str:
    return f"{values[0]:.3g} ({target.names[0]}) and {values[1]:.3g} ({target.names[1]})"


def _between(starts: Tensor, ends: Tensor) -> Tensor:
    """Points on the ways between rows, [rows * POINTS, D], ends left out."""
    along = torch.linspace(0, 1, POINTS + 2, dtype=starts.dtype, device=starts.device)[1:-1]
    ways = starts.unsqueeze(1) + (ends - starts).unsqueeze(1) * along.view(1, -1, 1)
    return ways.flatten(0, 1)
