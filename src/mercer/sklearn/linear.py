"""scikit-learn's linear machines, on all cores and with their gap.

What LIBLINEAR learns in the dual is learned by coordinates of the dual; squared slacks of few
columns are minimized in the primal. Both have the same optimum, and a duality gap says how near.

Examples
--------
>>> from mercer.sklearn.svm import LinearSVC
>>> machine = LinearSVC(dual=True).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
>>> machine.predict([[0.2], [2.8]]).tolist(), machine.gap_ < 1e-3
(['a', 'b'], True)
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
import sklearn.svm as theirs
from scipy import sparse
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from mercer.errors import ValidityError
from mercer.kernels import Constant, Kernel, Linear
from mercer.rkhs import PrimalFunction
from mercer.sklearn.translation import leave
from mercer.solvers.dual_coordinates import LinearOptimum, descend
from mercer.solvers.linear_newton import (
    MAX_PRIMAL_COLUMNS,
    descend_primal,
    label_slack,
    tube_slack,
)
from mercer.solvers.status import caller_of_mercer
from mercer.solvers.tube_coordinates import descend_tube
from mercer.threads import in_threads

__all__ = ["LinearSVC", "LinearSVR"]


class LinearMachine:
    """What linear machines share: how they learn, and the function that they have learned.

    Attributes
    ----------
    gap_ : float
        The largest duality gap of what was learned.
    """

    C: float
    tol: float
    max_iter: int
    loss: str
    dual: bool | str
    fit_intercept: bool
    intercept_scaling: float
    random_state: Any
    coef_: np.ndarray
    intercept_: Any
    gap_: float
    optima_: tuple[LinearOptimum, ...] = ()

    def native(self) -> PrimalFunction:
        """Return the function that was learned, its intercept included.

        It is one of the space of the kernel xᵀz + s², where s is `intercept_scaling`: a linear
        machine with a constant among its features. With more than two classes it has one output
        for each. Before a fit there is none.
        """
        check_is_fitted(self)
        if not self.optima_:
            raise ValidityError(
                "what was learned is scikit-learn's, and not a machine of mercer's"
            )
        weights = np.column_stack([one.weights for one in self.optima_])
        kernel: Kernel = Linear()
        if self.fit_intercept:
            kernel = Linear() + Constant(float(self.intercept_scaling) ** 2)
            weights = np.vstack([weights, [one.constant for one in self.optima_]])
        beta = np.column_stack([one.coefficients[self._support] for one in self.optima_])
        if len(self.optima_) == 1:
            beta, weights = beta[:, 0], weights[:, 0]
        return PrimalFunction(kernel, self._rows, beta, weights=weights)

    @property
    def _constant(self) -> float:
        return float(self.intercept_scaling) if self.fit_intercept else 0.0

    def _in_primal(self, X: Any, squared: bool) -> bool:
        """Tell whether the primal is as LIBLINEAR would take it, and the columns are few."""
        tall = self.dual == "auto" and X.shape[0] >= X.shape[1]
        return squared and (self.dual is False or tall) and X.shape[1] <= MAX_PRIMAL_COLUMNS

    def _require_constant(self) -> None:
        if self.fit_intercept and self.intercept_scaling <= 0:
            raise ValueError(
                f"Intercept scaling is {self.intercept_scaling!r} but needs to be greater than 0. "
                "To disable fitting an intercept, set fit_intercept=False."
            )

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo("i").max))

    def _keep(self, X: Any, optima: list[LinearOptimum]) -> None:
        """Set scikit-learn's attributes, and complain if something is not solved."""
        if not all(optimum.solved for optimum in optima):
            warnings.warn(
                "Liblinear failed to converge, increase the number of iterations. (It was "
                f"mercer, whose duality gap is {max(one.gap for one in optima):.3g}.)",
                ConvergenceWarning,
                stacklevel=caller_of_mercer(),
            )
        self.optima_ = tuple(optima)
        some = np.flatnonzero(np.any([one.coefficients != 0 for one in optima], axis=0))
        self._support = some if len(some) else np.array([0])  # a function has one item at least
        self._rows = X[self._support]  # a copy, whatever becomes of the caller's array
        self.coef_ = np.array([optimum.weights for optimum in optima])
        intercept = np.array([self._constant * optimum.constant for optimum in optima])
        self.intercept_ = intercept if self.fit_intercept else 0.0
        self.n_iter_ = max(optimum.epochs for optimum in optima)
        self.gap_ = max(optimum.gap for optimum in optima)


