"""scikit-learn's approximate feature maps, of similarities that mercer computes.

Examples
--------
>>> import numpy as np
>>> from mercer.sklearn.kernel_approximation import Nystroem
>>> X = np.random.default_rng(0).normal(size=(50, 3))
>>> Nystroem(gamma=0.1, n_components=10, random_state=0).fit_transform(X).shape
(50, 10)
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.kernel_approximation as theirs
from scipy.linalg import svd
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.sklearn.metrics.pairwise import pairwise_kernels
from mercer.sklearn.translation import tell

__all__ = ["Nystroem", "RBFSampler"]

LEAST_VALUE = 1e-12  # of a singular value, below which scikit-learn's map divides by this


class Nystroem(theirs.Nystroem):
    """scikit-learn's `Nystroem`, by similarities that mercer computes on all cores."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the items that others are compared with, and whiten their similarities."""
        X = validate_data(self, X, accept_sparse="csr")
        self._get_kernel_params()  # which refuses what this kernel does not take
        rng, n = check_random_state(self.random_state), X.shape[0]
        count = min(self.n_components, n)
        if self.n_components > n:
            tell(
                f"n_components={self.n_components} of Nystroem is more than there are items, {n}; "
                "so many are used"
            )
        chosen = rng.permutation(n)[:count]
        basis = X[chosen]
        K = self._similarities(basis[:, chosen] if self.kernel == "precomputed" else basis, None)
        U, S, V = svd(K)
        self.normalization_ = (U / np.sqrt(np.maximum(S, LEAST_VALUE))) @ V
        self.components_, self.component_indices_ = basis, chosen
        self._n_features_out = count
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the features of items."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        if self.kernel == "precomputed":
            return X[:, self.component_indices_] @ self.normalization_.T
        return self._similarities(X, self.components_) @ self.normalization_.T

    def _similarities(self, X: Any, known: Any) -> np.ndarray:
        if self.kernel == "precomputed":
            return X
        return pairwise_kernels(
            X, known, metric=self.kernel, filter_params=True, n_jobs=self.n_jobs,
            **self._get_kernel_params(),
        )  # fmt: skip


class RBFSampler(theirs.RBFSampler):
    """scikit-learn's `RBFSampler`: cosines of random projections, which are few lines of NumPy.

    Nothing is left to gain here; `mercer.plans.RandomFeatures` takes the same way inside a plan.
    """
