"""Left out: the functions that a ridge regression would have learned without some of its items.

The regression without the items S is the same as with all, if their targets are what it would have
said itself. So with P, the inverse of the bordered system (K + λW⁻¹ and a constant), and a = Py

    y_S − f₋S(x_S) = P_SS⁻¹ a_S,        a₋S = a − P_·S P_SS⁻¹ a_S,

and no item is fitted again: the jackknife costs what one inverse costs. With p features Φ it is
the p × p system without the rows of S.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mercer import lapack
from mercer.domains import Items
from mercer.gram import LowRank, features_of
from mercer.kernels import Kernel
from mercer.memory import afford

__all__ = ["FeatureSums", "LeftOut", "leave_out", "leave_out_features"]

# Condition of the system up to which residuals keep six digits, more than an interval needs.
MAX_CONDITION = 1e10
MIN_SHARE_LEFT = 1e-10  # of a pivot, for the difference that is left of it to mean something


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """Weighted sums of a kernel's features; several at once, as of a function for each fold.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> k = Linear()
    >>> FeatureSums(k, k.admit([[1.0]]), np.array([[2.0, 3.0]]))(k.admit([[5.0]]))
    array([[10., 15.]])
    """

    kernel: Kernel
    points: Any  # of these, the columns of the features are known
    weights: np.ndarray

    def __call__(self, X: Items) -> np.ndarray:
        new = self.kernel.admit(X).as_new()
        features = features_of(self.kernel, self.points)(new)
        return np.asarray(LowRank(features).features @ self.weights)


@dataclass(frozen=True, eq=False)
class LeftOut:
    """What is left when each set of items is left out in turn.

    Attributes
    ----------
    residuals : ndarray of shape (n,)
        Of each item by the function that has not seen it; NaN for items in no set.
    coefficients : ndarray of shape (n or features, sets)
    offsets : ndarray of shape (sets,)
    """

    residuals: np.ndarray
    coefficients: np.ndarray
    offsets: np.ndarray


def leave_out(
    K: np.ndarray,
    y: np.ndarray,
    penalty: float,
    removals: Sequence[np.ndarray],
    weights: np.ndarray | None = None,
    intercept: bool = False,
) -> LeftOut | None:
    """Return what is left, from a Gram matrix; None where too many digits are lost.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        It is overwritten.
    y : ndarray of shape (n,)
    penalty : float
    removals : sequence of ndarray
    weights : ndarray or None
        Positive.
    intercept : bool

    Examples
    --------
    >>> K, y = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([4.0, 5.0])
    >>> leave_out(K, y, 1.0, [np.array([0]), np.array([1])]).residuals  # 4 − 1·5/(2 + 1)
    array([2.33333333, 3.66666667])
    """
    n = len(y)
    afford(8 * n * (2 * n + len(removals)), f"leaving out {len(removals)} sets", "use fewer folds")
    K.flat[:: n + 1] += penalty if weights is None else penalty / weights
    size = lapack.norm(K)
    if not lapack.factor(K):
        return None
    P = lapack.mirror(lapack.inverse_from_factor_inverse(lapack.invert(K)))
    if not size * lapack.norm(P) <= MAX_CONDITION:
        return None
    floor = MIN_SHARE_LEFT * np.diag(P)
    constant = np.zeros(n)
    if intercept:
        u = P.sum(axis=1)
        constant = u / u.sum()
        P -= np.outer(u, constant)
    if np.any(np.diag(P) <= floor):
        return None
    a, b = P @ y, float(constant @ y)
    residuals, offsets = np.full(n, np.nan), np.empty(len(removals))
    coefficients = np.empty((n, len(removals)))
    if all(len(rows) == 1 for rows in removals):
        places = np.concatenate(removals)
        r = a[places] / np.diag(P)[places]
        np.multiply(P[:, places], -r, out=coefficients)
        coefficients += a[:, None]
        coefficients[places, np.arange(len(places))] = 0.0
        residuals[places], offsets[:] = r, b - constant[places] * r
        return LeftOut(residuals, coefficients, offsets)
    for k, rows in enumerate(removals):
        try:
            r = cho_solve(cho_factor(P[np.ix_(rows, rows)], lower=True), a[rows])
        except LinAlgError:
            return None
        residuals[rows], offsets[k] = r, b - float(constant[rows] @ r)
        coefficients[:, k] = a - P[:, rows] @ r
        coefficients[rows, k] = 0.0
    return LeftOut(residuals, coefficients, offsets)


def leave_out_features(
    features: np.ndarray,
    y: np.ndarray,
    penalty: float,
    removals: Sequence[np.ndarray],
    weights: np.ndarray | None = None,
    intercept: bool = False,
) -> LeftOut | None:
    """Return what is left, from features; the coefficients are those of the features.

    Examples
    --------
    >>> Phi, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
    >>> leave_out_features(Phi, y, 1.0, [np.array([0])]).coefficients  # 2·3/(4 + 1)
    array([[1.2]])
    """
    n, p = features.shape
    Phi = np.column_stack([features, np.ones(n)]) if intercept else np.asarray(features)
    w = np.ones(n) if weights is None else weights
    G = (Phi.T * w) @ Phi
    G[np.arange(p), np.arange(p)] += penalty
    R = Phi.T @ (w * y)
    residuals, solved = np.full(n, np.nan), np.empty((Phi.shape[1], len(removals)))
    try:
        whole = cho_factor(G, lower=True)
        if all(len(rows) == 1 for rows in removals):
            places = np.concatenate(removals)
            v = cho_solve(whole, R)
            V = cho_solve(whole, Phi[places].T) * w[places]
            free = 1 - np.einsum("ij,ji->i", Phi[places], V)
            if np.any(free <= MIN_SHARE_LEFT):
                return None
            residuals[places] = (y[places] - Phi[places] @ v) / free
            solved[:] = v[:, None] - V * residuals[places]
        else:
            for k, rows in enumerate(removals):
                part = Phi[rows].T * w[rows]
                rest = cho_factor(G - part @ Phi[rows], lower=True)
                solved[:, k] = cho_solve(rest, R - part @ y[rows])
                residuals[rows] = y[rows] - Phi[rows] @ solved[:, k]
    except LinAlgError:
        return None
    if not np.isfinite(solved).all():
        return None
    offsets = solved[p] if intercept else np.zeros(len(removals))
    return LeftOut(residuals, solved[:p], offsets)
