"""The one call: a model in, explanations of its classes out.

`explain` composes the parts in the order of the flow and adds nothing of its own; each part also
works alone.
"""

from __future__ import annotations

import math
import operator
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch_geometric
from torch import Tensor, nn
from torch_geometric.data import Batch, Data

from gnninterpreter._version import __version__
from gnninterpreter.errors import DataError, ModelError, SpecError, TargetError
from gnninterpreter.evidence import rule_of
from gnninterpreter.explanation import ExplanationSet, load_run
from gnninterpreter.explanation.assembly import explanation_of
from gnninterpreter.graphs import random_graphs
from gnninterpreter.models import Bundle
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.relax import ProbeReport, RelaxedModel, probe
from gnninterpreter.search import Callback, Recipe, search
from gnninterpreter.spec import GraphSpec
from gnninterpreter.views import view

__all__ = ["explain", "load"]

GRADIENTS = ("auto", "relaxed", "score-function")


def explain(
    model: nn.Module | Bundle,
    dataset: Any = None,
    *,
    spec: GraphSpec | None = None,
    targets: Sequence[str | int] | str | int | None = None,
    restarts: int = 8,
    seed: int = 0,
    recipe: str | Recipe = "auto",
    forward: Callable[[nn.Module, Batch], Any] | None = None,
    embedding: str | Callable[[nn.Module, Batch], Tensor] | None = None,
    class_statistics: ClassStatistics | None = None,
    gradient: str = "auto",
    device: str | torch.device | None = None,
    progress: Any = True,
    callbacks: Sequence[Callback] = (),
) -> ExplanationSet:
    """Learn, for each class, a distribution over graphs that the model assigns to it.

    Args:
        model: The trained classifier: any `torch.nn.Module` over PyG graphs, or a bundled model.
        dataset: Labelled graphs the model was trained on, for the features and class statistics.
        targets: Classes to explain, by name or index; every class when omitted.
        restarts: Independent searches for each class, run as one batch.
        seed: The same seed gives the same explanations.

    Keyword Args:
        spec: The graphs the model takes, where there is no data set to infer it from.
        recipe: ``"auto"``, ``"paper"`` (for the data sets of the paper) or a `Recipe`.
        forward: How to call the model, ``forward(model, data)``, where its signature does not say.
        embedding: Where the graph embedding is: a module name or a callable.
        class_statistics: Stands in for the data set where the data is not at hand.
        gradient: ``"auto"`` relaxes the model where the probe passes and uses the score-function
            gradient elsewhere; ``"relaxed"`` and ``"score-function"`` insist.
        device: Where to run; the model's own device when omitted.
        progress: Whether to show progress; or an object with the methods of
            `gnninterpreter.cli.progress.Progress`.
        callbacks: Called with a `Look` as the search goes; one that returns True stops it.

    Returns:
        A mapping from class, by name or index, to its `Explanation`.

    Raises:
        GNNInterpreterError: One of its kinds, for anything in the arguments that has to be mended.
    """
    restarts = _whole("restarts", restarts, least=1)
    seed = _whole("seed", seed, least=-(2**63))
    if gradient not in GRADIENTS:
        raise SpecError(f"gradient must be one of {', '.join(GRADIENTS)} (got {gradient!r})")
    name, rule = type(model).__name__, rule_of(model, dataset)
    dataset_name = getattr(dataset, "name", None)
    if isinstance(model, Bundle):
        name = dataset_name = model.dataset_name
        spec, class_statistics = spec or model.spec, class_statistics or model.statistics
        model = model.model
    if not isinstance(model, nn.Module):
        raise ModelError(
            f"model must be a torch.nn.Module (got {type(model).__name__}); load the weights into "
            "the class they were trained with first"
        )
    graphs = None if dataset is None else _graphs(dataset)
    if spec is None:
        if dataset is None:
            raise SpecError(
                "neither dataset nor spec was given, so the features of nodes and edges are "
                "unknown; pass the training data, or spec=GraphSpec(nodes=..., class_names=...)"
            )
        spec = GraphSpec.from_dataset(dataset)
    elif graphs is not None:
        _check_spec_fits(spec, graphs)
    with _on_device(model, device):
        classifier = _connect(model, spec, forward, embedding, graphs)
        if class_statistics is not None:
            _check_statistics_fit(class_statistics, classifier)
        elif graphs is not None:
            class_statistics = ClassStatistics.from_dataset(classifier, graphs)
        wanted = _targets(classifier.spec, targets, class_statistics)
        relaxed, report = _relax(classifier, gradient)
        lines = [*classifier.describe(), *_describe(classifier.spec, report, relaxed)]
        display = _display(progress)
        display.begin(name, lines, [classifier.spec.class_names[t] for t in wanted])
        explanations = {}
        try:
            for target in wanted:
                chosen = _recipe(recipe, dataset_name, classifier.spec.class_names[target])
                display.begin_class(classifier.spec.class_names[target])
                with (relaxed or RelaxedModel(classifier)).session():
                    result = search(
                        classifier,
                        relaxed,
                        class_statistics,
                        target,
                        chosen,
                        restarts,
                        seed,
                        (display.look, *callbacks),
                    )
                explanation = explanation_of(
                    result, classifier, class_statistics, target, chosen.name, seed, rule
                )
                explanations[explanation.name] = explanation
                display.end_class(explanation)
        finally:
            display.end()
        metadata = _metadata(recipe, seed, restarts, report, classifier)
        return ExplanationSet(
            classifier.spec, explanations, name, lines, metadata, class_statistics
        )


