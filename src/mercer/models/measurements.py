"""Hidden states that emit normally distributed measurements. A part of `HiddenMarkovModel`."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from mercer.domains import Domain, Series
from mercer.errors import DomainError, ValidityError
from mercer.models.arrays import numbers
from mercer.models.emissions import Seen, exponentials, tabulated
from mercer.models.normal import (
    LOG_TWO_PI,
    factor,
    factor_names,
    factor_scores,
    inverse,
    raised,
)
from mercer.models.sequences import GapDomain

__all__ = ["Normals"]


class Normals:
    """Measurements, each state with a mean and a covariance of its own."""

    fields = ("means", "covariances")

    def __init__(self, model: Any) -> None:
        self.model = model
        self.full = model.covariance == "full"

    @staticmethod
    def domain(model: Any) -> Domain:
        return GapDomain()

    @staticmethod
    def check(model: Any) -> dict[str, Any]:
        """Return the cleaned parameters of a model."""
        if model.means is None or model.covariances is None:
            return {}
        means = numbers(model, "means", model.means, (model.states, None))
        width = means.shape[1]
        shape = (width, width) if model.covariance == "full" else (width,)
        covariances = numbers(model, "covariances", model.covariances, (model.states, *shape))
        if model.covariance == "full":
            for k, covariance in enumerate(covariances):
                factor(covariance, f"covariance {k} of HiddenMarkovModel")
        elif (covariances <= 0).any():
            raise ValidityError("covariances of HiddenMarkovModel must be positive variances")
        return {"means": means, "covariances": covariances}

    @cached_property
    def _roots(self) -> np.ndarray:
        """The Cholesky factors of the covariances, or the standard deviations."""
        found = self.model.covariances
        return np.linalg.cholesky(found) if self.full else np.sqrt(found)

    def observations(self, points: Series) -> np.ndarray:
        """Return all steps, one row each."""
        steps, width = points.steps, self.model.means.shape[1]
        if len(steps) == 0:
            return np.empty((0, width))
        if steps.shape[1] != width:
            raise DomainError(
                f"X has {steps.shape[1]} numbers at each step, but HiddenMarkovModel is about "
                f"{width}"
            )
        if self.full:
            _refuse_partial(points)
        return steps

    def _whitened(self, steps: np.ndarray) -> np.ndarray:
        """Return y = L⁻¹(x − μ) of each step and state; NaN where a measurement is missing."""
        found = np.empty((len(steps), *self.model.means.shape))
        for k, (mean, L) in enumerate(zip(self.model.means, self._roots, strict=True)):
            D = steps - mean
            found[:, k] = D @ inverse(L).T if self.full else D / L
        return found

    def seen(self, steps: np.ndarray) -> Seen:
        """Return what these observations say of the states."""
        from mercer.models.hmm_loops import normal_logs

        means, roots, rows = self.model.means, self._roots, np.arange(len(steps))
        logs = np.empty((len(steps), len(means)))
        if self.full:
            sizes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
            Y = self._whitened(steps)
            logs[:] = -0.5 * np.einsum("tkc,tkc->tk", Y, Y)
            logs -= sizes + 0.5 * means.shape[1] * LOG_TWO_PI
            logs[np.isnan(steps[:, 0])] = 0.0
            return tabulated(logs, rows)
        shift, rest = np.empty(len(steps)), np.empty_like(logs)
        constants = np.log(roots) + 0.5 * LOG_TWO_PI
        steps = np.ascontiguousarray(steps)
        normal_logs(steps, means, roots**-2, constants, logs, shift, rest)
        return Seen(exponentials(rest, logs), shift, logs, rows)

    def statistics(self, steps: np.ndarray, gamma: np.ndarray, starts: np.ndarray) -> tuple:
        """Return Σγ, Σγy and Σγy² (or Σγyyᵀ) of each sequence and state."""
        from mercer.models.hmm_loops import moments, spreads

        n, (states, width) = len(starts) - 1, self.model.means.shape
        first, Y = np.zeros((n, states, width)), self._whitened(steps)
        if self.full:
            count, second = np.zeros((n, states)), np.zeros((n, states, width, width))
            spreads(gamma, Y, starts, count, first, second)
        else:
            count, second = np.zeros_like(first), np.zeros_like(first)
            moments(gamma, Y, starts, count, first, second)
        return count, first, second

    def scores(self, count: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """Return the scores of each sequence."""
        n, roots = len(count), self._roots
        if not self.full:
            return np.hstack([(first / roots).reshape(n, -1), (second - count).reshape(n, -1)])
        means = [first[:, k] @ inverse(L) for k, L in enumerate(roots)]
        factors = [factor_scores(second[:, k], count[:, k], L) for k, L in enumerate(roots)]
        return np.hstack(means + factors)

    @property
    def names(self) -> list[str]:
        states, width = self.model.means.shape
        every = [f"{k}, {c}" for k in range(states) for c in range(width)]
        means = [f"mean[{place}]" for place in every]
        if not self.full:
            return means + [f"log_deviation[{place}]" for place in every]
        return means + [name for k in range(states) for name in factor_names(f"{k}, ", width)]

    def learned(
        self,
        points: Series,
        w: np.ndarray,
        count: np.ndarray,
        first: np.ndarray,
        second: np.ndarray,
    ) -> dict[str, Any]:
        """Return the best parameters with variances not below the floor."""
        means, covariances = self.model.means.copy(), self.model.covariances.copy()
        for k, L in enumerate(self._roots):
            if self.full and count[k] > 0:
                shift = first[k] / count[k]
                means[k] += L @ shift
                spread = L @ (second[k] / count[k] - np.outer(shift, shift)) @ L.T
                covariances[k] = (spread + spread.T) / 2
            elif not self.full:
                some = count[k] > 0  # a channel that the state has not seen stays as it is
                shift = first[k, some] / count[k, some]
                means[k, some] += L[some] * shift
                spread = second[k, some] / count[k, some] - shift**2
                covariances[k, some] = L[some] ** 2 * spread
        floors = self.model.floor * variances(points, w)
        return {"means": means, "covariances": raised(covariances, floors)}

    def bonus(self) -> float:
        return 0.0

    @staticmethod
    def begin(model: Any, points: Series, w: np.ndarray, rng: np.random.Generator) -> dict:
        """Return parameters to begin with: clusters of steps, with their pooled covariance."""
        from sklearn.cluster import KMeans

        each = np.repeat(w, points.lengths)
        whole = ~np.isnan(points.steps).any(axis=1) & (each > 0)
        steps, each = points.steps[whole], each[whole]
        if len(np.unique(steps, axis=0)) < model.states:
            raise DomainError(
                f"X has fewer different measurements than HiddenMarkovModel has states "
                f"({model.states}); use fewer states"
            )
        if model.covariance == "full":
            _refuse_partial(points)
        seed = int(rng.integers(2**31))
        clusters = KMeans(model.states, n_init=1, random_state=seed).fit(steps, sample_weight=each)
        D = steps - clusters.cluster_centers_[clusters.labels_]
        pooled = (D * each[:, None]).T @ D / each.sum()
        if model.covariance != "full":
            pooled = np.diag(pooled)
        floors = model.floor * variances(points, w)
        covariances = raised(np.repeat(pooled[None], model.states, axis=0), floors)
        return {"means": clusters.cluster_centers_, "covariances": covariances}

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what these states emit, one row each."""
        noise = rng.standard_normal((len(states), self.model.means.shape[1]))
        if self.full:
            noise = np.einsum("tij,tj->ti", self._roots[states], noise)
        else:
            noise *= self._roots[states]
        return self.model.means[states] + noise

    def shown(self, drawn: np.ndarray) -> np.ndarray:
        """Return a drawn series as a user would have it."""
        return drawn[:, 0] if drawn.shape[1] == 1 else drawn


def variances(points: Series, w: np.ndarray) -> np.ndarray:
    """Return the variance of each channel, 1 where it is constant."""
    each = np.repeat(w, points.lengths)[:, None] * ~np.isnan(points.steps)
    totals = np.maximum(each.sum(axis=0), np.finfo(float).tiny)
    steps = np.nan_to_num(points.steps)
    means = (each * steps).sum(axis=0) / totals
    found = (each * (steps - means) ** 2).sum(axis=0) / totals
    return np.where(found > 0, found, 1.0)


def _refuse_partial(points: Series) -> None:
    gaps = np.isnan(points.steps)
    partial = np.flatnonzero(gaps.any(axis=1) & ~gaps.all(axis=1))
    if len(partial):
        item = int(np.searchsorted(points.starts, partial[0], side="right")) - 1
        raise DomainError(
            f"item {item} of X lacks some of the measurements of step "
            f"{partial[0] - points.starts[item]}; with covariance='full' a step is there or "
            "missing as a whole: use covariance='diag'"
        )
