"""What stands in LIBSVM's place below scikit-learn's estimators: its fit, and its answers.

scikit-learn checks arguments, items and targets, and then calls LIBSVM in a few methods. Here they
call machines of mercer. Coefficients, intercepts and their signs are laid out as LIBSVM's, so that
everything that scikit-learn computes from them is what its users know.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.svm._base import BaseLibSVM

from mercer import errors
from mercer.machines import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from mercer.machines.multiclass import votes
from mercer.machines.svm import SupportVectorMachine
from mercer.sklearn.translation import kernel_of, leave, tell

__all__ = ["LibsvmEstimator"]

CLASSIFIER = ("decision_function_shape", "random_state")
# For each problem of LIBSVM the machine that solves it, and the parameters that both have.
NATIVE: dict[str, tuple[type[SupportVectorMachine], tuple[str, ...]]] = {
    "c_svc": (SVC, ("C", *CLASSIFIER)),
    "nu_svc": (NuSVC, ("nu", *CLASSIFIER)),
    "epsilon_svr": (SVR, ("C", "epsilon")),
    "nu_svr": (NuSVR, ("C", "nu")),
    "one_class": (OneClassSVM, ("nu",)),
}
HARD_PRICE = 1e10  # C of a tube without a price: no coefficient may come near it
# Sparse rows of which more than this share is not zero are faster, and as accurate, as dense ones.
MIN_DENSE_SHARE = 0.1
MAX_DENSE_BYTES = 2**28  # that a dense copy may take
NO_WEIGHT = "Invalid input - all samples have zero or negative weights."
NOT_FINITE = (
    "The dual coefficients or intercepts are not finite: Var(X), which gamma='scale' divides by, "
    "is too large for a number. Scale the features, or give gamma as a number."
)
ONE_CLASS = "Invalid input - all samples with positive weights belong to the same class."


class LibsvmEstimator(BaseLibSVM):
    """A support vector machine of scikit-learn's that is learned by one of mercer's."""

    _impl: ClassVar[str]
    machine_: Any = None

    def native(self) -> SupportVectorMachine:
        """Return the machine of mercer, fitted if this one is.

        With a function as kernel it is one for precomputed similarities, whose new items are rows
        of similarities to all training items.
        """
        if self.machine_ is None:
            return self._native(self.gamma)
        machine = copy.copy(self.machine_)
        if hasattr(self, "classes_"):
            machine.classes_ = self.classes_
        return machine

    def _native(self, gamma: float | str) -> SupportVectorMachine:
        """Return the machine that stands for this one, with a number for γ."""
        made, shared = NATIVE[self._impl]
        name = "precomputed" if callable(self.kernel) else self.kernel
        kernel = kernel_of(name, gamma, self.degree, self.coef0)
        if kernel is None:
            raise errors.ValidityError(
                f"the kernel {name!r} with gamma={gamma!r}, degree={self.degree!r} and "
                f"coef0={self.coef0!r} has no translation before a fit; give gamma as a number"
            )
        given = {name: getattr(self, name) for name in shared}
        if given.get("C") == np.inf and self._impl == "epsilon_svr":
            given["C"] = HARD_PRICE
        if "random_state" in given:
            given["probability"] = self._calibrated_on
        steps = None if self.max_iter == -1 else max(self.max_iter, 1)
        valid = kernel.proof().verdict == "proved"
        return made(
            kernel, **given, tol=self.tol, max_iter=steps, indefinite="error" if valid else "as is"
        )

    @property
    def _wants_probability(self) -> bool:
        """Whether probabilities were asked for, which later versions call deprecated."""
        return getattr(self, "probability", False) not in (False, "deprecated")

    _calibrated_on: bool | str = False  # as `mercer.SVC` names it

    # ---- what LIBSVM would be called for -------------------------------------------------------

    def _dense_fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray, *rest: Any,
                   random_seed: int = 0) -> None:  # fmt: skip
        theirs = super()._dense_fit
        self._fit_or_leave(theirs, X, y, sample_weight, *rest, random_seed=random_seed)

    def _sparse_fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray, *rest: Any,
                    random_seed: int = 0) -> None:  # fmt: skip
        theirs = super()._sparse_fit
        self._fit_or_leave(theirs, X, y, sample_weight, *rest, random_seed=random_seed)

    def _dense_predict(self, X: Any) -> np.ndarray:
        return self._labels(self._compute_kernel(X)) if self._ours else super()._dense_predict(X)

    def _sparse_predict(self, X: Any) -> np.ndarray:
        return self._labels(self._rows(X)) if self._ours else super()._sparse_predict(X)

    def _dense_decision_function(self, X: Any) -> np.ndarray:
        return self._values(X) if self._ours else super()._dense_decision_function(X)

    def _sparse_decision_function(self, X: Any) -> np.ndarray:
        return self._values(self._rows(X)) if self._ours else super()._sparse_decision_function(X)

    def _dense_predict_proba(self, X: Any) -> np.ndarray:
        if not self._ours:
            return super()._dense_predict_proba(X)
        return self.machine_.predict_proba(self._compute_kernel(X))

    def _sparse_predict_proba(self, X: Any) -> np.ndarray:
        if not self._ours:
            return super()._sparse_predict_proba(X)
        return self.machine_.predict_proba(self._rows(X))

    def _compute_kernel(self, X: Any) -> Any:
        if not callable(self.kernel):
            return X
        K = self.kernel(X, self._seen)
        return np.asarray(K.toarray() if sparse.issparse(K) else K, dtype=np.float64, order="C")

    def _rows(self, X: Any) -> Any:
        """Return sparse rows as the machine has seen such rows."""
        return X.toarray() if self._dense_inside else X

    # ---- how mercer answers --------------------------------------------------------------------

    @property
    def _has_gamma(self) -> bool:
        return self.kernel in ("rbf", "poly", "sigmoid")

    @property
    def _is_classifier(self) -> bool:
        return self._impl in ("c_svc", "nu_svc")

    @property
    def _sign(self) -> float:
        """−1 where LIBSVM's positive side is the first of two classes, mercer's the second."""
        return -1.0 if self._is_classifier and len(self.classes_) == 2 else 1.0

    @property
    def _ours(self) -> bool:
        """Whether what was learned is still what mercer's machine has learned."""
        if self.machine_ is None:
            return False
        table = self._dual_coef_
        table = table.toarray() if sparse.issparse(table) else table
        dual, intercept = self._learned
        same = (
            np.array_equal(table.reshape(dual.shape), dual) if table.size == dual.size else False
        )
        return same and np.array_equal(self._intercept_, intercept)

    def _labels(self, X: Any) -> np.ndarray:
        """Return numbers of classes, sides of the boundary, or values, as LIBSVM's `predict`."""
        if not self._is_classifier:
            values = self.machine_._decision_values(X)
            return np.where(values > 0, 1.0, -1.0) if self._impl == "one_class" else values
        scores = self.machine_._decision_signs(X)
        if scores.ndim == 1:
            return (scores >= 0).astype(np.float64)
        return votes(scores, len(self.classes_)).argmax(axis=1).astype(np.float64)

    def _values(self, X: Any) -> np.ndarray:
        values = self._sign * self.machine_._decision_values(X)
        return values.reshape(len(values), -1)

    # ---- how mercer learns ---------------------------------------------------------------------

    def _fit_or_leave(
        self,
        theirs: Callable[..., None],
        X: Any,
        y: np.ndarray,
        sample_weight: np.ndarray,
        *rest: Any,
        random_seed: int,
    ) -> None:
        self.machine_ = None
        weights = self._item_weights(y, sample_weight)
        reason = self._reason_to_leave(y, weights)
        if reason:
            leave(f"{type(self).__name__}({reason[0]})", reason[1])
            theirs(X, y, sample_weight, *rest, random_seed=random_seed)
            return
        if callable(self.kernel):
            self._seen = X
        items = self._compute_kernel(X)
        if callable(self.kernel) and items.shape[0] != items.shape[1]:
            raise ValueError("X.shape[0] should be equal to X.shape[1]")
        if self._gamma == 0 and self.gamma == "scale" and self._has_gamma:
            raise ValueError(NOT_FINITE)
        shown, self._dense_inside = items, sparse.issparse(items) and _is_crowded(items)
        items = self._rows(items)
        self._calibrated_on = self._wants_probability and self._calibration(y, weights)
        machine = self._native(self._gamma)
        with warnings.catch_warnings():
            if self.max_iter != -1:  # then scikit-learn has words of its own
                warnings.simplefilter("ignore", errors.ConvergenceWarning)
            target = y.astype(np.intp) if self._is_classifier else y
            machine.fit(items, target, sample_weight=weights)
        self._show(machine, shown)
        self._warn_from_fit_status()

    def _item_weights(self, y: np.ndarray, sample_weight: np.ndarray) -> np.ndarray | None:
        """Return weights of items, 0 for those below it, with the weights of their classes."""
        weights = None
        if sample_weight.ndim != 1:
            shape = sample_weight.shape
            raise ValueError(f"sample_weight must be 1D array or scalar, found shape {shape}")
        if len(sample_weight):
            weights = np.maximum(sample_weight, 0.0)
            if not weights.any():
                raise ValueError(NO_WEIGHT)
            if self._is_classifier and len(np.unique(y[weights > 0])) == 1:
                raise ValueError(
                    ONE_CLASS if self._impl == "c_svc" else "specified nu is infeasible"
                )
        if self._impl == "c_svc" and (self.class_weight_ != 1).any():
            each = self.class_weight_[y.astype(np.intp)]
            weights = each if weights is None else weights * each
        return weights

    def _reason_to_leave(
        self, y: np.ndarray, weights: np.ndarray | None
    ) -> tuple[str, str] | None:
        """Return what mercer cannot do in the same way, and why, if there is such a thing."""
        if self.C == np.inf and self._impl == "nu_svr":
            return "C=inf", "ν is a share of a finite price"
        if self._impl == "one_class" or not self._is_classifier or weights is None:
            return None
        if len(np.unique(y[weights > 0])) < len(self.classes_):
            return "a class without weight", "mercer has no boundary of a class without items"
        return None

    def _calibration(self, y: np.ndarray, weights: np.ndarray | None) -> str:
        """Return on which scores probabilities are calibrated: held-out ones, where there are."""
        counts = np.bincount(y.astype(np.intp)[slice(None) if weights is None else weights > 0])
        if counts.min() > 1:
            return "cross-validated"
        tell(
            f"{type(self).__name__}(probability=True) is calibrated on its own scores: a class "
            "has only one item, which cannot be learned from and held out at once"
        )
        return "exact"

    def _show(self, machine: Any, items: Any) -> None:
        """Set the attributes that LIBSVM would have left."""
        self.machine_, self.support_ = machine, machine.support_
        plain = not callable(self.kernel) and self.kernel != "precomputed"
        self.support_vectors_ = items[machine.support_] if plain else np.empty((0, 0))
        counts = machine.n_support_ if self._is_classifier else np.repeat(machine.n_support_, 2)
        self._n_support = counts.astype(np.int32)
        intercept = machine.intercept_
        if self._impl == "one_class":
            intercept = self._middle(machine)
        dual = self._sign * machine.dual_coef_
        self.intercept_ = self._sign * np.atleast_1d(intercept)
        self._learned = dual, self.intercept_.copy()
        self.dual_coef_ = self._as_sparse(dual, type(items)) if self._sparse else dual.copy()
        self._probA = self._probB = np.empty(0)
        if self._wants_probability:
            found = machine._calibration
            self._probA, self._probB = self._sign * found.slopes, found.shifts
        found = machine.solution_ if isinstance(machine.solution_, tuple) else (machine.solution_,)
        # LIBSVM counts a machine as stopped that has used up its steps, whatever they led to.
        self.fit_status_ = int(0 <= self.max_iter <= max(one.steps for one in found))
        self._num_iter = np.atleast_1d(machine.n_iter_).astype(np.int32)

    def _middle(self, machine: Any) -> np.ndarray:
        """Return −ρ in the middle of what rounding allows, where LIBSVM puts it.

        mercer's lies at the lower end, so that items on the boundary are inside.
        """
        scale = machine.solution_.coefficients.sum()
        scale = float(machine.dual_coef_.sum() / scale) if scale else 1.0
        machine.intercept_ = scale * machine.solution_.offsets
        machine.offset_ = -float(machine.intercept_[0])
        return machine.intercept_

    def _as_sparse(self, dual: np.ndarray, made: Any) -> Any:
        rows, count = dual.shape
        if not count:
            return made([[]])
        places, ends = np.tile(np.arange(count), rows), count * np.arange(rows + 1)
        return made((dual.ravel(), places, ends), shape=(rows, count))


def _is_crowded(X: Any) -> bool:
    """Tell whether sparse rows have so many entries that dense ones serve better."""
    cells = X.shape[0] * X.shape[1]
    return X.nnz > MIN_DENSE_SHARE * cells and 8 * cells <= MAX_DENSE_BYTES
