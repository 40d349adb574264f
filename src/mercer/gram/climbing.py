"""Quadratic programs as an engine sees them: arrays of numbers about items of one Gram matrix.

`mercer.solvers.quadratic` says what they mean: maximize tᵀβ − ½βᵀKβ in a box, with a fixed sum of
β within each group. An engine that can climb on many of them where its Gram matrix lies
(`Climbing`) returns β, and slopes that it has computed anew from β; what that is worth is judged
by the solvers, as it is for answers of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from mercer.gram.operator import Pieces

__all__ = ["BoxProgram", "Climbed", "Climbing"]


@dataclass(frozen=True)
class BoxProgram:
    """One program.

    Attributes
    ----------
    items : ndarray of int, shape (m,)
        The item of each variable.
    target, lower, upper, start : ndarray of shape (m,)
        t, a finite box, and a β in it whose sums are kept.
    group : ndarray of int, shape (m,)
        0 or 1.
    """

    items: np.ndarray
    target: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    start: np.ndarray
    group: np.ndarray

    @property
    def count(self) -> int:
        """Number of variables."""
        return len(self.items)


@dataclass(frozen=True)
class Climbed:
    """How far an engine came.

    Attributes
    ----------
    beta, slopes : ndarray of shape (m,)
        β and t − Kβ, computed from β in double precision.
    steps : int
        Pairs of variables that were moved.
    history : tuple of float
        The violation before every round.
    """

    beta: np.ndarray
    slopes: np.ndarray
    steps: int
    history: tuple[float, ...]


@runtime_checkable
class Climbing(Protocol):
    """A Gram matrix of an engine that solves programs where it lies."""

    @property
    def pieces(self) -> Pieces:
        """The same matrix, for what is not solved there."""
        ...

    def climb(
        self, programs: Sequence[BoxProgram], tol: float, steps: int
    ) -> list[Climbed] | None:
        """Return how far it came with each program, None if there was no room for any.

        Parameters
        ----------
        programs : sequence of BoxProgram
        tol : float
            Violation of the Kuhn-Tucker conditions at which a program is left alone.
        steps : int
            The most pairs of variables that are moved in one program.
        """
        ...