class LinearSVC(LinearMachine, theirs.LinearSVC):
    """scikit-learn's `LinearSVC`; classes are told apart at the same time.

    Attributes
    ----------
    gap_ : float
        The largest duality gap of a class against the rest.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` with labels `y`."""
        self.optima_ = ()
        reason = self._reason_to_leave()
        if reason:
            leave(*reason)
            return super().fit(X, y, sample_weight)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(
                "This solver needs samples of at least 2 classes in the data, but the data "
                f"contains only one class: {self.classes_[0]!r}"
            )
        self._require_constant()
        each = _check_sample_weight(sample_weight, X, dtype=np.float64)
        balance = compute_class_weight(
            self.class_weight, classes=self.classes_, y=y, sample_weight=each
        )
        self._learn(X, codes, self.C * each, balance)
        return self

    def _learn(self, X: Any, codes: np.ndarray, each: np.ndarray, balance: np.ndarray) -> None:
        two = len(self.classes_) == 2
        sides = [1] if two else list(range(len(self.classes_)))
        found: list[LinearOptimum | None] = [None] * len(sides)
        squared, seed = self.loss == "squared_hinge", self._seed()
        primal = self._in_primal(X, squared)
        rows = X if primal else sparse.csr_array(X)

        def one(job: int) -> None:
            z = np.where(codes == sides[job], 1.0, -1.0)
            # Of a class against the rest, LIBLINEAR gives its weight to that class alone.
            weights = balance[codes] if two else np.where(z > 0, balance[sides[job]], 1.0)
            prices = each * weights
            if primal:
                found[job] = descend_primal(
                    rows,
                    label_slack(z),
                    prices,
                    constant=self._constant,
                    steps=self.max_iter,
                    tol=self.tol,
                )
                return
            found[job] = descend(
                rows, z, prices, squared=squared, constant=self._constant, tol=self.tol,
                epochs=self.max_iter, seed=seed,
            )  # fmt: skip

        in_threads(one, range(len(sides)))
        self._keep(X, [optimum for optimum in found if optimum is not None])

    def _reason_to_leave(self) -> tuple[str, str] | None:
        if self.penalty != "l2" or self.multi_class != "ovr":
            what = f"LinearSVC(penalty={self.penalty!r}, multi_class={self.multi_class!r})"
            return what, "mercer has no such linear machine"
        if self.loss == "hinge" and self.dual is False:
            return "LinearSVC(loss='hinge', dual=False)", "there is no such machine"
        return None


class LinearSVR(LinearMachine, theirs.LinearSVR):
    """scikit-learn's `LinearSVR`.

    Attributes
    ----------
    gap_ : float
        The duality gap.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` with targets `y`."""
        self.optima_ = ()
        squared = self.loss == "squared_epsilon_insensitive"
        if self.dual is False and not squared:
            leave("LinearSVR(loss='epsilon_insensitive', dual=False)", "there is no such machine")
            return super().fit(X, y, sample_weight)
        if self.epsilon < 0:
            raise ValueError(f"epsilon is half the width of a tube, found {self.epsilon!r}")
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=np.float64, order="C", accept_large_sparse=False
        )
        self._require_constant()
        y = y.astype(np.float64)
        prices = self.C * _check_sample_weight(sample_weight, X, dtype=np.float64)
        if self._in_primal(X, squared):
            found = descend_primal(
                X, tube_slack(y, self.epsilon), prices, constant=self._constant,
                steps=self.max_iter, tol=self.tol,
            )  # fmt: skip
        else:
            found = descend_tube(
                sparse.csr_array(X), y, prices, epsilon=float(self.epsilon), squared=squared,
                constant=self._constant, tol=self.tol, epochs=self.max_iter, seed=self._seed(),
            )  # fmt: skip
        self._keep(X, [found])
        self.coef_ = self.coef_.ravel()
        return self
