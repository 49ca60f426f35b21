"""The data that a bundled model was trained on, where it can be had without a download."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from gnninterpreter.datasets import load as load_dataset
from gnninterpreter.datasets._storage import cache_folder
from gnninterpreter.datasets.base import StoredGraphs
from gnninterpreter.datasets.published import MissingFileError
from gnninterpreter.errors import GNNInterpreterError
from gnninterpreter.models.bundle import Bundle

# Data that a result still holds: it need not be read again.
_IN_USE: WeakValueDictionary[tuple[Any, ...], StoredGraphs] = WeakValueDictionary()


def data_at_hand(bundle: Bundle) -> tuple[StoredGraphs | None, str]:
    """The data of a bundled model, or why it cannot be had.

    What is not in the cache is made, which takes seconds, and once.
    """
    made = bundle.training.get("data", {})
    key = (bundle.dataset_name, int(made.get("seed", 0)), made.get("fingerprint"), cache_folder())
    graphs = _IN_USE.get(key)
    if graphs is None:
        name, seed = key[:2]
        try:
            found = load_dataset(name, seed=seed, download=False)
        except MissingFileError:
            return None, f"'gnninterpreter data stats {name}' fetches it"
        except GNNInterpreterError as error:
            return None, str(error)
        if found.fingerprint != key[2] or (graphs := found.as_graphs()) is None:
            return None, f"the data set '{name}' made here is not the one the model was trained on"
        _IN_USE[key] = graphs
    return graphs, ""
