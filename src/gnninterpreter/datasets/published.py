"""Published files that data sets are read from: found, fetched where they are not, and checked.

A file is looked for in the data set's ``root``, then in the folder that the environment variable
``GNNINTERPRETER_DATA`` names, then downloaded to ``root``. The hash is that of the contents, so
that the same tables count as the same however they are packed.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path

from gnninterpreter.errors import DataError
from gnninterpreter.files import atomic_path, read_file

DATA_VARIABLE = "GNNINTERPRETER_DATA"

MOST_BYTES = 2**28
BROKEN = (OSError, EOFError, KeyError, ValueError, tarfile.TarError, zlib.error, zipfile.BadZipFile)


class MissingFileError(DataError):
    """No folder has the file, and it cannot be downloaded."""


def data_folder() -> Path | None:
    """The folder that ``GNNINTERPRETER_DATA`` names, if it names one."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named).expanduser() if named else None


@dataclass(frozen=True)
class PublishedFile:
    """A file that others publish, under the first of its ``names`` where it is put.

    ``.gz`` is unpacked, and ``.tgz`` and ``.zip`` where they have ``members``; the hash is that of
    the contents, of members one after the other.
    """

    names: tuple[str, ...]
    url: str
    sha256: str
    members: tuple[str, ...] = ()

    def read(self, root: Path, *, download: bool = True) -> list[bytes]:
        """Return the contents of the file, or of each member of the archive."""
        return self._checked(self.find(root, download=download))

    def find(self, root: Path, *, download: bool = True) -> Path:
        """Return where the file lies, after checking it; it is fetched where no folder has it."""
        folders = [root, *filter(None, [data_folder()])]
        for path in (folder / name for folder in folders for name in self.names):
            if path.is_file():
                self._checked(path)
                return path
        searched = " or ".join(str(folder) for folder in folders)
        advice = f"put {self.names[0]} into {searched}, or name its folder in {DATA_VARIABLE}"
        if not download:
            raise MissingFileError(f"no folder has {self.names[0]}; {advice}")
        return self._fetched(root / self.url.rsplit("/", 1)[-1], advice)

    def _checked(self, path: Path) -> list[bytes]:
        try:
            parts = _unpacked(path.name, read_file(path, MOST_BYTES), self.members)
        except BROKEN as error:
            raise DataError(
                f"{path} cannot be read ({error}); delete it and fetch it again from {self.url}"
            ) from error
        digest = hashlib.sha256(b"".join(parts)).hexdigest()
        if digest != self.sha256:
            raise DataError(
                f"{path} is not the published file: the SHA-256 of its contents is "
                f"{digest[:12]}..., not {self.sha256[:12]}...; fetch it again from {self.url}"
            )
        return parts

    def _fetched(self, path: Path, advice: str) -> Path:
        import urllib.request

        try:
            with urllib.request.urlopen(self.url, timeout=20) as answer:
                content = answer.read(MOST_BYTES)
            with atomic_path(path) as temporary:
                temporary.write_bytes(content)
        except OSError as error:
            raise MissingFileError(f"cannot download {self.url} ({error}); {advice}") from error
        try:
            self._checked(path)
        except DataError:
            path.unlink()
            raise
        return path


def _unpacked(name: str, content: bytes, members: tuple[str, ...]) -> list[bytes]:
    if not members:
        return [gzip.decompress(content) if name.endswith(".gz") else content]
    if name.endswith(".tgz"):
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            found = {Path(m.name).name: m for m in archive.getmembers() if m.isfile()}
            streams = [archive.extractfile(found[member]) for member in members]
            return [stream.read() for stream in streams if stream is not None]
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        places = {Path(place).name: place for place in packed.namelist()}
        return [packed.read(places[member]) for member in members]
