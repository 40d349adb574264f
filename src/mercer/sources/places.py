"""Places: where a table is, as one types it: a file, one of several tables in it, or a pipe."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any

from mercer.errors import DomainError

__all__ = ["place_of"]

ADDRESS = re.compile(r"(https?|ftp|sftp|s3|gs|az|abfss?|hdfs|file|jdbc|postgresql|mysql):/", re.I)
PIPES = ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")
BLOCK_BYTES = 2**20
# Copies of pipes, by what they were called: a pipe can be read only once, a table is read often.
_copies: dict[str, Any] = {}


def place_of(data: str | os.PathLike[str]) -> tuple[Path, str | None, str | None]:
    """Return a file, the table in it that is meant, and how to call it if not by the file's name.

    Examples
    --------
    >>> place_of("shop.db::sales")[1]
    'sales'
    """
    text = os.fspath(data)
    if ADDRESS.match(text):
        text = re.sub(r"^(\w+:)/(?!/)", r"\1//", text)  # of which paths keep one stroke only
        raise DomainError(
            f"{text} is an address, and only files are read; download it first, for example with "
            "curl -O"
        )
    if text in PIPES or _is_pipe(text):
        return _copied(text), None, "the standard input" if text in PIPES else text
    if "::" in text and not os.path.exists(text):
        file, _, part = text.rpartition("::")
        if file and part:
            return Path(file), part, None
    return Path(text), None, None


def _is_pipe(text: str) -> bool:
    """Tell whether a path is a pipe that somebody writes into, as shells make them."""
    if not text.startswith(("/dev/fd/", "/proc/self/fd/")):
        return False
    try:
        return stat.S_ISFIFO(os.stat(text).st_mode)
    except OSError:
        return False


def _copied(text: str) -> Path:
    """Return a file with everything that comes through a pipe; it is removed at the end."""
    if text not in _copies:
        if text in PIPES and sys.stdin is not None and sys.stdin.isatty():
            raise DomainError(
                "nothing is piped into the standard input; write for example "
                "cat iris.csv | mercer fit - --target species"
            )
        copy = tempfile.NamedTemporaryFile(prefix="mercer-", suffix="")  # noqa: SIM115
        with _opened(text) as stream:
            while block := stream.read(BLOCK_BYTES):
                copy.write(block)
        copy.flush()
        if not copy.tell():
            raise DomainError(f"{'the standard input' if text in PIPES else text} is empty")
        _copies[text] = copy
    return Path(_copies[text].name)


def _opened(text: str) -> Any:
    if text in PIPES:
        return open(os.dup(sys.stdin.fileno()), "rb")
    return open(text, "rb")
