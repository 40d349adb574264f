"""Systems: the ridge regression inside a machine, as a search over its kernel sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Points
from mercer.errors import SelectionError
from mercer.kernels import Kernel
from mercer.machines import KernelDiscriminant
from mercer.machines.ridge import Ridge
from mercer.selection.held_out_scores import intercept_of
from mercer.selection.validation import require_machine

__all__ = ["System", "system_of"]

SEARCHABLE = "KernelRidge, KernelRidgeClassifier, KernelDiscriminant and GaussianProcess"


@dataclass(frozen=True)
class System:
    """(SKS + λI)α + b·S1 = SY without the K and the λ, which a search is about.

    Attributes
    ----------
    kernel : Kernel
        Resolved on the items.
    points : Points
    target : ndarray of shape (n, targets)
    weights : ndarray of shape (n,) or None
    intercept : bool
    """

    kernel: Kernel
    points: Points
    target: np.ndarray
    weights: np.ndarray | None
    intercept: bool

    @property
    def variance(self) -> float:
        """Mean square of the targets, about their means if there is an intercept."""
        w = np.ones(len(self.target)) if self.weights is None else self.weights
        Y = self.target - (np.average(self.target, axis=0, weights=w) if self.intercept else 0.0)
        return float(np.average(np.mean(Y**2, axis=1), weights=w))


def system_of(machine: Any, X: Any, y: Any, sample_weight: Any = None) -> System:
    """Return what a ridge-like machine would solve, for its kernel resolved on all items.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> system = system_of(KernelRidgeClassifier("linear"), [[1.0], [2.0]], ["no", "yes"])
    >>> system.target.ravel(), system.intercept
    (array([-1.,  1.]), False)
    """
    require_machine(machine)
    if not isinstance(machine, Ridge | KernelDiscriminant):
        raise SelectionError(
            f"{type(machine).__name__} has no criterion with derivatives; those that can be "
            f"searched are {SEARCHABLE}. For others use mercer.selection.GridSearchCV"
        )
    if not machine.similarities_suffice:
        raise SelectionError(
            "the criteria of a search are those of exact answers, but the machine has an "
            'approximate plan; use approximate="never", or GridSearchCV'
        )
    points = machine._admit(X)
    task = machine.regression(y, len(points), sample_weight)
    kernel = machine._resolve(points, task.weights)
    if machine._require_valid(kernel, getattr(machine, "indefinite", "error")):
        raise SelectionError(
            f"{kernel!r} is not proved to be valid, and its spectrum would be repaired, which has "
            "no derivatives; use a valid kernel, assume_psd, or GridSearchCV"
        )
    target = task.target.reshape(len(points), -1)
    return System(kernel, points, target, task.weights, intercept_of(machine))
