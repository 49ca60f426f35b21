"""What results depend on: code that runs, files of models, base graphs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch_geometric.data import Data

from gnninterpreter import fingerprints
from gnninterpreter.fingerprints import code_fingerprint, graphs_fingerprint

WORK = "gnninterpreter.experiments.paper.work.explaining"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the package's source, to be changed."""
    only_code = shutil.ignore_patterns("__pycache__", "checkpoints", "*.css", "*.js", "*.html")
    return Path(shutil.copytree(fingerprints.ROOT, tmp_path / "package", ignore=only_code))


def changed(root: Path, file: str, before: str, after: str) -> str:
    """The fingerprint of the work after a change to a file."""
    path = root / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    code_fingerprint.cache_clear()
    return code_fingerprint(WORK, root)


def test_a_constant_of_the_module_or_of_what_it_imports_counts(sources: Path) -> None:
    first = code_fingerprint(WORK, sources)
    assert first == code_fingerprint(WORK)
    second = changed(
        sources, "experiments/paper/work/explaining.py", "SAMPLES = 1000", "SAMPLES = 9"
    )
    third = changed(sources, "experiments/metrics/measure.py", "CONTROLS = 5", "CONTROLS = 6")
    assert len({first, second, third}) == 3


def test_what_does_not_run_does_not_count(sources: Path) -> None:
    first = code_fingerprint(WORK, sources)
    path = "experiments/paper/work/explaining.py"
    assert changed(sources, path, "SAMPLES = 1000", "SAMPLES = (\n    1000  # many\n)") == first
    assert changed(sources, path, '"""Draw 1,000 Gabriel graphs', '"""Draw') == first


def test_code_that_it_does_not_import_does_not_count(sources: Path) -> None:
    first = code_fingerprint(WORK, sources)
    (sources / "cli" / "app.py").write_text("raise SystemExit", encoding="utf-8")
    code_fingerprint.cache_clear()
    assert code_fingerprint(WORK, sources) == first


def test_imports_inside_functions_are_followed(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(
        "def f():\n    from gnninterpreter.two import g\n    return g\n"
    )
    (tmp_path / "two.py").write_text("g = 1\n")
    first = code_fingerprint("gnninterpreter.one", tmp_path)
    (tmp_path / "two.py").write_text("g = 2\n")
    code_fingerprint.cache_clear()
    assert code_fingerprint("gnninterpreter.one", tmp_path) != first


def test_the_two_files_of_a_model_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in (("m.json", "{}"), ("m.safetensors", "weights")):
        (tmp_path / "checkpoints").mkdir(exist_ok=True)
        (tmp_path / "checkpoints" / name).write_text(content)
    monkeypatch.setattr(fingerprints.resources, "files", lambda package: tmp_path)
    found = []
    for content in ("{}", '{"nodes": 3}'):
        (tmp_path / "checkpoints" / "m.json").write_text(content)
        fingerprints.model_fingerprint.cache_clear()
        found.append(fingerprints.model_fingerprint("m"))
    fingerprints.model_fingerprint.cache_clear()
    assert found[0] != found[1]


def test_data_sets_on_the_rome_graphs_say_where_those_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GNNINTERPRETER_DATA", raising=False)
    monkeypatch.setenv("GNNINTERPRETER_CACHE", str(tmp_path))
    fingerprints.data_fingerprint.cache_clear()
    assert fingerprints.data_fingerprint("motif") == "synthetic"
    assert fingerprints.data_fingerprint("shape") == "code"
    fingerprints.data_fingerprint.cache_clear()


def test_versions_name_what_computes() -> None:
    assert {"python", "torch", "torch_geometric", "numpy"} <= set(fingerprints.versions())


def test_values_count_by_name_type_and_number_and_objects_by_what_they_say() -> None:
    class Note:
        pass

    def told(values: torch.Tensor, name: str = "x") -> str:
        return graphs_fingerprint([Data(**{name: values}, note=Note(), num_nodes=2)])

    ones = torch.ones(2)
    # A graph may carry an object, which lies elsewhere in every process.
    assert told(ones) == told(ones.clone())
    others = [told(ones.half()), told(ones.view(2, 1)), told(torch.tensor([1.0, 2.0]))]
    assert len({told(ones), told(ones, "pos"), told(ones.bfloat16()), *others}) == 6
    assert graphs_fingerprint([Data(x=ones)] * 2) != graphs_fingerprint([Data(x=ones)])
