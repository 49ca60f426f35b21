"""What a computed result depends on beyond its arguments: code, model, data, versions.

All of it goes into what a result is stored under, so that nothing stale is read back.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn
    from torch_geometric.data import Data

__all__ = [
    "code_fingerprint",
    "data_fingerprint",
    "digest_of",
    "files_fingerprint",
    "graphs_fingerprint",
    "model_fingerprint",
    "values_fingerprint",
    "versions",
    "weights_fingerprint",
]

PACKAGE = "gnninterpreter"
ROOT = Path(__file__).parent
LIBRARIES = ("torch", "torch_geometric", "numpy", "networkx", "scipy")
LENGTH = 16
MODEL_FILES = ("json", "safetensors")


@lru_cache(maxsize=64)
def code_fingerprint(module: str, root: Path = ROOT) -> str:
    """A hash of a module's code and of all code of this package that it imports, lazily or not.

    What does not run is left out: comments, docstrings and the breaking of lines. The package's own
    ``__init__`` is not followed, since it only lists names and shows values.
    """
    found: dict[Path, str] = {}
    waiting = list(_files(module, root))
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path], imported = _code(path.read_text(encoding="utf-8"))
        for name in imported:
            waiting += _files(name, root)
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(f"{path.relative_to(root).as_posix()}\n{found[path]}\n".encode())
    return digest.hexdigest()[:LENGTH]


@lru_cache(maxsize=1024)
def _code(text: str) -> tuple[str, tuple[str, ...]]:
    """What runs in a file, and what it imports; modules share most of the files they import."""
    tree = ast.parse(text)
    return _running_code(tree), tuple(_imports(tree))


@lru_cache(maxsize=32)
def model_fingerprint(name: str) -> str:
    """A hash of the files of a bundled model: its weights, its spec and its statistics."""
    folder = resources.files(f"{PACKAGE}.models") / "checkpoints"
    return f"{name}-{files_fingerprint(*(folder / f'{name}.{e}' for e in MODEL_FILES))}"


def files_fingerprint(*paths: Any) -> str:
    """A hash of the content of files."""
    return digest_of(path.read_bytes() for path in paths)


def weights_fingerprint(model: nn.Module) -> str:
    """A hash of the names and values of a model's weights."""
    return values_fingerprint(model.state_dict())


def graphs_fingerprint(graphs: Iterable[Data]) -> str:
    """A hash of the tensors of graphs, labels among them."""
    return digest_of(values_fingerprint(graph.to_dict()).encode() for graph in graphs)


def values_fingerprint(values: Mapping[str, Any]) -> str:
    """A hash of tensors and other values by their names."""
    found = sorted(values.items())
    return digest_of(part for name, value in found for part in (name.encode(), _bytes(value)))


def digest_of(parts: Iterable[bytes]) -> str:
    """A short hash of some bytes, each part apart from the next."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:LENGTH]


def _bytes(value: Any) -> bytes:
    import torch

    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        # Where an object lies in memory says nothing of it.
        return re.sub(" at 0x[0-9a-f]+", "", repr(value)).encode()
    plain = value.detach().cpu().contiguous()
    numbers = plain.reshape(-1).view(torch.uint8).numpy().tobytes()
    return f"{plain.dtype}{tuple(plain.shape)}".encode() + numbers


@lru_cache(maxsize=32)
def data_fingerprint(dataset: str) -> str:
    """What a data set would be made from here; code alone, but for those on the Rome graphs."""
    from gnninterpreter import datasets
    from gnninterpreter.datasets._storage import cache_folder
    from gnninterpreter.datasets.published import MissingFileError
    from gnninterpreter.datasets.rome import SHA256, RomeDataset, find_archive

    if not issubclass(datasets.dataset_class(dataset), RomeDataset):
        return "code"
    try:
        find_archive(Path(cache_folder()), download=False)
    except MissingFileError:
        return "synthetic"
    return f"rome-{SHA256[:LENGTH]}"


@lru_cache(maxsize=1)
def versions() -> dict[str, str]:
    """Versions of Python and of the libraries that compute."""
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    return found | {name: metadata.version(name) for name in LIBRARIES if find_spec(name)}


def _files(module: str, root: Path) -> Iterator[Path]:
    """Files that run when a module of this package is imported; none for anything else."""
    first, *parts = module.split(".")
    if first != PACKAGE:
        return
    folder = root
    for part in parts:
        folder = folder / part
        for path in (folder.with_suffix(".py"), folder / "__init__.py"):
            if path.is_file():
                yield path


def _imports(node: ast.AST) -> Iterator[str]:
    """Dotted names that may be modules, of all imports that run, when loaded or later."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
        for child in node.orelse:
            yield from _imports(child)
    else:
        for part in ast.iter_child_nodes(node):
            yield from _imports(part)


def _running_code(node: object) -> str:
    """A tree of syntax as text that is the same for every version of Python."""
    if isinstance(node, list):
        return "[" + ",".join(_running_code(part) for part in node) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = []
    for name, value in ast.iter_fields(node):
        shown = value[1:] if name == "body" and _has_docstring(node) else value
        # Empty fields come and go between versions.
        if shown not in (None, []):
            parts.append(f"{name}={_running_code(shown)}")
    return f"{type(node).__name__}({','.join(parts)})"


def _has_docstring(node: ast.AST) -> bool:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and ast.get_docstring(node, clean=False) is not None
