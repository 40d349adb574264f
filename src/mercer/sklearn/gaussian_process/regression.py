"""scikit-learn's Gaussian process regression, learned by `mercer.GaussianProcess`."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, Self

import numpy as np
import sklearn.gaussian_process as theirs
from sklearn.base import _fit_context, clone
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from mercer import lapack
from mercer.errors import ConvergenceWarning, SolveError, ValidityError
from mercer.gram.slopes import Tiling
from mercer.machines import GaussianProcess as Native
from mercer.sklearn.gaussian_process.likelihood import (
    Searching,
    gaussian_likelihood,
    require_vectors,
)
from mercer.sklearn.kernel_objects import Covariance, covariance_of
from mercer.sklearn.translation import leave

__all__ = ["GaussianProcessRegressor"]

CONSTANT = 10 * lapack.EPS  # standard deviation below which scikit-learn does not divide by it


class GaussianProcessRegressor(Searching, theirs.GaussianProcessRegressor):
    """scikit-learn's `GaussianProcessRegressor`, learned by `mercer.GaussianProcess`."""

    alpha: float | np.ndarray
    machine_: Native | None = None
    _tiling: Tiling | None = None  # while a search computes the same matrix many times

    def native(self) -> Native:
        """Return the machine of mercer, fitted if this one is.

        With `normalize_y` it has learned the normalized targets.
        """
        if self.machine_ is not None:
            return self.machine_
        if np.ndim(self.alpha):
            raise ValidityError(
                "alpha has a value for each item, which a machine of mercer gets as weights in "
                "fit; fit this one first"
            )
        covariance = covariance_of(self._kernel, None)
        return Native(covariance.kernel, float(covariance.noise + self.alpha))

    @property
    def _kernel(self) -> Any:
        return ConstantKernel() * RBF() if self.kernel is None else self.kernel

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets)."""
        self.machine_, given = None, (X, y)
        self.__dict__.pop("L_", None)
        self.kernel_ = clone(self._kernel)
        try:
            require_vectors(self.kernel_)
            X, y = validate_data(self, X, y, multi_output=True, y_numeric=True)
            covariance_of(self.kernel_, X.shape[1])
            self._normalize(X, y)
            self._learn()
        except (SolveError, ValidityError) as error:
            leave(f"GaussianProcessRegressor(kernel={self._kernel})", str(error))
            return super().fit(*given)
        return self

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the likelihood of θ for the training items, and on request its derivatives."""
        if theta is None or not (self._tiling or self.machine_):
            return super().log_marginal_likelihood(theta, eval_gradient, clone_kernel)
        if clone_kernel:
            kernel = self.kernel_.clone_with_theta(theta)
        else:
            kernel = self.kernel_
            kernel.theta = theta
        covariance = covariance_of(kernel, self.X_train_.shape[1])
        Y = self.y_train_.reshape(len(self.y_train_), -1).astype(np.float64)
        tiling = self._tiling or self._tiles(covariance, keep=False)
        value, slopes = gaussian_likelihood(tiling, covariance, self.alpha, Y, eval_gradient)
        height = np.float64(value)  # which is what scikit-learn returns
        return (height, slopes) if eval_gradient else height

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False) -> Any:
        """Return the mean at each item, and on request standard deviations or covariances."""
        if not self._ours or (return_std and return_cov):
            return super().predict(X, return_std, return_cov)
        machine = self.native()
        X = validate_data(self, X, reset=False).astype(np.float64)
        found = machine.predict(X, return_std=return_std, return_cov=return_cov)
        mean, spread = found if return_std or return_cov else (found, None)
        mean = _squeezed(self._y_train_std * mean + self._y_train_mean)
        if spread is None:
            return mean
        if self.y_train_.ndim == 2:
            spread = spread[..., 0]  # the same for all targets, before they are scaled
        noise = self._covariance.noise
        variance = spread + noise * np.eye(len(X)) if return_cov else spread**2 + noise
        variance = _squeezed(variance[..., None] * self._y_train_std**2)
        return mean, variance if return_cov else np.sqrt(variance)

    @cached_property
    def L_(self) -> np.ndarray:
        """The lower triangular factor of K plus noise, made when it is first asked for."""
        covariance = self._covariance
        M = self._tiles(covariance, keep=False).gram(covariance.kernel)
        M.flat[:: len(M) + 1] += covariance.noise + self.alpha
        lapack.factor(M)
        return np.tril(M)

    # ---- how mercer learns ---------------------------------------------------------------------

    @property
    def _ours(self) -> bool:
        """Whether what was learned is still what mercer's machine has learned."""
        if self.machine_ is None:
            return False
        same = np.array_equal(self.kernel_.theta, self._chosen)
        return same and self.alpha_ is self._learned

    @property
    def _covariance(self) -> Covariance:
        return covariance_of(self.kernel_, self.X_train_.shape[1])

    def _tiles(self, covariance: Covariance, keep: bool) -> Tiling:
        items = covariance.kernel.admit(self.X_train_.astype(np.float64))
        return Tiling(items, keep)

    def _normalize(self, X: np.ndarray, y: np.ndarray) -> None:
        """Keep the items and their targets, scaled if that is wanted."""
        targets = y.shape[1] if y.ndim > 1 else 1
        if self.n_targets is not None and targets != self.n_targets:
            raise ValueError(
                "The number of targets seen in `y` is different from the parameter `n_targets`. "
                f"Got {targets} != {self.n_targets}."
            )
        if np.size(self.alpha) not in (1, len(y)):
            raise ValueError(
                "alpha must be a scalar or an array with same number of entries as y. "
                f"({np.size(self.alpha)} != {len(y)})"
            )
        self._y_train_mean, self._y_train_std = np.zeros(targets), np.ones(targets)
        if self.normalize_y:
            self._y_train_mean, spread = np.mean(y, axis=0), np.std(y, axis=0)
            self._y_train_std = np.where(spread < CONSTANT, 1.0, spread)
            y = (y - self._y_train_mean) / self._y_train_std
        self.X_train_ = np.copy(X) if self.copy_X_train else X
        self.y_train_ = np.copy(y) if self.copy_X_train else y

    def _learn(self) -> None:
        searched = self.optimizer is not None and self.kernel_.n_dims > 0
        self._rng = check_random_state(self.random_state)
        if searched:
            self._tiling = self._tiles(self._covariance, keep=True)
            try:
                self.log_marginal_likelihood_value_ = self._choose_theta(self._rng)
            finally:
                del self._tiling
        covariance = self._covariance
        penalty, weights = self._noise(covariance)
        machine = Native(covariance.kernel, penalty)
        with warnings.catch_warnings():  # scikit-learn is silent; `solution_` says it
            warnings.simplefilter("ignore", ConvergenceWarning)
            machine.fit(self.X_train_.astype(np.float64), self.y_train_, sample_weight=weights)
        if not searched:
            self.log_marginal_likelihood_value_ = np.float64(machine.log_marginal_likelihood_)
        self.machine_, self.alpha_ = machine, machine.dual_coef_
        self._learned, self._chosen = self.alpha_, self.kernel_.theta

    def _noise(self, covariance: Covariance) -> tuple[float, np.ndarray | None]:
        """Return the variance of noise, and weights of items if it differs between them."""
        each = np.broadcast_to(covariance.noise + self.alpha, len(self.X_train_))
        if (each == each[0]).all():
            return float(each[0]), None
        if not each.all():
            raise ValidityError("some items have noise and others none, which no weights say")
        penalty = float(each.mean())
        return penalty, penalty / each


def _squeezed(values: np.ndarray) -> np.ndarray:
    """Return an array without its last axis, if there is one target."""
    return values[..., 0] if values.ndim > 1 and values.shape[-1] == 1 else values
