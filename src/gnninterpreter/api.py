"""The one call: a model in, explanations of its classes out.

`explain` composes the parts in the order of the flow and adds nothing of its own; each part also
works alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.data import Batch

from gnninterpreter.arguments import one_of, path_of, whole_number
from gnninterpreter.datasets.base import StoredGraphs
from gnninterpreter.errors import CheckpointError, ModelError, SpecError
from gnninterpreter.evidence import Rule, rule_of
from gnninterpreter.evidence.patterns import RealAnswers
from gnninterpreter.evidence.patterns.real import InOrder, in_order
from gnninterpreter.evidence.patterns.unread import without_unread
from gnninterpreter.explanation import Explanation, ExplanationSet, load_run
from gnninterpreter.explanation.assembly import explanation_of
from gnninterpreter.explanation.resuming import Unfinished, content_key, describe, metadata_of
from gnninterpreter.files import check_writable
from gnninterpreter.models import Bundle
from gnninterpreter.models import load as load_model
from gnninterpreter.models.at_hand import data_at_hand
from gnninterpreter.models.calling import native_module
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.frozen import on_device
from gnninterpreter.models.members import unlabelled
from gnninterpreter.models.peers import peers_of
from gnninterpreter.models.statistics import ClassStatistics, check_fit
from gnninterpreter.models.task import Task
from gnninterpreter.objective import Target
from gnninterpreter.objective.asking import targets_of
from gnninterpreter.progress import Several, display_of
from gnninterpreter.relax import ProbeReport, RelaxedModel, probe
from gnninterpreter.search import Callback, Recipe, SearchResult, groups, plan, search_together
from gnninterpreter.search.callbacks import callbacks_of
from gnninterpreter.search.choosing import fitted, recipes_for
from gnninterpreter.search.memory import Plan, read_bytes
from gnninterpreter.spec import GraphList, GraphSpec, graph_list
from gnninterpreter.spec.data import told_size
from gnninterpreter.spec.inference import infer_blocks
from gnninterpreter.spec.recognition import split_derived

__all__ = ["explain", "load"]

GRADIENTS = ("auto", "relaxed", "score-function")
# More would take hours on the smallest model, whatever memory there is.
MOST_RESTARTS = 100_000


def explain(
    model: nn.Module | Bundle | str,
    dataset: Any = None,
    *,
    spec: GraphSpec | None = None,
    targets: Any = None,
    task: Any = "auto",
    restarts: int = 8,
    seed: int = 0,
    recipe: str | Recipe = "auto",
    forward: Callable[[nn.Module, Batch], Any] | None = None,
    embedding: str | Callable[[nn.Module, Batch], Tensor] | None = None,
    class_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    features: Any = None,
    peers: Sequence[nn.Module | Bundle | str] = (),
    class_statistics: ClassStatistics | None = None,
    gradient: str = "auto",
    device: str | torch.device | None = None,
    progress: Any = True,
    callbacks: Sequence[Callback] = (),
    resume: str | Path | None = None,
    max_memory: int | str | None = None,
) -> ExplanationSet:
    """Learn, for each target, a distribution over graphs that the model gives it to.

    Args:
        model: The trained model: any `torch.nn.Module` over PyG graphs, a bundle, or the name of a
            bundled model.
        dataset: Graphs the model was trained on, for the features and class statistics; without
            labels each counts for what the model gives it.
        targets: Classes or labels to explain, by name or index; a pair of classes asks for their
            boundary; ``"max"``, ``"min"`` or a number for a regression. Everything when omitted.
        restarts: Independent searches for each target. Those of all targets that have real graphs
            and as many candidate nodes are run as one batch, each with the result it has alone;
            on a GPU those of different numbers too, and walks may then differ.
        seed: The same seed gives the same explanations.

    Keyword Args:
        spec: The graphs the model takes, where there is no data set to infer it from.
        task: What the model was trained to say: ``"multiclass"``, ``"binary"``, ``"multilabel"``,
            ``"regression"`` or PyG's ``ModelConfig``; read off outputs and labels when omitted.
        recipe: ``"auto"``, ``"paper"`` (for the data sets of the paper) or a `Recipe`.
        forward: How to call the model, ``forward(model, data)``, where its signature does not say.
        embedding: Where the graph embedding is: a module name or a callable.
        class_names: One name for each class, label or value of the model.
        feature_names: One name for each category of the first categorical block of the nodes, or
            for each column of their features, or a mapping from the names of blocks, of nodes or
            edges, to such names.
        features: The PyG transform that appended columns which follow from the graph, as it is
            (``T.OneHotDegree(10)``), or several in their order; the columns of explanations are
            then always computed anew. Common ones are recognised without it.
        peers: Other models of the same task; asked whether they believe in the explanations too.
        class_statistics: Stands in for the data set where the data is not at hand.
        gradient: ``"auto"`` relaxes the model where the probe passes and uses the score-function
            gradient elsewhere; ``"relaxed"`` and ``"score-function"`` insist.
        device: Where to run; the model's own device when omitted. Results come back to where the
            model lives.
        progress: Whether to show progress; or an object with the methods of
            `gnninterpreter.progress.Progress`.
        callbacks: Called with a `Snapshot` as the search for a target goes; one that returns True
            stops it. With any, targets are searched for one after the other. A
            `gnninterpreter.tracking.Tracker` writes the run to TensorBoard, MLflow or W&B.
        resume: A run folder. Each target is searched for by itself and kept there as it is
            finished, the same call goes on where one was stopped, and ``result.save`` to that
            folder makes the run whole.
        max_memory: Most memory that searches may take, in bytes or as ``"4GB"``; most of what is
            free when omitted. Restarts that do not fit at once are searched for in parts.

    Returns:
        A mapping from target, by name or index, to its `Explanation`.

    Raises:
        GNNInterpreterError: One of its kinds, for anything in the arguments that has to be mended.
    """
    # What is asked.
    restarts = whole_number("restarts", restarts, 1, MOST_RESTARTS)
    seed = whole_number("seed", seed, least=-(2**63))
    gradient = one_of("gradient", gradient, GRADIENTS)
    listeners, limit = callbacks_of(callbacks), read_bytes(max_memory)
    display = display_of(progress)
    folder = None if resume is None else path_of("resume", resume)
    if folder is not None:
        check_writable(folder, "resume")

    # What is known: the model, and graphs like those it was trained on.
    if isinstance(model, str):
        model = load_model(model)
    rule = rule_of(model, dataset)
    name, dataset_name = type(model).__name__, getattr(dataset, "name", None)
    bundle = model if isinstance(model, Bundle) else None
    if isinstance(model, Bundle):
        name = dataset_name = model.dataset_name
        spec, class_statistics = spec or model.spec, class_statistics or model.statistics
        model = model.model
    native_module(model)  # before anything is read
    graphs = None if dataset is None else graph_list(dataset, getattr(display, "reading", None))
    # What cores and shares are about; a bundled model needs it for nothing else.
    seen: GraphList | StoredGraphs | None = graphs
    missing = ""
    if graphs is None and bundle is not None:
        seen, missing = data_at_hand(bundle)
    spec = _spec_of(spec, graphs, features, feature_names)
    with on_device(model, device):
        classifier = GraphClassifier.connect(
            model,
            spec,
            forward=forward,
            embedding=embedding,
            examples=graphs,
            task=task,
            class_names=class_names,
        )
        # Draws from the data are the same whatever its order; it is put in order once.
        ordered = None if seen is None else in_order(seen)
        unread: list[str] = []
        if ordered is not None:
            classifier.spec, unread = without_unread(classifier, ordered, seed)
        if class_statistics is not None:
            check_fit(class_statistics, classifier)
        elif graphs is not None:
            most = recipe.max_nodes if isinstance(recipe, Recipe) and recipe.typical else None
            class_statistics = ClassStatistics.from_dataset(classifier, graphs, max_nodes=most)

        # What is searched for, how, and with how much at once.
        asked = targets_of(targets, classifier.spec, classifier.task, class_statistics)
        wanted, skipped = recipes_for(asked, recipe, dataset_name, targets is None)
        if graphs is not None:
            wanted = [(one, fitted(chosen, one, class_statistics)) for one, chosen in wanted]
        # A callback may end the search of a class, and a run that can be resumed keeps each class
        # as soon as it is done, so that with either they go one after the other.
        grouped = [[one] for one in wanted]
        if not listeners and folder is None:
            grouped = groups(classifier, class_statistics, wanted)
        others = peers_of(peers, classifier)
        relaxed, report = _relax(classifier, gradient)
        with (relaxed or RelaxedModel(classifier)).session():
            largest = max(map(len, grouped))
            memory = plan(classifier, relaxed, class_statistics, wanted, restarts, limit, largest)
        real = RealAnswers(classifier, ordered, class_statistics, seed, asked)
        real.notes += unread

        # What is said of it before it begins.
        told = describe(classifier, report, relaxed)
        lines = [*classifier.describe(), *told, *unread, *skipped, *told_size(graphs), *real.lines]
        if missing:
            lines.append(f"its data is not at hand, so real graphs are not counted: {missing}")
        if graphs is not None and classifier.task is not Task.REGRESSION and unlabelled(graphs):
            lines.append("graphs have no labels: each counts for what the model gives it")
        explained = {target.index for target in asked}
        unseen = [n for i, n in enumerate(classifier.spec.class_names) if i not in explained]
        if targets is None and unseen:
            lines.append(f"left out, since no graph of the data has it: {', '.join(unseen)}")
        recipes = [chosen for _, chosen in wanted]
        metadata = metadata_of(recipes, seed, restarts, report, classifier)
        metadata["recipe_call"] = repr(recipe) if isinstance(recipe, str) else recipe.call()
        found = ExplanationSet(classifier.spec, {}, name, lines, metadata)
        names = [target.name for target, _ in wanted]
        kept = None
        if folder is not None:
            settings = {
                "run": found.summary(),
                "spec": classifier.spec.to_json(),
                "targets": [[target.to_json(), chosen.to_json()] for target, chosen in wanted],
                "rule": repr(getattr(rule, "name", rule is not None)),
            }
            known = {} if class_statistics is None else class_statistics.tensors()
            key = content_key((classifier, *others), seen or (), known, settings)
            kept = Unfinished(folder, key, found, names)

        # The run.
        # A callback that also has the methods of Progress is told where the run stands.
        trackers: list[Any] = [one for one in listeners if hasattr(one, "begin_class")]
        shown = Several([display, *trackers])
        called = [one for one in listeners if one not in trackers]
        run = _Run(
            classifier=classifier,
            relaxed=relaxed,
            statistics=class_statistics,
            restarts=restarts,
            seed=seed,
            memory=memory,
            callbacks=(*([shown.look] if shown.members else []), *called),
            rule=rule,
            real=real,
            graphs=ordered,
            peers=others,
            kept=kept,
            shown=shown,
        )
        shown.begin(name, [*lines, str(memory)], names)
        explanations = {}
        try:
            for group in grouped:
                for explanation in run.explained(group):
                    explanations[explanation.name] = explanation
                    shown.end_class(explanation)
        except KeyboardInterrupt:
            said = "" if kept is None else kept.said()
            if not said:
                raise
            raise KeyboardInterrupt(f"{said}; the same call goes on from there") from None
        finally:
            shown.end()
        found = replace(
            found,
            explanations={name: explanations[name] for name in names},
            statistics=class_statistics,
            classifier=classifier,
            graphs=seen,
        )
    # Graphs go where the model is at home, so that it takes them as they are.
    classifier.device = next((p.device for p in model.parameters()), torch.device("cpu"))
    return found.to(classifier.device)


@dataclass(frozen=True)
class _Run:
    """All that is settled before the first search; what is left is to search and to judge."""

    classifier: GraphClassifier
    relaxed: RelaxedModel | None
    statistics: ClassStatistics | None
    restarts: int
    seed: int
    memory: Plan
    callbacks: tuple[Callback, ...]
    rule: Rule | None
    real: RealAnswers
    graphs: InOrder | None
    peers: tuple[GraphClassifier, ...]
    kept: Unfinished | None
    shown: Several

    def explained(self, group: Sequence[tuple[Target, Recipe]]) -> Iterator[Explanation]:
        """Explain targets that are searched for together; those that were kept come first."""
        done = {} if self.kept is None else self.kept.read([target.name for target, _ in group])
        left = [one for one in group if one[0].name not in done]
        for target, _ in left:
            self.shown.begin_class(target.name)
        results = self._searched(left) if left else []
        yield from done.values()
        for result in results:
            # Evidence is gathered where the data is; the model is asked where it is.
            explanation = explanation_of(
                result.to("cpu"),
                self.classifier,
                self.statistics,
                left[0][1].name,
                self.seed,
                self.rule,
                real=self.real,
                graphs=self.graphs,
                peers=self.peers,
            )
            if self.kept is not None:
                self.kept.keep(explanation)
            yield explanation

    def _searched(self, wanted: Sequence[tuple[Target, Recipe]]) -> list[SearchResult]:
        """Search for targets that have one recipe."""
        with (self.relaxed or RelaxedModel(self.classifier)).session(), self.memory.enough():
            return search_together(
                self.classifier,
                self.relaxed,
                self.statistics,
                [target for target, _ in wanted],
                wanted[0][1],
                self.restarts,
                self.seed,
                self.callbacks,
                self.memory.at_once,
            )


def load(folder: str | Path) -> ExplanationSet:
    """Read a run folder that `ExplanationSet.save` wrote.

    Raises:
        CheckpointError: If it is not one, or is damaged.
    """
    return load_run(path_of("folder", folder, CheckpointError))


def _spec_of(
    spec: GraphSpec | None, graphs: GraphList | None, features: Any, feature_names: Any
) -> GraphSpec:
    """What the graphs are, as far as it was said, else as the data shows it."""
    if spec is None:
        if graphs is None:
            raise SpecError(
                "neither dataset nor spec was given, so the features of nodes and edges are "
                "unknown; pass the training data, or spec=GraphSpec(nodes=..., class_names=...)"
            )
        spec = GraphSpec.from_dataset(graphs, features=features)
    elif features is not None:
        if graphs is None:
            raise SpecError(
                "features= is read off the dataset, which was not given; pass it, or put Derived "
                "blocks into the spec"
            )
        spec = split_derived(graphs, spec, features, infer_blocks)
    if graphs is not None and graphs.looped:
        spec = spec.with_loops()
    return spec if feature_names is None else spec.with_feature_names(feature_names)


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
