"""From what a user types to the object meant: ``package.module:attribute``, a name or a file.

Beside the flow; `sweep`, `experiments` and `cli` name models and data this way.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gnninterpreter.arguments import folded
from gnninterpreter.errors import CheckpointError, DataError, GNNInterpreterError, ModelError

if TYPE_CHECKING:
    from torch import nn

    from gnninterpreter.explanation import ExplanationSet
    from gnninterpreter.models import Bundle

__all__ = [
    "MoleculeTable",
    "check_graphs",
    "load_checkpoint",
    "load_data",
    "load_forward",
    "load_model",
    "load_run_model",
    "load_subject",
    "module_of",
]

BUNDLE_ENDINGS = (".json", ".safetensors")
SCRIPT = ".py"
FORM = "package.module:name"


@dataclass(frozen=True)
class MoleculeTable:
    """A table of SMILES as the command line names it; see `gnninterpreter.chem.read_smiles`."""

    path: Path | None = None
    labels: Sequence[str] = ()
    preset: str | None = None
    column: str | None = None
    class_names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.path is None and (self.labels or self.preset or self.column):
            raise DataError(
                "--label, --smiles-column and --preset say how FILE is read; add --smiles FILE"
            )
        if self.path is not None and not self.labels:
            raise DataError("--smiles needs --label COLUMN, the column of its labels")


def load_subject(
    model: str,
    data: str | None,
    molecules: MoleculeTable | None = None,
    say: Callable[[str], object] = str,
) -> tuple[nn.Module | Bundle, Any]:
    """Load a model with the labelled graphs that it needs, unless it brings what they would tell.

    ``molecules`` stand in for data; ``say`` is told what was found in their table.
    """
    from gnninterpreter.chem import read_smiles
    from gnninterpreter.models import Bundle

    table = molecules or MoleculeTable()
    if table.path is not None and data is not None:
        raise DataError("give --data or --smiles, not both")
    dataset = load_data(data)  # before the model, which may take long to train
    found = load_model(model)
    if table.path is None:
        check_graphs(found, model, data)
        return found, dataset
    read = read_smiles(
        table.path,
        table.labels if len(table.labels) > 1 else table.labels[0],
        table.preset or (found.spec if isinstance(found, Bundle) else "pyg"),
        column=table.column,
        class_names=table.class_names,
    )
    for line in read.lines:
        say(line)
    return found, read.graphs


def check_graphs(found: nn.Module | Bundle, model: str, data: str | None) -> None:
    """Refuse a model without graphs, unless it brings what they would tell."""
    from gnninterpreter.models import Bundle

    if data is None and not isinstance(found, Bundle):
        raise DataError(
            f"MODEL {model!r} comes without the graphs it was trained on; name them with "
            f"--data {FORM}"
        )


def load_model(reference: str) -> nn.Module | Bundle:
    """Load the model that a reference names.

    Args:
        reference: A bundled name, a file that `Bundle.save` wrote, or ``package.module:name`` of a
            trained model or of a function without arguments that returns one.

    Raises:
        ModelError: If there is nothing of that kind there; a class is not, it has no weights yet.
        CheckpointError: If it is a file that holds no model of this package.
    """
    from torch import nn

    from gnninterpreter.models import Bundle, bundled_names, load, load_bundle

    path = Path(reference)
    described = path.with_suffix(".json").is_file() or not path.is_file()
    if path.suffix in BUNDLE_ENDINGS and described:
        return load_bundle(reference)
    if path.is_file() and path.suffix != SCRIPT:
        raise ModelError(
            f"MODEL {reference} is a file that holds no model of this package; write a function "
            f"that builds your model and loads the weights, and name it as {FORM}"
        )
    if ":" not in reference:
        if folded(reference) in bundled_names():
            return load(reference)
        _refuse_script(reference, "MODEL", ModelError)
        raise ModelError(
            f"MODEL {reference!r} is not a bundled model ({', '.join(bundled_names())}); "
            f"for one of your own give {FORM}"
        )
    found = _attribute(reference, "MODEL", ModelError)
    if isinstance(found, type) and issubclass(found, nn.Module):
        raise ModelError(
            f"MODEL {reference!r} is a class, and what it builds is untrained; name a function "
            "without arguments that builds the model, loads its weights and returns it"
        )
    if not isinstance(found, (nn.Module, Bundle)) and callable(found):
        found = _called(found, reference, "MODEL", ModelError)
    return _checked(found, reference)


def load_checkpoint(reference: str, path: str | Path) -> nn.Module | Bundle:
    """Load weights with a user's function.

    Args:
        reference: ``package.module:name`` of a function that takes a path and returns a model.
        path: The file with the weights.

    Raises:
        ModelError: If the function is not there, fails, or returns something else.
        CheckpointError: If there is no such file.
    """
    if not Path(path).is_file():
        raise CheckpointError(f"there is no checkpoint {path}; name a file with weights")
    takes = "a function that takes the path of a checkpoint and returns the model"
    function = _function(reference, "MODEL", takes)
    made = _called(partial(function, str(path)), reference, "MODEL", ModelError, f"with {path}")
    return _checked(made, reference)


def _checked(found: Any, reference: str) -> nn.Module | Bundle:
    from torch import nn

    from gnninterpreter.models import Bundle

    if not isinstance(found, (nn.Module, Bundle)):
        raise ModelError(
            f"MODEL {reference!r} must be a torch.nn.Module, or a function that returns one (got "
            f"{type(found).__name__}); load the weights into the class they were trained with"
        )
    return found


def load_run_model(
    result: ExplanationSet, reference: str | None, dataset: Any = None
) -> nn.Module | Bundle | None:
    """Load the model that a run explains.

    Without a reference it is the bundled model that the run names, if its weights are still those
    that were explained; else None.
    """
    from gnninterpreter.models import bundled_names, load
    from gnninterpreter.report import live_classifier

    if reference is not None:
        return load_model(reference)
    if result.model_name not in bundled_names():
        return None
    bundle = load(result.model_name)
    try:
        live_classifier(result, bundle, dataset)
    except GNNInterpreterError:
        return None
    return bundle


def load_data(reference: str | None) -> Any:
    """Load the data set that a reference names; None where there is none.

    Args:
        reference: The name of a data set of this package, or ``package.module:name`` of a data set,
            a list of graphs, or a callable without arguments that returns one.

    Raises:
        DataError: If there is no data set there.
    """
    from torch_geometric.data import Data

    from gnninterpreter import datasets

    if reference is None:
        return None
    if ":" not in reference:
        if folded(reference) in datasets.NAMES:
            return datasets.load(reference)
        _refuse_script(reference, "--data", DataError)
        if Path(reference).is_file():
            raise DataError(
                f"--data {reference} is a file; write a function that reads and returns its "
                f"graphs, and name it as {FORM}"
            )
        raise DataError(
            f"--data {reference!r} is not a data set of this package "
            f"({', '.join(datasets.NAMES)}); for your own give {FORM}"
        )
    found = _attribute(reference, "--data", DataError)
    if callable(found) and not hasattr(found, "__getitem__"):
        found = _called(found, reference, "--data", DataError)
    if isinstance(found, Iterator):
        found = list(found)
    try:
        first = next(iter(found), None)
    except TypeError:
        first = found
    if first is not None and not isinstance(first, Data):
        what = type(found).__name__ + ("" if first is found else f" of {type(first).__name__}")
        raise DataError(
            f"--data {reference!r} must be a data set or a list of torch_geometric.data.Data, or a "
            f"function that returns one (got {what})"
        )
    return found


def load_forward(reference: str | None) -> Callable[..., Any] | None:
    """Load the callable ``forward(model, data)`` that a reference names; None for None."""
    if reference is None:
        return None
    return _function(reference, "--forward", "a function forward(model, data)")


def _function(reference: str, argument: str, what: str) -> Callable[..., Any]:
    found: Callable[..., Any] = _attribute(reference, argument, ModelError)
    if not callable(found):
        raise ModelError(f"{argument} {reference!r} must be {what} (got {type(found).__name__})")
    return found


def module_of(
    reference: str, argument: str = "MODEL", kind: type[GNNInterpreterError] = ModelError
) -> ModuleType:
    """Import the module that a reference names, with the current folder importable."""
    name, _, path = reference.partition(":")
    if not name or not path:
        raise kind(f"{argument} must look like {FORM} (got {reference!r})")
    _refuse_script(name, argument, kind, path)
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except GNNInterpreterError:
        raise
    except (Exception, SystemExit) as error:  # whatever a user's module does while it is imported
        missing = isinstance(error, ModuleNotFoundError) and error.name
        if isinstance(error, SyntaxError):
            mend = "mend it first"
        elif not missing:
            mend = "what it runs, such as training, belongs below if __name__ == '__main__':"
        elif name == missing or name.startswith(f"{missing}."):
            mend = "run from the folder that holds it, or install it"
        else:
            mend = f"install {missing!r}, which it imports"
        raise kind(
            f"{argument} {reference!r}: the module {name!r} cannot be imported "
            f"({_said(error)}); {mend}"
        ) from error


def _refuse_script(
    name: str, argument: str, kind: type[GNNInterpreterError], attribute: str = "NAME"
) -> None:
    """Refuse the path of a script, where its name as a module is wanted."""
    path = Path(name)
    if path.suffix == SCRIPT:
        module = ".".join(part for part in path.with_suffix("").parts if part not in ("/", ".."))
        raise kind(
            f"{argument} {name!r} is a script; name what is in it as {module}:{attribute}, from a "
            "folder that it can be imported from"
        )


def _attribute(reference: str, argument: str, kind: type[GNNInterpreterError]) -> Any:
    """Import a module and look an attribute up in it."""
    found: Any = module_of(reference, argument, kind)
    module_name, _, path = reference.partition(":")
    for name in path.split("."):
        if not hasattr(found, name):
            raise kind(
                f"{argument} {reference!r}: {module_name!r} has no {path!r}{_offer(found, name)}"
            )
        found = getattr(found, name)
    return found


def _called(
    function: Callable[[], Any],
    reference: str,
    argument: str,
    kind: type[GNNInterpreterError],
    how: str = "without arguments",
) -> Any:
    try:
        return function()
    except GNNInterpreterError:
        raise
    except (Exception, SystemExit) as error:  # whatever a user's function does
        raise kind(
            f"{argument} {reference!r} failed when it was called {how} ({_said(error)})"
        ) from error


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _offer(module: Any, wanted: str) -> str:
    """Names that a module has of its own, the likest first; what it imported is not its own."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and getattr(value, "__module__", module.__name__) == module.__name__
    ]
    own.sort(key=lambda name: -SequenceMatcher(None, name, wanted).ratio())
    return f"; it has {', '.join(own[:8])}" if own else ""
