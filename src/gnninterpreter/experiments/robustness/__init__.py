"""Does it work from every seed? Every class of every model, explained again and again.

The module `summary` is imported by its own name: a new table is no reason to explain again.
"""

from gnninterpreter.experiments.robustness.compute import BENCH, Run, RunConfig, configs_of

__all__ = ["BENCH", "Run", "RunConfig", "configs_of"]
