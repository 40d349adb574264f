"""Ridge paths: how a ridge regression changes along its penalty λ, and curves of a criterion."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Items, real_numbers
from mercer.errors import SelectionError, SelectionWarning, ValidityError, suggestion
from mercer.selection.grid_edges import warn_at_edge
from mercer.selection.ridge_task import (
    RidgeMeasures,
    RidgeTask,
    conditions,
    decompose,
    measure,
    path_task,
)

__all__ = ["Curve", "RidgePath", "ascending_grid", "criterion_of", "results_table"]

MAX_CONDITION = 1e10  # beyond it fewer than six digits of a leave-one-out error are left
MIN_VISIBLE_RISE = (
    0.1  # share of the best value that a picture of a path shows at least, three times
)
DEFAULT_PENALTIES = np.logspace(-6, 3, 50)  # times the mean of the diagonal


class RidgePath(BaseEstimator):
    """Ridge regression at all penalties, from one decomposition of the Gram matrix.

    The predictions that an item gets from all the others are exact, without fitting again (for
    the kernel and the class weights that all items together give). Errors are means with the
    weights of the items; items of weight zero have no part in them.

    Parameters
    ----------
    machine : KernelRidge, KernelRidgeClassifier, KernelDiscriminant or GaussianProcess
        Its own penalty is not used. A `KernelDiscriminant` is taken as the regression on class
        indicators that it is made of, with an item going to the class of the highest.
    penalties : array, optional
        Values of λ. By default 50 from 1e-6 to 1e3 times the mean of the diagonal of the
        (weighted) Gram matrix, in equal ratios: the eigenvalues have that mean, so that hardly
        anything is penalized at one end, and all but a few directions are at the other.

    Attributes
    ----------
    penalties_ : ndarray
        Ascending.
    loo_error_, loo_se_ : ndarray
        Mean squared error of leave-one-out predictions, and its standard error.
    loo_predictions_ : ndarray of shape (penalties, n) or (penalties, n, targets)
        What each item is predicted by the others; nan for items of weight zero.
    loo_misclassification_ : ndarray or None
        Share of items that the others would give to a wrong class, for classifiers.
    gcv_ : ndarray
        Generalized cross-validation: the training error over (1 − degrees/n)² (Golub, Heath &
        Wahba, 1979).
    log_marginal_likelihood_ : ndarray
        log p(y) for y ~ N(0, K + λW⁻¹), summed over targets; an intercept is integrated out.
    degrees_ : ndarray
        Effective degrees of freedom, the trace of the map from y to fitted values.
    norm_ : ndarray
        |f|², summed over targets.
    training_error_ : ndarray
        Mean squared error on the training items.
    best_penalty_, best_index_
        Where the leave-one-out error is least.
    cv_results_ : dict
        As scikit-learn's; the score is the negative leave-one-out error.

    Notes
    -----
    Cost: about 3n³ operations, or nm² for m < n features, and n² for each penalty. Where the
    condition number of K + λW⁻¹ is above 1e10 too many digits are lost: there all results are nan,
    and a `SelectionWarning` says so. Another one says when the best penalty is the first or the
    last of those that are known.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.datasets import sinc
    >>> from mercer.kernels import Gaussian
    >>> path = RidgePath(KernelRidge(Gaussian(1.5)), [0.001, 0.1, 10.0]).fit(*sinc(seed=0))
    >>> float(path.best_penalty_), path.degrees_.round(1)
    (0.1, array([18.8, 12.6,  2.7]))
    """

    def __init__(self, machine: Any, penalties: ArrayLike | None = None) -> None:
        self.machine = machine
        self.penalties = penalties

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Measure all penalties on items `X` with targets or labels `y`."""
        grid = (
            None
            if self.penalties is None
            else ascending_grid(self.penalties, "penalties", zero=True)
        )
        task = path_task(self.machine, X, y, sample_weight)
        count = len(DEFAULT_PENALTIES if grid is None else grid)
        system = decompose(task, count, getattr(self.machine, "indefinite", "error"))
        if grid is None:
            scale = system.trace / len(task.places)
            grid = DEFAULT_PENALTIES * (scale if scale > 0 else 1.0)
        known = conditions(system, grid) <= MAX_CONDITION
        _explain_unknown(grid, known)
        found = measure(task, system, grid[known])
        self.penalties_ = grid
        self._keep(task, found, known)
        self._predictions(task, found, known)
        self.best_index_ = int(np.nanargmin(self.loo_error_))
        self.best_penalty_ = float(grid[self.best_index_])
        warn_at_edge("penalty", grid[known], self.best_penalty_)
        return self

    def curve(self, criterion: str = "loo") -> Curve:
        """Return one criterion along the penalties.

        Parameters
        ----------
        criterion : {"loo", "gcv", "evidence", "misclassification"}

        Examples
        --------
        >>> from mercer import KernelRidge
        >>> path = RidgePath(KernelRidge("linear"), [0.1, 10.0])
        >>> path.fit([[-1.0], [0.5], [1.0], [2.0]], [-0.5, 0.6, 0.6, 2.5]).curve("gcv").name
        'generalized cross-validation error'
        """
        check_is_fitted(self)
        criterion = "loo" if criterion == "leave-one-out" else criterion
        known = {
            "loo": ("leave-one-out error", self.loo_error_, self.loo_se_, self.training_error_),
            "gcv": ("generalized cross-validation error", self.gcv_, None, self.training_error_),
            "evidence": ("log marginal likelihood", self.log_marginal_likelihood_, None, None),
        }
        if self.loo_misclassification_ is not None:
            share = self.loo_misclassification_
            known["misclassification"] = ("leave-one-out misclassification", share, None, None)
        name, heights, errors, training = criterion_of(criterion, known)
        best = int(np.nanargmax(heights) if criterion == "evidence" else np.nanargmin(heights))
        # With the largest penalty hardly anything is learned; what is worse is learned by heart.
        top, loss = float(heights[best]), float(heights[-1] - heights[best])
        least = MIN_VISIBLE_RISE * abs(top) if errors is None else 3 * float(errors[best])
        loss = math.copysign(max(abs(loss), least), -1.0 if criterion == "evidence" else 1.0)
        limit = None if criterion == "misclassification" else top + 3 * loss
        return Curve("penalty", self.penalties_, heights, errors, training, name, best, limit)

    def _keep(self, task: RidgeTask, found: RidgeMeasures, known: np.ndarray) -> None:
        """Set the attributes that have one number for each penalty."""
        share = (task.positive_weights / task.positive_weights.sum())[:, None]
        error = np.sum(share * found.losses, axis=0)
        spread = found.losses - error
        # With equal weights this is the deviation over the root of n.
        free = 1 - float(np.sum(share**2))
        se = np.sqrt(np.sum((share * spread) ** 2, axis=0) / free) if free > 0 else error * np.nan
        deviation = np.sqrt(np.sum(share * spread**2, axis=0))

        def placed(values: np.ndarray) -> np.ndarray:
            return _filled(values, known)

        self.loo_error_, self.loo_se_ = placed(error), placed(se)
        self.gcv_, self.degrees_ = placed(found.gcv), placed(found.degrees)
        self.norm_, self.training_error_ = placed(found.norm), placed(found.training)
        self.log_marginal_likelihood_ = placed(found.evidence)
        self.cv_results_ = results_table(
            "penalty", self.penalties_, -self.loo_error_, placed(deviation)
        )
        self.cv_results_["mean_train_score"] = -self.training_error_

    def _predictions(self, task: RidgeTask, found: RidgeMeasures, known: np.ndarray) -> None:
        """Set the predictions of items by the others, and how often they are wrong."""
        by_penalty = found.predictions.transpose(1, 0, 2)
        every = np.full((len(known), len(task.points), by_penalty.shape[2]), np.nan)
        every[np.ix_(known, task.places)] = by_penalty
        self.loo_predictions_ = every[:, :, 0] if task.flat else every
        self.loo_misclassification_ = None
        if task.codes is not None:
            flat = by_penalty.shape[2] == 1
            codes = by_penalty[:, :, 0] > 0 if flat else by_penalty.argmax(axis=2)
            counts = task.counts[task.places]
            wrong = codes != task.codes[task.places]
            self.loo_misclassification_ = _filled(wrong @ (counts / counts.sum()), known)


