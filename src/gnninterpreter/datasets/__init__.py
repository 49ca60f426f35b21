"""The data sets the method is judged on, each with a rule for its classes: the first link.

>>> dataset = load("shape", seed=0)  # doctest: +SKIP
>>> dataset.class_names  # doctest: +SKIP
('others', 'lollipop', 'wheel', 'grid', 'star')
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from gnninterpreter.arguments import folded
from gnninterpreter.datasets.base import ExplainableDataset, summarize
from gnninterpreter.errors import DataError

__all__ = [
    "MOLECULES",
    "NAMES",
    "ExplainableDataset",
    "dataset_class",
    "load",
    "summarize",
]

_CLASSES = {
    "mutag": ("mutag", "MUTAG"),
    "cyclicity": ("cyclicity", "Cyclicity"),
    "motif": ("motif", "Motif"),
    "shape": ("shape", "Shape"),
    "is_acyclic": ("is_acyclic", "IsAcyclic"),
    "color_consistency": ("color_consistency", "ColorConsistency"),
    "mutagenicity": ("mutagenicity", "Mutagenicity"),
    "bbbp": ("moleculenet", "BBBP"),
    "esol": ("moleculenet", "ESOL"),
    "tox21": ("moleculenet", "Tox21"),
}

NAMES: tuple[str, ...] = tuple(_CLASSES)
MOLECULES = ("mutagenicity", "bbbp", "esol", "tox21")
"""Those that came after the paper's six."""


def dataset_class(name: str) -> type[ExplainableDataset]:
    """Return the class of a data set, whose ``spec`` and ``oracle`` need no data.

    Args:
        name: One of `NAMES`.

    Raises:
        DataError: If there is no data set of that name.
    """
    if folded(name) not in _CLASSES:
        raise DataError(f"there is no data set {name!r}; the names are {', '.join(NAMES)}")
    module, attribute = _CLASSES[folded(name)]
    found: type[ExplainableDataset] = getattr(
        importlib.import_module(f"gnninterpreter.datasets.{module}"), attribute
    )
    return found


def load(
    name: str,
    root: str | Path | None = None,
    seed: int = 0,
    *,
    progress: bool = False,
    **options: Any,
) -> ExplainableDataset:
    """Load a data set by name, generating or fetching it the first time.

    Args:
        name: One of `NAMES`.
        root: Folder for the data; a cache folder of the user when omitted.
        seed: The same seed gives the same graphs.
        progress: Whether to show a progress bar while generating.
        **options: What the data set's own class takes besides: ``download=False`` uses only files
            that are here, and ``base`` is for those that are built on the Rome graphs.

    Returns:
        The data set, with ``spec``, ``class_names``, ``oracle`` and ``metadata``.

    Raises:
        DataError: If there is no data set of that name, or its data cannot be had.
    """
    found = dataset_class(name)
    try:
        return found(root, seed=seed, progress=progress, **options)
    except TypeError as error:
        if "unexpected keyword argument" in str(error):
            raise DataError(f"the data set '{found.name}' does not take that: {error}") from error
        raise
