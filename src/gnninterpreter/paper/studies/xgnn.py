"""XGNN beside our method on the data sets that it can do (paper, tables 2 and 6)."""

from __future__ import annotations

from gnninterpreter.baselines import XGNN, SampledExplanation
from gnninterpreter.errors import SpecError
from gnninterpreter.evaluation import MUTAG_VALENCIES, summarize_seeds, validity
from gnninterpreter.paper.figures import Cell, Sheet
from gnninterpreter.paper.published import CLASSES, SECONDS
from gnninterpreter.paper.published import XGNN as PUBLISHED
from gnninterpreter.paper.study import DATASETS, Outcome, Workshop
from gnninterpreter.paper.tables import Row, Table, Value

__all__ = ["explained_by_xgnn", "fits", "study"]

QUICK_EPISODES = 40
NOTE = (
    "with one kind of node and no valencies nothing but a broken rule, which the reward punishes, "
    "ends a graph; our own search shows that graphs of at most five nodes would do"
)


def fits(workshop: Workshop, dataset: str) -> bool:
    """Whether XGNN can build graphs of the data set, and the study has them."""
    if workshop.settings.quick and dataset not in ("mutag", "is_acyclic"):
        return False
    spec = workshop.bundle(dataset).spec
    return len(spec.nodes) == 1 and not spec.edges


def explained_by_xgnn(workshop: Workshop, dataset: str, target: str) -> list[SampledExplanation]:
    """Run XGNN once for each seed; found only once in a workshop."""
    quick = workshop.settings.quick
    seeds = tuple(range(workshop.settings.seed, workshop.settings.seed + 3))
    if quick and dataset != "mutag":
        seeds = seeds[:1]
    key = f"xgnn-{dataset}-{target}"
    if key not in workshop.kept:
        workshop.say(f"{dataset}, {target}: xgnn, {len(seeds)} seeds")
        method = XGNN(episodes=QUICK_EPISODES) if quick and dataset != "mutag" else XGNN()
        bundle = workshop.bundle(dataset)
        runs = [method.explain(bundle, target=target, seed=seed) for seed in seeds]
        workshop.kept[key] = runs
    return workshop.kept[key]


def study(workshop: Workshop) -> Outcome:
    """Compare probability, time and validity of both methods."""
    rows, drawn = [], []
    for dataset in DATASETS:
        if not fits(workshop, dataset):
            continue
        for target in CLASSES[dataset]:
            runs = explained_by_xgnn(workshop, dataset, target)
            ours = workshop.explained(dataset)[target]
            found = summarize_seeds(runs)
            published = PUBLISHED.get((dataset, target))
            legal = None
            if dataset == "mutag":
                graphs = runs[0].sample(200)
                legal = validity(
                    graphs, ours.spec, ours.target, valencies=MUTAG_VALENCIES
                ).valencies
            best = max(runs, key=lambda run: run.probability.mean)
            rows.append(
                Row(
                    (dataset, target),
                    published,
                    Value(found.mean, found.std),
                    NOTE if found.mean < 0.9 else "",
                    {
                        "our method": ours.probability.mean,
                        "published s": SECONDS.get(("xgnn", dataset)),
                        "xgnn s": round(found.seconds, 2),
                        "our method s": round(ours.seconds, 2),
                        "xgnn s / our s": round(found.seconds / ours.seconds, 2),
                        "valencies kept": legal,
                        "xgnn nodes": best.num_nodes,
                    },
                )
            )
            cells = [
                Cell(best.best, best.spec, f"XGNN, p = {best.mode_probability:.3f}"),
                Cell(ours.best, ours.spec, f"ours, p = {ours.mode_probability:.3f}"),
            ]
            drawn.append((dataset, (target, cells)))
    if not rows:
        raise SpecError("none of the data sets has graphs that XGNN can build")
    names = dict.fromkeys(dataset for dataset, _ in drawn)
    sheets = [
        Sheet(f"xgnn-{name}", f"XGNN and ours on {name}", [row for d, row in drawn if d == name])
        for name in names
    ]
    table = Table(
        "xgnn",
        "XGNN on the data sets it can build",
        ("data set", "class"),
        tuple(rows),
        "Ours is the mean over the 1,000 graphs of each trained policy, averaged over seeds. The "
        "published times are from the paper's machine; the ratio is between both methods here.",
    )
    return Outcome([table], sheets)
