"""Files that are there whole or not at all, and files of others that are read with care.

Every package that writes a file does it here: beside its place, onto the disk, then renamed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

from gnninterpreter.errors import OutputError

MOST_BYTES = 256 * 2**20
MOST_TENSOR_BYTES = 16 * 2**30
# Ours are six deep. What walks through nested values may not run out of stack.
MOST_DEPTH = 64


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path`` that becomes it, or is removed if the block raises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files that only their owner reads; a cache may be shared.
        temporary.chmod(0o644)
        # On the disk before it has its name, or a power cut could leave the name without content.
        _sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not every system opens folders
        _sync(path.parent)


def write_atomically(path: Path, content: bytes) -> Path:
    """Write a file so that it is there whole or not at all."""
    with writing(path), atomic_path(path) as temporary:
        temporary.write_bytes(content)
    return path


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say of a place that cannot be written that it is so."""
    try:
        yield
    except OSError as error:
        why = error.strerror or error
        raise OutputError(f"cannot write {path}: {why}; choose another place") from error


def check_writable(folder: Path, name: str) -> None:
    """Refuse a folder, by the name of its argument, that could not be made or written."""
    existing = next(p for p in (folder.absolute(), *folder.absolute().parents) if p.exists())
    try:
        # Permissions alone do not tell: disks are mounted read-only, and parents may be files.
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise OutputError(
            f"{name} {folder} cannot be written ({error.strerror}); choose another folder"
        ) from error


def read_file(path: Path, most: int = MOST_TENSOR_BYTES) -> bytes:
    """Read a regular file of at most so many bytes into memory; ValueError for anything else."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{path.name} is no regular file")
    if found.st_size > most:
        raise ValueError(f"{path.name} has more than {most} bytes")
    return path.read_bytes()


def read_json(path: Path, most: int = MOST_BYTES) -> Any:
    """Read a JSON file that anybody may have written; ValueError where it is none."""
    try:
        values = json.loads(read_file(path, most).decode("utf-8"), parse_constant=no_constant)
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deeply") from None
    level = [values]
    for _ in range(MOST_DEPTH):
        level = [
            part
            for value in level
            if isinstance(value, (dict, list))
            for part in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return values
    raise ValueError(f"{path.name} is nested too deeply")


def finite(values: Any) -> Any:
    """Plain JSON values, dataclasses as objects; NaN and infinity, which JSON lacks, as None."""
    if is_dataclass(values):
        values = vars(values)
    if isinstance(values, dict):
        return {str(key): finite(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [finite(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def no_constant(name: str) -> Any:
    """Refuse NaN and infinities, which Python reads in JSON and nobody else does."""
    raise ValueError(f"{name} is no JSON number")
