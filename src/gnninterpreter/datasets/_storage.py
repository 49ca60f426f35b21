"""Where data sets and checkpoints lie on disk, and tensors with a header as one file."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gnninterpreter.arguments import path_of
from gnninterpreter.errors import DataError
from gnninterpreter.files import read_file, write_atomically

CACHE_VARIABLE = "GNNINTERPRETER_CACHE"
# What a few hundred kilobytes may grow to when they are unpacked.
MOST_UNPACKED = 2**28


def cache_folder() -> Path:
    """Return the folder for generated data: ``$GNNINTERPRETER_CACHE`` or the user's cache."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "gnninterpreter"


def root_folder(root: str | Path | None) -> Path:
    """The folder that a user names for data, or the cache folder."""
    return cache_folder() if root is None else path_of("root", root, DataError).expanduser()


def to_bytes(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Tensors as the content of a safetensors file."""
    from safetensors.torch import save

    plain = {key: value.detach().cpu().contiguous() for key, value in tensors.items()}
    return bytes(save(plain, metadata))


def from_bytes(content: bytes) -> dict[str, Tensor]:
    """Read what `to_bytes` made; ValueError where it is damaged."""
    from safetensors import SafetensorError
    from safetensors.torch import load

    try:
        return dict(load(content))
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def write_tensors(path: Path, tensors: Mapping[str, Tensor], header: Mapping[str, Any]) -> None:
    """Write tensors and a JSON header as one safetensors file, atomically."""
    metadata = {"header": json.dumps(dict(header), sort_keys=True)}
    write_atomically(path, to_bytes(tensors, metadata))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote."""
    # Into memory: of a file that is mapped and then cut, a process dies when it looks at the rest.
    content = read_file(path)
    try:
        tensors = from_bytes(content)
        described = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
        header = json.loads(described["__metadata__"]["header"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} is truncated or was written by something else") from error
    if not isinstance(header, dict):
        raise ValueError(f"{path} was written by something else")
    return tensors, header


def below(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with a prefix, by the rest of their names."""
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def pack_tensors(tensors: Mapping[str, Tensor]) -> Tensor:
    """Return tensors as one, compressed without loss; a tenth of the size where they repeat."""
    return torch.frombuffer(bytearray(zlib.compress(to_bytes(tensors), 9)), dtype=torch.uint8)


def unpack_tensors(packed: Tensor) -> dict[str, Tensor]:
    """Read what `pack_tensors` made."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(packed.numpy().tobytes(), MOST_UNPACKED)
    except zlib.error as error:
        raise ValueError(f"packed tensors are damaged ({error})") from error
    if not reader.eof:
        raise ValueError("packed tensors are cut short or too large")
    return from_bytes(content)
