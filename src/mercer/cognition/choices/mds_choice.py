"""The MDS-choice model: confusions by distance in a psychological space (Nosofsky, 1985).

Coordinates of the stimuli are given, or estimated from the confusions. Either is a rule: from
parameters to the score log s_ij + log b_j of answer j to stimulus i, and from slopes for these
scores to slopes for the parameters.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from mercer.cognition.choices.confusions import MAX_STEPS, ConfusionModel, admit_confusions
from mercer.cognition.choices.fitting import (
    SMALLEST_START,
    Minimum,
    ParameterLayout,
    PositiveReal,
    ResponseLoss,
    Simplex,
    Slopes,
    Unconstrained,
    search,
)
from mercer.cognition.choices.intervals import profile_intervals
from mercer.cognition.experiments.responses import Responses, log_softmax
from mercer.cognition.experiments.stimuli import Distances, admit_stimuli
from mercer.cognition.similarity.scaling import principal_axes, stimulus_map
from mercer.cognition.similarity.similarity_axioms import first_true
from mercer.domains import Items
from mercer.domains.targets import real_numbers
from mercer.errors import ConvergenceWarning, DomainError, suggestion
from mercer.kernels import Shepard

__all__ = ["MDSChoice"]

FREE = ("sensitivity", "attention", "exponent", "bias")


class MDSChoice(ConfusionModel):
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
        attention: Sequence[float] | None = None,
        bias: Sequence[float] | None = None,
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

    def fit(
        self,
        confusions: ArrayLike,
        coordinates: ArrayLike | None = None,
        labels: Sequence[object] | None = None,
    ) -> Self:
        """Fit to counts of answers (columns) to stimuli (rows).

        Parameters
        ----------
        confusions : array of shape (n, n)
        coordinates : array of shape (n, dimensions), optional
            Of the stimuli; estimated if not given.
        labels : sequence, optional
            Names of the stimuli, for messages; by default the columns of a data frame.
        """
        N, known = admit_confusions(confusions, labels)
        objective, starts, unseen = self._problem(N, coordinates)
        layout = objective.layout
        found = search(objective, [layout.coordinates(start) for start in starts], MAX_STEPS)
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
            self.coordinates_ = _admit_coordinates(coordinates, len(N))
        self.params_ = params
        self.n_parameters_ = layout.count - unseen
        w = params["attention"]
        self.kernel_ = Shepard(
            params["sensitivity"], self.order, params["exponent"], None if w is None else tuple(w)
        )
        return self

    def predict_proba(self, stimuli: Items | None = None) -> np.ndarray:
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
        space = Distances(rows, self.coordinates_, float(self.order), self.params_["exponent"])
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

    def _problem(
        self, N: np.ndarray, coordinates: ArrayLike | None
    ) -> tuple[ResponseLoss, list[Any], int]:
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
            "exponent": PositiveReal("exponent", (-3.0, 3.0)),
            "bias": Simplex("bias", n),
        }
        if coordinates is None:
            space = EstimatedCoordinates(n, self._width(n), r)
            near = space.starts(N, given["exponent"], self.starts, self.random_state)
            parts: Any = (Unconstrained("coordinates", near[0].size), *self._free(known))
            starts: list[Any] = [{**given, "coordinates": X} for X in near]
            return (
                ResponseLoss(space, ParameterLayout(given, parts), Responses(N)),
                starts,
                space.unseen,
            )
        X = _admit_coordinates(coordinates, n)
        w = given["attention"] = _simplex(self.attention, X.shape[1], "attention", zero=True)
        rule = KnownCoordinates(X, r)
        known.update(
            sensitivity=PositiveReal("sensitivity"), attention=Simplex("attention", len(w))
        )
        start = {**given, "sensitivity": rule.typical_sensitivity(w, given["exponent"])}
        layout = ParameterLayout(given, tuple(self._free(known)))
        starts = [start]
        if "attention" in free:
            # What has no weight at first would have no slope either, and never get any.
            both = (w, np.full(len(w), 1 / len(w)))
            starts = [{**start, "attention": np.maximum(one, SMALLEST_START)} for one in both]
        return ResponseLoss(rule, layout, Responses(N)), starts, 0

    def _free(self, known: dict[str, Any]) -> list[Any]:
        free = (self.free,) if isinstance(self.free, str) else tuple(self.free or ())
        return [known[name] for name in FREE if name in free and name in known]

    def _width(self, n: int) -> int:
        if not 1 <= self.dimensions < n:
            raise DomainError(
                f"{n} stimuli lie in 1 to {n - 1} dimensions, found dimensions={self.dimensions}"
            )
        return int(self.dimensions)


def _admit_coordinates(coordinates: ArrayLike, n: int) -> np.ndarray:
    X = real_numbers(coordinates, "coordinates")
    if X.ndim != 2 or len(X) != n or not X.shape[1]:
        raise DomainError(
            f"coordinates must have a row for each of {n} stimuli, found shape {X.shape}"
        )
    if not np.isfinite(X).all():
        raise DomainError(
            f"coordinates must be finite; row {first_true(~np.isfinite(X))[0]} is not"
        )
    return X


def _simplex(values: ArrayLike | None, count: int, name: str, zero: bool = False) -> np.ndarray:
    """Return weights that sum to one, by default all alike."""
    if values is None:
        return np.full(count, 1 / count)
    w = np.ravel(real_numbers(values, name))
    if len(w) != count or not ((w > 0) | (zero & (w == 0))).all() or abs(w.sum() - 1) > 1e-6:
        kind = "numbers, not negative," if zero else "positive numbers"
        raise DomainError(f"{name} must be {count} {kind} that sum to one, found {w.tolist()}")
    return w / w.sum()


class KnownCoordinates:
    """Scores of stimuli with known coordinates, by sensitivity, attention, exponent and bias."""

    def __init__(self, X: np.ndarray, order: float) -> None:
        self.order = order
        self.A = np.abs(X[:, None] - X[None]) ** order

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        c, w, p = (params[name] for name in ("sensitivity", "attention", "exponent"))
        D = self.A @ w
        decay, safe = _decay(D, p / self.order)

        def slopes(G: np.ndarray) -> dict[str, Any]:
            H = G * decay
            return {
                "sensitivity": -np.sum(H),
                "attention": -c * p / self.order * np.tensordot(H / safe, self.A, 2),
                "exponent": -c / self.order * np.sum(H * np.log(safe)),
                "bias": G.sum(axis=0) / params["bias"],
            }

        return np.log(params["bias"]) - c * decay, slopes

    def typical_sensitivity(self, w: np.ndarray, p: float) -> float:
        """Return the sensitivity that makes the median similarity of two stimuli e⁻¹."""
        D = self.A @ w
        return float(np.median(D[D > 0])) ** (-p / self.order) if D.any() else 1.0


class EstimatedCoordinates:
    """Scores of stimuli whose coordinates are parameters, besides exponent and bias."""

    def __init__(self, n: int, dimensions: int, order: float) -> None:
        self.shape, self.order = (n, dimensions), order

    def __call__(self, params: Mapping[str, Any]) -> tuple[np.ndarray, Slopes]:
        X, p = np.reshape(params["coordinates"], self.shape), params["exponent"]
        apart = X[:, None] - X[None]
        size = np.abs(apart)
        decay, safe = _decay(np.sum(size**self.order, axis=2), p / self.order)

        def slopes(G: np.ndarray) -> dict[str, Any]:
            H = G * decay
            steep = np.where(size > 0, size, 1.0) ** (self.order - 1) * np.sign(apart)
            return {
                "coordinates": -p * np.einsum("ij,ijm->im", (H + H.T) / safe, steep),
                "exponent": -np.sum(H * np.log(safe)) / self.order,
                "bias": G.sum(axis=0) / params["bias"],
            }

        return np.log(params["bias"]) - decay, slopes

    @property
    def unseen(self) -> int:
        """Directions in which nothing changes: shifts, and rotations of a Euclidean space."""
        d = self.shape[1]
        return d * (d + 1) // 2 if self.order == 2 else d

    def starts(self, N: np.ndarray, p: float, count: int, seed: int) -> list[np.ndarray]:
        """Return coordinates by scaling of −log similarity, and others near them."""
        P = (N + 0.5) / (N + 0.5).sum(axis=1, keepdims=True)
        s = np.sqrt(P * P.T / np.outer(np.diag(P), np.diag(P)))
        d = np.maximum(-np.log(np.minimum(s, 1.0)), 0.05) ** (1 / p)
        np.fill_diagonal(d, 0.0)
        X = stimulus_map(d, self.shape[1], random_state=seed).coordinates
        rng, spread = np.random.default_rng(seed), float(X.std()) / 2
        return [X, *(X + rng.normal(0, spread, X.shape) for _ in range(1, count))]


def _decay(D: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
    """Return D^power, and D with ones for zeros, where nothing changes to first order."""
    safe = np.where(D > 0, D, 1.0)
    return np.where(D > 0, safe**power, 0.0), safe
