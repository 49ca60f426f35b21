"""The methods that are compared: each gives a best graph, modes and samples of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Data

from gnninterpreter.experiments.realism.gins import Judge
from gnninterpreter.experiments.realism.rows import ABLATIONS, RealismConfig
from gnninterpreter.experiments.subjects import Subject
from gnninterpreter.models.profile import picture_nodes
from gnninterpreter.objective import Typical
from gnninterpreter.search import Recipe
from gnninterpreter.typicality.pieces import cut_piece

# Draws of a bench are no draws of the search or of a report.
SEED = 1_000_003


@dataclass(frozen=True)
class Answer:
    """What a method says about a class.

    ``bits`` is the entropy of its distributions, a mean over restarts; ``judge`` what to place its
    graphs by, where it is not that of all real graphs; ``placed`` graphs to place instead of the
    best and the samples.
    """

    best: Data
    core: Data | None
    modes: Sequence[Data]
    samples: Sequence[Data]
    probability: float
    feasible: bool
    seconds: float
    verdict: str
    bits: float | None = None
    judge: Judge | None = None
    placed: tuple[Data, Sequence[Data]] | None = None


def answer(found: Subject, config: RealismConfig, samples: int) -> Answer:
    """Ask a method about a class."""
    if config.method == "real":
        return _real(found, config, samples)
    explanation = _explained(found, config)
    core = explanation.core
    return Answer(
        best=explanation.best.cpu(),
        core=None if core is None else core.graph,
        modes=[mode.graph.cpu() for mode in explanation.modes()],
        samples=[graph.cpu() for graph in explanation.sample(samples, SEED + config.seed)],
        probability=explanation.probability.mean,
        feasible=explanation.restarts[explanation.choice].feasible,
        seconds=explanation.seconds,
        verdict=str(explanation.verdict),
        bits=mean(restart.entropy for restart in explanation.restarts),
    )


def _ablated(method: str) -> Recipe:
    """Our search with one ingredient left out."""
    auto = Recipe.auto()
    if method == "unopened":
        return auto.with_(opening=1)
    if method in ("unspread", "unshrunk"):
        return auto.without(method.removeprefix("un").replace("shrunk", "shrink"))
    bar = float(method.removeprefix("bar-"))
    terms = tuple(
        replace(w, term=Typical(bar)) if isinstance(w.term, Typical) else w for w in auto.terms
    )
    return replace(auto, name=method, terms=terms)


def _explained(found: Subject, config: RealismConfig) -> Any:
    from gnninterpreter.api import explain
    from gnninterpreter.baselines import XGNN, Random

    options: dict[str, Any] = {"targets": [config.target], "seed": config.seed, **found.options}
    if config.method in ("random", "xgnn"):
        baseline = Random() if config.method == "random" else XGNN()
        return baseline.explain(found.model, **options)[config.target]
    recipe: Any = "auto" if config.method == "ours" else config.method
    if config.method in ABLATIONS:
        recipe = _ablated(config.method)
    options |= {"restarts": config.restarts, "recipe": recipe, "progress": False}
    return explain(found.model, **options)[config.target]


def _real(found: Subject, config: RealismConfig, samples: int) -> Answer:
    """Half of the real graphs as if they were explanations, the other half to place them by.

    The best is the one whose embedding is nearest to the mean of the class, of those that the model
    is certain of where there are any.
    """
    target = found.spec.class_index(config.target)
    real = found.real(target)
    rng = np.random.default_rng([SEED, config.seed])
    order = rng.permutation(len(real)).tolist()
    half = len(real) // 2
    mine, others = [real[i] for i in order[:half]], [real[i] for i in order[half:]]
    scores = found.classifier.score_data(mine)
    given = scores.probabilities[:, target].cpu()
    profile = found.statistics.profile(target)
    assert profile is not None
    assert profile.mean_embedding is not None
    near = torch.cosine_similarity(
        scores.embedding.cpu().double(), profile.mean_embedding.double().unsqueeze(0)
    )
    sure = given >= profile.certain
    best = int((near - 10.0 * (~sure).double() if bool(sure.any()) else near).argmax())
    drawn = [mine[i] for i in rng.choice(half, samples, replace=samples > half).tolist()]
    judge = Judge(others, found.spec)
    placed = None
    if not judge.whole:
        size = picture_nodes(profile.mean_nodes)
        placed = (
            cut_piece(mine[best], size, rng),
            [cut_piece(graph, size, rng) for graph in drawn],
        )
    return Answer(
        best=mine[best],
        core=None,
        modes=[mine[best]],
        samples=drawn,
        probability=float(given.mean()),
        feasible=True,
        seconds=0.0,
        verdict="real",
        judge=judge,
        placed=placed,
    )
