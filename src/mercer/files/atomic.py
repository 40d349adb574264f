"""Whole files or none: written beside, then moved into place."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["replacing"]

PART = re.compile(r"\.[0-9a-f]{16}\.part")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once it is complete and on the disk.

    Whatever goes wrong before that, an interruption or a full disk, leaves no trace, and what was
    at `path` stays there. What a process left behind that was killed is removed by the next one
    that writes into the folder; the parts of those that are alive are locked.

    Parameters
    ----------
    path : path

    Returns
    -------
    context manager
        Of the open file.

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
    _remove_abandoned(target.parent)
    # A name of its own, so that two writers do not meet, and a short one. It is known before there
    # is such a file: an interruption may come at any moment after that.
    beside, held = target.with_name(f".{secrets.token_hex(8)}.part"), -1
    try:
        held = _begin(beside)
        with open(beside, "wb") as file:
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
    finally:
        if held >= 0:
            os.close(held)
    _sync(target.parent)


def _begin(beside: Path) -> int:
    """Make an empty file, and return a descriptor; as long as it is open, the file is locked."""
    while True:
        held = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        try:
            _lock(held, wait=True)
            if beside.exists():  # nobody has taken it for abandoned before it was locked
                return held
        except BaseException:
            os.close(held)
            raise
        os.close(held)


def _remove_abandoned(folder: Path) -> None:
    """Remove the parts of writers that were killed: those that nobody holds a lock of."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if PART.fullmatch(name):
                _remove_unless_held(folder / name)


def _remove_unless_held(part: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
        try:
            if _lock(descriptor, wait=False):
                part.unlink(missing_ok=True)
        finally:
            os.close(descriptor)


def _lock(descriptor: int, wait: bool) -> bool:
    """Lock an open file as long as it is open, and tell whether that has worked."""
    try:
        import fcntl
    except ImportError:  # Windows keeps open files from being removed anyway
        return not wait
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # somebody has it, or the file system knows no locks
        return False
    return True


def _sync(folder: Path) -> None:
    """Make the new name last, where the system lets a folder be synchronized."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
