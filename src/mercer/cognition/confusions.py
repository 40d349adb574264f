"""Choice models of confusions: which stimulus is taken for which.

P(j | i) = b_j s_ij / Σ_k b_k s_ik, with a bias b toward each answer and a similarity s of stimulus
i to what the answer j stands for. In Luce's similarity choice model (1963) s is any symmetric
matrix with ones on its diagonal; in the MDS-choice model (Nosofsky, 1985) it falls off with the
distance of the stimuli in a psychological space.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.choice import LIFT
from mercer.cognition.coordinates import Estimated, Given, Loose
from mercer.cognition.fitting import Minimum, Objective, Slopes, search
from mercer.cognition.intervals import profile_intervals
from mercer.cognition.matrices import first, pair_of, square
from mercer.cognition.parameters import Layout, Positive, Simplex
from mercer.cognition.responses import Responses, log_softmax
from mercer.cognition.scaling import principal_axes
from mercer.cognition.space import Space, admit_stimuli
from mercer.domains.targets import real_numbers
from mercer.errors import ConvergenceWarning, DomainError, suggestion
from mercer.kernels import Shepard

__all__ = ["MDSChoice", "SimilarityChoice"]

FREE = ("sensitivity", "attention", "exponent", "bias")
STEPS = 5000
NEVER = -40.0  # log similarity of stimuli that nobody has confused


class Confusions(BaseEstimator):
    """What both models share: what is kept of a fit."""

    n_parameters_: int

    def _keep(self, objective: Objective, found: Minimum, labels: tuple) -> None:
        """Store probabilities, biases and the likelihood."""
        data = objective.data
        scores = objective.rule(found.params)[0]
        self.labels_, self.confusions_ = labels, data.counts
        self.bias_ = found.params["bias"]
        self.similarities_ = np.exp(scores - np.log(self.bias_))
        self.probabilities_ = np.exp(log_softmax(scores))
        self.log_likelihood_ = data.log_likelihood(log_softmax(scores))
        shares = np.where(data.shares > 0, data.shares, 1.0)
        self.deviance_ = 2 * (data.log_likelihood(np.log(shares)) - self.log_likelihood_)

    @property
    def aic_(self) -> float:
        """2k − 2 log L (Akaike, 1974)."""
        return 2 * self.n_parameters_ - 2 * self.log_likelihood_

    @property
    def bic_(self) -> float:
        """k log n − 2 log L with n answers (Schwarz, 1978)."""
        answers = float(self.confusions_.sum())
        return self.n_parameters_ * float(np.log(answers)) - 2 * self.log_likelihood_


class SimilarityChoice(Confusions):
    """Luce's similarity choice model: a free similarity for each pair, a bias for each answer.

    The most that a symmetric similarity can explain; `MDSChoice` is compared with it. The
    likelihood is concave in the logarithms, so there is one maximum.

    Attributes
    ----------
    similarities_ : ndarray of shape (n, n)
    bias_ : ndarray of shape (n,)
        Sums to one.
    probabilities_ : ndarray of shape (n, n)
        Of each answer (column) to each stimulus (row).
    log_likelihood_, aic_, bic_ : float
    deviance_ : float
        Twice the difference to the log-likelihood of each row's own proportions.
    n_parameters_ : int

    Examples
    --------
    >>> model = SimilarityChoice().fit([[8, 2], [1, 9]])
    >>> model.similarities_.round(3)
    array([[1.   , 0.167],
           [0.167, 1.   ]])
    """

    def fit(self, confusions: Any, labels: Any = None) -> Self:
        """Fit to counts of answers (columns) to stimuli (rows)."""
        N, known = _counts(confusions, labels)
        n = len(N)
        rows, columns = np.triu_indices(n, 1)
        seen = (N + N.T)[rows, columns] > 0
        rows, columns = rows[seen], columns[seen]

        def rule(params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
            logs = np.full((n, n), NEVER)
            np.fill_diagonal(logs, 0.0)
            logs[rows, columns] = logs[columns, rows] = params["logs"]
            return logs + np.log(params["bias"]), lambda G: {
                "logs": (G + G.T)[rows, columns],
                "bias": G.sum(axis=0) / params["bias"],
            }

        parts: Any = (Loose("logs", len(rows), (NEVER, -NEVER)), Simplex("bias", n))
        layout = Layout({"bias": np.full(n, 1 / n)}, parts)
        objective = Objective(rule, layout, Responses(N))
        found = search(objective, [np.append(np.full(len(rows), -1.0), np.zeros(n))], STEPS)
        self._keep(objective, found, known)
        self.similarities_[(N + N.T) + np.eye(n) == 0] = 0.0
        self.n_parameters_ = n * (n - 1) // 2 + n - 1
        return self

    def predict_proba(self) -> np.ndarray:
        """Return the probability of each answer to each stimulus."""
        check_is_fitted(self)
        return self.probabilities_


class MDSChoice(Confusions):
    """The MDS-choice model: confusions by distance in a psychological space (Nosofsky, 1985).

    P(j | i) = b_j s_ij / Σ_k b_k s_ik with s = exp(−c·(Σ w|xᵢ − xⱼ|^r)^(p/r)), by maximum
    likelihood. Coordinates are given to `fit`, or estimated there, from a start by
    multidimensional scaling; then c and all w are 1, since the coordinates have the scale.

    Parameters
    ----------
    sensitivity : float
        c, if it is not free.
    attention : sequence of float, optional
        w, if it is not free; sums to one. By default the same for all dimensions.
    bias : sequence of float, optional
        b, if it is not free; sums to one. By default the same for all answers.
    order, exponent : float
        r and p.
    dimensions : int
        Of the coordinates, if they are estimated.
    free : tuple of {"sensitivity", "attention", "exponent", "bias"}
        What is estimated.
    starts : int
        For coordinates: one from scaling, the others near it.
    random_state : int

    Attributes
    ----------
    coordinates_ : ndarray of shape (n, dimensions)
    params_ : dict
        sensitivity, attention, exponent and bias.
    kernel_ : Shepard
        The similarity.
    similarities_, bias_, probabilities_, log_likelihood_, aic_, bic_, deviance_, n_parameters_
        As for `SimilarityChoice`.

    Examples
    --------
    >>> confusions = [[88, 9, 3], [8, 83, 9], [2, 12, 86]]
    >>> model = MDSChoice(free=("sensitivity", "bias")).fit(confusions, [[0.0], [1.0], [2.0]])
    >>> round(model.params_["sensitivity"], 2)
    2.07
    >>> model.intervals()["sensitivity"].round(2)
    array([1.79, 2.38])
    """

    def __init__(
        self,
        sensitivity: float = 1.0,
        attention: Any = None,
        bias: Any = None,
        order: float = 2.0,
        exponent: float = 1.0,
        *,
        dimensions: int = 2,
        free: tuple[str, ...] = ("sensitivity", "attention", "bias"),
        starts: int = 4,
        random_state: int = 0,
    ) -> None:
        self.sensitivity = sensitivity
        self.attention = attention
        self.bias = bias
        self.order = order
        self.exponent = exponent
        self.dimensions = dimensions
        self.free = free
        self.starts = starts
        self.random_state = random_state

    def fit(self, confusions: Any, coordinates: Any = None, labels: Any = None) -> Self:
        """Fit to counts of answers (columns) to stimuli (rows).

        Parameters
        ----------
        confusions : array of shape (n, n)
        coordinates : array of shape (n, dimensions), optional
            Of the stimuli; estimated if not given.
        labels : sequence, optional
            Names of the stimuli, for messages; by default the columns of a data frame.
        """
        N, known = _counts(confusions, labels)
        objective, starts, unseen = self._problem(N, coordinates)
        layout = objective.layout
        found = search(objective, [layout.coordinates(start) for start in starts], STEPS)
        if not found.converged:
            warnings.warn(
                f"the best of {len(starts)} starts still has the slope {found.slope:.2g}; give "
                "more starts",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._keep(objective, found, known)
        params = dict(found.params)
        if coordinates is None:
            X = np.reshape(params.pop("coordinates"), (len(N), -1))
            self.coordinates_ = principal_axes(X) if self.order == 2 else X - X.mean(axis=0)
        else:
            self.coordinates_ = _placed(coordinates, len(N))
        self.params_ = params
        self.n_parameters_ = layout.count - unseen
        w = params["attention"]
        self.kernel_ = Shepard(
            params["sensitivity"], self.order, params["exponent"], None if w is None else tuple(w)
        )
        return self

    def predict_proba(self, stimuli: Any = None) -> np.ndarray:
        """Return the probability of each answer to stimuli of the same space.

        Parameters
        ----------
        stimuli : array of shape (m, dimensions), optional
            Coordinates; by default the stimuli of the fit.
        """
        check_is_fitted(self)
        if stimuli is None:
            return self.probabilities_
        rows = admit_stimuli(stimuli, "stimuli", self.coordinates_.shape[1])
        space = Space(rows, self.coordinates_, float(self.order), self.params_["exponent"])
        w = self.params_["attention"]
        decay = space.distances(np.ones(rows.shape[1]) if w is None else w)[1]
        return np.exp(log_softmax(np.log(self.bias_) - self.params_["sensitivity"] * decay))

    def intervals(self, level: float = 0.95) -> dict[str, np.ndarray]:
        """Return the profile-likelihood interval of each free parameter.

        Estimated coordinates have none, as they are free up to shifts and rotations.
        """
        check_is_fitted(self)
        params = self.params_
        if params["attention"] is None:
            raise DomainError("estimated coordinates have no intervals; give coordinates to fit")
        objective = self._problem(self.confusions_, self.coordinates_)[0]
        z = objective.layout.coordinates(params)
        value = objective.data.likelihood_loss(log_softmax(objective.rule(params)[0]))[0]
        return profile_intervals(objective, Minimum(z, params, value, 0.0), level)

    def _problem(self, N: np.ndarray, coordinates: Any) -> tuple[Objective, list[Any], int]:
        """Return what to minimize, where to start, and how many directions change nothing."""
        free = (self.free,) if isinstance(self.free, str) else tuple(self.free or ())
        for name in free:
            if name not in FREE:
                raise DomainError(f"there is no parameter {name!r}{suggestion(str(name), FREE)}")
        Shepard(self.sensitivity, self.order, self.exponent)  # refuses what is not positive
        n, r = len(N), float(self.order)
        given: dict[str, Any] = {
            "sensitivity": 1.0 if coordinates is None else float(self.sensitivity),
            "attention": None,
            "exponent": float(self.exponent),
            "bias": _simplex(self.bias, n, "bias"),
        }
        known: dict[str, Any] = {
            "exponent": Positive("exponent", (-3.0, 3.0)),
            "bias": Simplex("bias", n),
        }
        if coordinates is None:
            space = Estimated(n, self._width(n), r)
            near = space.starts(N, given["exponent"], self.starts, self.random_state)
            parts: Any = (Loose("coordinates", near[0].size), *self._free(known))
            starts: list[Any] = [{**given, "coordinates": X} for X in near]
            return Objective(space, Layout(given, parts), Responses(N)), starts, space.unseen
        X = _placed(coordinates, n)
        w = given["attention"] = _simplex(self.attention, X.shape[1], "attention", zero=True)
        rule = Given(X, r)
        known.update(sensitivity=Positive("sensitivity"), attention=Simplex("attention", len(w)))
        start = {**given, "sensitivity": rule.typical(w, given["exponent"])}
        layout = Layout(given, tuple(self._free(known)))
        # What has no weight at first would have no slope either, and never get any.
        even = {**start, "attention": np.full(len(w), 1 / len(w))}
        starts = [start, even] if "attention" in self.free else [start]
        lifted = [
            {**one, "attention": np.maximum(one["attention"], LIFT)}
            if "attention" in self.free
            else one
            for one in starts
        ]
        return Objective(rule, layout, Responses(N)), lifted, 0

    def _free(self, known: dict[str, Any]) -> list[Any]:
        free = (self.free,) if isinstance(self.free, str) else tuple(self.free or ())
        return [known[name] for name in FREE if name in free and name in known]

    def _width(self, n: int) -> int:
        if not 1 <= self.dimensions < n:
            raise DomainError(
                f"{n} stimuli lie in 1 to {n - 1} dimensions, found dimensions={self.dimensions}"
            )
        return int(self.dimensions)


def _counts(confusions: Any, labels: Any) -> tuple[np.ndarray, tuple]:
    """Return a confusion matrix of counts, every stimulus shown at least once."""
    N, known = square(confusions, labels, "confusions")
    bad = (N < 0) | (N != np.round(N))
    if bad.any():
        place = first(bad)
        raise DomainError(
            f"confusions must be counts, found {N[place]:g} for {pair_of(place, known)}"
        )
    if not N.sum(axis=1).all():
        row = int(np.flatnonzero(N.sum(axis=1) == 0)[0])
        raise DomainError(f"the row of {known[row]} has no trials; leave that stimulus out")
    return N, known


def _placed(coordinates: Any, n: int) -> np.ndarray:
    X = real_numbers(coordinates, "coordinates")
    if X.ndim != 2 or len(X) != n or not X.shape[1]:
        raise DomainError(
            f"coordinates must have a row for each of {n} stimuli, found shape {X.shape}"
        )
    if not np.isfinite(X).all():
        raise DomainError(f"coordinates must be finite; row {first(~np.isfinite(X))[0]} is not")
    return X


def _simplex(values: Any, count: int, name: str, zero: bool = False) -> np.ndarray:
    """Return weights that sum to one, by default all alike."""
    if values is None:
        return np.full(count, 1 / count)
    w = np.ravel(real_numbers(values, name))
    if len(w) != count or not ((w > 0) | (zero & (w == 0))).all() or abs(w.sum() - 1) > 1e-6:
        kind = "numbers, not negative," if zero else "positive numbers"
        raise DomainError(f"{name} must be {count} {kind} that sum to one, found {w.tolist()}")
    return w / w.sum()