def load(folder: str | Path) -> ExplanationSet:
    """Read a run folder that `ExplanationSet.save` wrote.

    Raises:
        CheckpointError: If it is not one, or is damaged.
    """
    return load_run(Path(folder))


def _whole(name: str, value: Any, least: int) -> int:
    """Check a whole number."""
    try:
        number = operator.index(value)
    except TypeError:
        raise SpecError(f"{name} must be a whole number (got {value!r})") from None
    if not least <= number < 2**63:
        bound = f"at least {least}" if number < least else "below 2**63"
        raise SpecError(f"{name} must be {bound} (got {number})")
    return number


def _graphs(dataset: Any) -> list[Any]:
    try:
        graphs = list(dataset)
    except TypeError:
        raise DataError(
            f"dataset must be a data set or a list of graphs (got {type(dataset).__name__})"
        ) from None
    if not graphs:
        raise DataError("dataset is empty; give the graphs the model was trained on")
    for graph in graphs:
        if not isinstance(graph, Data):
            raise DataError(
                "dataset must hold graphs of type torch_geometric.data.Data "
                f"(got {type(graph).__name__}); put a single graph into a list"
            )
    return graphs


def _connect(
    model: nn.Module,
    spec: GraphSpec,
    forward: Callable[[nn.Module, Batch], Any] | None,
    embedding: str | Callable[[nn.Module, Batch], Tensor] | None,
    graphs: list[Any] | None,
) -> GraphClassifier:
    """Wrap the model; edge features it does not look at are left out of the explanation."""
    classifier = GraphClassifier(model, spec, forward=forward, embedding=embedding, examples=graphs)
    if not spec.edges:
        return classifier
    generator = torch.Generator().manual_seed(0)
    some = random_graphs(classifier.spec, 4, 6, generator, dtype=classifier.dtype)
    others = random_graphs(classifier.spec, 4, 6, generator, dtype=classifier.dtype)
    changed = replace(some, edges=others.edges)
    one, other = classifier.score(some).logits, classifier.score(changed).logits
    if not torch.equal(one, other):
        return classifier
    without = replace(spec, edges=())
    return GraphClassifier(model, without, forward=forward, embedding=embedding, examples=graphs)


def _relax(classifier: GraphClassifier, gradient: str) -> tuple[RelaxedModel | None, ProbeReport]:
    relaxed = RelaxedModel(classifier)
    report = probe(relaxed)
    if gradient == "score-function":
        return None, report
    if gradient == "relaxed" and not report.passed:
        raise ModelError(
            f"gradient='relaxed' was asked for, but the model cannot be relaxed: {report.reason}; "
            "use gradient='auto'"
        )
    return (relaxed if report.passed else None), report


def _targets(
    spec: GraphSpec,
    targets: Sequence[str | int] | str | int | None,
    statistics: ClassStatistics | None,
) -> list[int]:
    known = [statistics is None or float(statistics.count[c]) > 0 for c in range(spec.num_classes)]
    if targets is None:
        return [c for c in range(spec.num_classes) if known[c]]
    listed = [targets] if isinstance(targets, (str, int)) else list(targets)
    if not listed:
        raise TargetError("targets is empty; name at least one class, or leave it out for all")
    indices = [spec.class_index(target) for target in listed]
    for index in indices:
        if not known[index]:
            raise TargetError(
                f"the data has no graph of class {spec.class_names[index]!r}, so nothing is known "
                "of its size or embedding; add some, or pass spec= without a dataset"
            )
    return list(dict.fromkeys(indices))


