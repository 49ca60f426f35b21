"""What explanations do by themselves: draw, show, export, report with the live model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import gnninterpreter as gi
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.errors import MissingExtraError, ModelError, OutputError
from gnninterpreter.explanation import Explanation, ExplanationSet, LatentSampler
from gnninterpreter.report import live_classifier
from gnninterpreter.search import Recipe
from gnninterpreter.spec import GraphSpec
from tests.report.conftest import SURE, make_explanation
from tests.tiny import MeanDegree

SPEC = GraphSpec(class_names=("sparse", "dense"))


@pytest.fixture(scope="module")
def run() -> ExplanationSet:
    quick = Recipe.auto(iterations=20, max_nodes=6)
    return gi.explain(MeanDegree(), spec=SPEC, restarts=2, recipe=quick, progress=False)


def ethane(valid: bool = True) -> Explanation:
    """Carbon joined to carbon; or bromine with two bonds, which chemistry does not allow."""
    edges = {(0, 1): SURE, (1, 2): SURE}
    made = make_explanation(MUTAG.spec, edges=edges, candidates=4)
    assert made.distribution is not None
    atoms = torch.full_like(made.distribution.node_logits[0], -SURE)
    atoms[..., 0 if valid else MUTAG.spec.nodes[0].names.index("Br")] = SURE
    kinds = [torch.zeros_like(made.distribution.edge_feature_logits[0])] if MUTAG.spec.edges else []
    for kind in kinds:
        kind[..., MUTAG.spec.edges[0].names.index("single")] = SURE
    latents = [made.distribution.edge_logits, atoms, *kinds]
    of = GraphDistribution(MUTAG.spec, 4, latents[0], (latents[1],), tuple(latents[2:]))
    made.sampler = LatentSampler.of(of, made.choice)
    return made


def test_draw_returns_axes(explanation_of: Callable[..., Explanation]) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    explanation = explanation_of(SPEC)
    _, ax = pyplot.subplots()
    assert explanation.draw(ax) is ax
    assert len(ax.patches) == explanation.num_nodes
    pyplot.close("all")


def test_visualize_graph(explanation_of: Callable[..., Explanation], tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    explanation = explanation_of(SPEC)
    assert explanation.visualize_graph(tmp_path / "a.svg").read_text().startswith("<svg")
    assert explanation.visualize_graph().get_title().startswith("sparse")
    pyplot.close("all")


@pytest.mark.parametrize(("kind", "mark"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_pictures(
    explanation_of: Callable[..., Explanation], tmp_path: Path, kind: str, mark: bytes
) -> None:
    pytest.importorskip("matplotlib")
    path = explanation_of(SPEC).export(tmp_path / f"a.{kind}")
    assert path.read_bytes().startswith(mark)


def test_png_without_matplotlib(
    explanation_of: Callable[..., Explanation], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"gnninterpreter\[report\]"):
        explanation_of(SPEC).export(tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


def test_smiles(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    explanation = ethane()
    text = explanation.export(tmp_path / "a.smi").read_text()
    assert text == f"CCC {explanation.name}\n"
    with pytest.raises(OutputError, match="no valid molecule"):
        ethane(valid=False).export(tmp_path / "b.smi")


def test_only_molecules_have_smiles(
    explanation_of: Callable[..., Explanation], tmp_path: Path
) -> None:
    with pytest.raises(OutputError, match="only molecules"):
        explanation_of(SPEC).export(tmp_path / "a.smi")


def test_smiles_without_rdkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnninterpreter.explanation.export.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"gnninterpreter\[chem\]"):
        ethane().export(tmp_path / "a.smi")


def test_notebooks_show_cards(run: ExplanationSet) -> None:
    assert "<svg" in run["sparse"]._repr_html_()
    assert run._repr_html_().count("<svg") == 2


def test_a_report_with_the_model_says_more(run: ExplanationSet, tmp_path: Path) -> None:
    without = run.report(tmp_path / "a.html").read_text()
    with_model = run.report(tmp_path / "b.html", MeanDegree()).read_text()
    assert "Written without the model" in without
    assert "Written without the data" in with_model
    real = iter(run["sparse"].sample(3))  # can be read once
    assert "Written without" not in run.report(tmp_path / "c.html", MeanDegree(), real).read_text()


def test_a_bundled_model_brings_its_rule(tmp_path: Path) -> None:
    bundle = gi.models.load("is_acyclic")
    quick = Recipe.auto(iterations=5, max_nodes=6)
    run = gi.explain(bundle, targets="cyclic", restarts=1, recipe=quick, progress=False)
    page = run.report(tmp_path / "a.html", bundle).read_text()
    assert "by the rule of the data set the graph is" in page
    assert "ground truth" not in page.lower()


def test_another_model_is_refused(run: ExplanationSet) -> None:
    with pytest.raises(ModelError, match="not the model that the run explains"):
        live_classifier(run, MeanDegree(slope=-4.0))
