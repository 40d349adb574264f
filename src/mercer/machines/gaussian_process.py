"""Gaussian processes: kernel ridge regression that knows how sure it is.

If a function is drawn from a Gaussian process with covariance k and observed with independent
noise of variance λ, what is known about it after n observations y is again a Gaussian process. Its
mean is the ridge regression with penalty λ; its covariance does not depend on y (Bishop, 6.4.2;
Rasmussen & Williams, 2.2). The probability of y, with the function integrated out,

    log p(y) = −½yᵀM⁻¹y − ½log|M| − ½n·log 2π,    M = K + λW⁻¹,

weighs fit against flexibility, and its derivatives say how to change the kernel. An intercept is a
constant with a flat prior (universal kriging). Integrated out too, it leaves the restricted
likelihood, with b = 1ᵀM⁻¹y/1ᵀM⁻¹1 (Rasmussen & Williams, 2.45):

    log p(y) = −½(y − b)ᵀM⁻¹(y − b) − ½log|M| − ½log 1ᵀM⁻¹1 − ½(n − 1)·log 2π.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mercer.domains import GramRows, Items, Points, in_passes
from mercer.errors import DomainError, ValidityError
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.machines.chunks import require_fitted
from mercer.machines.posterior import ProcessPosterior, posterior_of
from mercer.machines.projected import ProjectedPosterior, project
from mercer.machines.ridge import KernelRidge, Regression
from mercer.machines.sketching import Sketching
from mercer.plans import Plan
from mercer.plans.plan import asks_for_sketch
from mercer.solvers import Solution
from mercer.solvers.curvature import Curvature
from mercer.values import Seed, whole

__all__ = ["GaussianProcess"]


class GaussianProcess(KernelRidge):
    """Gaussian process regression: `KernelRidge` with variances, samples and a likelihood.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
        The covariance of two values of the function.
    penalty : float
        Variance λ of the noise; an item of weight w has noise of variance λ/w. With 0 the function
        goes through all the data.
    intercept : bool
        Whether to add a constant with a flat prior.
    follow : Plan, optional
        Choices of yours about route, solver, precision and memory.

    Attributes
    ----------
    log_marginal_likelihood_ : float
        Of the training data; computed when it is first asked for.
    function_, dual_coef_, intercept_, coef_, kernel_, solution_, plan_
        As in `KernelRidge`.

    Notes
    -----
    The mean costs what a ridge regression costs. The first variance costs a factor of M more, n³/3
    operations, which is kept but not pickled; every further one n² for each new item. With p
    features, fewer than items, it is np² and then p².

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> machine = GaussianProcess(Gaussian(1.0), penalty=0.01).fit(X, np.sin(X[:, 0]))
    >>> mean, std = machine.predict([[3.0], [8.0]], return_std=True)
    >>> mean.round(2), std.round(2)  # at 8.0 there are no data
    (array([0.14, 0.09]), array([0.05, 0.97]))
    """

    criterion = "evidence"
    saved = ("_target", "_weights", "_flat", "_projected")
    cached = ("_posterior",)
    _posterior: ProcessPosterior | ProjectedPosterior | None = None
    _projected: dict[str, Any] | None = None
    solution_only: ClassVar[bool] = False  # variances need the factor

    def __init__(
        self,
        kernel: Any = "gaussian",
        penalty: float = 1.0,
        *,
        intercept: bool = False,
        follow: Plan | None = None,
    ) -> None:
        super().__init__(kernel, penalty, intercept=intercept, follow=follow)

    def predict(
        self, X: Items, return_std: bool = False, return_cov: bool = False, noise: bool = False
    ) -> Any:
        """Return the mean at each item, and on request how far to trust it.

        Parameters
        ----------
        X : items
        return_std, return_cov : bool
            Whether to return also the standard deviation of the function at each item, or the
            covariance matrix of its values; not both. With several targets these have one more
            axis, along which they are the same.
        noise : bool
            Whether they are those of new observations, with noise, not of the function.
        """
        if return_std and return_cov:
            raise ValidityError(
                "return_std and return_cov were both asked for; take the covariance alone, the "
                "standard deviation is the root of its diagonal"
            )
        mean = self._decision_values(X)
        if not (return_std or return_cov):
            return mean
        new = self._admit_measured(X)
        added = self.solution_.penalty if noise else 0.0
        if return_std:
            spread = np.sqrt(self._known.variance(new) + added)
        else:
            spread = self._known.covariance(new) + added * np.eye(len(new))
        if mean.ndim == 2:
            spread = np.repeat(spread[..., None], mean.shape[1], axis=-1)
        return mean, spread

    def sample_y(self, X: Items, n_samples: int = 1, random_state: Seed = 0) -> np.ndarray:
        """Draw functions, without noise, and return their values at items.

        Returns an array of shape (items, n_samples), or (items, targets, n_samples).

        Examples
        --------
        >>> machine = GaussianProcess("linear", 0.1).fit([[1.0], [2.0]], [1.0, 2.0])
        >>> line = machine.sample_y([[1.0], [2.0], [3.0]])[:, 0]
        >>> bool(abs(line[2] - 3 * line[0]) < 1e-12)
        True
        """
        count = whole(self, "n_samples", n_samples)
        mean = self._decision_values(X)
        values, V = np.linalg.eigh(self._known.covariance(self._admit_measured(X)))
        rounding = len(values) * np.finfo(float).eps * values[-1]
        # The symmetric root does not depend on the signs of eigenvectors, nor on which of them
        # are chosen where eigenvalues are equal.
        root = V * np.sqrt(np.where(values > rounding, values, 0.0)) @ V.T
        rng = check_random_state(random_state)
        drawn = root @ rng.standard_normal((len(mean), mean[0].size * count))
        return mean[..., None] + drawn.reshape(*mean.shape, count)

    @property
    def log_marginal_likelihood_(self) -> float:
        """The logarithm of the probability density of the training data."""
        return self.log_marginal_likelihood()

    def log_marginal_likelihood(self, eval_gradient: bool = False) -> Any:
        """Return log p(y) of the training data, summed over targets.

        With `eval_gradient` return also a dict of its derivatives by the logarithms of the penalty
        and of the kernel's positive parameters, with names as in `set_params`.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> machine = GaussianProcess(Gaussian(1.0), 0.1).fit([[0.0], [1.0]], [1.0, 2.0])
        >>> value, gradient = machine.log_marginal_likelihood(eval_gradient=True)
        >>> round(value, 3), {name: round(slope, 3) for name, slope in gradient.items()}
        (-3.577, {'penalty': 0.049, 'kernel__bandwidth': 0.283})
        """
        require_fitted(self)
        if isinstance(self._known, ProjectedPosterior):
            if eval_gradient:
                raise ValidityError(
                    "the likelihood of a sketch has no derivatives here; fit a sample of the "
                    "items exactly to choose parameters"
                )
            return self._known.log_likelihood
        Y = self._target.reshape(len(self._target), -1)
        residual = (Y - self.intercept_)[self._counted]
        value = self._known.log_likelihood(residual)
        return (value, self._gradient(self._known, residual)) if eval_gradient else value

    def _fit(
        self, X: Items, points: Points, target: np.ndarray, weights: np.ndarray | None
    ) -> Self:
        super()._fit(X, points, target, weights)
        self._target, self._weights, self._flat = target, weights, bool(self.intercept)
        self._projected = None
        return self

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with targets `y`.

        A `Stream`, or a plan that asks for an approximation, is learned from with the functions of
        a sketch; then variances and the likelihood are those of the projected process.
        """
        self.__dict__.pop("_posterior", None)  # of an earlier fit
        if in_passes(X) or asks_for_sketch(self.follow):
            self._fit_stream(X, y, sample_weight)
            return self
        return super().fit(X, y, sample_weight)

    def _known_of_sketch(
        self, sketching: Sketching, white: Whitening, regression: Regression, solution: Solution
    ) -> dict[str, Any]:
        flat = bool(self.intercept)
        constant = solution.intercept if flat else None
        known = project(
            sketching, white, regression.target, regression.weights, solution.penalty, constant
        )
        return {
            "_projected": known, "_target": regression.target, "_weights": regression.weights,
            "_flat": flat,
        }  # fmt: skip

    @property
    def _counted(self) -> np.ndarray:
        """Items of positive weight; the noise of the others is infinite."""
        every = np.arange(len(self._target))
        return every if self._weights is None else every[self._weights > 0]

    @property
    def _known(self) -> ProcessPosterior | ProjectedPosterior:
        """The posterior, made when it is first needed."""
        if self._posterior is None and self._projected is not None:
            penalty, known = self.solution_.penalty, self._projected
            self._posterior = ProjectedPosterior(
                self.kernel_, self.function_, penalty=penalty, **known
            )
        if self._posterior is None:
            points, weights = self.function_.points, self._weights
            if weights is not None and not weights.all():
                points, weights = points[self._counted], weights[self._counted]
            self._posterior = posterior_of(
                self.plan_.route, self.kernel_, points, weights, self.solution_.penalty, self._flat
            )
        return self._posterior

    def _gradient(self, posterior: ProcessPosterior, residual: np.ndarray) -> dict[str, Any]:
        A = self.dual_coef_.reshape(len(self._target), -1)[self._counted]
        G = posterior.sensitivity(A)
        slopes = {
            f"kernel__{name}": slope if np.ndim(slope) else float(slope)
            for name, slope in posterior.slopes(G, residual).items()
        }
        if posterior.penalty == 0:  # it has no logarithm
            return slopes
        noise = posterior.penalty / posterior.roots**2
        return {"penalty": float(G.diagonal() @ noise), **slopes}

    def _admit_measured(self, X: Items) -> Points:
        """Return new items that have a similarity with themselves."""
        new = self._admit_new(X, self.kernel_)
        if isinstance(new, GramRows):
            raise DomainError(
                "a variance needs the similarity of each new item with itself, which rows of a "
                "precomputed matrix do not have; fit with the kernel and the items instead (use "
                "from_function for your own similarity), or ask for the mean alone"
            )
        return new

    def _judged(self, solution: Solution, curvature: Curvature | None) -> Solution:
        """Refuse a kernel that is seen not to be valid: it is no covariance."""
        if curvature is not None and curvature.negative:
            raise ValidityError(curvature.refusal())
        return super()._judged(solution, curvature)

    def _require_valid(self, kernel: Kernel, indefinite: str) -> bool:
        """Refuse an invalid kernel: a repaired spectrum has no variances of new items."""
        proof = kernel.proof()
        if proof.verdict == "refuted":
            needs = f"{type(self).__name__} needs a positive semi-definite kernel, but"
            raise ValidityError(f"{needs}\n{proof}\nuse a valid kernel")
        return False

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the factor of a pickle, which can be made again."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_posterior"}
