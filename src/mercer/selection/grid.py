"""Grid search: scikit-learn's, with the same numbers, without doing the same work many times."""

from __future__ import annotations

import numbers
import time
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics._scorer import _MultimetricScorer
from sklearn.model_selection import GridSearchCV as SklearnGridSearchCV

from mercer.domains import Items
from mercer.errors import SelectionError
from mercer.plans import Decision
from mercer.progress import progress
from mercer.selection.arguments import (
    candidates,
    check_arguments,
    check_data,
    grid_combinations,
)
from mercer.selection.evaluation import Outcome
from mercer.selection.predicted import plan_search
from mercer.selection.scoring import check_name, scoring_of, try_out
from mercer.selection.shared_gram import evaluate
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
        estimator: BaseEstimator,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: float | str = np.nan,
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

    def plan(self, X: Items) -> Decision:
        """Return what a search over these items would need, without doing it.

        Examples
        --------
        >>> from mercer import SVC
        >>> GridSearchCV(SVC(), {"C": [1.0, 2.0]}).plan(np.zeros((500, 2))).bytes > 4_000_000
        True
        """
        return plan_search(self.estimator, X, self.param_grid)

    def fit(self, X: Items, y: ArrayLike | None = None, **params: Any) -> Self:
        """Score all candidates on all splits, and fit the best one on all items.

        `groups` go to the splitter; other arguments, such as `sample_weight`, go to the
        estimator's `fit`, those with an entry for each item split with the items. If anything
        fails, the search is as it was before.
        """
        before = dict(vars(self))
        try:
            return self._search(X, y, params)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _search(self, X: Items, y: ArrayLike | None, params: dict[str, Any]) -> Self:
        groups = params.pop("groups", None)
        params = {name: value for name, value in params.items() if value is not None}
        combinations = grid_combinations(self.param_grid)
        machines = candidates(self.estimator, combinations)
        self._check(params)
        check_name(self.scoring, self.estimator)
        X, y, splits = self._splits(machines, X, y, groups, params)
        scorers, refit_metric = self._scorers()
        scoring = scoring_of(self.scoring, machines, params, scorers)
        example = try_out(scoring, machines, X, y, splits)
        if callable(self.scoring) and isinstance(example, dict):
            self._require_metric(example)

        title = f"{len(machines)} candidates x {len(splits)} splits"
        with progress(title, len(machines) * len(splits), self.verbose > 0 or None) as step:
            outcomes, account = evaluate(
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

    def _check(self, params: dict[str, Any]) -> None:
        """Refuse what would only be noticed after much work."""
        if self.error_score != "raise" and not isinstance(self.error_score, numbers.Real):
            raise SelectionError(
                f"error_score must be a number or 'raise', found {self.error_score!r}"
            )
        kinds = {"refit": bool | str, "return_train_score": bool, "verbose": numbers.Integral}
        for name, kind in kinds.items():
            value = getattr(self, name)
            if not isinstance(value, kind | np.bool_) and not (
                name == "refit" and callable(value)
            ):
                raise SelectionError(f"{name}={value!r} is none of the values that it can have")
        if params and get_config()["enable_metadata_routing"]:
            raise SelectionError(
                f"{next(iter(params))} would go to `fit`, and sample_weight to every score that "
                "can use it; requests of metadata routing are not known here. Use scikit-learn's "
                "GridSearchCV, or set_config(enable_metadata_routing=False)"
            )
        check_arguments(self.estimator, list(params))

    def _splits(
        self,
        machines: list[BaseEstimator],
        X: Items,
        y: ArrayLike | None,
        groups: ArrayLike | None,
        params: dict[str, Any],
    ) -> tuple[Any, Any, list[Split]]:
        """Return items and targets that can be taken by place, and the splits of them."""
        given = check_data(machines, X, y, params.get("sample_weight"))
        labels = is_classifier(self.estimator) and y is not None
        splits = splits_of(self.cv, given.X, given.y, labels, groups, given.codes, given.classes)
        return given.X, given.y, splits

    def _scorers(self) -> tuple[Any, Any]:
        try:
            return self._get_scorers()
        except ValueError as error:
            raise SelectionError(str(error)) from error

    def _require_metric(self, scores: dict[str, Any]) -> None:
        """Refuse several scores of which none is named to choose by."""
        try:
            self._check_refit_for_multimetric(scores)
        except ValueError as error:
            raise SelectionError(str(error)) from error

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
            self._require_metric(example)
            refit_metric = self.refit
        if not self.refit and self.multimetric_:
            return
        self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
        if not callable(self.refit):
            self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _refit(self, X: Items, y: ArrayLike, params: dict[str, Any]) -> None:
        start = time.perf_counter()
        chosen = clone(self.best_params_, safe=False)
        self.best_estimator_ = clone(self.estimator).set_params(**chosen)
        self.best_estimator_.fit(X, *([] if y is None else [y]), **params)
        self.refit_time_ = time.perf_counter() - start
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _fill_errors(out: list[dict[str, Any]], error_score: float | str) -> None:
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
