"""Arrays that models are made of: checked once, then read-only; and probabilities as parameters.

A row p of probabilities has the natural parameters θⱼ = ln pⱼ/p_last, logarithms of odds against
the last possible outcome. They are free, since nothing forces them to sum to anything, and their
score is what one would hope for: with counts nⱼ of n outcomes it is nⱼ − n·pⱼ. An outcome of
probability zero stays impossible however θ changes, so it has no parameter; neither has the last
possible outcome, against which the others are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Vectors, to_numpy
from mercer.errors import DomainError, ValidityError

__all__ = [
    "draw_outcomes",
    "free_outcomes",
    "frequencies",
    "log_prior",
    "numbers",
    "probabilities",
    "probability_information",
    "probability_names",
    "probability_scores",
    "read_only",
    "rows",
    "smoothed_frequencies",
]


def read_only(values: ArrayLike) -> np.ndarray:
    """Return a copy in double precision that nobody can change."""
    array = np.array(values, dtype=np.float64, order="C")
    array.setflags(write=False)
    return array


def numbers(
    owner: object, name: str, values: ArrayLike, shape: tuple[int | None, ...]
) -> np.ndarray:
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


def probabilities(
    owner: object, name: str, values: ArrayLike, shape: tuple[int | None, ...]
) -> np.ndarray:
    """Return numbers of a shape, not negative and with a sum of one along the last axis."""
    array = numbers(owner, name, values, shape)
    if (array < 0).any():
        place = tuple(np.argwhere(array < 0)[0].tolist())
        raise ValidityError(
            f"{name} of {type(owner).__name__} must be probabilities, found {array[place]} "
            f"at {place}"
        )
    totals = np.atleast_1d(array.sum(axis=-1))
    off = np.argwhere(np.abs(totals - 1) > 1e-8)
    if len(off):
        row = f"row {off[0].tolist()} of " if array.ndim > 1 else ""
        raise ValidityError(
            f"{row}{name} of {type(owner).__name__} must sum to one, found "
            f"{totals[tuple(off[0])]:.6g}; divide it by its sum"
        )
    return array


def rows(points: Vectors, width: int | None, owner: object) -> np.ndarray:
    """Return admitted rows of numbers as a dense NumPy array in double precision.

    `width` is the number of columns that the model knows, None where it does not know any yet.
    """
    if width is not None and points.width != width:
        raise DomainError(
            f"X has {points.width} columns, but {type(owner).__name__} is about {width}"
        )
    return np.ascontiguousarray(to_numpy(points.array), dtype=np.float64)


def free_outcomes(p: np.ndarray) -> np.ndarray:
    """Return which probabilities are parameters, along the last axis.

    Examples
    --------
    >>> free_outcomes(np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]))
    array([[ True,  True, False],
           [ True, False, False]])
    """
    possible = p > 0
    last = p.shape[-1] - 1 - np.argmax(possible[..., ::-1], axis=-1)
    return possible & (np.arange(p.shape[-1]) != last[..., None])


def probability_scores(counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the scores nⱼ − n·pⱼ of the free parameters: one row for each table of counts.

    `counts` has one axis more than `p`, for the items.
    """
    excess = counts - counts.sum(axis=-1, keepdims=True) * p
    return excess[:, free_outcomes(p)]


def probability_names(label: str, p: np.ndarray, *axes: Sequence[Any]) -> list[str]:
    """Return the names of the free parameters, in the order of `probability_scores`.

    Examples
    --------
    >>> probability_names("emission", np.array([[0.5, 0.5], [1.0, 0.0]]), range(2), "AB")
    ["emission[0, 'A']"]
    """
    places = np.argwhere(free_outcomes(p))
    shown = [[repr(axis[i]) for i, axis in zip(at, axes, strict=True)] for at in places]
    return [f"{label}[{', '.join(parts)}]" for parts in shown]


def probability_information(p: np.ndarray) -> np.ndarray:
    """Return the Fisher information of one outcome: diag(p) − ppᵀ of the free parameters."""
    q = p[free_outcomes(p)]
    return np.diag(q) - np.outer(q, q)


def smoothed_frequencies(counts: np.ndarray, smoothing: float) -> np.ndarray:
    """Return smoothed counts as probabilities; where there are none, all outcomes are alike."""
    counts = counts + smoothing
    counts[counts.sum(axis=1) == 0] = 1.0
    return counts / counts.sum(axis=1, keepdims=True)


def frequencies(counts: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Return counts as probabilities; a row without counts stays as it was before."""
    totals = counts.sum(axis=-1, keepdims=True)
    return np.where(totals > 0, counts / np.where(totals > 0, totals, 1.0), before)


def log_prior(p: np.ndarray, smoothing: float) -> float:
    """Return what smoothing adds to a log likelihood: a Dirichlet prior, up to its constant."""
    if not smoothing:
        return 0.0
    with np.errstate(divide="ignore"):
        return smoothing * float(np.log(p).sum())


def draw_outcomes(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw an outcome from each row of probabilities."""
    edges = np.cumsum(p, axis=1)
    # The last edge is 1 up to rounding, and an outcome without probability is never drawn.
    return (rng.random(len(p))[:, None] * edges[:, -1:] >= edges).sum(axis=1)
