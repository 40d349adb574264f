"""The fixed bounds of Ashby & Gott (1988): those that make fewest errors, with noise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from mercer.cognition.choices.bounds import DecisionBound
from mercer.cognition.choices.fitting import Constraint, PositiveReal
from mercer.cognition.choices.gaussian_bounds import best_linear, best_quadratic, spreads
from mercer.cognition.choices.noisy_bounds import Discriminant
from mercer.cognition.choices.reals import Reals
from mercer.cognition.experiments.stimuli import Memory
from mercer.errors import DomainError, ValidityError
from mercer.values import Seed, finite, positive

__all__ = ["OptimalBound"]


class OptimalBound(DecisionBound):
    """The bound that makes fewest errors, with noise (the fixed models of Ashby & Gott, 1988).

    Each category is taken as a Gaussian with the mean and covariance of its exemplars, and h(x) is
    the logarithm of the ratio of their densities. People have this bound, says the model, noise of
    perception σ in every direction, and perhaps a bias δ:

        P(first category | x) = Φ((E h − δ)/√var h).

    Parameters
    ----------
    noise : float
        σ > 0, in the units of the stimuli.
    criterion : float
        δ, which is 0 for the fewest errors.
    covariance : {"shared", "own"}
        One covariance makes the bound linear, one for each category makes it quadratic.
    free : sequence of {"noise", "criterion"}
    loss, starts, random_state, max_iter
        As in `GCM`.

    Attributes
    ----------
    params_, classes_, function_, kernel_, free_
        As in `LinearBound`.
    log_likelihood_, sse_, aic_, bic_, fit_, subjects_
        As in `GCM`.

    Examples
    --------
    >>> X, y = [[0.0], [2.0], [4.0], [6.0]], ["a", "a", "b", "b"]
    >>> model = OptimalBound().fit(X, y, responses=[[20, 0], [15, 5], [5, 15], [1, 19]])
    >>> round(model.params_["noise"], 2), model.free_
    (1.52, ('noise',))
    """

    kinds: ClassVar[dict[str, str]] = {"noise": "positive", "criterion": "real"}

    def __init__(
        self,
        noise: float = 1.0,
        criterion: float = 0.0,
        covariance: str = "shared",
        free: Sequence[str] = ("noise",),
        loss: str = "likelihood",
        *,
        starts: int = 3,
        random_state: Seed = 0,
        max_iter: int = 500,
    ) -> None:
        self.noise = noise
        self.criterion = criterion
        self.covariance = covariance
        self.free = free
        self.loss = loss
        self.starts = starts
        self.random_state = random_state
        self.max_iter = max_iter

    def _value(self, name: str, memory: Memory) -> Any:
        if name == "criterion":
            return finite(self, name, self.criterion)
        return positive(self, name, self.noise)

    def _constraint(self, name: str, memory: Memory) -> Constraint:
        return PositiveReal(name) if name == "noise" else Reals(name, (1.0,), scalar=True)

    def _guess(self, memory: Memory) -> dict[str, Any]:
        return {"noise": 0.5 * float(spreads(memory).mean())}

    def _discriminant(self, memory: Memory, params: Mapping[str, Any]) -> Discriminant:
        if self.covariance not in ("shared", "own"):
            raise ValidityError(f'covariance is "shared" or "own", found {self.covariance!r}')
        best = best_linear if self.covariance == "shared" else best_quadratic
        h = best(memory)
        if not (h.w.any() or h.Q.any()):
            raise DomainError(
                "the categories have the same mean and covariance, so that no bound is better "
                "than another; use LinearBound or QuadraticBound"
            )
        return Discriminant(h.Q, h.w, h.b - params["criterion"], h.m)

    def _decide(
        self, memory: Memory, rows: np.ndarray, params: Mapping[str, Any]
    ) -> tuple[np.ndarray, Any]:
        h = self._discriminant(memory, params)
        found = h.noisy(rows, params["noise"], 0.0)

        def pull(g: np.ndarray) -> dict[str, Any]:
            return {
                "noise": float(g @ h.noise_slope(rows, params["noise"], found)),
                "criterion": -float(g @ found.for_mean),
            }

        return found.u, pull
