"""Bundles: whole, exact and safe to load, or refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from gnninterpreter import models
from gnninterpreter.datasets._storage import (
    pack_tensors,
    read_tensors,
    unpack_tensors,
    write_tensors,
)
from gnninterpreter.errors import CheckpointError, OutputError, SpecError
from gnninterpreter.models.architectures import build
from gnninterpreter.models.bundle import Bundle, load, load_bundle
from gnninterpreter.models.scores import ClassificationScores
from gnninterpreter.models.statistics import ClassStatistics
from gnninterpreter.spec import GraphSpec

from .toy import MODEL, toy_graphs


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    model = build(MODEL, torch.Generator().manual_seed(0)).eval()
    spec = GraphSpec(class_names=("stars", "paths"))
    return Bundle(
        model=model,
        spec=spec,
        statistics=ClassStatistics.from_dataset(model, toy_graphs(), spec),
        scores={"test": ClassificationScores(0.75, (0.8, 0.7), 4)},
        dataset_name="toy",
        name="toy",
        training={"command": "by hand", "seed": 0},
    )


@pytest.fixture
def saved(bundle, tmp_path) -> Path:
    return bundle.save(tmp_path / "models")


def test_a_bundle_comes_back_as_it_was(bundle, saved):
    for path in (saved, saved.with_suffix(".safetensors")):
        again = load_bundle(path)
        for a, b in zip(bundle.model.parameters(), again.model.parameters(), strict=True):
            assert torch.equal(a, b)
        for key, value in bundle.statistics.tensors().items():
            assert torch.equal(again.statistics.tensors()[key], value)
        assert again.spec == bundle.spec
        assert again.scores == bundle.scores
        assert again.training == bundle.training
        assert (again.name, again.dataset_name) == ("toy", "toy")
        assert not again.model.training


def test_two_files_and_nothing_else(saved):
    assert sorted(path.name for path in saved.parent.iterdir()) == ["toy.json", "toy.safetensors"]


def edit(path: Path, **changes):
    values = json.loads(path.read_text())
    for key, value in changes.items():
        if value is None:
            del values[key]
        else:
            values[key] = value
    path.write_text(json.dumps(values))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "another"}, "is no model that Bundle.save"),
        ({"schema": 99}, "has schema 99, but this version reads schema 1"),
        ({"spec": None}, "has no field 'spec'"),
        ({"model": {"architecture": "mlp"}}, "architecture must be one of"),
        ({"model": {**MODEL, "width": 9}}, "weights and its width do not belong together"),
        # Told before anything of that size is built.
        ({"model": {**MODEL, "layers": 10**5}}, "weights and its layers do not belong together"),
        ({"scores": {"test": {"accuracy": 1}}}, "has no field 'f1'"),
        ({"spec": {"nodes": []}}, "has no field 'edges'"),
    ],
)
def test_descriptions_that_do_not_fit_are_refused(saved, changes, message):
    edit(saved, **changes)
    with pytest.raises(CheckpointError, match=message):
        load_bundle(saved)


@pytest.mark.parametrize("content", ["", '{"format": "gnninter', "[1, 2]"])
def test_truncated_or_foreign_json_is_refused(saved, content):
    saved.write_text(content)
    with pytest.raises(CheckpointError, match=r"truncated or no JSON|is no model that"):
        load_bundle(saved)


def test_truncated_weights_are_refused(saved):
    path = saved.with_suffix(".safetensors")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(CheckpointError, match="truncated or was written by something else"):
        load_bundle(saved)


def test_a_pickle_is_refused(saved):
    torch.save({"model": torch.ones(2)}, saved.with_suffix(".safetensors"))
    with pytest.raises(CheckpointError, match="was written by something else"):
        load_bundle(saved)


def test_foreign_safetensors_are_refused(saved):
    path = saved.with_suffix(".safetensors")
    tensors = load_file(path)
    save_file(tensors, path)
    with pytest.raises(CheckpointError, match="was written by something else"):
        load_bundle(saved)
    save_file(tensors, path, metadata={"header": '{"format": "other"}'})
    with pytest.raises(CheckpointError, match="does not hold a model of this package"):
        load_bundle(saved)


def test_statistics_that_lack_a_part_are_refused(saved):
    path = saved.with_suffix(".safetensors")
    tensors, header = read_tensors(path)
    parts = unpack_tensors(tensors["statistics"])
    del parts["mean_nodes"]
    write_tensors(path, {**tensors, "statistics": pack_tensors(parts)}, header)
    with pytest.raises(CheckpointError, match="class statistics lack mean_nodes"):
        load_bundle(saved)


def test_missing_files_are_named(saved, tmp_path):
    with pytest.raises(CheckpointError, match=r"cannot read the model .*none\.json"):
        load_bundle(tmp_path / "none.json")
    saved.with_suffix(".safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"cannot read the weights .*toy\.safetensors"):
        load_bundle(saved)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(CheckpointError, match=r"no bundled model 'nope'; the names are .*shape"):
        load("nope")


def test_a_file_of_weights_is_no_name(tmp_path: Path) -> None:
    file = tmp_path / "weights.pt"
    file.write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"weights.pt is a file.* load its weights into"):
        load(str(file))


def test_only_models_with_a_config_can_be_bundled(bundle, tmp_path):
    foreign = Bundle(
        model=torch.nn.Linear(1, 1),
        spec=bundle.spec,
        statistics=bundle.statistics,
        scores={},
        dataset_name="toy",
    )
    with pytest.raises(CheckpointError, match="type Linear cannot be bundled"):
        foreign.save(tmp_path)


def test_a_folder_that_cannot_be_written_is_named(bundle, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError, match="cannot write "):
        bundle.save(tmp_path / "file")


def test_public_names():
    assert set(models.__all__) >= {"Bundle", "ClassStatistics", "bundled_names", "load"}


@pytest.mark.parametrize("damage", ["cut short", "changed"])
def test_damaged_statistics_are_refused(saved, damage):
    path = saved.with_suffix(".safetensors")
    tensors, header = read_tensors(path)
    packed = tensors["statistics"]
    tensors["statistics"] = packed[:-9].clone() if damage == "cut short" else packed.flip(0)
    write_tensors(path, tensors, header)
    with pytest.raises(CheckpointError, match="packed tensors are"):
        load_bundle(saved)


def test_statistics_written_before_they_were_compressed_are_read(bundle, saved):
    path = saved.with_suffix(".safetensors")
    tensors, header = read_tensors(path)
    parts = unpack_tensors(tensors.pop("statistics"))
    write_tensors(path, tensors | {f"statistics.{k}": v for k, v in parts.items()}, header)
    assert torch.equal(load_bundle(saved).statistics.count, bundle.statistics.count)


def test_odd_places_and_sizes_are_told() -> None:
    bundle = load("shape")
    with pytest.raises(OutputError, match="folder must be a path"):
        bundle.save(5)
    with pytest.raises(SpecError, match="max_nodes must be a whole number"):
        ClassStatistics.from_dataset(bundle, [], bundle.spec, max_nodes="x")
