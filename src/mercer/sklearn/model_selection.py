"""scikit-learn's grid search, in which mercer's machines share their work.

Candidates that are machines of `mercer.sklearn` become native ones, which
`mercer.selection.GridSearchCV` scores on shared Gram matrices. Other estimators are searched by
scikit-learn, whose this is.

Examples
--------
>>> from sklearn.datasets import load_iris
>>> from mercer.sklearn.model_selection import GridSearchCV
>>> from mercer.sklearn.svm import SVC
>>> X, y = load_iris(return_X_y=True)
>>> search = GridSearchCV(SVC(), {"C": [1.0, 10.0], "gamma": [0.01, 0.1]}).fit(X, y)
>>> search.best_params_, hasattr(search, "account_")
({'C': 1.0, 'gamma': 0.1}, True)
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import sklearn.model_selection as theirs
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import ParameterGrid

from mercer.errors import MercerError
from mercer.selection import GridSearchCV as NativeSearch
from mercer.selection.evaluation import Outcome
from mercer.selection.splits import Split
from mercer.sklearn.kernel_ridge import KernelRidge
from mercer.sklearn.libsvm import LibsvmEstimator
from mercer.sklearn.translation import tell

__all__ = ["GridSearchCV"]

# What a search has found out, which is copied from the one to the other.
FOUND = (
    "account_", "best_index_", "best_params_", "best_score_", "cv_results_", "multimetric_",
    "n_splits_", "scorer_",
)  # fmt: skip


class SharedSearch(NativeSearch):
    """A search over native machines whose table of results speaks of other parameters."""

    asked: list[dict[str, Any]]

    def _results(
        self, combinations: list[dict[str, Any]], splits: Sequence[Split],
        outcomes: list[list[Outcome]],
    ) -> dict[str, Any]:  # fmt: skip
        return super()._results(self.asked, splits, outcomes)

    def _refit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        """Leave the refit to who has asked."""


class GridSearchCV(theirs.GridSearchCV):
    """scikit-learn's `GridSearchCV`, which shares work between machines of mercer's.

    Attributes
    ----------
    account_ : Account
        Where the time went and what was shared, if it was.
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score all candidates on all splits, and fit the best one on all items."""
        found = None
        if type(self) is GridSearchCV and isinstance(
            self.estimator, LibsvmEstimator | KernelRidge
        ):
            try:
                found = self._search_shared(X, y, params)
            except (MercerError, ValueError, TypeError) as error:
                # Whatever is wrong, scikit-learn has the words for it, or another opinion.
                name = type(self.estimator).__name__
                tell(f"the search over {name} is not shared between its fits: {error}")
        if found is None:
            return super().fit(X, y, **params)
        for name in FOUND:
            if hasattr(found, name):
                setattr(self, name, getattr(found, name))
        if self.refit:
            self._fit_best(X, y)
        return self

    def _search_shared(self, X: Any, y: Any, params: dict[str, Any]) -> SharedSearch | None:
        """Return a finished search over native machines; None if it would not be the same."""
        routed = any(value is not None for value in params.values())
        if routed or get_config()["enable_metadata_routing"] or callable(self.scoring):
            return None
        shape = np.shape(X)
        if len(shape) != 2 or 0 in shape:  # scikit-learn has the words for it
            return None
        asked = list(ParameterGrid(self.param_grid))
        found = [self._native(point, X) for point in asked]
        natives = [machine for machine in found if machine is not None]
        if len(natives) < len(found) or self._overrides_refused():
            return None
        grid = [
            {name: [value] for name, value in machine.get_params(deep=False).items()}
            for machine in natives
        ]
        search = SharedSearch(
            natives[0], grid, scoring=self.scoring, refit=self.refit, cv=self.cv,
            error_score=self.error_score, return_train_score=self.return_train_score,
        )  # fmt: skip
        search.asked = asked
        return search.fit(X, y)

    def _overrides_refused(self) -> bool:
        """Tell whether there are options of which only scikit-learn's own search knows."""
        asked = self.verbose or getattr(self, "_skl_callbacks", None)
        return bool(asked) or not isinstance(self.refit, bool | str)

    def _native(self, point: dict[str, Any], X: Any) -> BaseEstimator | None:
        """Return the machine of mercer for a point of the grid, if its fits would be the same."""
        machine = clone(self.estimator).set_params(**clone(point, safe=False))
        machine._validate_params()
        if callable(machine.kernel) or sparse.issparse(X):
            return None
        width = np.shape(X)[1]
        if isinstance(machine, KernelRidge):
            if np.size(machine.alpha) > 1 or machine.alpha == 0:
                return None
            machine.set_params(gamma=1 / width if machine.gamma is None else machine.gamma)
            native = machine.native()
            return native if native.kernel.proof().verdict == "proved" else None
        if getattr(machine, "probability", False) not in (False, "deprecated"):
            return None
        if getattr(machine, "break_ties", False) or machine.max_iter != -1:
            return None
        if machine.gamma == "auto":
            machine.set_params(gamma=1 / width)
        native = machine.native()
        return native if native.kernel.proof().verdict == "proved" else None

    def _fit_best(self, X: Any, y: Any) -> None:
        chosen = clone(self.best_params_, safe=False)
        self.best_estimator_ = clone(self.estimator).set_params(**chosen)
        start = time.time()
        self.best_estimator_.fit(X, *([] if y is None else [y]))
        self.refit_time_ = time.time() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
