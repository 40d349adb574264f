"""scikit-learn's kernel ridge regression, learned by `mercer.KernelRidge`.

Examples
--------
>>> import numpy as np
>>> from mercer.sklearn.kernel_ridge import KernelRidge
>>> X = np.linspace(0, 6, 30)[:, None]
>>> machine = KernelRidge(alpha=0.01, kernel="rbf", gamma=0.5).fit(X, np.sin(X[:, 0]))
>>> bool(abs(machine.predict([[1.5]])[0] - np.sin(1.5)) < 0.01), machine.native().kernel
(True, Gaussian(bandwidth=1.0))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.kernel_ridge as theirs
from sklearn.base import _fit_context
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mercer.errors import SolveError, ValidityError
from mercer.machines import KernelRidge as Native
from mercer.sklearn.pairs import Pairs
from mercer.sklearn.translation import leave

__all__ = ["KernelRidge"]


class KernelRidge(Pairs, theirs.KernelRidge):
    """scikit-learn's `KernelRidge`, learned by `mercer.KernelRidge`, one for each α."""

    machines_: tuple[Native, ...] = ()

    def native(self) -> Native:
        """Return the machine of mercer, fitted if this one is and has one α for all targets."""
        penalties = np.unique(self.alpha)
        if len(penalties) > 1:
            raise ValidityError(
                f"there are {len(penalties)} values of alpha, and a machine of mercer has one "
                "penalty; take machines_, of which each has learned the targets of one value"
            )
        if self.machines_:
            return self.machines_[0]
        return Native(self._kernel(None), penalty=float(penalties[0]))

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets)."""
        given = X, y, sample_weight
        X, y = validate_data(
            self, X, y, accept_sparse=("csr", "csc"), multi_output=True, y_numeric=True
        )
        weights = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X)
        alpha = np.atleast_1d(self.alpha)
        targets = 1 if y.ndim == 1 else y.shape[1]
        if len(alpha) not in (1, targets):
            raise ValueError(
                f"Number of targets and number of penalties do not correspond: {targets} and "
                f"{len(alpha)}"
            )
        try:
            self._learn(X, y, weights, np.broadcast_to(alpha, targets))
        except (SolveError, ValidityError) as error:
            leave(f"KernelRidge(kernel={self.kernel!r}, alpha={self.alpha!r})", str(error))
            self.machines_ = ()
            return super().fit(*given)
        self.X_fit_ = X
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the value of the learned function at each item."""
        check_is_fitted(self)
        if not self.machines_ or self.dual_coef_ is not self._learned:
            return super().predict(X)
        X = validate_data(self, X, accept_sparse=("csr", "csc"), reset=False)
        kernel = self.machines_[0].kernel_
        rows = self._items(X, kernel, self.X_fit_)
        if self.dual_coef_.ndim == 1:
            return self.machines_[0].predict(rows)
        found = np.empty((X.shape[0], self.dual_coef_.shape[1]))
        for machine, columns in zip(self.machines_, self._columns, strict=True):
            found[:, columns] = machine.predict(rows)
        return found

    def _learn(self, X: Any, y: np.ndarray, weights: Any, alpha: np.ndarray) -> None:
        """Fit a machine for each value of α, on the targets that have it."""
        kernel = self._kernel(X.shape[1])
        items = self._items(X, kernel)
        penalties = np.unique(alpha)
        columns = [np.flatnonzero(alpha == penalty) for penalty in penalties]
        machines = []
        dual: np.ndarray = np.empty(y.shape)
        for penalty, some in zip(penalties, columns, strict=True):
            machine = Native(kernel, penalty=float(penalty))
            target = y if y.ndim == 1 else y[:, some]
            machines.append(machine.fit(items, target, sample_weight=weights))
            if y.ndim == 1:
                dual = machine.dual_coef_
            else:
                dual[:, some] = machine.dual_coef_
        self.machines_, self._columns = tuple(machines), columns
        self.dual_coef_ = self._learned = dual
