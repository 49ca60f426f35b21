"""Many jobs on many machines: sweeps over models, classes, seeds and recipes, and tuning.

Comes after `audit` and `report` in the flow. The engine is `gnninterpreter.parallel`; workers on a
cluster come from Ray, results are Parquet.
"""

from gnninterpreter.sweep.cluster import RayWorkers, make_workers
from gnninterpreter.sweep.jobs import Job, jobs_of
from gnninterpreter.sweep.results import read_results
from gnninterpreter.sweep.run import Tally, pending, run_sweep
from gnninterpreter.sweep.spec import ModelSource, SweepSpec, load_recipe, read_sweep, save_recipe

__all__ = [
    "Job",
    "ModelSource",
    "RayWorkers",
    "SweepSpec",
    "Tally",
    "jobs_of",
    "load_recipe",
    "make_workers",
    "pending",
    "read_results",
    "read_sweep",
    "run_sweep",
    "save_recipe",
]
