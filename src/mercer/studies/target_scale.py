"""The scale of a target: on which one it is learned, chosen by errors in its own unit.

A skewed positive target (a price, a time, a count) is often learned better as its logarithm or
root. Which of them is better is asked inside every outer fold, of its training rows alone: a ridge
regression predicts inner folds on each scale, and its answers are brought back to the unit of the
target. A few large targets may make most of these errors, which then say little; so of the scales
that are as good as the best one, but for chance, that is taken on which held-out targets have the
largest likelihood (Box & Cox, 1964).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.engine.tiles import fill
from mercer.errors import MercerError, ValidityError, suggestion
from mercer.machines import KernelRidge
from mercer.machines.scaled_target import even_errors, smeared
from mercer.machines.target_powers import POWERS, forward, require_scalable

if TYPE_CHECKING:
    from mercer.studies.candidates import CandidateKernel
    from mercer.studies.grid_search import InnerFolds

__all__ = ["AS_IT_IS", "CHOICES", "ScaleChoice", "choose_scale", "scale_asked", "skewed"]

CHOICES = ("auto", *POWERS)
SKEWED = 1.0  # skewness from which other scales are tried; that of an exponential target is 2
MIN_DIFFERENT = 10  # values of a target, below which it is hardly a number
PENALTIES = (1e-3, 1e-2, 0.1, 1.0)
TINY_SPREAD = 1e-12  # of a target's, that a scale keeps at least; huge targets lose their digits


@dataclass(frozen=True)
class ScaleChoice:
    """The scale on which a target is learned.

    Attributes
    ----------
    name : str
        One of `POWERS`.
    errors : tuple of (str, float)
        Of each scale on inner folds, in the unit of the target; empty if nothing was compared.
    answer : {"mean", "median"}
    """

    name: str = "none"
    errors: tuple[tuple[str, float], ...] = ()
    answer: str = "mean"

    def forward(self, y: np.ndarray) -> np.ndarray:
        """Return targets on the scale."""
        return y if self.name == "none" else forward(y, self.name)


AS_IT_IS = ScaleChoice()


def scale_asked(asked: str | None, task: str, y: np.ndarray) -> str:
    """Return the scale that a user has asked for, or "auto"; refuse one that does not fit.

    Examples
    --------
    >>> scale_asked(None, "regress", np.array([1.0, 2.0]))
    'auto'
    """
    if asked is None:
        return "auto"
    if asked not in CHOICES:
        raise ValidityError(
            f"--target-scale / target_scale cannot be {asked!r}{suggestion(asked, CHOICES)}"
        )
    if task != "regress":
        raise ValidityError(
            "--log, --target-scale / target_scale is about numbers, but the target has classes; "
            "--kind regress / task='regress' says otherwise"
        )
    if asked != "auto":
        require_scalable(y, asked)
    return asked


def skewed(y: np.ndarray, weights: np.ndarray | None = None) -> bool:
    """Tell whether a target is such that another scale may suit it: positive, with a long tail.

    Examples
    --------
    >>> skewed(np.exp(np.arange(50) / 10)), skewed(np.arange(50.0))
    (True, False)
    """
    if y.dtype.kind != "f" or y.min() < 0 or len(np.unique(y)) < MIN_DIFFERENT:
        return False
    off = y - np.average(y, weights=weights)
    spread = float(np.sqrt(np.average(off**2, weights=weights))) or 1.0
    return float(np.average((off / spread) ** 3, weights=weights)) > SKEWED


def choose_scale(
    inner: InnerFolds, candidates: Sequence[CandidateKernel], asked: str, absolute: bool
) -> ScaleChoice:
    """Return the scale on which the target of some rows is learned.

    Parameters
    ----------
    inner : InnerFolds
        Rows, targets in their unit, and splits.
    candidates : sequence of CandidateKernel
        Of which the last one judges.
    asked : str
        A name of `POWERS`, or "auto".
    absolute : bool
        Whether distances are counted instead of squares.
    """
    answer = "median" if absolute else "mean"
    y = inner.y
    if asked != "auto":
        return ScaleChoice(asked, answer=answer)
    weights = inner.arrangement.weights
    if not skewed(y, weights):
        return ScaleChoice(answer=answer)
    names = [name for name in POWERS if name != "log" or y.min() > 0]
    names = [name for name in names if _keeps(y, name)]
    try:
        found = _held_out(inner, candidates[-1], names)
    except (MercerError, np.linalg.LinAlgError):
        return ScaleChoice(answer=answer)
    rows = np.concatenate([test for _, test in inner.splits])
    w = np.ones(len(rows)) if weights is None else weights[rows]
    losses, likely = {}, {}
    for name, scaled in found.items():
        each = [_loss(y[rows], t, name, absolute, w) for t in scaled]
        losses[name] = min(each, key=lambda one: float(np.average(one, weights=w)))
        likely[name] = max(_log_likelihood(y[rows], t, name, w) for t in scaled)
    best = min(losses, key=lambda name: float(np.average(losses[name], weights=w)))
    good = [name for name in losses if _as_good(losses[name] - losses[best], w)]
    errors = tuple((name, _error(loss, w, absolute)) for name, loss in losses.items())
    return ScaleChoice(max(good, key=lambda name: likely[name]), errors, answer)


def _as_good(more: np.ndarray, weights: np.ndarray) -> bool:
    """Tell whether losses are larger by no more than their standard error."""
    share = weights / weights.sum()
    mean = float(share @ more)
    return mean <= float(np.sqrt(np.sum(share**2 * (more - mean) ** 2)))


def _log_likelihood(
    truth: np.ndarray, scaled: np.ndarray, name: str, weights: np.ndarray
) -> float:
    """Return the mean log density of targets with normal errors on a scale, but for a constant."""
    share = weights / weights.sum()
    spread = float(share @ (forward(truth, name) - scaled) ** 2)
    # The density in the target's own unit has the slope of the scale there as a factor.
    power, least = POWERS[name], float(truth[truth > 0].min())
    slopes = (power - 1) * np.log(np.maximum(truth, least / 2)) + np.log(power or 1.0)
    return float(share @ slopes) - 0.5 * float(np.log(max(spread, np.finfo(float).tiny)))


def _keeps(y: np.ndarray, name: str) -> bool:
    t = forward(y, name)
    return bool(np.std(t) > TINY_SPREAD * max(float(np.abs(t).max()), 1.0))


def _held_out(
    inner: InnerFolds, candidate: CandidateKernel, names: Sequence[str]
) -> dict[str, list[np.ndarray]]:
    """Return, for each scale, held-out predictions on it, with each penalty."""
    kernel = candidate.resolve(inner.X)
    K = np.asarray(fill(kernel, kernel.admit(inner.X), dtype=np.float64))
    Y = np.column_stack([forward(inner.y, name) for name in names])
    Y = Y / Y.std(axis=0)
    spread = np.array([forward(inner.y, name).std() for name in names])
    weights = inner.arrangement.weights
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for penalty in PENALTIES:
        parts = []
        for train, test in inner.splits:
            given: dict[str, Any] = {}
            if weights is not None:
                given["sample_weight"] = weights[train]
            machine = KernelRidge("precomputed", penalty, intercept=True)
            machine.fit(K[np.ix_(train, train)], Y[train], **given)
            parts.append(machine.predict(K[np.ix_(test, train)]).reshape(len(test), -1))
        predicted = np.concatenate(parts) * spread
        for j, name in enumerate(names):
            found[name].append(predicted[:, j])
    return found


def _loss(
    truth: np.ndarray, scaled: np.ndarray, name: str, absolute: bool, weights: np.ndarray
) -> np.ndarray:
    """Return what is lost by the answers that follow from predictions on a scale."""
    residuals = np.zeros(1) if absolute else even_errors(forward(truth, name) - scaled, weights)
    low, high = float(truth.min()), float(truth.max())
    # A prediction far beyond all targets says nothing about the scale.
    said = np.clip(smeared(scaled, name, residuals), low - (high - low), high + (high - low))
    off = np.abs(truth - said)
    return off if absolute else off**2


def _error(loss: np.ndarray, weights: np.ndarray, absolute: bool) -> float:
    mean = float(np.average(loss, weights=weights))
    return mean if absolute else float(np.sqrt(mean))
