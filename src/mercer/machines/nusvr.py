"""Support vector regression by ν (Schölkopf et al., 2000): the data choose the width of the tube.

Minimizes ½|w|² + C (νnε + Σ max(0, |yᵢ − f(xᵢ) − b| − ε)) over w, b and ε. At most a share ν of
the items is outside the tube, and at least that share are support vectors.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items
from mercer.machines.svm_programs import MarginProgram, fill_bounds, fraction
from mercer.machines.svr import SVR, tube
from mercer.plans import Plan

__all__ = ["NuSVR"]


class NuSVR(SVR):
    """Support vector regression with ν in the place of ε.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    C : float
        Price of an error beyond the tube.
    nu : float
        Between 0 and 1: an upper bound of the share of items outside the tube, and a lower bound
        of the share of support vectors.
    tol, max_iter, indefinite, follow
        As in `SVC`.

    Attributes
    ----------
    epsilon_ : float
        Half the width of the tube that was found.
    support_, support_vectors_, dual_coef_, intercept_, n_support_, function_, squared_norm_, \
    solution_, n_iter_, kernel_, plan_
        As in `SVR`.

    Examples
    --------
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> machine = NuSVR(C=10.0, nu=0.2).fit(X, np.sin(X[:, 0]))
    >>> outside = np.abs(machine.predict(X) - np.sin(X[:, 0])) > machine.epsilon_ + machine.tol
    >>> bool(outside.mean() <= 0.2)
    True
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        nu: float = 0.5,
        tol: float = 1e-3,
        max_iter: int | None = None,
        indefinite: str = "error",
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.follow = follow

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with numbers `y`."""
        super().fit(X, y, sample_weight)
        above, below = self.solution_.offsets  # b + ε, at which the tube ends, and b − ε
        self.epsilon_ = max(float(above - below) / 2, 0.0)
        return self

    def _program(self, target: np.ndarray, weights: np.ndarray | None) -> MarginProgram:
        n = len(target)
        bounds = self._bounds(weights, n)  # finite: ν is a share of them
        half = fill_bounds(bounds, fraction(self.nu) * float(bounds.sum()) / 2)
        return tube(target, target, bounds, half, sizes=(n, n))
