"""Grid search: scikit-learn's, with the same numbers, without doing the same work many times."""

from __future__ import annotations

import numbers
import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV
from sklearn.utils.validation import _num_samples

from mercer.domains import admit_labels, admit_target
from mercer.errors import SelectionError
from mercer.machines import Machine
from mercer.progress import progress
from mercer.selection.account import Outcome
from mercer.selection.candidates import candidates, grid_of
from mercer.selection.pipelines import examine
from mercer.selection.scoring import check_name, scoring_of, try_out
from mercer.selection.splits import Split, splits_of

__all__ = ["GridSearchCV"]


class GridSearchCV(SklearnGridSearchCV):
    """Choose parameters by cross-validation.

    The signature, the attributes and the scores are those of scikit-learn's `GridSearchCV`; what
    can be shared between folds and parameters is computed once (docs/selection.md says what).
    Heuristics such as ``Gaussian("median")`` are resolved inside each training fold. Anything
    that scikit-learn can fit can be searched, but only the machines of mercer, also at the end of
    a pipeline, are faster.

    Parameters
    ----------
    estimator : a machine, a pipeline that ends with one, or any estimator
    param_grid : dict of lists, or list of such dicts
        Parameters of the kernel are ``kernel__bandwidth`` and so on.
    scoring : str, callable, list or dict, optional
        By default the estimator's own score. A function of (machine, X, y) sees machines that
        were really fitted, so nothing is shared for it.
    n_jobs : int, optional
        Ignored: all cores are used, by threads that share the Gram matrices.
    refit : bool, str or callable
        Whether to fit the best machine on all items; with several scores, by which.
    cv : int, splitter or iterable of (train, test)
    verbose : int
        From 1 on a progress bar is shown in scripts too, if they run in a terminal.
    pre_dispatch : ignored
    error_score : float or "raise"
        Score of a machine that cannot be fitted.
    return_train_score : bool
        Whether to score the training items too, which takes a fit for each fold.

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
    refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_
        As in scikit-learn. Times of shared work are divided among those who share it.
    account_ : Account
        Where the time went, and what was shared; ``print(search.account_)``.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> from mercer import KernelRidge
    >>> from mercer.datasets import sinc
    >>> from mercer.kernels import Gaussian
    >>> grid = {"kernel__bandwidth": [0.5, 1.0, 2.0, 4.0], "penalty": [0.001, 0.1, 10.0]}
    >>> folds = KFold(5, shuffle=True, random_state=0)
    >>> search = GridSearchCV(KernelRidge(Gaussian()), grid, cv=folds).fit(*sinc())
    >>> search.best_params_
    {'kernel__bandwidth': 2.0, 'penalty': 0.1}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Score all candidates on all splits, and fit the best one on all items.

        `groups` go to the splitter; other arguments, such as `sample_weight`, go to the
        estimator's `fit`, those with an entry for each item split with the items.
        """
        groups = params.pop("groups", None)
        params = {name: value for name, value in params.items() if value is not None}
        combinations = grid_of(self.param_grid)
        machines = candidates(self.estimator, combinations)
        self._check(X, params)
        check_name(self.scoring, self.estimator)
        splits = self._splits(X, y, groups)
        scorers, refit_metric = self._get_scorers()
        scoring = scoring_of(self.scoring, machines[0], params, scorers)
        try_out(scoring, machines[0], X, y, splits)

        title = f"{len(machines)} candidates x {len(splits)} splits"
        with progress(title, len(machines) * len(splits), self.verbose > 0 or None) as step:
            outcomes, account = examine(
                machines, X, y, splits, scoring, params,
                train_scores=self.return_train_score, error_score=self.error_score, step=step,
            )  # fmt: skip
        results = self._results(combinations, splits, outcomes)
        found = [one.test for row in outcomes for one in row if not one.failure]
        self._choose(results, scorers, refit_metric, found[0])
        self.account_, self.n_splits_, self.cv_results_ = account, len(splits), results
        self.scorer_ = scorers._scorers if isinstance(scorers, _MultimetricScorer) else scorers
        if self.refit:
            self._refit(X, y, params)
        return self

    def _check(self, X: Any, params: dict[str, Any]) -> None:
        """Refuse what would only be noticed after much work."""
        if self.error_score != "raise" and not isinstance(self.error_score, numbers.Real):
            raise SelectionError(
                f"error_score must be a number or 'raise', found {self.error_score!r}"
            )
        weights, count = params.get("sample_weight"), _num_samples(X)
        if weights is not None and np.ndim(weights) and len(weights) != count:
            raise SelectionError(f"sample_weight has {len(weights)} entries for {count} items")

    def _splits(self, X: Any, y: Any, groups: Any) -> list[Split]:
        codes, classes = None, []
        machine = getattr(self.estimator, "_final_estimator", self.estimator)
        if is_regressor(machine) and isinstance(machine, Machine) and y is not None:
            admit_target(y, _num_samples(X))  # refuses what is not a finite number
        labels = is_classifier(self.estimator) and y is not None
        if labels and np.ndim(y) == 1:
            codes, found = admit_labels(y, _num_samples(X))
            classes = found.tolist()
        return splits_of(self.cv, X, y, labels, groups, codes, classes)

    def _results(
        self,
        combinations: list[dict[str, Any]],
        splits: Sequence[Split],
        outcomes: list[list[Outcome]],
    ) -> dict[str, Any]:
        """Return scikit-learn's table of results."""
        out = [
            one.as_dict(len(split.test), self.return_train_score)
            for row in outcomes
            for one, split in zip(row, splits, strict=True)
        ]
        _fill_errors(out, self.error_score)
        return dict(self._format_results(combinations, len(splits), out))

    def _choose(
        self, results: dict[str, Any], scorers: Any, refit_metric: str, example: Any
    ) -> None:
        """Set the best parameters, as scikit-learn would."""
        self.multimetric_ = isinstance(example, dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(example)
            refit_metric = self.refit
        if not self.refit and self.multimetric_:
            return
        self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _refit(self, X: Any, y: Any, params: dict[str, Any]) -> None:
        start = time.perf_counter()
        chosen = clone(self.best_params_, safe=False)
        self.best_estimator_ = clone(self.estimator).set_params(**chosen)
        self.best_estimator_.fit(X, *([] if y is None else [y]), **params)
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _fill_errors(out: list[dict[str, Any]], error_score: Any) -> None:
    """Give failed fits as many scores as the others have."""
    names = next((one["test_scores"] for one in out if isinstance(one["test_scores"], dict)), None)
    if names is None:
        return
    for one in out:
        for key in ("test_scores", "train_scores"):
            if key in one and not isinstance(one[key], dict):
                one[key] = dict.fromkeys(names, error_score)
        if not one["test_scores"]:
            raise SelectionError("scoring gave no scores")
