"""Shows what a trained graph neural network has really learned.

One call explains every class of any PyTorch Geometric graph classifier::

    import gnninterpreter as gi

    result = gi.explain(model, dataset)
    result["mutagen"].best          # the most probable explanation graph, a PyG Data
    result.report("audit.html")     # one self-contained page
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gnninterpreter._version import __version__

if TYPE_CHECKING:
    from gnninterpreter import datasets, models, training
    from gnninterpreter.api import explain, load
    from gnninterpreter.explanation import Explanation, ExplanationSet
    from gnninterpreter.explanation.compare import compare
    from gnninterpreter.models.statistics import ClassStatistics
    from gnninterpreter.search import Recipe
    from gnninterpreter.spec import Categorical, Continuous, Derived, GraphSpec
    from gnninterpreter.spec.derived import register_derived

__all__ = [
    "Categorical",
    "ClassStatistics",
    "Continuous",
    "Derived",
    "Explanation",
    "ExplanationSet",
    "GraphSpec",
    "Recipe",
    "__version__",
    "compare",
    "datasets",
    "explain",
    "load",
    "models",
    "register_derived",
    "training",
]

# Looked up on first use, so that the command line can answer --help without torch.
_PLACES = {
    "Categorical": "spec",
    "ClassStatistics": "models.statistics",
    "Continuous": "spec",
    "Derived": "spec",
    "Explanation": "explanation",
    "ExplanationSet": "explanation",
    "GraphSpec": "spec",
    "Recipe": "search",
    "compare": "explanation.compare",
    "explain": "api",
    "load": "api",
    "register_derived": "spec.derived",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    if name in ("datasets", "models", "training"):
        return import_module(f"gnninterpreter.{name}")
    if name in _PLACES:
        value = getattr(import_module(f"gnninterpreter.{_PLACES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
