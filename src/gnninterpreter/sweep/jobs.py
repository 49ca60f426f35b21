"""The jobs of a sweep, each known by the content of everything that its result depends on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import Any

from gnninterpreter.arguments import folded
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.fingerprints import (
    code_fingerprint,
    data_fingerprint,
    digest_of,
    files_fingerprint,
    graphs_fingerprint,
    model_fingerprint,
    weights_fingerprint,
)
from gnninterpreter.references import (
    check_graphs,
    load_checkpoint,
    load_data,
    load_forward,
    load_model,
    module_of,
)
from gnninterpreter.search import Recipe
from gnninterpreter.sweep.spec import ENDINGS, ModelSource, SweepSpec

# The code that computes, by kind of job, and the form of rows.
CODE = {"explain": "gnninterpreter.api", "audit": "gnninterpreter.audit"}
SCHEMA = 1
# Many checkpoints have one data set, which may take long to make.
_graphs = lru_cache(maxsize=2)(load_data)


@dataclass(frozen=True)
class Job:
    """One class explained once, or one model audited once.

    ``hosts`` are the graphs that patterns are joined to in an audit, which has no target; the
    recipe is a name, or a recipe as JSON text. The key is a hash of all inputs by content;
    ``files`` one of those that lie on every machine, see `files_of`. ``broken`` says why it cannot
    be done, where that is clear before it begins.
    """

    kind: str
    source: ModelSource
    target: str | None
    seed: int
    restarts: int
    hosts: int | None
    recipe: str
    device: str = "cpu"
    key: str = ""
    files: str = ""
    broken: str | None = field(default=None, compare=False)

    def keyed(self, model: str) -> Job:
        """The same with its key; ``model`` stands for what is in no file."""
        inputs = {k: v for k, v in asdict(self).items() if k not in ("source", "key", "broken")}
        inputs |= {"schema": SCHEMA, "model": model}
        return replace(self, key=digest_of([json.dumps(inputs, sort_keys=True).encode()]))


def jobs_of(spec: SweepSpec) -> Iterator[Job]:
    """Every job of a sweep. One whose model cannot be read is there too, with the reason."""
    recipes = [r if isinstance(r, str) else json.dumps(r.to_json()) for r in spec.recipes]
    device = "cuda" if spec.gpus else "cpu"
    hosts = spec.hosts if spec.kind == "audit" else None
    # Checkpoints of one function and one data set have the same classes.
    known: dict[ModelSource, tuple[str, ...]] = {}
    for source in spec.models:
        broken = None
        targets: tuple[str | None, ...] = (None,)
        try:
            files = files_of(spec.kind, source)
            content = _content(source)
            if spec.kind == "explain":
                alike = source if _is_bundle(source) else replace(source, checkpoint=None)
                if not spec.targets and alike not in known:
                    known[alike] = classes_of(source)
                targets = spec.targets or known[alike]
        except GNNInterpreterError as error:
            broken, files, content = str(error), "", f"cannot be read: {error}"
            targets = spec.targets or (None,)
        for target, recipe, seed in product(targets, recipes, spec.seeds):
            known_by = (spec.kind, source, target, seed, spec.restarts, hosts, recipe, device)
            yield Job(*known_by, files=files, broken=broken).keyed(content)


def load_source(source: ModelSource) -> tuple[Any, Any, Any]:
    """The model of a source, its graphs (None where it needs none) and how to call it."""
    call, data = load_forward(source.forward), _graphs(source.data)
    if source.checkpoint is None:
        model = load_model(source.model)
    else:
        model = load_checkpoint(source.model, source.checkpoint)
    check_graphs(model, source.model, source.data)
    return model, data, call


def classes_of(source: ModelSource) -> tuple[str, ...]:
    """Names of the classes of a model."""
    from gnninterpreter.files import read_json
    from gnninterpreter.models import Bundle
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.spec import GraphSpec, graph_list

    if _is_bundle(source):
        try:  # Of thousands of files only the short one is read.
            described = read_json(Path(source.model).with_suffix(".json"))
            return GraphSpec.from_json(described["spec"]).class_names
        except (OSError, ValueError, KeyError, TypeError):
            pass  # Whoever loads it says what is wrong.
    model, data, call = load_source(source)
    if isinstance(model, Bundle):
        return model.spec.class_names
    graphs = graph_list(data)
    spec = GraphSpec.from_dataset(graphs)
    return GraphClassifier.connect(model, spec, forward=call, examples=graphs).spec.class_names


def recipe_of(job: Job) -> str | Recipe:
    """The recipe of a job, as `explain` takes it."""
    return Recipe.from_json(json.loads(job.recipe)) if job.recipe.startswith("{") else job.recipe


def _is_bundle(source: ModelSource) -> bool:
    return source.checkpoint is None and Path(source.model).suffix in ENDINGS


def files_of(kind: str, source: ModelSource) -> str:
    """A hash of the code of this package, of the checkpoint, and of the modules that use it.

    Whoever does a job reads them again, maybe elsewhere and later; they must still be the same.
    """
    from gnninterpreter.errors import CheckpointError

    path = Path(source.checkpoint or source.model)
    parts = [code_fingerprint(CODE[kind])]
    try:
        if source.checkpoint is not None:
            parts.append(files_fingerprint(path))
        elif _is_bundle(source):
            parts.append(files_fingerprint(*(path.with_suffix(ending) for ending in ENDINGS)))
    except OSError as error:
        raise CheckpointError(f"cannot read the checkpoint {path} ({error.strerror})") from error
    for argument, reference in (("MODEL", source.model), ("--forward", source.forward)):
        if reference and ":" in reference:
            parts += [reference, _module_content(reference, argument)]
    return digest_of(part.encode() for part in parts)


def _content(source: ModelSource) -> str:
    """A hash of what a model consists of beside its files: weights in memory, and graphs."""
    return digest_of(part.encode() for part in (_weights(source), _data_content(source.data)))


def _weights(source: ModelSource) -> str:
    from gnninterpreter.models import Bundle, bundled_names

    if source.checkpoint is not None or _is_bundle(source):
        return ""
    name = folded(source.model)
    if name in bundled_names():
        return model_fingerprint(name)
    model = load_model(source.model)
    return weights_fingerprint(model.model if isinstance(model, Bundle) else model)


@lru_cache(maxsize=64)
def _data_content(reference: str | None) -> str:
    from gnninterpreter.spec import graph_list

    if reference is None:
        return ""
    if ":" not in reference:
        return data_fingerprint(folded(reference))
    return graphs_fingerprint(graph_list(_graphs(reference)))


@lru_cache(maxsize=64)
def _module_content(reference: str, argument: str) -> str:
    """The text of the module that a reference names; what it imports is not followed."""
    file = getattr(module_of(reference, argument), "__file__", None)
    return "" if file is None else files_fingerprint(Path(file))
