"""Radial basis function networks: weighted sums of similarities to a few centers.

f(x) = Σ wⱼ φⱼ(x) with φⱼ(x) = k(x, cⱼ). With a center on every item and no penalty it goes
through all the data, w = K⁻¹y: exact interpolation, (6.38) of Bishop and (24) of Jäkel, Schölkopf
& Wichmann (2007). With fewer centers the weights minimize |y − Φw|² + λ|w|². Normalized basis
functions φⱼ(x) = k(x, cⱼ)/Σₗ k(x, cₗ) add up to one everywhere, so f is a weighted mean of the
weights: with a center on every item and wⱼ = yⱼ it would be the Nadaraya-Watson model, (6.45).

The penalty is on the weights, as usual for networks. `KernelRidge` penalizes the norm of f in the
kernel's space instead.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin

from mercer.domains import Items, Points, admit_labels, admit_target, to_numpy
from mercer.engine.tiles import fill
from mercer.errors import DomainError
from mercer.gram import assemble, product
from mercer.kernels import Kernel
from mercer.machines.centers import choose, how_many
from mercer.machines.chunks import require_fitted
from mercer.machines.machine import Machine, number
from mercer.plans import Decision, Plan, requested, size_of
from mercer.plans.products import choose_network
from mercer.rkhs import Function
from mercer.solvers import Cholesky, Problem, Solution
from mercer.solvers.ridge.least_squares import LeastSquares
from mercer.values import Seed

__all__ = ["RBFNetwork", "RBFNetworkClassifier"]


class Network(Machine):
    """What networks for regression and for classification share."""

    similarities_suffice = False  # its centers are items that are compared anew

    function_: Function | None
    intercept_: float | None

    def __init__(
        self,
        kernel: Any = "gaussian",
        centers: Any = "all",
        n_centers: int | None = None,
        *,
        normalized: bool = False,
        penalty: float = 1e-3,
        random_state: Seed = None,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.centers = centers
        self.n_centers = n_centers
        self.normalized = normalized
        self.penalty = penalty
        self.random_state = random_state
        self.follow = follow

    def plan(self, X: Items, targets: int = 1) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> print(RBFNetwork(centers="random").plan(np.ones((100, 2))).explain())
        Route dual, solver least squares, double precision.
        Needs about ... of ... available.
        - least squares for the weights of 10 basis functions
        """
        points = self._admit(X)
        return self._decide(self._resolve(points), points, targets)[0]

    def _fit(self, X: Items, points: Points, target: np.ndarray) -> Self:
        """Choose centers and weights."""
        kernel = self._resolve(points)
        decision, count = self._decide(kernel, points, 1 if target.ndim == 1 else target.shape[1])
        centers, places = choose(self, kernel, points, target, count)
        solution = self._solve(kernel, points, centers, target).require_solved()
        function = Function(kernel, centers, solution.coefficients)

        self._remember(X, points)
        self.kernel_, self.plan_, self.solution_ = kernel, decision, solution
        self.function_, self.intercept_ = (None, None) if self.normalized else (function, 0.0)
        self.centers_, self.center_indices_ = centers, places
        self.weights_ = function.coefficients
        return self

    def _decide(self, kernel: Kernel, points: Points, targets: int) -> tuple[Decision, int]:
        number(self.penalty, "penalty")
        count = how_many(self, kernel, len(points))
        search = isinstance(self.centers, str) and self.centers == "ols"
        size = size_of(kernel, points, targets=targets, features=None)
        decision = choose_network(requested(self.follow), size, count, search, self._exact(kernel))
        return decision, count

    def _solve(
        self, kernel: Kernel, points: Points, centers: Points, target: np.ndarray
    ) -> Solution:
        if self._exact(kernel):
            solver = Cholesky()
            return solver.solve(solver.prepare(Problem(assemble(kernel, points))), target, 0.0)
        Phi = to_numpy(fill(kernel, points, centers, dtype=np.float64)).astype(float, copy=False)
        if self.normalized:
            Phi /= _sums(Phi.sum(axis=1))[:, None]
        return LeastSquares().solve(Phi, target, float(self.penalty))

    def _exact(self, kernel: Kernel) -> bool:
        """Tell whether the weights solve Kw = y with a positive definite matrix."""
        on_items = isinstance(self.centers, str) and self.centers == "all"
        valid = kernel.proof().verdict == "proved"
        return on_items and valid and self.penalty == 0 and not self.normalized

    def _evaluate(self, X: Items) -> np.ndarray:
        require_fitted(self)
        points = self._admit_new(X, self.kernel_)
        if self.function_ is not None:
            return self.function_(points)
        W = self.weights_.reshape(len(self.weights_), -1)
        both = product(self.kernel_, points, self.centers_, np.column_stack([W, np.ones(len(W))]))
        values = both[:, :-1] / _sums(both[:, -1])[:, None]
        return values.reshape(-1, *self.weights_.shape[1:])


