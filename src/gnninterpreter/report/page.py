"""The report: one self-contained HTML file that opens offline, and the cards of a notebook.

What the page says of each class are plain values here; the template only arranges them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import networkx as nx
from markupsafe import Markup
from torch_geometric.data import Data

from gnninterpreter.chem import Molecule, read_molecule
from gnninterpreter.chem.drawing import formula_svg
from gnninterpreter.evidence.patterns.core import with_names
from gnninterpreter.explanation.export import explanation_json
from gnninterpreter.files import write_atomically
from gnninterpreter.graphs import to_networkx
from gnninterpreter.objective import ValueTarget
from gnninterpreter.report import gallery, sections
from gnninterpreter.report.appearance import legend
from gnninterpreter.report.audit_section import audit_view
from gnninterpreter.report.drawing import Drawing, graph_svg, present
from gnninterpreter.report.extras import ClassExtras, compute_extras, live_classifier
from gnninterpreter.report.gallery import DRAWS, SHOWN, THRESHOLDS, SampleGroup
from gnninterpreter.report.svg import FONT, legend_group, render
from gnninterpreter.report.templates import asset, page_script, rendered
from gnninterpreter.report.words import (
    core_words,
    place_words,
    sentence,
    shortcut_words,
    typical_words,
)
from gnninterpreter.spec import graph_list

if TYPE_CHECKING:
    from gnninterpreter.audit import Audit
    from gnninterpreter.explanation import Explanation, ExplanationSet

COLOURS = {"good": "#00704f", "caution": "#845300", "bad": "#a32c17"}
DRAWING, CARD, CARD_CORE = (520, 350), (340, 240), (340, 130)


def write_report(
    result: ExplanationSet,
    path: str | Path,
    extras: Mapping[str, ClassExtras] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report of a run to a file, which is replaced where it is there.

    By class name ``extras`` hold what the live model says besides; the findings of an audit are
    shown before the classes.
    """
    return write_atomically(Path(path), render_page(result, extras, audit).encode())


def report_run(
    result: ExplanationSet,
    path: Path,
    model: Any = None,
    dataset: Any = None,
    *,
    forward: Callable[..., Any] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report of a run; see `ExplanationSet.report`."""
    extras = None
    if model is not None:
        dataset = None if dataset is None else graph_list(dataset)
        classifier = live_classifier(result, model, dataset, forward=forward)
        extras = compute_extras(result, classifier, dataset)
    return write_report(result, path, extras, audit)


def render_page(
    result: ExplanationSet,
    extras: Mapping[str, ClassExtras] | None = None,
    audit: Audit | None = None,
) -> str:
    """The text of the report; the same result gives the same text."""
    known = extras or {}
    explanations = result if audit is None else audit.explanations
    kinds = {one.target.kind for one in explanations.values()}
    return rendered(
        "page.html.jinja",
        result=result,
        classes=[class_view(one, known.get(name)) for name, one in explanations.items()],
        command=repeat_command(result),
        extras=list(known.values()),
        # What the page is about: classes, labels, values, boundaries, or some of each.
        kind=kinds.pop() if len(kinds) == 1 else "target" if kinds else "class",
        audit=None if audit is None else audit_view(audit),
        style=Markup(asset("page.css") + (asset("audit.css") if audit else "")),
        script=Markup(page_script()),
    )


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
    said, given = (
        words.removeprefix("p = ").removeprefix(f"{explanation.target.measure} ")
        for words in (explanation.said, explanation.given)
    )
    return {
        "one": explanation,
        "key": _key(explanation),
        "name": explanation.target.title,
        "said": said,
        "given": given,
        "notes": [sentence(note) for note in explanation.notes],
        "drawing": render(drawing, title, show_legend=False),
        "answers": sections.answers_view(explanation),
        "place": place_words(explanation),
        "bars": _bars(explanation),
        "search": sections.search_view(explanation),
        "payload": _payload(explanation, drawing, molecule),
        "legend": legend(explanation.spec, present(_shown(explanation, groups, extras))),
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
        yield with_names(pattern.graph, spec, pattern.open, pattern.free)
    near = [one.graph for one in extras.neighbours]
    modes = [mode.graph for mode in explanation.modes()[:SHOWN]]
    for graph in (*near, *modes, *explanation.exemplars(sections.EXEMPLARS)):
        yield to_networkx(graph, spec) if isinstance(graph, Data) else graph


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


def card_html(explanation: Explanation) -> str:
    """One explanation as a small piece of HTML that needs no style sheet, for ``_repr_html_``."""
    spec, core, shortcuts = explanation.spec, explanation.core, explanation.shortcuts
    title = explanation.target.title
    formula = formula_svg(explanation.best, spec, title, size=CARD)
    drawing = formula or graph_svg(explanation.graph, spec, size=CARD, title=title)
    return rendered(
        "notebook.html.jinja",
        one=explanation,
        font=FONT,
        colours=COLOURS,
        drawing=Markup(drawing),
        typical=typical_words(explanation),
        core=core and sections.core_picture(core, explanation, CARD_CORE),
        about=core_words(core, explanation),
        first=shortcut_words(shortcuts[0], explanation.target) if shortcuts else "",
    )


def cards_html(result: ExplanationSet) -> str:
    """All targets of a run, one card each."""
    return f"<div>{''.join(card_html(explanation) for explanation in result.values())}</div>"
