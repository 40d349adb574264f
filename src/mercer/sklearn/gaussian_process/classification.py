"""scikit-learn's Gaussian process classification, by Laplace's approximation."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import sklearn.gaussian_process as theirs
from sklearn.base import _fit_context, clone
from sklearn.gaussian_process import _gpc
from sklearn.gaussian_process.kernels import RBF, CompoundKernel, ConstantKernel
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from mercer import lapack
from mercer.domains import Points
from mercer.engine.tiles import fill, spans
from mercer.errors import ValidityError
from mercer.gram.slopes import Tiling
from mercer.machines import KernelLogistic
from mercer.rkhs import Function
from mercer.sklearn.gaussian_process.laplace import Mode, find_mode, gram_slopes
from mercer.sklearn.gaussian_process.likelihood import Searching, require_vectors
from mercer.sklearn.kernel_objects import Covariance, covariance_of
from mercer.sklearn.translation import leave

__all__ = ["GaussianProcessClassifier", "TwoClassProcess"]

ENTRIES = 4_000_000  # of a block of new items against the training items
MODES = {"one_vs_rest": OneVsRestClassifier, "one_vs_one": OneVsOneClassifier}


class TwoClassProcess(Searching, _gpc._BinaryGaussianProcessClassifierLaplace):
    """The machine for two classes, of which others have one for each class or pair."""

    _tiling: Tiling | None = None  # while a search computes the same matrix many times
    _start: np.ndarray | None = None  # where its last mode was

    def native(self) -> KernelLogistic:
        """Return the machine of mercer whose function is the mode, fitted if this one is."""
        fitted = hasattr(self, "pi_")
        covariance = self._covariance if fitted else covariance_of(self._kernel, None)
        if covariance.noise:
            raise ValidityError(
                "WhiteKernel is noise of the hidden function, of which KernelLogistic has none; "
                "leave it out"
            )
        machine = KernelLogistic(covariance.kernel, 1.0, intercept=False)
        if not fitted:
            return machine
        return machine.fit(self.X_train_.astype(np.float64), self.classes_[self.y_train_])

    @property
    def _kernel(self) -> Any:
        if self.kernel is not None:
            return self.kernel
        fixed = ConstantKernel(1.0, constant_value_bounds="fixed")
        return fixed * RBF(1.0, length_scale_bounds="fixed")

    @property
    def _covariance(self) -> Covariance:
        return covariance_of(self.kernel_, self.X_train_.shape[1])

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from rows `X` with labels `y` of two classes."""
        self.kernel_ = clone(self._kernel)
        self.rng = check_random_state(self.random_state)
        self.X_train_ = np.copy(X) if self.copy_X_train else X
        self.classes_, self.y_train_ = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            raise ValueError(
                f"{type(self).__name__} requires 2 classes; got {len(self.classes_)} class"
            )
        self._points = self._covariance.kernel.admit(self.X_train_.astype(np.float64))
        self._tiling = Tiling(self._points, self.optimizer is not None)
        try:
            self.log_marginal_likelihood_value_ = self._choose_theta(self.rng)
            _, mode = self._mode(self.kernel_)
        finally:
            self.__dict__.pop("_start", None)
            del self._tiling
        self.pi_, self.W_sr_, self.L_ = mode.shares, mode.roots, np.tril(mode.factor)
        self.f_cached = mode.coefficients
        self._function = Function(self._covariance.kernel, self._points, self.y_train_ - self.pi_)
        return self

    def log_marginal_likelihood(
        self, theta: Any = None, eval_gradient: bool = False, clone_kernel: bool = True
    ) -> Any:
        """Return the approximate likelihood of θ, and on request its derivatives."""
        if theta is None:
            return super().log_marginal_likelihood(theta, eval_gradient)
        if clone_kernel:
            kernel = self.kernel_.clone_with_theta(theta)
        else:
            kernel = self.kernel_
            kernel.theta = theta
        K, mode = self._mode(kernel)
        height = np.float64(mode.log_likelihood)  # which is what scikit-learn returns
        if not eval_gradient:
            return height
        covariance = covariance_of(kernel, self.X_train_.shape[1])
        G = gram_slopes(K, mode)
        found = self._tiles.slopes(covariance.kernel, G)
        return height, covariance.slopes(found, float(np.trace(G)))

    @property
    def _tiles(self) -> Tiling:
        return self._tiling or Tiling(self._points, keep=False)

    def _mode(self, kernel: Any) -> tuple[np.ndarray, Mode]:
        covariance = covariance_of(kernel, self.X_train_.shape[1])
        K = self._tiles.gram(covariance.kernel)
        K.flat[:: len(K) + 1] += covariance.noise
        start = self._start
        if start is None and self.warm_start and hasattr(self, "f_cached"):
            start = self.f_cached if self.f_cached.shape == self.y_train_.shape else None
        mode = find_mode(K, self.y_train_.astype(np.float64), self.max_iter_predict, start)
        if self._tiling is not None:
            self._start = mode.coefficients
        return K, mode

    # ---- new items -----------------------------------------------------------------------------

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class that is more probable at each item."""
        check_is_fitted(self)
        return self.classes_[(self._function(self._admit(X)) > 0).astype(int)]

    def latent_mean_and_variance(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of the hidden function at each item."""
        check_is_fitted(self)
        new, covariance = self._admit(X), self._covariance
        blocks = spans(len(new), max(ENTRIES // len(self._points), 1))
        variances = [self._variance(new[block], covariance) for block in blocks]
        return self._function(new), np.concatenate(variances)

    def _admit(self, X: np.ndarray) -> Points:
        return self._function.kernel.admit(np.asarray(X, dtype=np.float64))

    def _variance(self, new: Points, covariance: Covariance) -> np.ndarray:
        rows = np.asarray(fill(covariance.kernel, new, self._points, dtype=np.float64))
        V = lapack.solve_rows(self.L_, np.ascontiguousarray(rows * self.W_sr_))
        own = np.asarray(covariance.kernel.evaluate_diagonal(new)) + covariance.noise
        return own - np.einsum("ij,ij->i", V, V)


class GaussianProcessClassifier(theirs.GaussianProcessClassifier):
    """scikit-learn's `GaussianProcessClassifier`, by machines of mercer's for two classes."""

    def native(self) -> KernelLogistic:
        """Return the machine of mercer, fitted if this one is; its function is the mode.

        Its probabilities are those at the mode, where this machine's are averages over the
        posterior. More than two classes are told apart by a machine for each.
        """
        if not hasattr(self, "base_estimator_"):
            return self._two_classes().native()
        each = getattr(self.base_estimator_, "estimators_", [self.base_estimator_])
        if not isinstance(each[0], TwoClassProcess):
            raise ValidityError(
                "what was learned is scikit-learn's, and not a machine of mercer's"
            )
        if len(each) > 1:
            raise ValidityError(
                f"there are {self.n_classes_} classes, and a machine for each of them or their "
                "pairs; take those of base_estimator_.estimators_, which have native(), too"
            )
        return each[0].native()

    def _two_classes(self) -> TwoClassProcess:
        return TwoClassProcess(
            kernel=self.kernel, optimizer=self.optimizer,
            n_restarts_optimizer=self.n_restarts_optimizer,
            max_iter_predict=self.max_iter_predict, warm_start=self.warm_start,
            copy_X_train=self.copy_X_train, random_state=self.random_state,
        )  # fmt: skip

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from items `X` with labels `y`."""
        given, machine = (X, y), self._two_classes()
        try:
            if isinstance(self.kernel, CompoundKernel):
                return super().fit(X, y)  # which refuses it
            require_vectors(machine._kernel)
            X, y = validate_data(self, X, y)
            covariance_of(machine._kernel, X.shape[1])
        except ValidityError as error:
            leave(f"GaussianProcessClassifier(kernel={machine._kernel})", str(error))
            return super().fit(*given)
        self.classes_ = np.unique(y)
        self.n_classes_ = len(self.classes_)
        if self.n_classes_ == 1:
            raise ValueError(
                "GaussianProcessClassifier requires 2 or more distinct classes; got "
                f"{self.n_classes_} class (only class {self.classes_[0]} is present)"
            )
        self.base_estimator_ = machine
        if self.n_classes_ > 2:
            self.base_estimator_ = MODES[self.multi_class](machine, n_jobs=self.n_jobs)
        self.base_estimator_.fit(X, y)
        each = getattr(self.base_estimator_, "estimators_", [self.base_estimator_])
        self.log_marginal_likelihood_value_ = np.mean(
            [one.log_marginal_likelihood() for one in each]
        )
        return self