class RBFNetwork(MultiOutputMixin, RegressorMixin, Network):
    """A radial basis function network for regression; for labels use `RBFNetworkClassifier`.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
        The basis function. It need not be positive semi-definite.
    centers : {"all", "random", "kmeans", "ols"} or sequence of things
        Where the basis functions sit: on all training items, on a random choice of them, on the
        means of clusters (vectors only), on those that explain most of the target (orthogonal
        least squares), or on the given things.
    n_centers : int, optional
        How many, for "random", "kmeans" and "ols"; by default √n, rounded up. "ols" takes fewer if
        those already explain all.
    normalized : bool
        Whether basis functions are divided by their sum. Centers by "ols" are chosen without it.
    penalty : float
        λ of |y − Φw|² + λ|w|². With 0, weights that are not determined are an error.
    random_state : int, RandomState or None
        For "random" and "kmeans".
    follow : Plan, optional
        Choices of yours about memory.

    Attributes
    ----------
    function_ : Function or None
        What was learned. None with `normalized`: a quotient of functions of the kernel's space is
        not in that space.
    intercept_ : float or None
        Zero; a network has none. None with `normalized`.
    centers_ : Points
    center_indices_ : ndarray or None
        Which training items the centers are, if they are; of "ols" in the order of choice.
    weights_ : ndarray of shape (centers,) or (centers, targets)
    solution_ : Solution
        Its certificate is the relative residual of the equations for the weights.
    kernel_, plan_
        As in `KernelRidge`.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 0.0, -1.0]
    >>> RBFNetwork(Gaussian(1.0), penalty=0.0).fit(X, y).predict(X).round(9) + 0.0
    array([ 0.,  1.,  0., -1.])
    """

    def fit(self, X: Items, y: ArrayLike) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets)."""
        points = self._admit(X)
        return self._fit(X, points, admit_target(y, len(points)))

    def predict(self, X: Items) -> np.ndarray:
        """Return the value of the learned function at each item."""
        return self._evaluate(X)


class RBFNetworkClassifier(ClassifierMixin, Network):
    """A radial basis function network for labels, by regression on ±1, one class against the rest.

    Parameters
    ----------
    kernel, centers, n_centers, normalized, penalty, random_state, follow
        As in `RBFNetwork`.

    Attributes
    ----------
    classes_ : ndarray
    function_, intercept_, centers_, center_indices_, weights_, solution_, kernel_, plan_
        As in `RBFNetwork`; with more than two classes one column for each.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> RBFNetworkClassifier(Gaussian(1.0)).fit(X, y).predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    def fit(self, X: Items, y: ArrayLike) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._admit(X)
        codes, classes = admit_labels(y, len(points))
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        self._fit(X, points, signs[:, 1] if len(classes) == 2 else signs)
        self.classes_ = classes
        return self

    def decision_function(self, X: Items) -> np.ndarray:
        """Return the score of the second class, or with more classes the score of each."""
        return self._evaluate(X)

    def predict(self, X: Items) -> np.ndarray:
        """Return the label with the highest score."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


def _sums(sums: np.ndarray) -> np.ndarray:
    """Return the sums that basis functions are divided by, refusing those not positive."""
    bad = np.flatnonzero(~(sums > 0))
    if len(bad):
        raise DomainError(
            f"the similarities of item {bad[0]} to all centers sum to {sums[bad[0]]:.3g}, so "
            "normalized basis functions are not defined there; use a larger bandwidth, or a "
            "kernel that is positive everywhere"
        )
    return sums
