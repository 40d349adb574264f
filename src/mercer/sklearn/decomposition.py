"""scikit-learn's kernel principal components, found by `mercer.KernelPCA`.

Examples
--------
>>> from mercer.sklearn.decomposition import KernelPCA
>>> X = [[0.0, 0.0], [1.0, 1.1], [2.0, 1.9], [3.0, 3.0]]
>>> machine = KernelPCA(n_components=1).fit(X)
>>> machine.transform(X).shape, machine.native().explained_variance_ratio_.round(3)
((4, 1), array([0.999]))
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.decomposition as theirs
from sklearn.base import _fit_context
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer.errors import DomainError, SolveError, ValidityError
from mercer.machines import KernelPCA as Native
from mercer.machines import KernelRidge
from mercer.sklearn.pairs import Pairs
from mercer.sklearn.translation import leave
from mercer.solvers.eigenpairs import Eigenpairs

__all__ = ["KernelPCA"]

SOLVERS = {"auto": "auto", "dense": "dense", "arpack": "partial", "randomized": "randomized"}


class FoundComponents(Native):
    """`mercer.KernelPCA` that is content with fewer components than were asked for."""

    def _accept(self, spectrum: Eigenpairs, rank: int, count: int | None) -> Eigenpairs:
        return spectrum.first(max(rank, 1))


class KernelPCA(Pairs, theirs.KernelPCA):
    """scikit-learn's `KernelPCA`, found by `mercer.KernelPCA`.

    Components above the rank of the centered Gram matrix are zero.
    """

    machine_: Native | None = None

    def native(self) -> Native:
        """Return the machine of mercer, fitted if this one is."""
        if self.machine_ is not None:
            return self.machine_
        return self._native(None, self.n_components)

    def _native(self, width: int | None, count: int | None) -> Native:
        return FoundComponents(
            self._kernel(width),
            count,
            solver=SOLVERS[self.eigen_solver],
            random_state=self.random_state,
        )

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the principal components of items `X`; `y` is ignored."""
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        given = X
        X = validate_data(self, X, accept_sparse="csr", copy=self.copy_X)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        asked = None if self.n_components is None else min(self.n_components, X.shape[0])
        self.machine_ = None
        machine = self._native(X.shape[1], asked)
        try:
            self._learn(machine, X)
        except (DomainError, SolveError, ValidityError) as error:
            reason = str(error).replace(type(machine).__name__, "mercer.KernelPCA")
            leave(f"KernelPCA(kernel={self.kernel!r})", reason)
            return super().fit(given)
        self._show(machine, X, asked)
        if self.fit_inverse_transform:
            self._fit_inverse_transform(self.eigenvectors_ * np.sqrt(self.eigenvalues_), X)
        self.X_fit_ = X
        return self

    def _learn(self, machine: Native, X: Any) -> None:
        """Fit the machine; a matrix that only centering makes symmetric is centered before."""
        self._centerer = None
        try:
            machine.fit(self._items(X, machine.kernel))
        except DomainError:
            if self.kernel != "precomputed":
                raise
            centerer = KernelCenterer()
            machine.fit(centerer.fit_transform(X))
            self._centerer = centerer

    def _show(self, machine: Native, X: Any, asked: int | None) -> None:
        """Set scikit-learn's attributes, with zeros for components that there are not."""
        values, vectors = machine.eigenvalues_, machine.eigenvectors_
        flat = machine.rank_ == 0
        count = 0 if flat else len(values)
        if asked is not None and not self.remove_zero_eig:
            count = asked
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        self.eigenvalues_ = np.zeros(count, dtype)
        self.eigenvectors_ = np.zeros((X.shape[0], count), dtype)
        if not flat:
            self.eigenvalues_[: len(values)] = values
            self.eigenvectors_[:, : len(values)] = vectors
        self.machine_ = machine

    def transform(self, X: Any) -> np.ndarray:
        """Return the components of each item."""
        check_is_fitted(self)
        if self.machine_ is None:
            return super().transform(X)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        found = np.zeros((X.shape[0], len(self.eigenvalues_)), self.eigenvalues_.dtype)
        known = np.flatnonzero(self.eigenvalues_)
        if len(known):
            rows = self._items(X, self.machine_.kernel_, getattr(self, "X_fit_", None))
            rows = rows if self._centerer is None else self._centerer.transform(rows)
            found[:, known] = self.machine_.transform(rows)
        return found

    def _fit_inverse_transform(self, X_transformed: np.ndarray, X: Any) -> None:
        kernel = self._kernel(X.shape[1])
        if hasattr(X, "tocsr") or kernel.proof().verdict != "proved":
            super()._fit_inverse_transform(X_transformed, X)
            return
        machine = KernelRidge(kernel, penalty=self.alpha)
        self.dual_coef_ = machine.fit(X_transformed, X).dual_coef_
        self.X_transformed_fit_ = X_transformed
