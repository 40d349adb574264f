"""Losses: how badly scores fit labels, with slope and curvature for Newton's method.

A loss is a sum over items of a convex function of the item's scores. At given scores F it knows
its value, the residual R = −∂/∂F and the curvature, a linear map U ↦ HU that acts on each item's
scores alone. For the negative log likelihood of labels, R is the weighted difference of labels
and probabilities (Bishop, 4.91 and 4.109). The squared hinge has a slope everywhere but jumps in
its curvature, one of whose values is taken there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from scipy.special import expit, logsumexp, softmax

__all__ = ["Binary", "ConvexLoss", "Hessian", "Multinomial", "SquaredHinge", "logistic_loss"]


class Hessian(Protocol):
    """H, the second derivatives of a loss at some scores, with its slope."""

    @property
    def residual(self) -> np.ndarray:
        """−∂/∂F, an array of shape (n, columns)."""
        ...

    def __call__(self, U: np.ndarray) -> np.ndarray:
        """Return HU."""
        ...

    def total(self) -> np.ndarray:
        """Return Σᵢ Hᵢ, made positive definite where adding a constant changes nothing."""
        ...

    def classes(self) -> np.ndarray | None:
        """Return D of H = D − DW⁻¹D, the weights times probabilities of several classes."""
        ...

    def scale(self) -> np.ndarray:
        """Return one number for each item that is not below the largest eigenvalue of Hᵢ."""
        ...


class ConvexLoss(Protocol):
    """A sum of convex functions of the items' scores."""

    @property
    def columns(self) -> int:
        """Number of scores of an item."""
        ...

    def value(self, F: np.ndarray) -> float:
        """Return the loss."""
        ...

    def near(self, F: np.ndarray) -> Hessian:
        """Return slope and curvature."""
        ...


def logistic_loss(codes: np.ndarray, weights: np.ndarray | None) -> Binary | Multinomial:
    """Return the negative log likelihood of labels coded 0, 1, …, with weights of the items."""
    weights = np.ones(len(codes)) if weights is None else weights
    classes = int(codes.max()) + 1
    return Binary(codes, weights) if classes == 2 else Multinomial(codes, weights, classes)


@dataclass(frozen=True)
class Binary:
    """Σ wᵢ log(1 + exp(−sᵢfᵢ)) with signs s = ±1: the logistic loss of two classes.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        0 or 1.
    weights : ndarray of shape (n,)

    Examples
    --------
    >>> loss = Binary(np.array([0, 1]), np.ones(2))
    >>> round(loss.value(np.zeros((2, 1))), 4), loss.near(np.zeros((2, 1))).residual.ravel()
    (1.3863, array([-0.5,  0.5]))
    """

    codes: np.ndarray
    weights: np.ndarray
    columns: ClassVar[int] = 1

    def value(self, F: np.ndarray) -> float:
        signs = 2.0 * self.codes - 1.0
        return float(self.weights @ np.logaddexp(0.0, -signs * F[:, 0]))

    def near(self, F: np.ndarray) -> BinaryCurvature:
        w, y = self.weights[:, None], self.codes[:, None]
        # 1 − p from its own formula, because near p = 1 the difference has no digits left.
        p, q = expit(F), expit(-F)
        return BinaryCurvature(w * np.where(y == 1, q, -p), w * p * q)


@dataclass(frozen=True)
class BinaryCurvature:
    """H = w p(1 − p), a number for each item."""

    residual: np.ndarray
    curvature: np.ndarray

    def __call__(self, U: np.ndarray) -> np.ndarray:
        return self.curvature * U

    def total(self) -> np.ndarray:
        return self.curvature.sum(keepdims=True) + np.finfo(float).tiny

    def classes(self) -> None:
        return None

    def scale(self) -> np.ndarray:
        return self.curvature[:, 0]


