"""Published files: found by name in any packing, checked by their contents, asked for plainly."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import urllib.request
import zipfile

import pytest

from gnninterpreter.datasets.published import PublishedFile
from gnninterpreter.errors import DataError

TEXT = b"smiles,y\nCCO,1\n"
URL = "https://example.org/data/table.csv"


def source(content=TEXT, **changes):
    named = {"names": ("table.csv.gz", "table.csv"), "url": URL, **changes}
    return PublishedFile(**named, sha256=hashlib.sha256(content).hexdigest())


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refuse(*_, **__):
        raise OSError("no network")

    monkeypatch.delenv("GNNINTERPRETER_DATA", raising=False)
    monkeypatch.setattr(urllib.request, "urlopen", refuse)


def test_root_first_then_the_named_folder(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "table.csv.gz").write_bytes(gzip.compress(TEXT))
    monkeypatch.setenv("GNNINTERPRETER_DATA", str(tmp_path / "data"))
    assert source().read(tmp_path / "root") == [TEXT]
    (tmp_path / "table.csv").write_bytes(TEXT)  # as it is published, not packed
    assert source().read(tmp_path) == [TEXT]


def test_archives_of_both_kinds_have_one_hash(tmp_path):
    parts = {"b.txt": b"second", "a.txt": b"first", "README.txt": b"not looked at"}
    with tarfile.open(tmp_path / "set.tgz", "w:gz") as archive:
        for name, content in parts.items():
            member = tarfile.TarInfo(f"folder/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as packed:
        for name, content in parts.items():
            packed.writestr(f"Folder/raw/{name}", content)
    for name in ("set.tgz", "set.zip"):
        wanted = source(b"firstsecond", names=(name,), members=("a.txt", "b.txt"))
        assert wanted.read(tmp_path) == [b"first", b"second"]
    missing = source(names=("set.zip",), members=("c.txt",))
    with pytest.raises(DataError, match=r"set\.zip cannot be read"):
        missing.read(tmp_path)


def test_other_contents_are_refused(tmp_path):
    (tmp_path / "table.csv").write_bytes(TEXT + b"CCC,0\n")
    with pytest.raises(DataError, match=r"is not the published file.*fetch it again from https"):
        source().read(tmp_path)
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(TEXT)[:-6])
    with pytest.raises(DataError, match=r"table\.csv\.gz cannot be read"):
        source().read(tmp_path)


def test_without_file_and_network_the_error_says_where_to_put_it(tmp_path):
    with pytest.raises(DataError, match=rf"put table\.csv\.gz into {tmp_path}, or name its folder"):
        source().read(tmp_path)


def test_downloads_are_checked_and_kept(tmp_path, monkeypatch):
    answers = [b"<html>not found</html>", TEXT]
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: io.BytesIO(answers.pop(0)))
    with pytest.raises(DataError, match="not the published file"):
        source().read(tmp_path)
    assert not list(tmp_path.iterdir())
    assert source().read(tmp_path) == [TEXT]
    assert (tmp_path / "table.csv").read_bytes() == TEXT
    assert source().read(tmp_path) == [TEXT]
