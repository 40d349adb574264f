"""The container: one safetensors file with a JSON document in its header.

A file is a length, a header in JSON, and the bytes of all arrays (see the safetensors format). The
header's metadata has two entries: ``mercer``, the document that says what the arrays mean, and
``sha256``, the checksum of everything else in the file. The checksum finds damage: a lost block, a
flipped bit, an edit by hand. It is no signature; whoever changes a file on purpose can compute it
again. What protects from such people is that reading a file runs no code that it could choose.

The file is written here rather than by the safetensors library, so that equal machines give equal
bytes and the disk has them before the name; it is read by the library, which checks the header.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from typing import Any, BinaryIO

import numpy as np

from mercer.errors import FileError

__all__ = ["UPGRADES", "VERSION", "opened", "parsed", "write"]

VERSION = 1
# What turns a document of an older version into one of the next.
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}

START = b'{"__metadata__":{"sha256":"'
EMPTY = b"0" * 64  # in the place of the checksum, while it is computed
MAX_HEADER = 100_000_000  # bytes of a header that the safetensors library accepts
CHUNK_BYTES = 1 << 22  # that are read at once for the checksum
DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bool": "BOOL",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip


def write(file: BinaryIO, document: dict[str, Any], tensors: Mapping[str, np.ndarray]) -> None:
    """Write arrays, which are contiguous, and the document that refers to them."""
    document = {"format": VERSION, "mercer": metadata.version("mercer"), **document}
    # Large numbers first, so that all are aligned.
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    table, end = {}, 0
    for name in order:
        array = tensors[name]
        begin, end = end, end + array.nbytes
        dtype, shape = DTYPES[array.dtype.name], list(array.shape)
        table[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    entries = {"__metadata__": {"sha256": EMPTY.decode(), "mercer": text}, **table}
    header = json.dumps(entries, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    if len(header) > MAX_HEADER:
        raise FileError(f"a model file would need a header of {len(header)} bytes, too many")
    digest = hashlib.sha256(header)
    for name in order:
        digest.update(_bytes(tensors[name]))
    checksum = digest.hexdigest().encode()
    file.write(len(header).to_bytes(8, "little"))
    file.write(START + checksum + header[len(START) + len(EMPTY) :])
    for name in order:
        file.write(_bytes(tensors[name]))


def _bytes(array: np.ndarray) -> Any:
    """Return the bytes of a contiguous array in the order of the format, if possible uncopied."""
    if sys.byteorder == "big":
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.reshape(-1).view(np.uint8).data if array.size else b""


@contextlib.contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[tuple[dict[str, Any], Any]]:
    """Check a file, and give its document, brought up to date, and its arrays.

    The arrays are a `safetensors.safe_open`, with ``keys()`` and ``get_tensor(name)``.
    """
    from safetensors import SafetensorError, safe_open

    name = os.fsdecode(path)
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise FileError(  # to open a pipe that nobody writes into would never end
            f"{name} is not a file but a pipe or a device; write the model into a file first"
        )
    while True:
        with open(path, "rb") as file:
            header = _header(file, name)
            document = _document(header, name)
            _check_version(document, name)
            _check_sum(file, header, name)
            try:
                with safe_open(name, framework="np") as tensors:
                    if not _is_same(file, path):  # somebody has replaced it meanwhile
                        continue
                    yield _upgraded(document, name), tensors
                    return
            except SafetensorError as error:
                raise FileError(f"{name!r} is damaged: {error}") from error
            except (RecursionError, MemoryError) as error:
                raise FileError(
                    f"{name!r} is damaged or tampered with, or needs more memory than there is "
                    f"({type(error).__name__})"
                ) from error


def _is_same(file: BinaryIO, path: str | os.PathLike[str]) -> bool:
    """Tell whether a path still leads to an open file, so that both readers have read the same."""
    return os.path.samestat(os.fstat(file.fileno()), os.stat(path))


def _header(file: BinaryIO, name: str) -> bytes:
    size = os.fstat(file.fileno()).st_size
    length = int.from_bytes(file.read(8), "little")
    start = file.read(len(START))
    if start != START[: max(size - 8, 0)]:
        raise FileError(f"{name!r} is not a model file of mercer's")
    if not len(START) + len(EMPTY) <= length <= min(size - 8, MAX_HEADER):
        raise FileError(f"{name!r} is cut short or damaged: its header does not fit")
    return start + file.read(length - len(START))


def _document(header: bytes, name: str) -> dict[str, Any]:
    try:
        document = parsed(parsed(header)["__metadata__"]["mercer"])
        if type(document["format"]) is not int:
            raise ValueError("it does not say which format it has")
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise FileError(f"the header of {name!r} is damaged: {error}") from error
    return document


def parsed(text: str | bytes) -> Any:
    """Return what JSON says, refusing numbers that are none, and two things of the same name.

    Examples
    --------
    >>> parsed("[1, NaN]")
    Traceback (most recent call last):
        ...
    ValueError: NaN is not JSON
    """

    def refuse(word: str) -> Any:
        raise ValueError(f"{word} is not JSON")

    def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError("a name occurs twice")
        return found

    return json.loads(text, parse_constant=refuse, object_pairs_hook=single)


def _check_version(document: dict[str, Any], name: str) -> None:
    version, maker = document["format"], document.get("mercer")
    if version > VERSION:
        raise FileError(
            f"{name!r} was made by a newer mercer ({maker}, format {version}); this one reads "
            f"formats up to {VERSION}: install a newer mercer"
        )
    if version < VERSION and version not in UPGRADES:
        raise FileError(f"{name!r} has the format {version}, which mercer no longer reads")


def _check_sum(file: BinaryIO, header: bytes, name: str) -> None:
    inside = slice(len(START), len(START) + len(EMPTY))
    digest = hashlib.sha256(START + EMPTY + header[inside.stop :])
    while chunk := file.read(CHUNK_BYTES):
        digest.update(chunk)
    if digest.hexdigest().encode() != header[inside]:
        raise FileError(
            f"{name!r} is damaged, cut short, or was changed after it was written: its checksum "
            "is wrong; take another copy, or save the machine again"
        )


def _upgraded(document: dict[str, Any], name: str) -> dict[str, Any]:
    while document["format"] < VERSION:
        version = document["format"]
        if version not in UPGRADES:
            raise FileError(f"{name!r} has the format {version}, which mercer no longer reads")
        document = {**UPGRADES[version](document), "format": version + 1}
    if "model" not in document:
        raise FileError(f"{name!r} is damaged: it does not say what it holds")
    return document