def _recipe(recipe: str | Recipe, dataset_name: str | None, target: str) -> Recipe:
    if isinstance(recipe, Recipe):
        return recipe
    if recipe == "auto":
        return Recipe.auto()
    if recipe == "paper":
        if dataset_name is None:
            raise SpecError(
                "recipe 'paper' has weights for the data sets of the paper, and this model comes "
                "with none of them; use 'auto', or Recipe.paper(dataset, class) with one of its own"
            )
        return Recipe.paper(dataset_name, target)
    raise SpecError(f"recipe must be 'auto', 'paper' or a Recipe (got {recipe!r})")


def _check_spec_fits(spec: GraphSpec, graphs: list[Any]) -> None:
    first = graphs[0]
    for label, width, values in (
        ("node", spec.node_width, first.get("x")),
        ("edge", spec.edge_width, first.get("edge_attr")),
    ):
        found = None if values is None else (1 if values.dim() == 1 else values.size(1))
        if found is not None and width and found != width:
            raise SpecError(
                f"the spec has {width} {label} feature columns but the dataset's graphs have "
                f"{found}; use GraphSpec.from_dataset(dataset), or mend the blocks"
            )


def _check_statistics_fit(statistics: ClassStatistics, classifier: GraphClassifier) -> None:
    generator = torch.Generator().manual_seed(0)
    graph = random_graphs(classifier.spec, 1, 3, generator, dtype=classifier.dtype)
    expected = (classifier.spec.num_classes, classifier.score(graph).embedding.size(1))
    found = tuple(statistics.mean_embedding.shape)
    if found != expected:
        raise SpecError(
            f"class_statistics is for {found[0]} classes and embeddings of {found[1]} numbers but "
            f"the model has {expected[0]} and {expected[1]}; "
            "make them with ClassStatistics.from_dataset(model, dataset)"
        )


@contextmanager
def _on_device(model: nn.Module, device: str | torch.device | None) -> Iterator[None]:
    """Move the model for the time of the run, and back."""
    if device is None:
        yield
        return
    try:
        wanted = torch.device(device)
    except RuntimeError as error:
        raise SpecError(f"device {device!r} is not known; use 'cpu' or 'cuda'") from error
    if wanted.type == "meta":
        raise SpecError("device 'meta' computes nothing; use 'cpu' or 'cuda'")
    if wanted.type == "cuda" and not torch.cuda.is_available():
        raise SpecError(f"device {device!r} was asked for, but there is no CUDA here; use 'cpu'")
    home = next((p.device for p in (*model.parameters(), *model.buffers())), torch.device("cpu"))
    try:
        try:
            model.to(wanted)
        except (RuntimeError, NotImplementedError) as error:
            raise SpecError(
                f"device {device!r} cannot hold the model ({error}); use 'cpu' or 'cuda'"
            ) from error
        yield
    finally:
        model.to(home)


def _describe(spec: GraphSpec, report: ProbeReport, relaxed: RelaxedModel | None) -> list[str]:
    nodes = " + ".join(_block(block) for block in spec.nodes)
    edges = " + ".join(_block(block) for block in spec.edges) or "none"
    lines = [f"{spec.num_classes} classes; node features: {nodes}; edge features: {edges}"]
    if relaxed is not None:
        lines.append(
            f"relaxation exact on discrete graphs (largest error {report.logits_error:.0e})"
        )
    elif report.passed:
        lines.append("score-function gradient, as asked for")
    else:
        lines.append(
            f"cannot be relaxed: {report.reason}; using the score-function gradient "
            "(slower, equally valid)"
        )
    return lines


def _block(block: Any) -> str:
    kind = type(block).__name__.lower()
    if kind == "categorical":
        return f"{block.name} ({block.size} categories)"
    return "constant" if block.constant else f"{block.dim} numbers"


def _display(progress: Any) -> Any:
    from gnninterpreter.progress import Silent

    if progress is False or progress is None:
        return Silent()
    if progress is True:
        return view("progress")()
    return progress


def _metadata(
    recipe: str | Recipe, seed: int, restarts: int, report: ProbeReport, classifier: GraphClassifier
) -> dict[str, Any]:
    return {
        "versions": {
            "gnninterpreter": __version__,
            "torch": torch.__version__,
            "torch_geometric": torch_geometric.__version__,
            "python": platform.python_version(),
        },
        "seed": seed,
        "restarts": restarts,
        "recipe": recipe if isinstance(recipe, str) else recipe.name,
        "device": str(classifier.device),
        "probe": {
            "passed": report.passed,
            "logits_error": report.logits_error if math.isfinite(report.logits_error) else None,
            "reason": report.reason,
        },
    }