@dataclass(frozen=True)
class Multinomial:
    """Σ wᵢ(log Σ_c exp(f_ic) − f_iy): the loss of the softmax of one score for each class.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        0, …, columns − 1.
    weights : ndarray of shape (n,)
    columns : int

    Examples
    --------
    >>> loss = Multinomial(np.array([0, 1, 2]), np.ones(3), 3)
    >>> bool(np.isclose(loss.value(np.zeros((3, 3))), 3 * np.log(3)))
    True
    """

    codes: np.ndarray
    weights: np.ndarray
    columns: int

    def value(self, F: np.ndarray) -> float:
        own = F[np.arange(len(F)), self.codes]
        return float(self.weights @ (logsumexp(F, axis=1) - own))

    def near(self, F: np.ndarray) -> MultinomialCurvature:
        P = softmax(F, axis=1)
        labels = self.codes[:, None] == np.arange(self.columns)
        return MultinomialCurvature(self.weights[:, None] * (labels - P), P, self.weights)


@dataclass(frozen=True)
class MultinomialCurvature:
    """Hᵢ = wᵢ(diag(pᵢ) − pᵢpᵢᵀ), a matrix for each item that is never written down."""

    residual: np.ndarray
    probabilities: np.ndarray
    weights: np.ndarray

    def __call__(self, U: np.ndarray) -> np.ndarray:
        P = self.probabilities
        mean = np.einsum("ij,ij->i", P, U)
        return P * (self.weights[:, None] * (U - mean[:, None]))

    def total(self) -> np.ndarray:
        P, weighted = self.probabilities, self.probabilities * self.weights[:, None]
        H = np.diag(weighted.sum(axis=0)) - weighted.T @ P
        # The same constant for all classes changes no probability: its curvature is zero.
        return H + (np.trace(H) / len(H) ** 2 + np.finfo(float).tiny)

    def classes(self) -> np.ndarray:
        return self.weights[:, None] * self.probabilities

    def scale(self) -> np.ndarray:
        P = self.probabilities
        return self.weights * np.sum(P * (1 - P), axis=1)


@dataclass(frozen=True)
class SquaredHinge:
    """Σ wᵢ max(0, 1 − z_ij f_ij)²: the loss of several machines, each for two sides of items.

    Parameters
    ----------
    signs : ndarray of shape (n, columns)
        z: 1 or −1, and 0 where an item is not part of a machine.
    weights : ndarray of shape (n,)

    Examples
    --------
    >>> loss = SquaredHinge(np.array([[1.0], [-1.0]]), np.ones(2))
    >>> loss.value(np.array([[0.5], [-2.0]])), loss.dual(np.array([[1.0], [-1.0]]))
    (0.25, array([1.5]))
    """

    signs: np.ndarray
    weights: np.ndarray

    @property
    def columns(self) -> int:
        return self.signs.shape[1]

    def value(self, F: np.ndarray) -> float:
        return float(self.values(F).sum())

    def values(self, F: np.ndarray) -> np.ndarray:
        """Return the loss of each machine."""
        return self.weights @ self._short(F) ** 2

    def near(self, F: np.ndarray) -> SquaredHingeCurvature:
        short, w = self._short(F), 2 * self.weights[:, None]
        return SquaredHingeCurvature(w * self.signs * short, w * (short > 0))

    def dual(self, R: np.ndarray) -> np.ndarray:
        """Return Σ (αᵢ − αᵢ²/4wᵢ), α = zR: minus the conjugate of each machine's loss at −R."""
        w = self.weights[:, None]
        alpha = self.signs * R
        squares = np.divide(alpha**2, 4 * w, out=np.zeros_like(alpha), where=w > 0)
        return np.asarray((alpha - squares).sum(axis=0))

    def _short(self, F: np.ndarray) -> np.ndarray:
        """Return by how much scores fall short of the margin."""
        return np.where(self.signs != 0, np.maximum(1 - self.signs * F, 0.0), 0.0)


@dataclass(frozen=True)
class SquaredHingeCurvature:
    """H = 2w for scores short of the margin, a number for each item and machine."""

    residual: np.ndarray
    curvature: np.ndarray

    def __call__(self, U: np.ndarray) -> np.ndarray:
        return self.curvature * U

    def total(self) -> np.ndarray:
        return np.diag(self.curvature.sum(axis=0) + np.finfo(float).tiny)

    def classes(self) -> None:
        return None

    def scale(self) -> np.ndarray:
        return self.curvature.max(axis=1)
