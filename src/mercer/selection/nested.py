"""Nested cross-validation: how well the choice of parameters, and all that it entails, will do.

A score that chose the parameters is too good to be true. So each outer fold is predicted by a
machine whose parameters were chosen without it, by cross-validation of the other folds (Algorithm
4 of the lecture on kernel ridge regression).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
from sklearn.utils import _safe_indexing

from mercer.domains import Items
from mercer.errors import SelectionError, SelectionWarning
from mercer.progress import progress
from mercer.selection.arguments import TrainingData, candidates, check_data, grid_combinations
from mercer.selection.closed_form import has_closed_form
from mercer.selection.evaluation import Account, Outcome
from mercer.selection.grid_edges import grid_edges
from mercer.selection.scoring import Scoring, check_name, scoring_of, try_out
from mercer.selection.shared_gram import evaluate
from mercer.selection.splits import Split, require_classes, splits_of

__all__ = ["NestedScores", "nested_cv"]

ONE_SCORE = "nested_cv chooses by one score; name one in scoring"


@dataclass(frozen=True)
class NestedScores:
    """Scores of outer folds, and what was chosen for each.

    Attributes
    ----------
    scores : ndarray of shape (outer,)
        Of each outer fold, by the parameters that the others chose.
    mean : float
    standard_error : float
        Of the mean, from the spread of the folds.
    choices : tuple of dict
        The parameters chosen for each outer fold.
    stability : float
        Share of the outer folds that made the most frequent choice.
    inner_scores : ndarray of shape (outer, candidates)
        Mean score of each candidate on the inner folds.
    candidates : tuple of dict
        All combinations of the grid.
    warnings : tuple of str
        What is to be said about the grid.
    account : Account
        Where the time went, and what was shared.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 6.0, (40, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0.0, 0.3, 40)
    >>> found = nested_cv(KernelRidge("gaussian"), X, y, {"penalty": [1e-9, 0.1, 1e3]})
    >>> found.scores.shape, len(found.candidates), found.inner_scores.shape
    ((5,), 3, (5, 3))
    """

    scores: np.ndarray
    choices: tuple[dict[str, Any], ...]
    inner_scores: np.ndarray
    candidates: tuple[dict[str, Any], ...]
    warnings: tuple[str, ...]
    account: Account

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def standard_error(self) -> float:
        count = len(self.scores)
        return float(np.std(self.scores, ddof=1) / np.sqrt(count)) if count > 1 else float("nan")

    @property
    def stability(self) -> float:
        return max(Counter(map(repr, self.choices)).values()) / len(self.choices)

    @property
    def most_chosen(self) -> dict[str, Any]:
        """The most frequent choice; of several, the one of the first fold."""
        counts = Counter(map(repr, self.choices))
        return max(self.choices, key=lambda choice: counts[repr(choice)])

    def __str__(self) -> str:
        folds = len(self.scores)
        agree = round(self.stability * folds)
        lines = [
            f"score {self.mean:.4g} ± {self.standard_error:.2g} (standard error of {folds} "
            "outer folds)",
            f"{agree} of {folds} folds chose {_in_words(self.most_chosen)}",
        ]
        for name in self.choices[0]:
            values = [choice.get(name) for choice in self.choices]
            if len(set(map(repr, values))) > 1:
                lines.append(f"{name} by fold: {', '.join(_short(value) for value in values)}")
        return "\n".join([*lines, *self.warnings])


def nested_cv(
    machine: BaseEstimator,
    X: Items,
    y: ArrayLike | None,
    grid: Any,
    outer: Any = 5,
    inner: Any = 5,
    *,
    scoring: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    verbose: int = 0,
) -> NestedScores:
    """Return scores of items that had no part in learning, nor in the choice of parameters.

    Parameters
    ----------
    machine : a machine, a pipeline that ends with one, or any estimator
    X, y : the items and their targets
    grid : dict of lists, or list of such dicts
    outer : int, splitter or iterable of (train, test)
    inner : int or splitter, or None
        Applied to the items of each outer training part. None takes the other outer folds, as
        Algorithm 4 does.
    scoring : str or callable, optional
        By default the machine's own score.
    groups : sequence, optional
        Items of one group stay together, in both loops, where a number of folds is given or a
        splitter that looks at groups.
    sample_weight : sequence of float, optional
    verbose : int
        From 1 on a progress bar is shown in scripts too, if they run in a terminal.

    Returns
    -------
    NestedScores
        The score of each outer fold, and what was chosen for it.

    Warns
    -----
    SelectionWarning
        If the best value of a parameter lies at the border of its grid; the message has a wider
        grid to try.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.datasets import sinc
    >>> from mercer.kernels import Gaussian
    >>> from sklearn.model_selection import KFold
    >>> grid = {"kernel__bandwidth": [0.5, 1.0, 2.0, 4.0, 8.0], "penalty": [1e-4, 0.01, 0.1, 1.0]}
    >>> folds = KFold(5, shuffle=True, random_state=1)
    >>> print(nested_cv(KernelRidge(Gaussian()), *sinc(), grid, outer=folds, inner=folds))
    score 0.7289 ± 0.088 (standard error of 5 outer folds)
    2 of 5 folds chose kernel__bandwidth=2, penalty=0.01
    kernel__bandwidth by fold: 2, 2, 2, 4, 1
    penalty by fold: 0.01, 0.1, 0.01, 0.01, 0.1
    """
    combinations = grid_combinations(grid)
    machines = candidates(machine, combinations)
    check_name(scoring, machine)
    items = check_data(machines, X, y, sample_weight)
    X, y = items.X, items.y
    given = {} if items.weights is None else {"sample_weight": items.weights}
    folds = _folds(machine, items, outer, inner, groups)
    if isinstance(scoring, list | tuple | set | dict):
        raise SelectionError(ONE_SCORE)
    score = scoring_of(scoring, machines, given)
    if isinstance(try_out(score, machines, X, y, [*folds.inner, *folds.outer]), dict):
        raise SelectionError(ONE_SCORE)
    count = len(machines) * (len(folds.inner) + len(folds.outer))
    with progress(f"{len(machines)} candidates", count, verbose > 0 or None) as step:
        loops = Loops(machines, X, y, folds, score, given, step)
        means = loops.inner_means()
        if np.isnan(means).all(axis=1).any():
            raise SelectionError("no candidate could be scored on some of the inner folds")
        best = [int(np.nanargmax(row)) for row in means]
        scores = loops.outer_scores(best)
    told = grid_edges(combinations, means)
    for text in told:
        warnings.warn(text, SelectionWarning, stacklevel=2)
    chosen = tuple(combinations[c] for c in best)
    return NestedScores(scores, chosen, means, tuple(combinations), tuple(told), loops.account)


@dataclass(frozen=True)
class Folds:
    """Outer splits, and for each of them inner ones of its training items."""

    outer: list[Split]
    inner: list[Split]  # `within` says to which outer one each belongs


class Loops:
    """All candidates on all folds; what the outer folds need may come with the inner ones."""

    def __init__(
        self,
        machines: Sequence[BaseEstimator],
        X: Items,
        y: ArrayLike | None,
        folds: Folds,
        scoring: Scoring,
        given: dict[str, Any],
        step: Any,
    ) -> None:
        self.machines, self.folds, self.account = machines, folds, Account()
        self._run = lambda some, splits: self._examined(some, X, y, splits, scoring, given, step)
        self._outer: list[list[Outcome]] | None = None

    def _examined(
        self, some: Any, X: Items, y: ArrayLike | None, splits: Any, *rest: Any
    ) -> list[list[Outcome]]:
        scoring, given, step = rest
        outcomes, account = evaluate(some, X, y, splits, scoring, given, step=step)
        self.account.add(account)
        return outcomes

    def inner_means(self) -> np.ndarray:
        """Return the mean inner score of each candidate, a row for each outer fold."""
        outer, inner = self.folds.outer, self.folds.inner
        if all(has_closed_form(machine) for machine in self.machines):
            # Where nothing is fitted again, the outer folds are a by-product.
            outcomes = self._run(self.machines, [*outer, *inner])
            self._outer = [row[: len(outer)] for row in outcomes]
            outcomes = [row[len(outer) :] for row in outcomes]
        else:
            outcomes = self._run(self.machines, [replace(s, within=None) for s in inner])
        if any(isinstance(one.test, dict) for row in outcomes for one in row):
            raise SelectionError(ONE_SCORE)
        table = np.array([[one.test for one in row] for row in outcomes], dtype=float)
        owners = np.array([split.within for split in inner])
        return np.stack([table[:, owners == o].mean(axis=1) for o in range(len(outer))])

    def outer_scores(self, best: list[int]) -> np.ndarray:
        """Return the score of each outer fold by the candidate chosen for it."""
        if self._outer is not None:
            return np.array([self._outer[c][o].test for o, c in enumerate(best)], dtype=float)
        scores = np.empty(len(best))
        for c in dict.fromkeys(best):
            where = [o for o, chosen in enumerate(best) if chosen == c]
            rows = self._run([self.machines[c]], [self.folds.outer[o] for o in where])
            scores[where] = [one.test for one in rows[0]]
        return scores


def _folds(
    machine: BaseEstimator, items: TrainingData, outer: Any, inner: Any, groups: ArrayLike | None
) -> Folds:
    """Return all folds, checked before any work starts."""
    X, y, codes, classes = items.X, items.y, items.codes, items.classes
    classifier = bool(is_classifier(machine)) and y is not None
    outer, inner = (_grouped(cv, groups, classifier) for cv in (outer, inner))
    inner = list(inner) if isinstance(inner, Iterator) else inner  # it is needed several times
    outside = splits_of(outer, X, y, classifier, groups, codes, classes, "outer")
    inside: list[Split] = []
    for o, split in enumerate(outside):
        train = split.train
        if inner is None:
            pairs = [(s.train, s.test) for k, s in enumerate(outside) if k != o]
            part = [Split(np.intersect1d(a, train), b, o) for a, b in pairs]
            if not all(len(one.train) and np.isin(one.test, train).all() for one in part):
                raise SelectionError(
                    "inner=None needs outer folds that do not overlap and are learned from by all "
                    "others; say how to split the training items, for example inner=5"
                )
        else:
            some: list[Any] = [
                None if a is None else _safe_indexing(a, train) for a in (X, y, groups)
            ]
            own = splits_of(inner, some[0], some[1], classifier, some[2], name="inner")
            part = [Split(train[s.train], train[s.test], o) for s in own]
        if codes is not None:
            require_classes(part, codes, classes, f"outer fold {o}: inner fold")
        inside += part
    return Folds(outside, inside)


def _grouped(cv: Any, groups: ArrayLike | None, classifier: bool) -> Any:
    """Return a splitter that keeps groups together for a number of folds, if there are groups."""
    if groups is None or not isinstance(cv, int | np.integer) or cv < 2:
        return cv
    return StratifiedGroupKFold(int(cv)) if classifier else GroupKFold(int(cv))


def _in_words(choice: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in choice.items())


def _short(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
