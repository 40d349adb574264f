"""Scaled targets: learn a power or the logarithm of a target, and answer in its own unit.

Prices, incomes and times spread over orders of magnitude: what is off by a tenth is as wrong for
small ones as for large ones. On the scale of logarithms that is so, but the exponential of a
mean of logarithms is no mean: it is too small, by half of the variance for normal deviations. What
held-out errors are like says by how much, whatever their distribution (Duan, 1983: smearing).
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone, is_regressor
from sklearn.utils import _safe_indexing, check_random_state, get_tags
from sklearn.utils.validation import has_fit_parameter

from mercer.domains import Items, admit_weights
from mercer.domains.targets import admit_numbers
from mercer.errors import ValidityError, suggestion
from mercer.machines.chunks import require_fitted
from mercer.machines.planned import bytes_kept, bytes_of, plan_of
from mercer.machines.target_powers import backward, forward, require_power, require_scalable
from mercer.plans import Decision

__all__ = ["ScaledTarget", "even_errors", "smeared"]

ANSWERS = ("mean", "median")
MAX_KEPT = 500  # held-out errors over which answers are averaged; of more, evenly spaced ones
BLOCK_NUMBERS = 1 << 20  # answers with each error that are held at once


class ScaledTarget(RegressorMixin, BaseEstimator):
    """Learn the logarithm or a root of positive targets, and answer in their own unit.

    Parameters
    ----------
    machine : regressor
    scale : {"log", "root", "fourth root", "none"}
    answer : {"mean", "median"}
        What is answered: the mean loses least by squares, the median by distances. The mean is
        that of the answers with each of the errors that copies of the machine made about items
        that they had not seen.
    folds : int
        How many parts are held out for that in turn.
    random_state : int, RandomState or None
        Deals the items.
    sample : int, optional
        Of more items only so many are held out.

    Attributes
    ----------
    machine_ : regressor
        Fitted to all items, on the scale.
    residuals_ : ndarray
        Held-out errors on the scale, in their order; of many, evenly spaced ones. Only for means.

    Notes
    -----
    What the machine has learned (``kernel_``, ``function_``, …) is found here too; it is about
    targets on the scale. Cost: for means ``folds`` more fits.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 3, size=(200, 1))
    >>> y = np.exp(2 * X[:, 0] + 0.5 * rng.normal(size=200))
    >>> machine = ScaledTarget(KernelRidge("linear", 0.1, intercept=True)).fit(X, y)
    >>> (machine.predict([[2.0]]) / np.exp(4 + 0.5**2 / 2)).round(1)
    array([1.])
    """

    delegate = "machine_"

    machine_: Any
    residuals_: np.ndarray

    def __init__(
        self,
        machine: BaseEstimator,
        scale: str = "log",
        *,
        answer: str = "mean",
        folds: int = 5,
        random_state: int | np.random.RandomState | None = 0,
        sample: int | None = None,
    ) -> None:
        self.machine = machine
        self.scale = scale
        self.answer = answer
        self.folds = folds
        self.random_state = random_state
        self.sample = sample

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *,
        splits: Sequence[tuple[np.ndarray, np.ndarray]] | None = None,
    ) -> Self:  # fmt: skip
        """Learn from items `X` with targets `y`.

        With `splits`, pairs of items to learn from and items to hold out, these are used instead
        of folds.
        """
        self._check(sample_weight is not None)
        X = X if hasattr(X, "__getitem__") else np.asarray(X)
        count = X.shape[0] if hasattr(X, "shape") else len(X)
        target = admit_numbers(y, count)
        require_scalable(target, self.scale)
        weights = admit_weights(sample_weight, count)
        scaled = forward(target, self.scale)
        machine = self._fitted(X, scaled, weights)
        residuals = np.zeros(1)
        if self.answer == "mean" and self.scale != "none":
            pairs = self._splits(count) if splits is None else splits
            residuals = self._held_out(X, scaled, weights, pairs)
        self.machine_, self.residuals_ = machine, residuals
        return self

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would need: the machine, and beside it one of a fold.

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> machine, X = KernelRidge(), np.ones((500, 3))
        >>> ScaledTarget(machine).plan(X).bytes > machine.plan(X).bytes
        True
        """
        self._check(weighted=False)
        decision = plan_of(self.machine, X)
        if self.answer == "median" or self.scale == "none":
            return decision
        # Folds are fitted while the machine of all items is kept.
        kept = bytes_of(X) + bytes_kept(self.machine, X)
        return decision.beside(kept, "errors of items that were held out, fold after fold")

    def predict(self, X: Any) -> np.ndarray:
        """Return the answer for each item, in the unit of the targets."""
        require_fitted(self)
        found = np.asarray(self.machine_.predict(X), dtype=np.float64)
        return smeared(found, self.scale, self.residuals_)

    def predict_scaled(self, X: Any) -> np.ndarray:
        """Return what the machine says on its scale."""
        require_fitted(self)
        return np.asarray(self.machine_.predict(X), dtype=np.float64)

    def __getattr__(self, name: str) -> Any:
        """Return what the machine has learned."""
        if name.endswith("_") and not name.startswith("_") and "machine_" in vars(self):
            return getattr(self.machine_, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.machine, BaseEstimator):
            tags.input_tags = get_tags(self.machine).input_tags
        tags.target_tags.positive_only = self.scale != "none"
        return tags

    def _fitted(self, X: Any, scaled: np.ndarray, weights: np.ndarray | None) -> Any:
        given = {} if weights is None else {"sample_weight": weights}
        return clone(self.machine).fit(X, scaled, **given)

    def _splits(self, count: int) -> list[tuple[np.ndarray, np.ndarray]]:
        rng = check_random_state(self.random_state)
        some = rng.permutation(count)[: self.sample]
        fold = np.arange(len(some)) % min(int(self.folds), len(some))
        return [(some[fold != k], some[fold == k]) for k in range(int(fold.max()) + 1)]

    def _held_out(
        self, X: Any, scaled: np.ndarray, weights: np.ndarray | None,
        splits: Sequence[tuple[np.ndarray, np.ndarray]],
    ) -> np.ndarray:  # fmt: skip
        """Return errors of held-out items in their order, with their mean at 0."""
        errors, heavy = [np.empty(0)], [np.empty(0)]
        pairwise = get_tags(self.machine).input_tags.pairwise
        for train, test in splits:
            if not len(train):
                continue
            own = None if weights is None else weights[train]
            part, new = (
                (np.asarray(X)[np.ix_(rows, train)] for rows in (train, test))
                if pairwise
                else (_safe_indexing(X, rows) for rows in (train, test))
            )
            found = self._fitted(part, scaled[train], own).predict(new)
            errors.append(scaled[test] - np.asarray(found, dtype=np.float64))
            heavy.append(np.ones(len(test)) if weights is None else weights[test])
        return even_errors(np.concatenate(errors), np.concatenate(heavy))

    def _check(self, weighted: bool) -> None:
        """Refuse parameters that cannot work before the work begins."""
        require_power(self.scale)
        if not isinstance(self.machine, BaseEstimator) or not is_regressor(self.machine):
            raise ValidityError(f"machine must be a regressor, found {self.machine!r}")
        if self.answer not in ANSWERS:
            raise ValidityError(
                f"answer cannot be {self.answer!r}{suggestion(str(self.answer), ANSWERS)}"
            )
        for name, least in (("folds", self.folds), ("sample", self.sample)):
            whole = isinstance(least, numbers.Integral) and not isinstance(least, bool)
            if (least is not None or name == "folds") and (not whole or int(least) < 2):  # type: ignore[arg-type]
                raise ValidityError(f"{name} must be a whole number from 2 on, found {least!r}")
        if weighted and not has_fit_parameter(self.machine, "sample_weight"):
            raise ValidityError(f"{type(self.machine).__name__} does not take sample_weight")