def ascending_grid(values: Any, name: str, zero: bool = False) -> np.ndarray:
    """Return a grid ascending, refusing an empty one and what is not a positive number."""
    grid = np.sort(np.atleast_1d(real_numbers(values, name)))
    if grid.ndim != 1 or not len(grid):
        raise SelectionError(f"{name} must be a list of numbers, found {values!r}")
    bad = ~np.isfinite(grid) | (grid < 0) | ((grid == 0) & (not zero))
    if bad.any():
        kind = "not negative" if zero else "positive"
        raise ValidityError(f"{name} must be finite and {kind}, found {grid[bad][0]}")
    return grid


def _filled(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return values at their places, and nan at the others."""
    out = np.full(len(known), np.nan)
    out[known] = values
    return out


def results_table(
    name: str, grid: np.ndarray, score: np.ndarray, std: np.ndarray
) -> dict[str, Any]:
    """Return a table as that of scikit-learn's searches."""
    values = np.nan_to_num(score, nan=-np.inf)
    return {
        f"param_{name}": grid,
        "params": [{name: float(value)} for value in grid],
        "mean_test_score": score,
        "std_test_score": std,
        "rank_test_score": np.array([1 + int(np.sum(values > v)) for v in values], dtype=np.int32),
    }


def _explain_unknown(grid: np.ndarray, known: np.ndarray) -> None:
    """Warn where digits are lost; refuse if that is everywhere."""
    if known.all():
        return
    lost = (
        f"of {len(grid)} penalties, {int(np.sum(~known))} are so small that the condition number "
        f"of the Gram matrix with the penalty is above {MAX_CONDITION:.0e}"
    )
    if not known.any():
        raise SelectionError(f"{lost}; use larger penalties")
    smallest = float(grid[known].min())
    warnings.warn(
        f"{lost}; their results are nan, the smallest that is known is {smallest:.3g}",
        SelectionWarning,
        stacklevel=3,
    )


@dataclass(frozen=True)
class Curve:
    """One criterion along a path, as `mercer.plots.plot_path` draws it.

    Attributes
    ----------
    parameter : str
    values : ndarray
        Of the parameter, ascending.
    heights : ndarray
        The criterion at these; nan where it is not known.
    errors : ndarray or None
        One standard error.
    training : ndarray or None
        The same criterion on the training items.
    name : str
        What the criterion is.
    best : int
        Place of the best value.
    limit : float or None
        Height beyond which it is bad enough not to be looked at.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.selection.path import RidgePath
    >>> path = RidgePath(KernelRidge("linear"), [0.1, 10.0]).fit([[1.0], [2.0]], [1.0, 2.5])
    >>> curve = path.curve("loo")
    >>> curve.name, float(curve.values[curve.best])
    ('leave-one-out error', 0.1)
    """

    parameter: str
    values: np.ndarray
    heights: np.ndarray
    errors: np.ndarray | None
    training: np.ndarray | None
    name: str
    best: int
    limit: float | None = None


def criterion_of(criterion: str, known: dict[str, Any]) -> Any:
    """Return what is known under the name of a criterion.

    Examples
    --------
    >>> criterion_of("low", {"loo": 1, "gcv": 2})
    Traceback (most recent call last):
    mercer.errors.SelectionError: criterion cannot be 'low'; did you mean 'loo'?
    """
    if criterion not in known:
        raise SelectionError(f"criterion cannot be {criterion!r}{suggestion(criterion, known)}")
    return known[criterion]
