"""Text files of LIBSVM: one example per line, a label and the entries that are not zero."""

from __future__ import annotations

import bz2
import gzip
import math
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mercer.datasets.dataset import Dataset
from mercer.errors import DomainError

__all__ = ["read_libsvm"]

OPEN: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}
UNREADABLE = (OSError, EOFError, zlib.error)
LARGEST = 2**31 - 1  # index that can be read


def read_libsvm(
    path: str | os.PathLike[str], width: int | None = None, *, zero_based: bool = False
) -> Dataset:
    """Read examples from a file of LIBSVM or SVMlight, which may end in .gz or .bz2.

    A line is ``label index:value index:value …``, with indices that grow; what follows a ``#`` is
    a comment, and ``qid:…`` is left out.

    Parameters
    ----------
    path : path
    width : int, optional
        Number of columns. Say it for a file of test examples, in which the last columns of the
        training examples may not occur.
    zero_based : bool
        Whether indices count from 0; LIBSVM's count from 1.

    Returns
    -------
    Dataset
        Sparse rows, and labels that are integers if all of them are whole numbers.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "examples.txt"
    ...     _ = path.write_text("+1 1:0.5 3:2\\n-1 2:1\\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray(), y
    (array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]]), array([ 1, -1]))
    """
    from sklearn.datasets import load_svmlight_file

    path = Path(path)
    if width is not None and (isinstance(width, bool) or width < 1):
        raise DomainError(f"width must be a whole number from 1 on, found {width!r}")
    try:
        X, y = load_svmlight_file(str(path), n_features=width, zero_based=zero_based)
    except FileNotFoundError as error:
        raise DomainError(f"there is no file {path}") from error
    except (*UNREADABLE, ValueError, OverflowError) as error:
        raise DomainError(_complaint(path, width, zero_based, error)) from error
    if X.shape[0] == 0:
        raise DomainError(f"{path} holds no examples")
    if not np.isfinite(y).all():
        raise DomainError(_complaint(path, width, zero_based, "a label is not finite"))
    whole = np.all(y == np.rint(y)) and np.abs(y).max() < 2**53
    return Dataset(sparse.csr_array(X), y.astype(np.int64) if whole else y)


def _complaint(path: Path, width: int | None, zero_based: bool, error: Any) -> str:
    """Read a file again, slowly, to say in which line it is wrong."""
    try:
        for number, line in lines(path):
            problem = wrong(line, width, zero_based)
            if problem:
                return f"line {number} of {path} {problem}"
    except UNREADABLE as problem:
        return f"{path} could not be read: {problem}"
    return f"{path} could not be read as LIBSVM text: {error}"


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file, numbered from 1, without their comments."""
    with OPEN.get(path.suffix, open)(path, "rb") as file:
        for number, line in enumerate(file, 1):
            yield number, line.decode("utf-8", "replace").partition("#")[0]


def wrong(line: str, width: int | None, zero_based: bool) -> str | None:
    """Say what is wrong with a line, or return None."""
    parts = line.split()
    if parts and not (_is_number(parts[0]) and math.isfinite(float(parts[0]))):
        return f"begins with {parts[0]!r}, but a line begins with a finite number, its label"
    before = first = 0 if zero_based else 1
    before -= 1
    for part in parts[1:]:
        index, colon, value = part.partition(":")
        if index == "qid":
            continue
        if not colon or not index.removeprefix("+").isdecimal() or not _is_number(value):
            return f"has {part!r}, but an entry is index:value, as in 3:0.5"
        place = int(index)
        if place < first:
            return f"has the index {place}, but indices count from 1; or pass zero_based=True"
        if place <= before:
            return f"has the index {place} after {before}, but indices must grow"
        if place > LARGEST or (width is not None and place - first >= width):
            return f"has the index {place}, but {_room(width)}"
        before = place
    return None


def _room(width: int | None) -> str:
    return f"{LARGEST} is the largest that can be read" if width is None else f"width={width}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text
