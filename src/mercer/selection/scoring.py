"""Scoring: how good predictions are, by scikit-learn's names.

Scores of predictions that are known already must not take longer than the predictions did. The
commonest ones are therefore computed here, to the same numbers; the others by scikit-learn's
scorers, which are given a machine that answers with those predictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    clone,
    is_classifier,
    is_regressor,
)
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.utils import _safe_indexing

from mercer.domains import Items
from mercer.errors import SelectionError, suggestion
from mercer.selection.arguments import last_step, rows_of
from mercer.selection.splits import Split

__all__ = [
    "HeldOutAnswers",
    "Scoring",
    "check_name",
    "quick_metrics",
    "scoring_of",
    "stand_in",
    "try_out",
]

# From targets, the predictions of several machines (a first axis more), and weights.
Metric = Callable[[np.ndarray, np.ndarray, "np.ndarray | None"], np.ndarray]


def _errors(y: np.ndarray, F: np.ndarray, w: np.ndarray | None, power: int) -> np.ndarray:
    """Return mean errors of each machine and target."""
    return np.average(np.abs(y - F) ** power, axis=1, weights=w).reshape(len(F), -1)


def _squared(y: np.ndarray, F: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return -np.mean(_errors(y, F, w, 2), axis=1)


def _root(y: np.ndarray, F: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return -np.mean(np.sqrt(_errors(y, F, w, 2)), axis=1)


def _absolute(y: np.ndarray, F: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return -np.mean(_errors(y, F, w, 1), axis=1)


def _explained(y: np.ndarray, F: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    """R², in the order of operations of scikit-learn's, whose rounding it shares.

    Constant targets count as 1 if they are met, else as 0.
    """
    if len(y) < 2:
        return np.full(len(F), np.nan)
    y, F = y.reshape(len(y), -1), F.reshape(len(F), len(y), -1)
    if w is None:
        left, spread = ((y - F) ** 2).sum(axis=1), ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    else:
        left = np.sum(w[:, None] * (y - F) ** 2, axis=1)
        spread = np.sum(w[:, None] * (y - np.average(y, axis=0, weights=w)) ** 2, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(spread != 0, 1 - left / spread, np.where(left != 0, 0.0, 1.0))
    return np.average(found, axis=1)


def _accuracy(y: np.ndarray, labels: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    return np.average(y == labels, axis=1, weights=w)


# Of labels, which may be their numbers, and of numbers themselves.
QUICK_LABELS: dict[str, Metric] = {"accuracy": _accuracy}
QUICK_NUMBERS: dict[str, Metric] = {
    "neg_mean_absolute_error": _absolute,
    "neg_mean_squared_error": _squared,
    "neg_root_mean_squared_error": _root,
    "r2": _explained,
}


def default_scoring(machine: BaseEstimator) -> str | None:
    """Return the name of what `machine.score` computes, if it is scikit-learn's own."""
    score = getattr(type(last_step(machine)), "score", None)
    if score is ClassifierMixin.score:
        return "accuracy"
    return "r2" if score is RegressorMixin.score else None


class Scoring:
    """One score or several, of a fitted machine or of predictions.

    Parameters
    ----------
    scorer : callable
        A scorer of scikit-learn's, or any function of (machine, X, y).
    quick : dict
        The metrics by name if all of them are quick ones; "score" if there is only one.
    weights : bool
        Whether the scorer wants the weights of the test items.
    own : bool
        Whether the user wrote it, so that only a machine that was really fitted will do.
    """

    def __init__(
        self, scorer: Any, quick: dict[str, Metric] | None, weights: bool, own: bool
    ) -> None:
        self.scorer = scorer
        self.quick = quick
        self.weights = weights
        self.own = own

    @property
    def by_labels(self) -> bool:
        """Whether all that counts is what `predict` gives."""
        if self.quick is not None:
            return True
        scorers = getattr(self.scorer, "_scorers", {"score": self.scorer}).values()
        return all(getattr(one, "_response_method", None) == "predict" for one in scorers)

    def of_machine(
        self,
        machine: BaseEstimator,
        X: Items,
        y: ArrayLike | None,
        weights: Any = None,
        instead: Any = "raise",
    ) -> Any:
        """Return the score or a dict of scores of a fitted machine.

        Of several scores one may fail; then it is `instead`, with a warning.
        """
        if self.quick is not None and isinstance(y, np.ndarray) and y.ndim == 1:
            said = np.asarray(machine.predict(X))
            if _comparable(y, said):
                return self.of_predictions(y, said[None], weights)[0]
        given = {"sample_weight": weights} if self.weights and weights is not None else {}
        found = self.scorer(machine, X, y, **given) if y is not None else self.scorer(machine, X)
        if isinstance(found, dict):
            failed = [name for name, value in found.items() if isinstance(value, str)]
            if failed and instead != "raise" and isinstance(self.scorer, _MultimetricScorer):
                reason = found[failed[0]].strip().splitlines()[-1]
                warnings.warn(f"scoring failed: {failed}: {reason}", UserWarning, stacklevel=2)
                found = {**found, **dict.fromkeys(failed, instead)}
            return {name: _number(value, name) for name, value in found.items()}
        return _number(found, "scoring")

    def of_predictions(
        self, y: np.ndarray, F: np.ndarray, weights: np.ndarray | None
    ) -> list[Any]:
        """Return the same for several machines, from predictions alone; only for quick metrics."""
        assert self.quick is not None
        w = weights if self.weights else None
        found = {name: metric(y, F, w).tolist() for name, metric in self.quick.items()}
        if list(found) == ["score"]:
            return found["score"]
        return [
            dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)
        ]


