"""What the page says of each class, as plain values: the template only arranges them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from gnninterpreter.report.drawing import graph_svg
from gnninterpreter.report.verdict import REACHED, Verdict, verdict_on

if TYPE_CHECKING:
    from gnninterpreter.explanation import Explanation, ExplanationSet

__all__ = ["Bar", "ClassView", "Fact", "class_view", "repeat_command"]


@dataclass(frozen=True)
class Fact:
    """One number with its name, what it means, and how much of its range it takes."""

    name: str
    value: str
    meaning: str
    share: float | None = None


@dataclass(frozen=True)
class Bar:
    """Probability of one class for the most probable graph."""

    name: str
    value: float
    target: bool

    @property
    def text(self) -> str:
        """The value as it is written beside the bar."""
        return "<0.001" if 0 < self.value < 0.0005 else f"{self.value:.3f}"


@dataclass(frozen=True)
class ClassView:
    """Everything the page shows of one class."""

    key: str
    name: str
    verdict: Verdict
    notes: list[str]
    drawing: Markup
    facts: list[Fact]
    bars: list[Bar]


def class_view(explanation: Explanation) -> ClassView:
    """Gather what there is to say about an explanation."""
    title = (
        f"Explanation graph of class {explanation.name}: {explanation.num_nodes} nodes, "
        f"{explanation.num_edges} edges"
    )
    return ClassView(
        key=f"class-{explanation.target}",
        name=explanation.name,
        verdict=verdict_on(explanation),
        notes=[note[:1].upper() + note[1:] for note in explanation.notes],
        drawing=Markup(graph_svg(explanation.graph, explanation.spec, title=title)),
        facts=_facts(explanation),
        bars=[
            Bar(name, value, index == explanation.target)
            for index, (name, value) in enumerate(
                zip(explanation.spec.class_names, explanation.class_probabilities, strict=True)
            )
        ],
    )


def repeat_command(result: ExplanationSet) -> str:
    """The call that gives the same result again."""
    from gnninterpreter.models import bundled_names

    stored = result.metadata.get("command")
    if stored:
        return str(stored)
    settings = {key: result.metadata.get(key) for key in ("restarts", "seed", "recipe")}
    known = result.model_name in bundled_names()
    model = f'gi.models.load("{result.model_name}")' if known else "model, dataset"
    given = ", ".join(f"{key}={value!r}" for key, value in settings.items() if value is not None)
    return f"gi.explain({model}, {given})" if given else f"gi.explain({model})"


def _facts(explanation: Explanation) -> list[Fact]:
    probability = explanation.probability
    reached = sum(restart.mean_probability >= REACHED for restart in explanation.restarts)
    facts = [
        Fact(
            "Class probability",
            f"{probability.mean:.3f} ± {probability.std:.3f}",
            f"mean and deviation over {probability.n:,} sampled graphs",
        ),
        Fact("This graph", f"{explanation.mode_probability:.3f}", "the most probable one"),
        Fact(
            "Nodes",
            str(explanation.num_nodes),
            f"of at most {explanation.max_nodes}",
            explanation.num_nodes / max(explanation.max_nodes, 1),
        ),
        Fact(
            "Edges",
            str(explanation.num_edges),
            f"of at most {explanation.max_edges:.0f}",
            explanation.num_edges / max(explanation.max_edges, 1e-9),
        ),
    ]
    if explanation.similarity is not None:
        percentile = explanation.similarity_percentile
        meaning = (
            "cosine to the class mean"
            if percentile is None
            else f"to the class mean; {percentile:.0f}% of its real graphs are less similar"
        )
        facts.append(Fact("Similarity", f"{explanation.similarity:.3f}", meaning))
    return [
        *facts,
        Fact("Still open", f"{explanation.undecided:.1f} bits", "0 means a single graph"),
        Fact(
            "Restarts",
            f"{reached} of {len(explanation.restarts)}",
            f"reached the class; the shown one ended {explanation.reason}",
        ),
    ]
