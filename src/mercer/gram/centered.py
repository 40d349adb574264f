"""Centered Gram matrices: similarities as seen from the mean of the items."""

from __future__ import annotations

import numpy as np

from mercer.gram.operator import LowRank, Operator

__all__ = ["Centered", "center_gram"]


class Centered:
    """HKH with H = I − 11ᵀ/n: inner products of features from which their mean is taken away.

    The matrix itself is not touched: products take the mean of their argument away, multiply, and
    take the mean of the result away.

    Attributes
    ----------
    means : ndarray of shape (n,)
        The mean similarity of each item to all, K1/n.
    mean : float
        Their mean.

    Examples
    --------
    >>> from mercer.gram import Dense
    >>> Centered(Dense(np.array([[2.0, 1.0], [1.0, 4.0]]))).matrix()
    array([[ 1., -1.],
           [-1.,  1.]])
    """

    def __init__(self, gram: Operator) -> None:
        self.gram = gram
        self.means = gram @ np.full(gram.order, 1 / gram.order)
        self.mean = float(self.means.mean())

    @property
    def order(self) -> int:
        return self.gram.order

    def __matmul__(self, vectors: np.ndarray) -> np.ndarray:
        product = self.gram @ (vectors - vectors.mean(axis=0))
        return product - product.mean(axis=0)

    def diagonal(self) -> np.ndarray:
        return self.gram.diagonal() - 2 * self.means + self.mean

    def matrix(self) -> np.ndarray:
        """Return a new array, which the caller may overwrite."""
        K = self.gram.matrix() - self.means
        K -= (self.means - self.mean)[:, None]
        return K

    def upper(self) -> np.ndarray:
        return self.matrix()


def center_gram(gram: Operator) -> tuple[Operator, np.ndarray]:
    """Return the centered operator and the mean similarity of each item to all.

    Of explicit features the mean is taken away; they become dense.
    """
    if not isinstance(gram, LowRank):
        found = Centered(gram)
        return found, found.means
    features = gram.features
    dense = features.toarray() if hasattr(features, "toarray") else features
    mean = dense.mean(axis=0)
    return LowRank(dense - mean), dense @ mean
