"""Arrays that models are made of: checked once, then read-only."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer.domains import Vectors, to_numpy
from mercer.errors import DomainError, ValidityError

__all__ = ["numbers", "probabilities", "read_only", "rows"]

SUM = 1e-8  # how far from one probabilities may add up to


def read_only(values: Any) -> np.ndarray:
    """Return a copy in double precision that nobody can change."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def numbers(owner: Any, name: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return finite numbers of a shape, in which None stands for any length but zero."""
    try:
        array = read_only(values)
    except (TypeError, ValueError) as error:
        raise ValidityError(
            f"{name} of {type(owner).__name__} must be numbers: {error}"
        ) from error
    fits = array.ndim == len(shape) and all(
        found == wanted if wanted is not None else found > 0
        for found, wanted in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = " × ".join("any" if length is None else str(length) for length in shape)
        found = " × ".join(map(str, array.shape)) or "a single number"
        raise ValidityError(
            f"{name} of {type(owner).__name__} must have the shape {wanted}, found {found}"
        )
    if not np.isfinite(array).all():
        place = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
        raise ValidityError(
            f"{name} of {type(owner).__name__} must be finite, found {array[place]} at {place}"
        )
    return array


def probabilities(owner: Any, name: str, values: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Return numbers of a shape, not negative and with a sum of one along the last axis."""
    array = numbers(owner, name, values, shape)
    if (array < 0).any():
        place = tuple(np.argwhere(array < 0)[0].tolist())
        raise ValidityError(
            f"{name} of {type(owner).__name__} must be probabilities, found {array[place]} "
            f"at {place}"
        )
    totals = np.atleast_1d(array.sum(axis=-1))
    off = np.argwhere(np.abs(totals - 1) > SUM)
    if len(off):
        row = f"row {off[0].tolist()} of " if array.ndim > 1 else ""
        raise ValidityError(
            f"{row}{name} of {type(owner).__name__} must sum to one, found "
            f"{totals[tuple(off[0])]:.6g}; divide it by its sum"
        )
    return array


def rows(points: Vectors, width: int | None, owner: Any) -> np.ndarray:
    """Return admitted rows of numbers as a dense NumPy array in double precision.

    `width` is the number of columns that the model knows, None where it does not know any yet.
    """
    if width is not None and points.width != width:
        raise DomainError(
            f"X has {points.width} columns, but {type(owner).__name__} is about {width}"
        )
    return np.ascontiguousarray(to_numpy(points.array), dtype=np.float64)
