"""Emissions of hidden states: symbols, or normally distributed measurements.

Parts of `HiddenMarkovModel`: what the steps of a sequence say of its states.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mercer.domains import Domain, Series
from mercer.errors import DomainError, ValidityError
from mercer.models.covariances import COVARIANCES
from mercer.models.em import k_means
from mercer.models.gaussian import LOG_TWO_PI, factor_scores, floored_covariances, inverse
from mercer.models.hmm_loops import count_symbols, moments, normal_logs, spreads
from mercer.models.parameter_arrays import (
    draw_outcomes,
    frequencies,
    log_prior,
    numbers,
    probabilities,
    probability_names,
    probability_scores,
)
from mercer.models.sequences import (
    GapDomain,
    SymbolDomain,
    Symbols,
    admit_alphabet,
    alphabet_codes,
    decode,
)

__all__ = ["CategoricalEmissions", "EmissionTable", "GaussianEmissions"]

SMALLEST = 1e-300  # probability that stands for a smaller one, if it is not zero


class EmissionTable(NamedTuple):
    """What each step says of each state, in the form that `hmm_loops` take."""

    table: np.ndarray
    shift: np.ndarray
    logs: np.ndarray
    rows: np.ndarray


def emission_table(logs: np.ndarray, rows: np.ndarray) -> EmissionTable:
    """Return a table of probabilities, one row for each possible observation."""
    shift = logs.max(axis=1)
    shift[shift == -np.inf] = 0.0
    return EmissionTable(
        exponentials(logs - shift[:, None], logs), shift, np.ascontiguousarray(logs), rows
    )


def exponentials(rest: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Turn logarithms below the largest of each row into numbers, none of them zero by underflow.

    `logs` say which are zero indeed.
    """
    table = np.exp(rest, out=rest)
    if table.size and table.min() < SMALLEST:
        table[(table < SMALLEST) & (logs > -np.inf)] = SMALLEST
    return table


