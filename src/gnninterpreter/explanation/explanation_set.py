"""All classes of one model together: a mapping from class, by name or index, to its explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import nn
from torch_geometric.data import Data

from gnninterpreter.arguments import page_of, path_of, whole_number
from gnninterpreter.errors import DataError, SpecError, TargetError, needs
from gnninterpreter.evidence.patterns import (
    Fidelity,
    GraphExplanation,
    RealGraphs,
    explain_graph,
    fidelity_of,
)
from gnninterpreter.explanation.explanation import Explanation
from gnninterpreter.models.bundle import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.models.task import Task
from gnninterpreter.objective import LabelTarget, ValueTarget
from gnninterpreter.objective.question import as_question
from gnninterpreter.spec import GraphSpec, graph_list
from gnninterpreter.views import view

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit


@dataclass
class ExplanationSet(Mapping[str, Explanation]):
    """What `gnninterpreter.explain` returns: one explanation for each target, by name.

    Args:
        inferred: What was found out about the model, in short lines.
        metadata: Versions and settings, to repeat the run.
        statistics: What the classes look like to the model, where that is known.
        classifier: The model; kept while in memory, never stored, as are the graphs.
    """

    spec: GraphSpec
    explanations: dict[str, Explanation]
    model_name: str = "model"
    inferred: list[str] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    statistics: ClassStatistics | None = None
    classifier: GraphClassifier | None = field(default=None, repr=False, compare=False)
    graphs: Sequence[Data] | None = field(default=None, repr=False, compare=False)

    def __getitem__(self, key: Any) -> Explanation:
        """Look a target up, as it was asked for.

        That is a class or label by name or index, a pair of classes, or ``"max"``, ``"min"`` or the
        number of a regression.

        Raises:
            TargetError: If there is no such target, or it was not explained; the message lists
                those that were. It is a ``KeyError`` as well.
        """
        if isinstance(key, str) and key in self.explanations:
            return self.explanations[key]
        values = any(one.target.kind == "value" for one in self.explanations.values())
        if isinstance(key, tuple) and len(key) == 2 and not values:
            pair = [self.spec.class_names[self.spec.class_index(one)] for one in key]
            names = [" | ".join(pair), " | ".join(reversed(pair))]
        elif values:
            names = [f"{key:g}" if isinstance(key, (int, float)) else str(key).strip()]
        else:
            names = [self.spec.class_names[self.spec.class_index(key)]]
        for name in names:
            if name in self.explanations:
                return self.explanations[name]
        kind = "value" if values else "boundary" if len(names) > 1 else "class"
        raise TargetError(f"{kind} {names[0]!r} was not explained; these were: {', '.join(self)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.explanations)

    def __len__(self) -> int:
        return len(self.explanations)

    @property
    def converged(self) -> bool:
        """Whether every class was explained as wanted."""
        return all(explanation.converged for explanation in self.values())

    def to(self, device: torch.device | str) -> ExplanationSet:
        """Return the explanations with their graphs on another device."""
        moved = {name: one.to(device) for name, one in self.explanations.items()}
        return replace(self, explanations=moved)

    def summary(self) -> dict[str, Any]:
        """The numbers of all explanations as plain JSON values."""
        return {
            "model": self.model_name,
            "classes": [explanation.summary() for explanation in self.values()],
            "inferred": self.inferred,
            **self.metadata,
        }

    def fidelity(
        self,
        held_out: Any,
        *,
        model: nn.Module | Bundle | None = None,
        dataset: Any = None,
        forward: Callable[..., Any] | None = None,
        target: Any = None,
        form: str = "rules",
        most: int = 40,
    ) -> Fidelity:
        """Measure how much of the model's behaviour patterns of real graphs account for.

        Rules over "holds this pattern", of at most so many patterns, are found in the data of the
        run, or in ``dataset``, and compared with the model on the graphs of ``held_out``, which are
        not among those. They take the form of ``"rules"``, a list of if and else, or of
        ``"points"``, where evidence adds up. The target says which label, or which of several
        values, is to be accounted for; values are told apart by whether they lie below the middle.
        A run that was loaded needs the model.

        Raises:
            SpecError: If the model or the data is not at hand.
            DataError: If there are no graphs, or no pattern occurs in enough of them.
        """
        classifier = self._model(model, forward)
        graphs = self.graphs if dataset is None else graph_list(dataset)
        if graphs is None:
            raise SpecError(
                "fidelity needs graphs to find patterns in, and this run was made without data or "
                "loaded; pass dataset= to result.fidelity"
            )
        if not classifier.task.exclusive:
            classifier = _two_sides(classifier, graphs, target)
        held = RealGraphs(classifier, graph_list(held_out))
        return fidelity_of(RealGraphs(classifier, graphs), held, form=form, most=most)

    def explain_graph(
        self,
        data: Data,
        *,
        model: nn.Module | Bundle | None = None,
        forward: Callable[..., Any] | None = None,
        seed: int = 0,
    ) -> GraphExplanation:
        """Explain one prediction by the class view: which cores a graph holds and needs.

        Gives the cores the graph holds, the nodes they cover, and how far the score falls without
        them; ``seed`` is that of the random pieces that are taken out for comparison. A run that
        was loaded needs the model.

        Raises:
            SpecError: If the model is not at hand.
            DataError: If it is not a graph that the model takes.
        """
        seed = whole_number("seed", seed, -(2**63))
        classifier = self._model(model, forward)
        graphs = graph_list([data])
        if len(graphs) > 1:
            raise DataError(f"data must be one graph (got a batch of {len(graphs)})")
        return explain_graph(
            classifier, graphs[0].cpu(), [(one.target, one.cores) for one in self.values()], seed
        )

    def _model(
        self, model: nn.Module | Bundle | None, forward: Callable[..., Any] | None
    ) -> GraphClassifier:
        if model is not None:
            # The spec says more where it says it: how outputs are read, too.
            task = "auto" if "task" in self.spec.metadata else self.metadata.get("task", "auto")
            return GraphClassifier.connect(model, self.spec, forward=forward, task=task)
        if self.classifier is None:
            raise SpecError("a loaded run holds no model; pass model= to this call")
        return self.classifier

    def to_pandas(self) -> Any:
        """The numbers of all explanations as a table, one row for each.

        Raises:
            MissingExtraError: If pandas is not installed.
        """
        with needs("pandas", "report", "to_pandas"):
            import pandas
        rows = [{"class": one.name, **one.figures()} for one in self.values()]
        return pandas.DataFrame(rows).set_index("class")

    def save(self, folder: str | Path, overwrite: bool = False) -> Path:
        """Write a run folder (safetensors and JSON); `gnninterpreter.load` reads it.

        Raises:
            OutputError: If the folder already holds a run, or cannot be written.
        """
        from gnninterpreter.explanation.storage import save_run

        return save_run(self, path_of("folder", folder), overwrite)

    def report(
        self,
        path: str | Path,
        model: Any = None,
        dataset: Any = None,
        *,
        forward: Callable[..., Any] | None = None,
        audit: Audit | None = None,
    ) -> Path:
        """Write the report: one self-contained HTML file that opens offline.

        With the model it also says what random graphs get and how the probability changes from soft
        to discrete; with labelled graphs, which the nearest real ones are; with an audit, its
        findings before the classes.

        Raises:
            ModelError: If it is not the model that was explained.
            OutputError: If the place cannot be written.
        """
        place, more = page_of("path", path), {"forward": forward, "audit": audit}
        return Path(view("page")(self, place, model, dataset, **more))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(view("cards")(self))

    def __repr__(self) -> str:
        rows = "\n".join(f"  {explanation!r}" for explanation in self.values())
        return f"ExplanationSet of {self.model_name}:\n{rows}"


class Explainer(Protocol):
    """Anything that is called like `gnninterpreter.explain` and returns what it returns.

    That function is one; `gnninterpreter.baselines.XGNN` and ``Random`` are others.
    """

    def __call__(
        self,
        model: Any,
        dataset: Any = None,
        *,
        spec: GraphSpec | None = None,
        targets: Sequence[str | int] | str | int | None = None,
        seed: int = 0,
        class_statistics: ClassStatistics | None = None,
    ) -> ExplanationSet:
        """Explain the targets of a model, all of them when none are named."""


def _two_sides(classifier: GraphClassifier, graphs: Sequence[Data], asked: Any) -> GraphClassifier:
    """A model of labels or values as one of two classes: with the label, above the middle."""
    spec = classifier.spec
    if asked is None and spec.num_classes > 1:
        raise SpecError(
            f"the model has {classifier.task.counted(spec.num_classes)}; say which one with "
            f"target= ({', '.join(spec.class_names)})"
        )
    index = 0 if asked is None else spec.class_index(asked)
    name = spec.class_names[index]
    if classifier.task is Task.MULTILABEL:
        return as_question(classifier, LabelTarget(index, name), (f"not {name}", name))
    values = classifier.score_data(list(graphs)).logits[:, index].double()
    middle, spread = float(values.median()), float(values.std(unbiased=False)) or 1.0
    # As probable as not in the middle, where the score of a target is one half.
    target = ValueTarget(index, name, "max", middle + spread, spread, name)
    figure = target.figure(middle)
    return as_question(classifier, target, (f"{name} below {figure}", f"{name} above {figure}"))
