"""Expectation maximization: models with hidden causes, fitted step by step.

Each step computes how probable the hidden causes are under the present parameters, and then the
parameters that are best for these. The likelihood never decreases (Dempster, Laird and Rubin,
1977), and where it ends depends on where it begins.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer import errors
from mercer.domains import Items, admit_weights
from mercer.errors import DomainError
from mercer.forks import with_openmp
from mercer.models.base import Model
from mercer.values import positive, whole

__all__ = ["Ascent", "FiniteMixture", "LatentVariableModel", "k_means", "responsibilities_of"]


@dataclass(frozen=True)
class Ascent:
    """How a model was fitted.

    Attributes
    ----------
    model : Model
        The model after the last step.
    history : tuple of float
        The objective before each step: the log likelihood of all items, with what smoothing adds.
    converged : bool
        Whether the last step gained less than the tolerance.

    Examples
    --------
    >>> from mercer.models import HiddenMarkovModel
    >>> found = HiddenMarkovModel(1).ascend(["ab", "ba"])
    >>> found.converged, round(found.history[-1], 3)
    (True, -2.773)
    """

    model: Any
    history: tuple[float, ...]
    converged: bool


class LatentVariableModel(Model):
    """A model with hidden causes.

    Besides `log_densities` and the like, its author gives `begin` and `improve`, and the fields
    `iterations` (at most so many steps), `tolerance` (a step that gains less than so much per item
    is the last) and `starts` (from so many random beginnings, of which the best end is taken).
    """

    iterations: int
    tolerance: float
    starts: int

    def begin(self, points: Any, weights: np.ndarray, rng: np.random.Generator) -> Self:
        """Return the model with parameters to begin with."""
        raise NotImplementedError

    def improve(self, points: Any, weights: np.ndarray) -> tuple[Self, float]:
        """Return the model after one step, and the objective of this one."""
        raise NotImplementedError

    def ascend(
        self, X: Items, weights: np.ndarray | None = None, seed: int = 0, resume: bool = False
    ) -> Ascent:
        """Fit the model and tell how that went, without a warning.

        With `resume` it goes on from the present parameters, otherwise it forgets them.
        """
        points = self.domain.admit(X)
        if resume:
            self.require_fitted()
        return self._ascend(points, admit_weights(weights, len(points)), seed, resume)

    def refine(self, X: Items, weights: np.ndarray | None = None) -> Self:
        """Return the model after fitting that began with the present parameters.

        What is impossible under these stays so: zeros of a table of probabilities, for example.
        """
        found = self.ascend(X, weights, resume=True)
        self._warn(found)
        return found.model

    def learn(self, points: Any, weights: np.ndarray | None, seed: int) -> Self:
        found = self._ascend(points, weights, seed, resume=False)
        self._warn(found)
        return found.model

    def _ascend(self, points: Any, weights: np.ndarray | None, seed: int, resume: bool) -> Ascent:
        w = np.ones(len(points)) if weights is None else weights
        if resume:
            return self._climb(points, w)
        rng = np.random.default_rng(seed)
        ends = [self.begin(points, w, rng)._climb(points, w) for _ in range(self.starts)]
        return max(ends, key=lambda end: end.history[-1])

    def _climb(self, points: Any, w: np.ndarray) -> Ascent:
        history: list[float] = []
        current, converged = self, False
        while not converged and len(history) < self.iterations:
            current, value = current.improve(points, w)
            history.append(value)
            if len(history) > 1:
                converged = bool(value - history[-2] <= self.tolerance * w.sum())
        # A copy, because a model on its way may remember where its causes were.
        return Ascent(current.set_params(), tuple(history), converged)

    def _warn(self, found: Ascent) -> None:
        if found.converged:
            return
        gain = f"{found.history[-1] - found.history[-2]:.3g}" if len(found.history) > 1 else "?"
        warnings.warn(
            f"fitting {type(self).__name__} stopped after {self.iterations} steps, the last of "
            f"which gained {gain} in log likelihood, more than tolerance={self.tolerance} per "
            "item; raise iterations or tolerance",
            errors.ConvergenceWarning,
            stacklevel=4,
        )

    def _refuse_impossible(self, logs: np.ndarray, weights: np.ndarray) -> None:
        """Refuse an item of probability zero, unless it has no weight."""
        bad = np.flatnonzero((weights > 0) & (logs == -np.inf))
        if len(bad):
            raise DomainError(f"item {bad[0]} of X is impossible under {type(self).__name__}")

    def _check_settings(self) -> None:
        self._normalize("iterations", whole(self, "iterations", self.iterations))
        self._normalize("tolerance", positive(self, "tolerance", self.tolerance, zero=True))
        self._normalize("starts", whole(self, "starts", self.starts))


class FiniteMixture(LatentVariableModel):
    """A mixture p(x) = Σₖ πₖ p(x|k), whose hidden cause is the component."""

    weights: Any

    @property
    def fitted(self) -> bool:
        return self.weights is not None

    def component_log_densities(self, points: Any) -> np.ndarray:
        """Return ln p(x|k) of each point and component."""
        raise NotImplementedError

    def log_densities(self, points: Any) -> np.ndarray:
        return responsibilities_of(self.component_log_densities(points), self.weights)[1]

    def responsibilities(self, X: Items) -> np.ndarray:
        """Return p(k|x) of each item and component."""
        return responsibilities_of(self.component_log_densities(self._admit(X)), self.weights)[0]


def responsibilities_of(logs: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the share of each component in Σₖ wₖ exp(lₖ), and the logarithm of the sum.

    Where the sum is zero, shares are NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = logs + np.log(weights)
        top = joint.max(axis=1)
        joint -= np.where(top > -np.inf, top, 0.0)[:, None]
        np.exp(joint, out=joint)
        totals = joint.sum(axis=1)
        joint /= totals[:, None]
        return joint, top + np.log(totals)


def k_means(X: Items, count: int, weights: np.ndarray, rng: np.random.Generator) -> Any:
    """Return scikit-learn's clusters of rows, where fitting begins."""
    from sklearn.cluster import KMeans

    seed = int(rng.integers(2**31))
    found = KMeans(count, n_init=1, random_state=seed)
    return with_openmp(lambda: found.fit(X, sample_weight=weights))