class CategoricalEmissions:
    """Symbols of an alphabet, each state with probabilities of its own."""

    fields = ("emission",)

    def __init__(self, model: Any) -> None:
        self.model = model

    @staticmethod
    def domain(model: Any) -> Domain:
        return SymbolDomain(missing=model.missing)

    @staticmethod
    def check(model: Any) -> dict[str, Any]:
        """Return the cleaned parameters of a model."""
        clean: dict[str, Any] = {}
        if model.emission is not None:
            shape = (model.states, None)
            clean["emission"] = probabilities(model, "emission", model.emission, shape)
        if model.alphabet is not None:
            clean["alphabet"] = admit_alphabet(model, model.alphabet)
            if model.missing in clean["alphabet"]:
                raise ValidityError(
                    f"{model.missing!r} is in the alphabet of HiddenMarkovModel, but stands for "
                    "what is missing; say missing=None if nothing is"
                )
        elif clean:
            clean["alphabet"] = tuple(range(clean["emission"].shape[1]))
        if "emission" in clean and len(clean["alphabet"]) != clean["emission"].shape[1]:
            raise ValidityError(
                f"HiddenMarkovModel has {len(clean['alphabet'])} symbols in its alphabet, but "
                f"emission has {clean['emission'].shape[1]} columns"
            )
        return clean

    @cached_property
    def _table(self) -> EmissionTable:
        with np.errstate(divide="ignore"):
            logs = np.log(self.model.emission.T)
        # Last comes what is missing: every state emits it with probability 1.
        return emission_table(
            np.vstack([logs, np.zeros(self.model.states)]), np.empty(0, np.int64)
        )

    def observations(self, points: Symbols) -> np.ndarray:
        """Return the places of all symbols in this alphabet, −1 where one is missing."""
        return alphabet_codes(points, self.model.alphabet, self.model)[points.codes]

    def table(self, codes: np.ndarray) -> EmissionTable:
        """Return what these observations say of the states."""
        return self._table._replace(rows=np.where(codes < 0, len(self.model.alphabet), codes))

    def statistics(self, codes: np.ndarray, gamma: np.ndarray, starts: np.ndarray) -> tuple:
        """Return expected counts of emissions: sequences × states × symbols."""
        counts = np.zeros((len(starts) - 1, *self.model.emission.shape))
        count_symbols(gamma, codes, starts, counts)
        return (counts,)

    def scores(self, counts: np.ndarray) -> np.ndarray:
        """Return the scores of each sequence."""
        return probability_scores(counts, self.model.emission)

    @property
    def names(self) -> list[str]:
        model = self.model
        return probability_names("emission", model.emission, range(model.states), model.alphabet)

    def estimate(self, points: Symbols, w: np.ndarray, counts: np.ndarray) -> dict[str, Any]:
        """Return the best parameters, given the expected counts of all sequences."""
        # A state that emits nothing stays as it is.
        return {"emission": frequencies(counts + self.model.smoothing, self.model.emission)}

    def log_prior(self) -> float:
        """Return what smoothing adds to the log likelihood."""
        return log_prior(self.model.emission, self.model.smoothing)

    @staticmethod
    def begin(model: Any, points: Symbols, w: np.ndarray, rng: np.random.Generator) -> dict:
        """Return parameters to begin with: the frequencies of symbols, disturbed at random.

        If the model has no alphabet, it gets all symbols of the points.
        """
        alphabet = points.alphabet if model.alphabet is None else model.alphabet
        codes = alphabet_codes(points, alphabet, model)[points.codes]
        each = np.repeat(w, points.lengths)[codes >= 0]
        counts = np.bincount(codes[codes >= 0], each, len(alphabet)) + model.smoothing
        if not counts.any():
            raise DomainError("X has no symbols that count, so there is nothing to learn from")
        noise = rng.dirichlet(np.ones(len(alphabet)), size=model.states)
        emission = (counts / counts.sum() + noise) * (counts > 0)
        emission /= emission.sum(axis=1, keepdims=True)
        return {"emission": emission, "alphabet": alphabet}

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what these states emit: places in the alphabet."""
        return draw_outcomes(self.model.emission[states], rng)

    def as_item(self, drawn: np.ndarray) -> Any:
        """Return drawn symbols as a user would have them."""
        return decode(drawn, self.model.alphabet)


class GaussianEmissions:
    """Measurements, each state with a mean and a covariance of its own."""

    fields = ("means", "covariances")

    def __init__(self, model: Any) -> None:
        self.model = model
        self.full = model.covariance == "full"
        self.form = COVARIANCES[model.covariance]

    @staticmethod
    def domain(model: Any) -> Domain:
        return GapDomain()

    @staticmethod
    def check(model: Any) -> dict[str, Any]:
        """Return the cleaned parameters of a model."""
        if model.means is None or model.covariances is None:
            return {}
        means = numbers(model, "means", model.means, (model.states, None))
        form = COVARIANCES[model.covariance]
        covariances = form.check(model, model.covariances, *means.shape)
        return {"means": means, "covariances": covariances}

    @cached_property
    def _roots(self) -> np.ndarray:
        """The Cholesky factors of the covariances, or the standard deviations."""
        return self.form.roots(self.model.covariances, *self.model.means.shape)

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
            _refuse_partial_steps(points)
        return steps

    def _whiten(self, steps: np.ndarray) -> np.ndarray:
        """Return y = L⁻¹(x − μ) of each step and state; NaN where a measurement is missing."""
        found = np.empty((len(steps), *self.model.means.shape))
        for k, (mean, L) in enumerate(zip(self.model.means, self._roots, strict=True)):
            D = steps - mean
            found[:, k] = D @ inverse(L).T if self.full else D / L
        return found

    def table(self, steps: np.ndarray) -> EmissionTable:
        """Return what these observations say of the states."""
        means, roots, rows = self.model.means, self._roots, np.arange(len(steps))
        logs = np.empty((len(steps), len(means)))
        if self.full:
            sizes = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
            Y = self._whiten(steps)
            logs[:] = -0.5 * np.einsum("tkc,tkc->tk", Y, Y)
            logs -= sizes + 0.5 * means.shape[1] * LOG_TWO_PI
            logs[np.isnan(steps[:, 0])] = 0.0
            return emission_table(logs, rows)
        shift, rest = np.empty(len(steps)), np.empty_like(logs)
        constants = np.log(roots) + 0.5 * LOG_TWO_PI
        steps = np.ascontiguousarray(steps)
        normal_logs(steps, means, roots**-2, constants, logs, shift, rest)
        return EmissionTable(exponentials(rest, logs), shift, logs, rows)

    def statistics(self, steps: np.ndarray, gamma: np.ndarray, starts: np.ndarray) -> tuple:
        """Return Σγ, Σγy and Σγy² (or Σγyyᵀ) of each sequence and state."""
        n, (states, width) = len(starts) - 1, self.model.means.shape
        first, Y = np.zeros((n, states, width)), self._whiten(steps)
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
        means = [f"mean[{k}, {c}]" for k in range(states) for c in range(width)]
        return means + self.form.names(states, width)

    def estimate(
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
        return {"means": means, "covariances": floored_covariances(covariances, floors)}

    def log_prior(self) -> float:
        return 0.0

    @staticmethod
    def begin(model: Any, points: Series, w: np.ndarray, rng: np.random.Generator) -> dict:
        """Return parameters to begin with: clusters of steps, with their pooled covariance."""
        each = np.repeat(w, points.lengths)
        whole = ~np.isnan(points.steps).any(axis=1) & (each > 0)
        steps, each = points.steps[whole], each[whole]
        if len(np.unique(steps, axis=0)) < model.states:
            raise DomainError(
                f"X has fewer different measurements than HiddenMarkovModel has states "
                f"({model.states}); use fewer states"
            )
        if model.covariance == "full":
            _refuse_partial_steps(points)
        clusters = k_means(steps, model.states, each, rng)
        D = steps - clusters.cluster_centers_[clusters.labels_]
        pooled = (D * each[:, None]).T @ D / each.sum()
        if model.covariance != "full":
            pooled = np.diag(pooled)
        floors = model.floor * variances(points, w)
        covariances = floored_covariances(np.repeat(pooled[None], model.states, axis=0), floors)
        return {"means": clusters.cluster_centers_, "covariances": covariances}

    def draw(self, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return what these states emit, one row each."""
        return self.model.means[states] + self.form.noise(states, self._roots, rng)

    def as_item(self, drawn: np.ndarray) -> np.ndarray:
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


def _refuse_partial_steps(points: Series) -> None:
    gaps = np.isnan(points.steps)
    partial = np.flatnonzero(gaps.any(axis=1) & ~gaps.all(axis=1))
    if len(partial):
        item = int(np.searchsorted(points.starts, partial[0], side="right")) - 1
        raise DomainError(
            f"item {item} of X lacks some of the measurements of step "
            f"{partial[0] - points.starts[item]}; with covariance='full' a step is there or "
            "missing as a whole: use covariance='diag'"
        )
