"""What the page says of each class, as plain values: the template only arranges them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

import networkx as nx
from torch_geometric.data import Data

from gnninterpreter.chem import Molecule, read_molecule
from gnninterpreter.evidence.patterns.core import with_names
from gnninterpreter.explanation import Explanation, ExplanationSet
from gnninterpreter.explanation.export import explanation_json
from gnninterpreter.graphs import to_networkx
from gnninterpreter.objective import ValueTarget
from gnninterpreter.report import gallery, sections
from gnninterpreter.report.appearance import LegendEntry, legend
from gnninterpreter.report.drawing import Drawing, present
from gnninterpreter.report.extras import ClassExtras
from gnninterpreter.report.gallery import DRAWS, SHOWN, THRESHOLDS, SampleGroup
from gnninterpreter.report.svg import legend_group, render
from gnninterpreter.report.words import place_words, sentence

DRAWING = (520, 350)


class Fact(NamedTuple):
    """One number with its name, what it means, and how much of its range it takes."""

    name: str
    value: str
    meaning: str
    share: float | None = None


def class_view(explanation: Explanation, extras: ClassExtras | None = None) -> dict[str, Any]:
    """Gather what the page shows of one class besides itself, by the names of its template."""
    extras = extras or ClassExtras()
    found, nodes, edges = bool(explanation.num_edges), explanation.num_nodes, explanation.num_edges
    title = f"Prototype of {explanation.target.title}: {nodes} nodes, {edges} edges"
    groups = gallery.distinct_samples(explanation)
    population = getattr(explanation.sampler, "population", None)
    samples = sections.sample_tiles(explanation, groups, extras.sample_outputs)
    molecule = read_molecule(explanation.best, explanation.spec) if found else None
    drawing = Drawing.of(explanation.graph, explanation.spec, DRAWING)
    return {
        "one": explanation,
        "key": _key(explanation),
        "name": explanation.target.title,
        "notes": [sentence(note) for note in explanation.notes],
        "drawing": render(drawing, title, show_legend=False),
        "answers": sections.answers_view(explanation),
        "place": place_words(explanation),
        "facts": _facts(explanation),
        "learned": _learned(explanation),
        "bars": _bars(explanation),
        "search": sections.search_view(explanation),
        "payload": _payload(explanation, drawing, molecule),
        "legend": by_topic(legend(explanation.spec, present(_shown(explanation, groups, extras)))),
        "samples": samples,
        "sampled": {
            "groups": groups,
            "draws": DRAWS,
            "population": population,
            "variations": [] if population is None else explanation.variations(),
            "ends": (THRESHOLDS[0], THRESHOLDS[-1]) if gallery.has_settled(explanation) else (),
        },
        "modes": sections.mode_tiles(explanation),
        "neighbours": sections.neighbour_tiles(explanation, extras.neighbours),
        "soft": sections.soft_view(explanation, extras.stops) if found else None,
        "molecule": molecule,
    }


def repeat_command(result: ExplanationSet) -> str:
    """The call that gives the same result again."""
    from gnninterpreter.models import bundled_names

    metadata = result.metadata
    if metadata.get("command"):
        return str(metadata["command"])
    known = result.model_name in bundled_names()
    parts = [f'gi.models.load("{result.model_name}")' if known else "model, dataset"]
    settings = {key: metadata.get(key) for key in ("restarts", "seed")}
    parts += [f"{key}={value!r}" for key, value in settings.items() if value is not None]
    recipe = metadata.get("recipe_call") or (metadata.get("recipe") and repr(metadata["recipe"]))
    return f"gi.explain({', '.join([*parts, f'recipe={recipe}'] if recipe else parts)})"


def _payload(
    explanation: Explanation, drawing: Drawing, molecule: Molecule | None
) -> dict[str, Any]:
    """Texts of the files that the page's buttons write; drawings are taken from the page itself."""
    smiles = {"smi": f"{molecule.smiles} {explanation.name}"} if molecule and molecule.valid else {}
    # The page has a legend of its own; a drawing that leaves it takes this one along.
    group, room = legend_group(drawing.legend(), *drawing.size)
    return {
        **smiles,
        "legend": {"group": group, "height": room},
        "name": explanation.name,
        "graphml": "\n".join(nx.generate_graphml(explanation.graph)),
        "json": explanation_json(explanation),
    }


