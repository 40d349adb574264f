"""Machines of scikit-learn's whose kernels are those of `pairwise_kernels`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from mercer.kernels import Kernel, precomputed
from mercer.sklearn.translation import kernel_of, tell

__all__ = ["Pairs"]


class Pairs(BaseEstimator):
    """What machines with `kernel`, `gamma`, `degree`, `coef0` and `kernel_params` share."""

    kernel: Any
    gamma: float | None
    degree: float
    coef0: float
    X_fit_: Any

    def _kernel(self, width: int | None) -> Kernel:
        """Return the kernel of mercer, that of precomputed similarities where there is none.

        `width` is the number of features, which a γ of None stands for.
        """
        gamma = self.gamma
        if gamma is None and width is not None and self.kernel != "chi2":
            gamma = 1 / width
        if gamma is None:
            found = kernel_of(self.kernel, "auto", self.degree, self.coef0)
        else:
            found = kernel_of(self.kernel, gamma, self.degree, self.coef0)
        if found is None and isinstance(self.kernel, str):
            tell(
                f"the kernel {self.kernel!r} of {type(self).__name__} has no counterpart in "
                "mercer; scikit-learn computes its similarities, of which mercer's machine learns"
            )
        return precomputed() if found is None else found

    def _items(self, X: Any, kernel: Kernel, known: Any = None) -> Any:
        """Return items, or where these are learned from, their similarities to known ones."""
        if kernel != precomputed() or self.kernel == "precomputed":
            return X
        return np.asarray(self._get_kernel(X, known))
