"""One item left out at a time, and two criteria that need no item to be left out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.model_selection import LeaveOneOut

from mercer.domains import Items, admit_target
from mercer.errors import SelectionError
from mercer.progress import progress
from mercer.selection.arguments import check_data, require_machine
from mercer.selection.evaluation import Account
from mercer.selection.ridge_task import RidgeMeasures, conditions, decompose, measure, path_task
from mercer.selection.scoring import HeldOutAnswers
from mercer.selection.shared_gram import evaluate
from mercer.selection.splits import splits_of

__all__ = ["HeldOut", "generalized_cross_validation", "leave_one_out", "log_marginal_likelihood"]


@dataclass(frozen=True)
class HeldOut:
    """What a machine says of each item when it has learned from others only.

    ``numpy.asarray`` gives the predictions.

    Attributes
    ----------
    predictions : ndarray
        A label or a number for each item, as `predict` gives them.
    residuals : ndarray or None
        y minus predictions, of a regression.
    error : float
        Mean squared error, or share of wrong labels; items count by their weights.
    standard_error : float
        Of `error`, if the items are a sample of independent ones.
    account : Account
        How it was computed.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.arange(6.0)[:, None]
    >>> found = leave_one_out(KernelRidge("linear", penalty=0.1), X, 2.0 * X[:, 0])
    >>> found.predictions.shape, bool(np.allclose(found.error, np.mean(found.residuals**2)))
    ((6,), True)
    """

    predictions: np.ndarray
    residuals: np.ndarray | None
    error: float
    standard_error: float
    account: Account

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.predictions, dtype=dtype)

    def __len__(self) -> int:
        return len(self.predictions)

    def __str__(self) -> str:
        what = "share of wrong labels" if self.residuals is None else "mean squared error"
        return f"{what} {self.error:.4g} ± {self.standard_error:.2g} on {len(self)} held-out items"


def leave_one_out(
    machine: object, X: Items, y: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> HeldOut:
    """Return the prediction of each item by a machine that has learned from all the others.

    For ridge-like machines nothing is fitted again: the residual is (Cy)ᵢ/Cᵢᵢ with C = (K + λI)⁻¹.
    Others are fitted once for each item, on their part of one Gram matrix. A heuristic such as
    ``Gaussian("median")`` is resolved for each item anew, without it, which takes a Gram matrix
    each time: give a number where that is too slow.

    Parameters
    ----------
    machine : classifier or regressor
        Not fitted.
    X : items
    y : labels or numbers
    sample_weight : array of shape (n,), optional

    Returns
    -------
    HeldOut
        Predictions, residuals, and the error with its standard error.

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> from mercer.kernels import Gaussian
    >>> X = np.arange(6.0)[:, None]
    >>> found = leave_one_out(KernelRidge(Gaussian(1.0), penalty=0.1), X, np.sin(X[:, 0]))
    >>> found.predictions.round(2), round(found.error, 3)
    (array([ 0.34,  0.49,  0.71,  0.09, -0.54, -0.51]), 0.088)
    """
    require_machine(machine)
    if not is_classifier(machine) and not is_regressor(machine):
        raise SelectionError(
            f"{type(machine).__name__} predicts neither labels nor numbers, so there is nothing "
            "to hold out"
        )
    items = check_data([machine], X, y, sample_weight)
    assert items.y is not None  # it was admitted
    X, y, codes, classes = items.X, items.y, items.codes, items.classes
    splits = splits_of(LeaveOneOut(), X, y, False, None, codes, classes)
    count, weights = len(items), items.weights
    given = {} if weights is None else {"sample_weight": weights}
    answers = HeldOutAnswers(np.asarray(classes) if codes is not None else None)
    with progress(f"{len(splits)} splits", len(splits)) as step:
        rows, account = evaluate(
            [machine], X, y, splits, answers, given, error_score="raise", step=step
        )
    order = np.concatenate([split.test for split in splits])
    found = np.concatenate([one.test for one in rows[0]])
    predictions = np.empty_like(found)
    predictions[order] = found
    w = np.ones(count) if weights is None else weights
    if codes is not None:
        losses = (predictions != codes).astype(float)
        return HeldOut(np.asarray(classes)[predictions], None, *_mean(losses, w), account)
    residuals = admit_target(y, count) - predictions
    losses = np.mean(residuals.reshape(count, -1) ** 2, axis=1)
    return HeldOut(predictions, residuals, *_mean(losses, w), account)


def _mean(losses: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return a weighted mean and its standard error."""
    share = weights / weights.sum()
    mean = float(share @ losses)
    free = 1 - float(share @ share)
    if free <= 0:
        return mean, float("nan")
    return mean, float(np.sqrt(np.sum((share * (losses - mean)) ** 2) / free))


def generalized_cross_validation(
    machine: object, X: Items, y: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return n·RSS/(n − tr H)² of a ridge-like machine (Golub, Heath & Wahba, 1979).

    It is the leave-one-out error with all leverages replaced by their mean.

    Parameters
    ----------
    machine : ridge-like machine
        Such as `KernelRidge`; not fitted.
    X : items
    y : array of shape (n,) or (n, targets)
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.arange(6.0)[:, None]
    >>> round(generalized_cross_validation(KernelRidge("linear"), X, 2 * X[:, 0] + 1), 3)
    0.477
    """
    return float(_measured(machine, X, y, sample_weight).gcv[0])


def log_marginal_likelihood(
    machine: object, X: Items, y: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Return log p(y) of a ridge-like machine read as a Gaussian process.

    The targets have covariance K + λW⁻¹ and mean zero; an intercept has a flat prior. With several
    targets their logarithms are added.

    Parameters
    ----------
    machine : ridge-like machine
        Such as `KernelRidge`; not fitted.
    X : items
    y : array of shape (n,) or (n, targets)
    sample_weight : array of shape (n,), optional

    Returns
    -------
    float

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> X = np.arange(6.0)[:, None]
    >>> round(log_marginal_likelihood(KernelRidge("linear"), X, 2 * X[:, 0] + 1), 3)
    -11.017
    """
    return float(_measured(machine, X, y, sample_weight).evidence[0])


def _measured(
    machine: BaseEstimator, X: Items, y: ArrayLike, sample_weight: ArrayLike | None
) -> RidgeMeasures:
    task = path_task(machine, X, y, sample_weight)
    system = decompose(task, 1, getattr(machine, "indefinite", "error"))
    penalty = np.array([float(machine.penalty)])
    if not conditions(system, penalty)[0] < 1e14:
        raise SelectionError(
            f"with penalty {penalty[0]:.3g} the Gram matrix is singular to working precision; use "
            "a larger penalty"
        )
    return measure(task, system, penalty)
