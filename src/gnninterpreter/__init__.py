"""Shows what a trained graph neural network has really learned.

One call explains every class of any PyTorch Geometric graph classifier::

    import gnninterpreter as gi

    result = gi.explain(model, dataset)
    result["mutagen"].best          # the most probable explanation graph, a PyG Data
    result.report("audit.html")     # one self-contained page
"""

from gnninterpreter import datasets, models
from gnninterpreter._version import __version__
from gnninterpreter.api import explain, load
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.optim import Recipe
from gnninterpreter.spec import Categorical, Continuous, GraphSpec

__all__ = [
    "Categorical",
    "ClassStatistics",
    "Continuous",
    "Explanation",
    "ExplanationSet",
    "GraphSpec",
    "Recipe",
    "__version__",
    "datasets",
    "explain",
    "load",
    "models",
]
