"""Whole files or none: written beside, then moved into place."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once it is complete and on the disk.

    Whatever goes wrong before that, an interruption or a full disk, leaves no trace, and what was
    at `path` stays there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "numbers.txt")
    ...     with replacing(path) as file:
    ...         _ = file.write(b"1 2 3")
    ...     path.read_bytes(), os.listdir(folder)
    (b'1 2 3', ['numbers.txt'])
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        with open(path, "wb") as file:  # /dev/null, a pipe: they are written to, not replaced
            yield file
        return
    target = Path(os.path.realpath(os.fsdecode(path)))  # a link stays a link to what is replaced
    if target.is_dir():
        raise IsADirectoryError(f"{os.fspath(path)!r} is a folder, not a file")
    # A name of its own, so that two writers do not meet, and short, so that it is not too long.
    beside = target.with_name(f".{secrets.token_hex(8)}.part")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise
    _sync(target.parent)


def _sync(folder: Path) -> None:
    """Make the new name last, where the system lets a folder be synchronized."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