def _comparable(y: np.ndarray, said: np.ndarray) -> bool:
    """Tell whether predictions are of one kind with the targets, and nothing has to be refused."""
    if said.shape != y.shape or said.dtype.kind != y.dtype.kind:
        return False
    if y.dtype.kind == "f":
        return bool(np.isfinite(said).all() and np.isfinite(y).all())
    return y.dtype.kind in "biuUO"


def quick_metrics(scoring: Any, machines: Sequence[BaseEstimator]) -> dict[str, Metric] | None:
    """Return the quick metrics that a `scoring` argument stands for, or None.

    Examples
    --------
    >>> from mercer import SVC, KernelRidge
    >>> list(quick_metrics("r2", [KernelRidge()])), quick_metrics("r2", [SVC()])
    (['score'], None)
    """
    if all(is_classifier(machine) for machine in machines):
        known = QUICK_LABELS
    elif all(is_regressor(machine) for machine in machines):
        known = QUICK_NUMBERS
    else:
        return None
    if scoring is None:
        defaults = {default_scoring(machine) for machine in machines}
        scoring = defaults.pop() if len(defaults) == 1 else None
    if isinstance(scoring, str):
        return {"score": known[scoring]} if scoring in known else None
    names = scoring if isinstance(scoring, dict) else None
    if names is None and isinstance(scoring, list | tuple | set):
        names = {name: name for name in scoring}
    if names and all(isinstance(v, str) and v in known for v in names.values()):
        return {name: known[v] for name, v in names.items()}
    return None


def scoring_of(
    scoring: Any, machines: Sequence[BaseEstimator], params: dict[str, Any], scorers: Any = None
) -> Scoring:
    """Return the scoring that an argument stands for, with what is known about it.

    Weights of the items count in a score that can use them.
    """
    if scorers is None:
        scorers = scoring if callable(scoring) else check_scoring(machines[0], scoring)
    parts = scorers._scorers.values() if isinstance(scorers, _MultimetricScorer) else [scorers]
    own = not all(isinstance(one, _BaseScorer | _PassthroughScorer) for one in parts)
    weights = params.get("sample_weight") is not None
    if weights and hasattr(scorers, "_accept_sample_weight"):
        weights = bool(scorers._accept_sample_weight())
    elif weights and own:
        weights = "sample_weight" in signature(scorers).parameters
    if params.get("sample_weight") is not None and not weights:
        warnings.warn(
            f"{scoring!r} does not look at sample_weight, so that all held-out items count alike",
            UserWarning,
            stacklevel=3,
        )
    return Scoring(scorers, None if own else quick_metrics(scoring, machines), weights, own)


def stand_in(machine: BaseEstimator, values: np.ndarray, classes: np.ndarray | None = None) -> Any:
    """Return a machine with these decision values, whatever items it is asked about.

    Cross-validation finds f(x) + b of items that were held out without fitting a machine for
    them; this is the machine that would have given them.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> stand_in(KernelRidge(), np.array([1.0, 2.0])).predict(["any", "thing"])
    array([1., 2.])
    """
    copy = clone(machine)
    copy._decision_values = copy._decision_signs = lambda X: values
    copy.intercept_ = 0.0  # scikit-learn's sign that a machine is fitted
    if classes is not None:
        copy.classes_ = classes
    return copy


