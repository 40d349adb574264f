"""Support vector regression: a tube around the data, as smooth as it can be.

Minimizes ½|w|² + C Σ max(0, |yᵢ − f(xᵢ) − b| − ε): errors up to ε cost nothing, larger ones their
excess. Items strictly inside the tube have no coefficient (Vapnik 1995).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from mercer.domains import Items, admit_numbers, admit_weights
from mercer.errors import ValidityError
from mercer.machines.machine import number
from mercer.machines.svm import SupportVectorMachine, support_expansion
from mercer.machines.svm_programs import MarginProgram, box_bounds, positive_C
from mercer.plans import Decision, Plan
from mercer.solvers.quadratic import Quadratic

__all__ = ["SVR", "tube"]


class SVR(RegressorMixin, SupportVectorMachine):
    """Support vector regression with an ε-insensitive loss.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    C : float
        Price of an error beyond the tube.
    epsilon : float
        Half the width of the tube.
    tol, max_iter, indefinite, follow
        As in `SVC`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        Places of the items with coefficients.
    support_vectors_ : ndarray or list
    dual_coef_ : ndarray of shape (1, n_SV)
    intercept_ : ndarray of shape (1,)
    n_support_ : ndarray of shape (1,)
    function_ : Function
    squared_norm_ : float
        |w|².
    solution_ : Optimum
        Its coefficients are those of the two sides of the tube, one after the other.
    n_iter_ : int
    kernel_ : Kernel
    plan_ : Decision

    Examples
    --------
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> machine = SVR(C=10.0, epsilon=0.05).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(machine.predict([[1.5]])[0] - np.sin(1.5)) < 0.06), len(machine.support_) < 25
    (True, True)
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        max_iter: int | None = None,
        indefinite: str = "error",
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.follow = follow

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with numbers `y`."""
        points = self._admit(X)
        target = admit_numbers(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        kernel = self._resolve(points, weights)
        order = np.arange(len(points))
        if weights is not None:  # items of weight zero are as good as absent
            order = np.flatnonzero(weights > 0)
        some = None if weights is None else weights[order]
        program = self._program(target[order], some)
        solved = self._solve(kernel, points[order], [program], some)
        optimum = solved.optima[0].named("", order)
        optimum.require_solved()
        n = len(order)
        beta = optimum.coefficients[:n] + optimum.coefficients[n:]
        expansion = support_expansion(kernel, solved, order, beta)

        self._remember(X, points)
        expansion.set_on(self)
        self.kernel_, self.plan_, self.solution_ = kernel, solved.decision, optimum
        self.dual_coef_ = beta[beta != 0][None, :]
        self.intercept_ = np.array([optimum.offsets.mean()])  # of both sides, if they differ
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_, self.squared_norm_ = optimum.steps, optimum.square
        return self

    def _program(self, target: np.ndarray, weights: np.ndarray | None) -> MarginProgram:
        epsilon, n = number(self.epsilon, "epsilon"), len(target)
        return tube(target - epsilon, target + epsilon, self._bounds(weights, n), np.zeros(n))

    def _bounds(self, weights: np.ndarray | None, n: int) -> np.ndarray:
        bounds = box_bounds(self.C, weights, n)
        if np.isinf(bounds).any():
            raise ValidityError(f"C of {type(self).__name__} must be finite, found inf")
        return bounds

    def _largest_bound(self) -> float:
        return positive_C(self.C)

    def predict(self, X: Items) -> np.ndarray:
        """Return f(x) + b of each item."""
        return self._decision_values(X)

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> SVR().plan(np.ones((100, 3))).stored
        True
        """
        return self._dry_run(X, 1)


def tube(
    below: np.ndarray, above: np.ndarray, bounds: np.ndarray, start: np.ndarray, **groups: Any
) -> MarginProgram:
    """Return the program of a tube: coefficients of items above it, then of those below it."""
    none = np.zeros(len(bounds))
    problem = Quadratic(
        target=np.concatenate([below, above]),
        lower=np.concatenate([none, -bounds]),
        upper=np.concatenate([bounds, none]),
        start=np.concatenate([start, -start]),
        **groups,
    )
    return MarginProgram([(0, len(bounds))], problem)
