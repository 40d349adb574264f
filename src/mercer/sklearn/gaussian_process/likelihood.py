"""The likelihood along θ: what a search for the kernel's parameters goes up."""

from __future__ import annotations

import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import numpy as np

from mercer import lapack
from mercer.errors import ValidityError
from mercer.gram.slopes import Tiling
from mercer.sklearn.kernel_objects import Covariance, covariance_of

__all__ = ["Searching", "gaussian_likelihood", "require_vectors"]

Likelihood = tuple[float, np.ndarray]


class Searching:
    """What estimators share whose kernel is chosen where a likelihood is highest."""

    kernel_: Any
    optimizer: Any
    n_restarts_optimizer: int
    log_marginal_likelihood: Callable[..., Any]
    _constrained_optimization: Callable[..., Any]

    def _choose_theta(self, rng: np.random.RandomState) -> float:
        """Set the kernel's θ where the likelihood is highest, and return how high it is."""
        if self.optimizer is None or self.kernel_.n_dims == 0:
            return self.log_marginal_likelihood(self.kernel_.theta, clone_kernel=False)
        bounds = self.kernel_.bounds
        starts = [self.kernel_.theta]
        if self.n_restarts_optimizer:
            if not np.isfinite(bounds).all():
                raise ValueError(
                    "Multiple optimizer restarts (n_restarts_optimizer>0) requires that all "
                    "bounds are finite."
                )
            low, high = bounds.T
            starts += [rng.uniform(low, high) for _ in range(self.n_restarts_optimizer)]

        def height(theta: np.ndarray, eval_gradient: bool = True) -> Any:
            found = self.log_marginal_likelihood(theta, eval_gradient, clone_kernel=False)
            return (-found[0], -found[1]) if eval_gradient else -found

        optima = [self._constrained_optimization(height, start, bounds) for start in starts]
        self.kernel_.theta, least = min(optima, key=itemgetter(1))
        self.kernel_._check_bounds_params()
        return -least


def require_vectors(kernel: Any) -> None:
    """Refuse a kernel object that mercer has no counterpart of, or whose items are no rows."""
    if not kernel.requires_vector_input:
        covariance_of(kernel, None)  # which has the better reason if there is none
        raise ValidityError("its items may be of any kind, and mercer's counterpart takes rows")


def gaussian_likelihood(
    tiling: Tiling, covariance: Covariance, added: float | np.ndarray, Y: np.ndarray, slopes: bool
) -> Likelihood:
    """Return log p(Y) of a Gaussian process, and its derivatives by θ if they are wanted.

    Parameters
    ----------
    tiling : Tiling
        Of the items.
    covariance : Covariance
    added : float or ndarray
        Variance of noise that θ has no part in.
    Y : ndarray of shape (n, targets)
    slopes : bool

    Examples
    --------
    >>> from sklearn.gaussian_process.kernels import RBF
    >>> from mercer.sklearn.kernel_objects import covariance_of
    >>> covariance = covariance_of(RBF(1.0), 1)
    >>> tiling = Tiling(covariance.kernel.admit([[0.0], [1.0]]))
    >>> value, slopes = gaussian_likelihood(
    ...     tiling, covariance, 0.1, np.array([[1.0], [2.0]]), True
    ... )
    >>> round(value, 3), slopes.round(3)
    (-3.577, array([0.283]))
    """
    n, targets = Y.shape
    none = np.zeros(len(covariance.slots))
    M = tiling.gram(covariance.kernel)
    M.flat[:: n + 1] += covariance.noise + added
    if not lapack.factor(M):
        return -np.inf, none
    A = lapack.solve(M, Y)
    volume = 2 * float(np.sum(np.log(np.diag(M)))) + n * math.log(2 * math.pi)
    value = -(float(np.sum(Y * A)) + targets * volume) / 2
    if not slopes:
        return value, none
    G = lapack.inverse_from_factor_inverse(lapack.invert(M))
    G *= -targets / 2
    lapack.mirror(lapack.add_outer(G, np.ascontiguousarray(A) * np.sqrt(0.5)))
    found = tiling.slopes(covariance.kernel, G)
    return value, covariance.slopes(found, float(np.trace(G)))