class HeldOutAnswers(Scoring):
    """No score at all: the predictions themselves, of classifiers as numbers of classes."""

    def __init__(self, classes: np.ndarray | None) -> None:
        super().__init__(None, {}, weights=False, own=False)
        self.classes = classes

    def of_machine(
        self,
        machine: BaseEstimator,
        X: Items,
        y: ArrayLike | None,
        weights: Any = None,
        instead: Any = "raise",
    ) -> Any:
        """Return the predictions of a fitted machine."""
        found = np.asarray(machine.predict(X))
        return found if self.classes is None else np.searchsorted(self.classes, found)

    def of_predictions(
        self, y: np.ndarray, F: np.ndarray, weights: np.ndarray | None
    ) -> list[Any]:
        """Return the predictions as they are."""
        return list(F)


def check_name(scoring: Any, machine: BaseEstimator) -> None:
    """Refuse the name of a score that does not exist, with the one that may have been meant."""
    if scoring is None and not hasattr(machine, "score"):
        raise SelectionError(
            f"{type(machine).__name__} has no score of its own; say what to score by, "
            'for example scoring="accuracy"'
        )
    if scoring is not None and not callable(scoring) and not isinstance(scoring, Iterable):
        raise SelectionError(f"scoring must be a name, a function or several, found {scoring!r}")
    names = scoring.values() if isinstance(scoring, dict) else scoring
    names = [names] if isinstance(names, str) or not isinstance(names, Iterable) else names
    for name in names:
        if isinstance(name, str) and name not in get_scorer_names():
            raise SelectionError(
                f"there is no scoring {name!r}{suggestion(name, get_scorer_names())}"
            )


def try_out(
    scoring: Scoring,
    machines: Sequence[BaseEstimator],
    X: Items,
    y: ArrayLike | None,
    splits: Sequence[Split],
) -> Any:
    """Score a machine that has seen a few items, so that a scoring that fails does so now.

    Returns what it gave, or None if that is not known.
    """
    if scoring.quick is not None:
        single = min(len(one.test) for one in splits) < 2
        if single and any(metric is _explained for metric in scoring.quick.values()):
            raise SelectionError(
                "R² of a single held-out item is not defined; score by "
                'scoring="neg_mean_squared_error", or leave out more than one item at a time'
            )
        return None
    split, failed = splits[0], {}
    few = _few(y, split.train)
    # Some parameters need more items than a few, or cannot be fitted at all.
    for rows in (few, split.train):
        for machine in machines[:CANDIDATES]:
            kind = type(last_step(machine))
            if kind in failed:
                continue
            try:
                part = rows_of(machine, X, rows, rows)
                small = clone(machine).fit(part, *([] if y is None else [_safe_indexing(y, rows)]))
                held = rows_of(machine, X, split.test, rows)
            except Exception:  # the fits themselves will tell
                continue
            try:
                return _tried(scoring, small, held, y, split.test)
            except SelectionError as error:
                failed[kind] = error
        if failed:
            raise next(iter(failed.values()))
    return None


def _tried(
    scoring: Scoring, machine: BaseEstimator, X: Items, y: ArrayLike | None, rows: np.ndarray
) -> Any:
    """Return a score, or say how it fails."""
    labels = None if y is None else _safe_indexing(y, rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = scoring.of_machine(machine, X, labels)
    except SelectionError:
        raise
    except Exception as error:
        raise SelectionError(
            f"scoring fails with {type(error).__name__}: {error} (tried on a machine that has "
            "seen some of the items)"
        ) from error
    if isinstance(found, dict) and not found:
        raise SelectionError("scoring gave no scores")
    return found


CANDIDATES = 20  # machines with which a scoring is tried, until one can be fitted
TRIED = 40  # items that a machine sees to try out a scoring


def _few(y: ArrayLike | None, train: np.ndarray) -> np.ndarray:
    """Return a few training items, of each label at least two."""
    if y is None:
        return train[:TRIED]
    labels = _safe_indexing(y, train)
    try:
        _, codes = np.unique(np.asarray(labels), return_inverse=True, axis=0)
    except TypeError:
        return train[:TRIED]
    if np.asarray(labels).dtype.kind == "f" and codes.max(initial=0) >= TRIED:
        return train[:TRIED]  # these are no labels
    order = np.argsort(codes.ravel(), kind="stable")
    rank = np.empty(len(order), dtype=int)
    starts = np.r_[0, np.cumsum(np.bincount(codes.ravel()))[:-1]]
    rank[order] = np.arange(len(order)) - starts[codes.ravel()[order]]
    few = np.flatnonzero(rank < 2)
    return train[np.union1d(few[: 20 * TRIED], np.arange(min(TRIED, len(train))))]


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError) as error:
        shown = value.strip().splitlines()[-1] if isinstance(value, str) and value else value
        raise SelectionError(f"{name} gave {shown!r}, which is not a number") from error
