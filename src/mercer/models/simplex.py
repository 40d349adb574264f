"""Probabilities as parameters: logarithms of odds against the last possible outcome.

A row p of probabilities has the natural parameters θⱼ = ln pⱼ/p_last. They are free, since nothing
forces them to sum to anything, and their score is what one would hope for: with counts nⱼ of n
outcomes it is nⱼ − n·pⱼ. An outcome of probability zero stays impossible however θ changes, so it
has no parameter; neither has the last possible outcome, against which the others are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["free", "information", "names", "surplus"]


def free(p: np.ndarray) -> np.ndarray:
    """Return which probabilities are parameters, along the last axis.

    Examples
    --------
    >>> free(np.array([[0.5, 0.25, 0.25], [0.5, 0.5, 0.0]]))
    array([[ True,  True, False],
           [ True, False, False]])
    """
    possible = p > 0
    last = p.shape[-1] - 1 - np.argmax(possible[..., ::-1], axis=-1)
    return possible & (np.arange(p.shape[-1]) != last[..., None])


def surplus(counts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the scores nⱼ − n·pⱼ of the free parameters: one row for each table of counts.

    `counts` has one axis more than `p`, for the items.

    Examples
    --------
    >>> surplus(np.array([[3.0, 1.0]]), np.array([0.5, 0.5]))
    array([[1.]])
    """
    excess = counts - counts.sum(axis=-1, keepdims=True) * p
    return excess[:, free(p)]


def names(label: str, p: np.ndarray, *axes: Sequence[Any]) -> list[str]:
    """Return the names of the free parameters, in the order of `surplus`.

    Examples
    --------
    >>> names("emission", np.array([[0.5, 0.5], [1.0, 0.0]]), range(2), "AB")
    ["emission[0, 'A']"]
    """
    places = np.argwhere(free(p))
    shown = [[repr(axis[i]) for i, axis in zip(at, axes, strict=True)] for at in places]
    return [f"{label}[{', '.join(parts)}]" for parts in shown]


def information(p: np.ndarray) -> np.ndarray:
    """Return the Fisher information of one outcome: diag(p) − ppᵀ of the free parameters.

    Examples
    --------
    >>> information(np.array([0.25, 0.75]))
    array([[0.1875]])
    """
    q = p[free(p)]
    return np.diag(q) - np.outer(q, q)
