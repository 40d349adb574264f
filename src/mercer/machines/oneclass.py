"""One class: which new things are unlike all that was seen (Schölkopf et al., 2001).

Minimizes ½|w|² − νnρ + Σ max(0, ρ − ⟨w, φ(xᵢ)⟩): the hyperplane that separates the items from the
origin of the kernel's space, with the largest distance ρ/|w|. At most a share ν of the items is on
the wrong side, and at least that share are support vectors.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin

from mercer.domains import Items, admit_weights
from mercer.machines.chunks import require_fitted
from mercer.machines.svm import SupportVectorMachine, support_expansion
from mercer.machines.svm_programs import MarginProgram, fill_bounds, fraction
from mercer.plans import Decision, Plan
from mercer.solvers.quadratic import Optimum, Quadratic

__all__ = ["OneClassSVM"]


class OneClassSVM(OutlierMixin, SupportVectorMachine):
    """Novelty detection by a support vector machine.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    nu : float
        Between 0 and 1: an upper bound of the share of items that are called outliers, and a
        lower bound of the share of support vectors.
    tol, max_iter, indefinite, follow
        As in `SVC`.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
    support_vectors_ : ndarray or list
    dual_coef_ : ndarray of shape (1, n_SV)
    intercept_ : ndarray of shape (1,)
        −ρ.
    offset_ : float
        ρ; ``decision_function(X) = score_samples(X) - offset_``.
    n_support_ : ndarray of shape (1,)
    function_ : Function
    squared_norm_ : float
        |w|².
    solution_ : Optimum
    n_iter_ : int
    kernel_ : Kernel
    plan_ : Decision

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OneClassSVM(nu=0.1).fit(X).predict([[0.0, 0.0], [5.0, 5.0]]).tolist()
    [1, -1]
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        nu: float = 0.5,
        *,
        tol: float = 1e-3,
        max_iter: int | None = None,
        indefinite: str = "error",
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.follow = follow

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn what items `X` have in common."""
        points = self._admit(X)
        weights = admit_weights(sample_weight, len(points))
        kernel = self._resolve(points, weights)
        order = np.arange(len(points))
        if weights is not None:  # items of weight zero are as good as absent
            order = np.flatnonzero(weights > 0)
        n = len(order)
        # Only shares of the weight matter, so that it is 1 on average while the program is solved.
        scale = 1.0 if weights is None else float(weights[order].mean())
        bounds = np.ones(n) if weights is None else weights[order] / scale
        start = fill_bounds(bounds, fraction(self.nu) * float(bounds.sum()))
        problem = Quadratic(np.zeros(n), np.zeros(n), bounds, start)
        some = None if weights is None else bounds
        solved = self._solve(kernel, points[order], [MarginProgram([(0, n)], problem)], some)
        optimum = solved.optima[0].named("", order)
        optimum.require_solved()
        rho, beta = scale * lowest(optimum, bounds), scale * optimum.coefficients
        expansion = support_expansion(kernel, solved, order, beta)

        self._remember(X, points)
        expansion.set_on(self)
        self.kernel_, self.plan_, self.solution_ = kernel, solved.decision, optimum
        self.dual_coef_ = beta[beta != 0][None, :]
        self.intercept_, self.offset_ = np.array([-rho]), rho
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_, self.squared_norm_ = optimum.steps, scale**2 * optimum.square
        return self

    def decision_function(self, X: Items) -> np.ndarray:
        """Return how far inside (positive) or outside (negative) each item is."""
        return self._decision_values(X)

    def score_samples(self, X: Items) -> np.ndarray:
        """Return ⟨w, φ(x)⟩ of each item, before ρ is subtracted."""
        return self._decision_values(X) + self.offset_

    def predict(self, X: Items) -> np.ndarray:
        """Return 1 for items like those that were seen and −1 for outliers."""
        require_fitted(self)
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> OneClassSVM().plan(np.ones((100, 3))).stored
        True
        """
        return self._dry_run(X, 1)


def lowest(optimum: Optimum, bounds: np.ndarray) -> float:
    """Return ρ, at the lower end of what the optimum allows.

    Items on the boundary are then inside, whatever rounding does to their scores, so that no more
    than a share ν is outside.
    """
    free = (optimum.coefficients > 0) & (optimum.coefficients < bounds)
    if not free.any():
        return -float(optimum.offsets[0])
    values = -optimum.slopes
    rounding = 1e-12 * float(np.abs(values).max())
    return float(values[free].min()) - max(optimum.violation, rounding)
