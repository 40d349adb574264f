"""Journals: what passes over the data have found, in a folder, for a client that starts again.

A fit is a sequence of passes, and each depends on nothing but the data, the kernel and the numbers
that it is given. So its answer is written down under a fingerprint of all that. A client that was
killed starts the same fit again, and walks through the passes that are written down without a look
at the rows, to the one that was interrupted. Arrays alone are written; reading them runs nothing.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from mercer.errors import ClusterError

__all__ = ["Journal", "fingerprint"]


def fingerprint(*things: Any) -> str:
    """Return what tells these texts, numbers and arrays from all others.

    Examples
    --------
    >>> fingerprint("a", np.ones(2)) == fingerprint("a", np.ones(2))
    True
    >>> fingerprint(np.ones(2)) == fingerprint(np.ones((2, 1)))
    False
    """
    found = hashlib.sha256()
    for thing in things:
        if isinstance(thing, np.ndarray):
            found.update(f"{thing.dtype.str}{thing.shape}".encode())
            numbers = thing.dtype.kind != "O"
            found.update(
                np.ascontiguousarray(thing).tobytes() if numbers else repr(thing.tolist()).encode()
            )
        else:
            found.update(f"{type(thing).__name__}:{thing!r}".encode())
        found.update(b"\0")
    return found.hexdigest()[:32]


class Journal:
    """A folder of answers.

    Parameters
    ----------
    folder : path
        Made if it is not there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     journal = Journal(folder)
    ...     journal.record("abc", {"sums": np.ones(2)})
    ...     Journal(folder).recall("abc")["sums"], journal.recall("other")
    (array([1., 1.]), None)
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ClusterError(
                f"the checkpoint {self.folder} cannot be a folder: {error.strerror}"
            ) from error

    def recall(self, key: str) -> dict[str, np.ndarray] | None:
        """Return what was written down, or None if it was not, or not to the end."""
        try:
            with (
                open(self.folder / f"{key}.npz", "rb") as file,
                np.load(file, allow_pickle=False) as found,
            ):
                return {name: found[name] for name in found.files}
        except (OSError, ValueError, zipfile.BadZipFile, EOFError, KeyError):
            return None

    def record(self, key: str, arrays: dict[str, np.ndarray]) -> None:
        """Write an answer down, all of it or nothing."""
        try:
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, self.folder / f"{key}.npz")
        except OSError as error:
            raise ClusterError(
                f"the checkpoint {self.folder} cannot be written: {error.strerror or error}"
            ) from error
