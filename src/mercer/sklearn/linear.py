"""scikit-learn's linear classifier, learned in the dual on all cores, with its gap.

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
from sklearn.utils.validation import _check_sample_weight, validate_data

from mercer.sklearn.translation import leave
from mercer.solvers.dual_coordinates import LinearOptimum, descend
from mercer.threads import in_threads

__all__ = ["LinearSVC"]


class LinearSVC(theirs.LinearSVC):
    """scikit-learn's `LinearSVC`; classes are told apart in the dual, at the same time.

    Attributes
    ----------
    gap_ : float
        The largest duality gap of a class against the rest.
    """

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows `X` with labels `y`."""
        reason = self._reason_to_leave(X, sample_weight)
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
        if self.fit_intercept and self.intercept_scaling <= 0:
            raise ValueError(
                f"Intercept scaling is {self.intercept_scaling!r} but needs to be greater than 0. "
                "To disable fitting an intercept, set fit_intercept=False."
            )
        weights = compute_class_weight(self.class_weight, classes=self.classes_, y=y)[codes]
        prices = self.C * weights * _check_sample_weight(sample_weight, X, dtype=np.float64)
        self._learn(sparse.csr_array(X), codes, prices)
        return self

    def _learn(self, X: sparse.csr_array, codes: np.ndarray, prices: np.ndarray) -> None:
        sides = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        found: list[LinearOptimum | None] = [None] * len(sides)
        constant = float(self.intercept_scaling) if self.fit_intercept else 0.0
        seed = check_random_state(self.random_state).randint(np.iinfo("i").max)

        def one(job: int) -> None:
            z = np.where(codes == sides[job], 1.0, -1.0)
            found[job] = descend(
                X, z, prices, squared=self.loss == "squared_hinge", constant=constant,
                tol=self.tol, epochs=self.max_iter, seed=seed,
            )  # fmt: skip

        in_threads(one, range(len(sides)))
        optima = [optimum for optimum in found if optimum is not None]
        if not all(optimum.solved for optimum in optima):
            warnings.warn(
                "Liblinear failed to converge, increase the number of iterations. (It was "
                f"mercer, whose duality gap is {max(one.gap for one in optima):.3g}.)",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.coef_ = np.array([optimum.weights for optimum in optima])
        intercept = np.array([constant * optimum.constant for optimum in optima])
        self.intercept_ = intercept if self.fit_intercept else 0.0
        self.n_iter_ = max(optimum.epochs for optimum in optima)
        self.gap_ = max(optimum.gap for optimum in optima)

    def _reason_to_leave(self, X: Any, sample_weight: Any) -> tuple[str, str] | None:
        if self.penalty != "l2" or self.multi_class != "ovr":
            what = f"LinearSVC(penalty={self.penalty!r}, multi_class={self.multi_class!r})"
            return what, "mercer has no such linear machine"
        if self.loss == "hinge" and self.dual is False:
            return "LinearSVC(loss='hinge', dual=False)", "there is no such machine"
        shape = np.shape(X)
        tall = self.dual == "auto" and self.loss != "hinge" and shape and shape[0] >= shape[-1]
        if self.dual is False or tall:
            return "LinearSVC(dual=False)", "mercer's linear machines learn in the dual"
        if isinstance(self.class_weight, str) and sample_weight is not None:
            return "LinearSVC(class_weight='balanced') with weights", "how they balance may differ"
        return None