def _shown(
    explanation: Explanation, groups: list[SampleGroup], extras: ClassExtras
) -> Iterator[nx.Graph]:
    """Every graph that the card may draw; the galleries show kinds that the prototype lacks."""
    spec = explanation.spec
    yield explanation.graph
    yield from (group.graph for group in groups[:SHOWN])
    for pattern in (*explanation.cores, *explanation.shortcuts):
        yield with_names(pattern.graph, spec, pattern.open)
    near = [one.graph for one in extras.neighbours]
    modes = [mode.graph for mode in explanation.modes()[:SHOWN]]
    for graph in (*near, *modes, *explanation.exemplars(sections.EXEMPLARS)):
        yield to_networkx(graph, spec) if isinstance(graph, Data) else graph


def by_topic(entries: list[LegendEntry]) -> list[tuple[str, list[LegendEntry]]]:
    """The lines of a legend, as its template takes them."""
    return [(topic, list(group)) for topic, group in groupby(entries, lambda entry: entry.topic)]


def _key(explanation: Explanation) -> str:
    """What links to it; values and boundaries share columns with each other."""
    target = explanation.target
    if target.probable:
        return f"class-{target.index}"
    return "target-" + "".join(c if c.isalnum() or c in "-." else "_" for c in target.name)


def _bars(explanation: Explanation) -> list[dict[str, Any]]:
    """Every output; a value fills as much of its bar as there are real graphs below it."""
    target, names = explanation.target, explanation.spec.class_names
    bars = []
    for index, (name, value) in enumerate(zip(names, explanation.class_probabilities, strict=True)):
        mine = index in (target.index, getattr(target, "other", None))
        if isinstance(target, ValueTarget):
            share = (target.percentile(value) or 0.0) / 100 if mine else 0.0
            written = target.figure(value) if mine else f"{value:.4g}"
        else:
            share, written = value, "<0.001" if 0 < value < 0.0005 else f"{value:.3f}"
        bars.append({"name": name, "value": share, "target": mine, "written": written})
    return bars


def _facts(explanation: Explanation) -> list[Fact]:
    probability, target = explanation.probability, explanation.target
    about = {"class": "of the class, ", "label": "of the label, "}.get(target.kind, "")
    said, given = (
        words.removeprefix("p = ").removeprefix(f"{target.measure} ")
        for words in (explanation.said, explanation.given)
    )
    place = ""
    if isinstance(target, ValueTarget):
        place = target.place(explanation.class_probabilities[target.index])
    nodes, most = explanation.num_nodes, explanation.max_nodes
    edges, limit = explanation.num_edges, explanation.max_edges
    measure = target.measure[:1].upper() + target.measure[1:]
    return [
        Fact(measure, given, f"{about}over {probability.n:,} sampled graphs"),
        Fact("This graph", said, place or "the most probable one"),
        Fact("Nodes", str(nodes), f"of at most {most}", nodes / max(most, 1)),
        Fact("Edges", str(edges), f"of at most {limit:.0f}", edges / max(limit, 1e-9)),
    ]


def _learned(explanation: Explanation) -> list[Fact]:
    """Figures about the learned distribution, for those who ask how the search went."""
    wide = explanation.entropy >= max(explanation.num_edges, 1)
    settled = "samples differ widely from this graph" if wide else "where 0 means a single graph"
    entropy = Fact("Entropy", f"{explanation.entropy:.1f} bits", settled)
    if explanation.similarity is None:
        return [entropy]
    alike = f"to the mean of graphs {explanation.target.members}"
    return [Fact("Similarity", f"{explanation.similarity:.3f}", alike), entropy]
