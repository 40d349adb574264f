"""Text files as lines: which encoding, whether compressed, and what cannot be text at all."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from mercer.errors import DomainError, suggestion

__all__ = [
    "TextFile",
    "file_errors",
    "find_encoding",
    "first_bytes",
    "open_lines",
    "open_unpacked",
]

BLOCK_BYTES = 2**20  # that are read at once
PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open}
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}


@dataclass(frozen=True)
class TextFile:
    """A file that is text: how to read it, and what to say about that."""

    path: Path
    encoding: str
    notes: tuple[str, ...] = ()

    @contextmanager
    def lines(self) -> Iterator[TextIO]:
        """Open the file for reading; ends of lines stay as they are, for the csv module."""
        with (
            file_errors(self.path),
            open_unpacked(self.path) as file,
            io.TextIOWrapper(file, encoding=self.encoding, newline="") as text,
        ):
            yield text


@contextmanager
def file_errors(path: Path, kind: str = "") -> Iterator[None]:
    """Turn what the system says about a file into one sentence, which may name its format."""
    try:
        yield
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        if kind:
            raise DomainError(f"{path} cannot be read as {kind}: {reason}") from error
        if isinstance(error, FileNotFoundError):
            raise DomainError(f"there is no file {path}{_similar_name(path)}") from error
        raise DomainError(f"{path} cannot be read: {reason}") from error


def open_unpacked(path: Path) -> BinaryIO:
    """Open a file for reading bytes, unpacked if it begins as files of gzip or bzip2 do."""
    require_file(path)
    with path.open("rb") as file:
        first = file.read(3)
    for mark, opener in PACKED.items():
        if first.startswith(mark):
            return opener(path, "rb")
    return path.open("rb")


def require_file(path: Path) -> None:
    """Refuse what can be read only once, or makes its reader wait: a pipe, a socket, a terminal.

    A table is read more than once, and opening a pipe that nobody writes into never returns.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise DomainError(
            f"{path} is not a file but a pipe or a device, and a table is read more than once; "
            "write it into a file first"
        )


def open_lines(path: Path) -> TextIO:
    """Open a file of UTF-8 for reading lines, unpacked."""
    return io.TextIOWrapper(open_unpacked(path), encoding="utf-8-sig")


def first_bytes(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, unpacked."""
    with file_errors(path), open_unpacked(path) as file:
        return file.read(size)


def find_encoding(path: Path) -> TextFile:
    """Read a whole file once to find its encoding; it costs little compared to parsing it.

    The encoding is that of the mark at the beginning; without one it is UTF-8 if all bytes are
    such, else that of Windows, which is said.
    """
    first = first_bytes(path, 4)
    for mark, encoding in MARKS.items():
        if first.startswith(mark):
            _broken(path, encoding)
            return TextFile(path, encoding)
    line = _broken(path, "utf-8")
    if line is None:
        return TextFile(path, "utf-8")
    encoding = "cp1252" if _broken(path, "cp1252") is None else "latin-1"
    note = f"line {line} is not UTF-8, so the file was read as Windows text ({encoding})"
    return TextFile(path, encoding, (note,))


def _broken(path: Path, encoding: str) -> int | None:
    """Return the first line that an encoding cannot read; zero bytes are refused."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line = 1
    with file_errors(path), open_unpacked(path) as file:
        while True:
            block = file.read(BLOCK_BYTES)
            try:
                text = decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                return line + error.object[: error.start].count(b"\n")
            zero = text.find("\0")
            if zero >= 0:
                _refuse(path, line + text.count("\n", 0, zero))
            if not block:
                return None
            line += text.count("\n")


def _refuse(path: Path, line: int) -> None:
    raise DomainError(
        f"{path} is not a text file: line {line} holds a zero byte; save it as text in UTF-8"
    )


def _similar_name(path: Path) -> str:
    """Return a hint at a file with a name like this one, if there is any."""
    try:
        names = [other.name for other in path.parent.iterdir()]
    except OSError:
        return ""
    hint = suggestion(path.name, names)
    return hint if hint.startswith("; did you mean") else ""
