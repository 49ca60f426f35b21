"""Does it work from every seed? Every class of every model, explained again and again."""

from gnninterpreter.experiments.robustness.compute import configs_of, robustness
from gnninterpreter.experiments.robustness.runs import Run, RunConfig, read_runs
from gnninterpreter.experiments.robustness.summary import NEAR, TIMES, summarize

__all__ = [
    "NEAR",
    "TIMES",
    "Run",
    "RunConfig",
    "configs_of",
    "read_runs",
    "robustness",
    "summarize",
]