def smeared(scaled: np.ndarray, scale: str, residuals: np.ndarray) -> np.ndarray:
    """Return the mean of the targets at `scaled` plus each of the errors.

    Examples
    --------
    >>> smeared(np.array([0.0, 1.0]), "log", np.log([0.5, 1.5])).round(3)
    array([1.   , 2.718])
    """
    if scale == "log":
        # The factor is the same for all; its own exponent keeps sums of huge numbers finite.
        top = float(residuals.max(initial=-np.inf)) if len(residuals) else 0.0
        factor = top + np.log(np.mean(np.exp(residuals - top))) if len(residuals) else 0.0
        return backward(scaled + factor, scale)
    if scale == "none" or not len(residuals):
        return backward(scaled, scale)
    found = np.empty(len(scaled))
    step = max(BLOCK_NUMBERS // len(residuals), 1)
    for start in range(0, len(scaled), step):
        part = scaled[start : start + step, None] + residuals
        found[start : start + step] = backward(part, scale).mean(axis=1)
    return found


def even_errors(errors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return errors that stand for all, each for the same weight; their mean is kept."""
    if not len(errors) or weights.sum() <= 0:
        return np.zeros(1)
    order = np.argsort(errors, kind="stable")
    errors, heavy = errors[order], weights[order]
    if len(errors) <= MAX_KEPT and np.ptp(heavy) == 0:
        return errors
    # Means of equal shares of the weight, so that no tail is lost.
    ends = np.concatenate([[0.0], np.cumsum(heavy)]) / heavy.sum()
    sums = np.concatenate([[0.0], np.cumsum(heavy * errors)]) / heavy.sum()
    count = min(len(errors), MAX_KEPT)
    return np.diff(np.interp(np.linspace(0, 1, count + 1), ends, sums)) * count
