"""Cores, exemplars, shortcuts and fidelity through `explain`, and data that says too little."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data
from torch_geometric.utils import from_networkx

import gnninterpreter as gi
from gnninterpreter.errors import DataError, ModelError, SpecError
from tests.evidence.patterns.pairs import PAIRED, PLAIN, SPEC, RedPairs, chain
from tests.tiny import MeanDegree

QUICK = gi.Recipe.auto(iterations=3, check_every=3).without(
    "anneal", "local search", "iterated search", "calibrate"
)


def coloured(times: int = 2) -> list[Data]:
    """Chains with two red neighbours, class 1, and without, class 0."""
    graphs = []
    for label, words in ((1, PAIRED), (0, PLAIN)):
        for colours in words * times:
            graph = chain(colours)
            graph.y = torch.tensor([label])
            graphs.append(graph)
    return graphs


def explain(model: nn.Module, dataset: Any, **keywords: Any) -> gi.ExplanationSet:
    chosen: dict[str, Any] = {"recipe": QUICK, "restarts": 2, "progress": False, "seed": 0}
    return gi.explain(model, dataset, **{**chosen, **keywords})


@pytest.fixture(scope="module")
def result() -> gi.ExplanationSet:
    names = {"class_names": SPEC.class_names}
    return explain(
        RedPairs(), coloured(), spec=SPEC, peers=[RedPairs(5.0), RedPairs(-5.0)], **names
    )


def test_the_core_holds_the_red_pair_and_says_where(result: gi.ExplanationSet) -> None:
    core = result["paired"].core
    assert core is not None
    colours = core.graph.x.argmax(1)
    source, target = core.graph.edge_index
    assert bool((colours[source] & colours[target]).any())
    assert core.total == 20
    assert core.matched == round(20 * core.coverage) > 0
    assert core.others == 0
    assert core.rest == 20
    assert core.found_in("paired graphs") == f"{core.matched} of 20 paired graphs contain this"
    assert core.necessity is not None
    assert core.necessity.value > 0.9
    assert result["paired"].evidence["core covers"].passed is True


def test_exemplars_are_real_and_marked(result: gi.ExplanationSet) -> None:
    shown = result["paired"].exemplars(3)
    assert len(shown) == 3
    for graph in shown:
        core = graph.x[graph.core_mask].argmax(1)
        assert core.sum() >= 2
        assert "".join("br"[c] for c in graph.x.argmax(1).tolist()) in PAIRED
    with pytest.raises(SpecError, match="k must be at least 1"):
        result["paired"].exemplars(0)


def test_peers_are_asked(result: gi.ExplanationSet) -> None:
    check = result["paired"].evidence["peers agree"]
    assert (check.value, check.passed) == (0.5, True)
    assert check.sentence == "1 of 2 other models give the graph to the class as well"


def test_modes_say_what_they_are(result: gi.ExplanationSet) -> None:
    kinds = {mode.kind for one in result.values() for mode in one.modes()}
    assert kinds <= {"prototype", "core", "shortcut", "certain", "uncertain"}


def test_all_of_it_is_stored(result: gi.ExplanationSet, tmp_path: Path) -> None:
    result.save(tmp_path)
    loaded = gi.load(tmp_path)
    assert [loaded[name] == result[name] for name in result] == [True, True]
    assert loaded["paired"].core is not None
    assert len(loaded["paired"].exemplars()) == 4
    with pytest.raises(SpecError, match="pass model="):
        loaded.fidelity(coloured())
    with pytest.raises(SpecError, match="pass dataset="):
        loaded.fidelity(coloured(), model=RedPairs())


def test_one_prediction_is_explained_by_the_cores_of_its_class(result: gi.ExplanationSet) -> None:
    graph = next(graph for graph in coloured() if int(graph.y) == 1)
    explained = result.explain_graph(graph)
    first = explained.found[0]
    assert first.target in explained.assigned
    assert first.fall is not None
    assert first.fall.value > 0.5
    assert float(explained.node_mask[list(first.places[0])].min()) == pytest.approx(
        first.fall.value
    )
    with pytest.raises(DataError, match=r"data must be one graph \(got a batch of 2\)"):
        result.explain_graph(Batch.from_data_list(coloured()[:2]))


def test_the_numbers_of_all_classes_are_a_table(result: gi.ExplanationSet) -> None:
    table = result.to_pandas()
    assert list(table.index) == list(result)
    name = table.index[0]
    assert table.loc[name, "probability"] == result[name].probability.mean
    assert table.loc[name, "verdict"] == result[name].verdict.word


def test_fidelity_of_a_model_that_is_one_rule(result: gi.ExplanationSet) -> None:
    held_out = [chain(colours) for colours in ("rrbb", "brbrbr", "bbbb", "brrr")]
    found = result.fidelity(held_out)
    assert (found.value, found.graphs) == (1.0, 4)
    with pytest.raises(DataError):
        result.fidelity(held_out, form="tree")


def test_without_data_the_graphs_beside_the_statistics_give_cores(
    result: gi.ExplanationSet,
) -> None:
    found = explain(RedPairs(), None, spec=SPEC, class_statistics=result.statistics)["paired"]
    assert found.core is not None
    assert (found.core.coverage, found.core.necessity, found.core.total) == (None, None, None)
    assert found.evidence["core covers"].passed is None
    assert found.exemplars()
    bare = explain(RedPairs(), None, spec=SPEC)["paired"]
    assert (bare.core, bare.cores, bare.shortcuts, bare.exemplars()) == (None, [], [], [])
    assert bare.evidence["typical"].passed is None
    assert bare.evidence["new"].passed is None


def test_random_graphs_get_about_the_same_with_and_without_the_data() -> None:
    """Red is rare, so a random chain has no pair; with colours drawn evenly most have one."""
    graphs = []
    for place in range(12):
        for label, two in ((1, "rr"), (0, "rb")):
            graphs.append(chain("b" * place + two + "b" * (12 - place)))
            graphs[-1].y = torch.tensor([label])
    known = {"spec": SPEC, "targets": 1}
    whole = explain(RedPairs(), graphs, **known)
    kept = explain(RedPairs(), None, class_statistics=whole.statistics, **known)
    bare = explain(RedPairs(), None, **known)
    found = [float(one["paired"].evidence["random graphs"].value) for one in (whole, kept, bare)]
    assert found[1] == pytest.approx(found[0], abs=0.2)
    assert found[2] > found[1] + 0.3


@pytest.mark.parametrize(
    ("peer", "said"),
    [
        (3, "peers must be models of the same task"),
        (MeanDegree(in_channels=5), "peers must take the same graphs"),
    ],
)
def test_peers_of_another_kind_are_refused(peer: Any, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        explain(RedPairs(), coloured(1), spec=SPEC, peers=[peer])


# --- data that says too little -------------------------------------------------------------------


def plain(graph: nx.Graph, label: int, x: Tensor | None = None) -> Data:
    data = from_networkx(graph)
    data.x = torch.ones(data.num_nodes, 1) if x is None else x
    data.y = torch.tensor([label])
    return data


CYCLES = [plain(nx.path_graph(n), 0) for n in range(3, 15)]


def test_a_class_with_fewer_than_ten_graphs_says_so() -> None:
    data = CYCLES + [plain(nx.complete_graph(n), 1) for n in (4, 5, 6)]
    found = explain(MeanDegree(), data)[1]
    assert any(
        "it takes 10 real graphs of the class, and there are only 3" in n for n in found.notes
    )
    assert any("only 3 real graphs are assigned to" in note for note in found.notes)
    assert found.typicality is None
    assert found.evidence["typical"].passed is None
    assert found.verdict.word != "trustworthy"


def test_one_graph_says_so() -> None:
    data = [plain(nx.complete_graph(5), 1)]
    found = explain(MeanDegree(), data, class_names=("a", "b"))
    assert any("only 1 real graph is assigned" in note for note in found["b"].notes)
    assert any("every real graph is assigned to 'b'" in note for note in found["b"].notes)
    assert list(found) == ["b"]


def test_graphs_that_are_all_alike_say_so() -> None:
    data = [plain(nx.complete_graph(5), 1) for _ in range(12)] + CYCLES
    found = explain(MeanDegree(), data)[1]
    assert found.core is None or found.core.coverage == 1.0
    assert found.evidence["new"].passed is True


def test_graphs_beyond_the_limit_are_left_out_and_said() -> None:
    data = [*CYCLES, plain(nx.complete_graph(4), 1), plain(nx.path_graph(250), 0)]
    found = explain(MeanDegree(), data)
    for one in found.values():
        assert "1 of 14 real graphs have no node or more than 200" in one.notes[0]
    assert all(graph.num_nodes <= 200 for graph in found[0].exemplars(8))


def test_features_that_are_all_different() -> None:
    generator = torch.Generator().manual_seed(0)
    data = [
        plain(made(n), label, 1 + torch.rand(n, 1, generator=generator))
        for n in range(4, 16)
        for label, made in enumerate((nx.path_graph, nx.complete_graph))
    ]
    found = explain(MeanDegree(), data)
    for one in found.values():
        assert one.evidence["core covers"].sentence
        assert "real graph" in one.evidence["new"].sentence


class NeedsMany(MeanDegree):
    """Fails on graphs of fewer than four nodes, as some pooling does."""

    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        if int(torch.bincount(batch).min()) < 4:
            raise RuntimeError("too few nodes to pool")
        return self.scores(x, edge_index, batch)


def test_a_model_that_fails_on_pieces_is_a_note_and_no_crash() -> None:
    data = [plain(nx.complete_graph(5), 1) for _ in range(12)]
    from gnninterpreter.evidence.patterns import RealAnswers
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.objective.target import ClassTarget

    classifier = GraphClassifier(NeedsMany(), gi.GraphSpec(class_names=("a", "b")), examples=data)
    answers = RealAnswers(classifier, data, None).about(ClassTarget(1, "b"))
    assert answers.cores == []
    assert "no core: the model failed on pieces of real graphs (too few nodes" in answers.notes[0]


def test_a_fault_of_the_package_is_not_laid_on_the_model(monkeypatch) -> None:
    from gnninterpreter.evidence.patterns import RealAnswers, answers
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.objective.target import ClassTarget

    data = [plain(nx.complete_graph(5), 1) for _ in range(4)]
    classifier = GraphClassifier(MeanDegree(), gi.GraphSpec(class_names=("a", "b")), examples=data)
    monkeypatch.setattr(answers, "find_exemplars", lambda *given: [][0])
    with pytest.raises(IndexError):
        RealAnswers(classifier, data, None).about(ClassTarget(1, "b"))


@pytest.mark.parametrize(("open_", "named"), [((), True), ((False, True), False)])
def test_a_core_by_a_kind_of_a_handful_is_called_so(open_: tuple[bool, ...], named: bool) -> None:
    from gnninterpreter.evidence.patterns import RealAnswers
    from gnninterpreter.evidence.patterns.core import Core
    from gnninterpreter.models.classifier import GraphClassifier
    from gnninterpreter.models.statistics import ClassStatistics
    from gnninterpreter.objective.target import ClassTarget

    # Red nodes are in two of sixty graphs of their class.
    data = [chain("b" * n) for n in range(4, 14)] * 6 + [chain("bbrb")] * 2
    for graph in data:
        graph.y = torch.tensor([1])
    classifier = GraphClassifier(RedPairs(), SPEC, examples=data)
    known = ClassStatistics.from_dataset(classifier, data)
    core = Core(chain("br"), SPEC, 1.0, True, open=open_)
    found = RealAnswers(classifier, data, known)._rare(ClassTarget(1, "paired"), core)
    assert len(found) == named
    for sentence in found:
        assert "which only 2 of 62 real graphs" in sentence


class TwoLabels(MeanDegree):
    def forward(self, x: Tensor, edge_index: Tensor, batch: Tensor) -> Tensor:
        return self.scores(x, edge_index, batch).sigmoid()


@pytest.mark.parametrize("task", ["multilabel", "regression"])
def test_other_tasks_have_cores_too(task: str) -> None:
    data = [*CYCLES, *(plain(nx.complete_graph(n), 1) for n in range(4, 14))]
    for graph in data:
        both = graph.y.float()
        graph.y = torch.stack([1 - both, both], dim=1)
    model = TwoLabels() if task == "multilabel" else MeanDegree()
    found = explain(model, data, task=task)
    assert all(one.core is None or one.core.probability > 0.5 for one in found.values())
    assert any(one.core is not None for one in found.values())
    with pytest.raises(SpecError, match="say which one with target="):
        found.fidelity(data)
