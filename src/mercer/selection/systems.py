"""Systems: the ridge regression inside a machine, as a search over its kernel sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import Points, admit_labels, admit_target, admit_weights, weigh_classes
from mercer.errors import SelectionError
from mercer.kernels import Kernel
from mercer.machines import KernelDiscriminant, KernelRidge, KernelRidgeClassifier
from mercer.machines.scores import require_weight

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
    >>> system = system_of(KernelRidgeClassifier("linear"), [[1.0], [2.0]], ["no", "yes"])
    >>> system.target.ravel(), system.intercept
    (array([-1.,  1.]), False)
    """
    if isinstance(machine, type):
        raise SelectionError(f"a machine is needed; write {machine.__name__}()")
    if not isinstance(machine, KernelRidge | KernelRidgeClassifier | KernelDiscriminant):
        raise SelectionError(
            f"{type(machine).__name__} has no criterion with derivatives; those that can be "
            f"searched are {SEARCHABLE}. For others use mercer.selection.GridSearchCV"
        )
    points = machine._admit(X)
    weights = admit_weights(sample_weight, len(points))
    if isinstance(machine, KernelRidge):
        target = admit_target(y, len(points))
    else:
        codes, classes = admit_labels(y, len(points))
        target = (codes[:, None] == np.arange(len(classes))).astype(float)
        if isinstance(machine, KernelRidgeClassifier):
            weights = weigh_classes(machine.class_weight, codes, classes, weights)
            target = 2 * (target[:, 1:] if len(classes) == 2 else target) - 1
        else:
            require_weight(codes, classes, weights)
    kernel = machine._resolve(points, weights)
    if machine._require_valid(kernel, getattr(machine, "indefinite", "error")):
        raise SelectionError(
            f"{kernel!r} is not proved to be valid, and its spectrum would be repaired, which has "
            "no derivatives; use a valid kernel, assume_psd, or GridSearchCV"
        )
    intercept = bool(getattr(machine, "intercept", True))
    return System(kernel, points, target.reshape(len(points), -1), weights, intercept)
