"""Kernel ridge regression: the smoothest function that is near the data.

Minimizes Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ|f|² over all functions f of the kernel's space. The solution is
a sum over the data, f = Σ aᵢ k(·, xᵢ) with (K + λW⁻¹)a + b = y (Bishop, 6.8); with finitely many
features Φ it is as well f = Φw with (ΦᵀWΦ + λI)w = ΦᵀW(y − b), and then a = W(y − Φw − b)/λ (6.4).
Whichever system is cheaper is solved; both give the same function.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Points, admit_labels, admit_target, admit_weights
from mercer.errors import ValidityError
from mercer.gram import Dense, assemble, product
from mercer.kernels import Kernel
from mercer.kernels.features import FeatureMap, scaled_rows
from mercer.machines.machine import Machine
from mercer.plans import Plan, plan_ridge
from mercer.rkhs import Function
from mercer.solvers import Cholesky, Eigen, Problem, Solution, Solver

__all__ = ["KernelRidge", "KernelRidgeClassifier"]


class Ridge(Machine):
    """What regression and classification by ridge share: plan, solve, keep, evaluate."""

    def __init__(
        self,
        kernel: Any = "gaussian",
        penalty: float = 1.0,
        *,
        intercept: bool = False,
        indefinite: str = "error",
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.intercept = intercept
        self.indefinite = indefinite
        self.follow = follow

    def plan(self, X: Any, targets: int = 1) -> Plan:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> import numpy as np
        >>> print(KernelRidge("linear").plan(np.zeros((500, 3))).explain())
        Route primal, solver cholesky, double precision.
        Needs about ... of ... available.
        - primal, because 3 features and 500 items take ... operations in the primal and ...
        """
        points = self._admit(X)
        return self._plan(self._resolve(points), points, targets)

    def _fit(self, points: Points, target: np.ndarray, weights: np.ndarray | None) -> Self:
        """Walk through the rooms: items are admitted; resolve, plan, assemble, solve, keep."""
        kernel = self._resolve(points, weights)
        plan = self._plan(kernel, points, 1 if target.ndim == 1 else target.shape[1])
        if plan.route == "primal":
            solution, primal = self._solve_primal(kernel, points, target, weights, plan)
        else:
            solver, primal = self._solver(plan), None
            problem = Problem(assemble(kernel, points), weights, self.intercept)
            solution = solver.solve(solver.prepare(problem), target, float(self.penalty))
        solution.require_solved()
        self.plan_, self.solution_, self.kernel_ = plan, solution, kernel
        self.dual_coef_, self.intercept_ = solution.coefficients, solution.intercept
        self.coef_ = primal
        self.function_ = Function(kernel, points, solution.coefficients)
        return self

    def _plan(self, kernel: Kernel, points: Points, targets: int) -> Plan:
        penalty = float(self.penalty)
        if not np.isfinite(penalty) or penalty < 0:
            raise ValidityError(f"penalty must be finite and not negative, found {self.penalty!r}")
        repair = self._require_valid(kernel, self.indefinite)
        finite = kernel.map_features(points)
        trace = float(np.sum(np.abs(kernel.evaluate_diagonal(points)))) if penalty else 0.0
        return plan_ridge(
            self.follow or Plan(),
            items=len(points),
            width=points.width or 1,
            features=None if finite is None else finite.count,
            targets=targets + bool(self.intercept),
            bound=(trace + penalty) / penalty if penalty else np.inf,
            repair=repair,
        )

    def _solver(self, plan: Plan) -> Solver:
        if plan.solver == "eigen":
            return Eigen(self.indefinite)  # type: ignore[arg-type]
        return Cholesky(plan.precision)  # type: ignore[arg-type]

    def _solve_primal(
        self, kernel: Kernel, points: Points, target: np.ndarray,
        weights: np.ndarray | None, plan: Plan,
    ) -> tuple[Solution, np.ndarray]:  # fmt: skip
        """Solve for the weights of the features, then express them by the items (6.4)."""
        s = np.ones(len(points)) if weights is None else np.sqrt(weights)
        Phi = scaled_rows(features_of(kernel, points)(points), s)
        Y = target.reshape(len(s), -1) * s[:, None]
        G = Phi.T @ Phi
        G = Dense(G.toarray() if sparse.issparse(G) else G, owned=True)
        right = np.column_stack([Y, s]) if self.intercept else Y
        solver = self._solver(plan)
        found = solver.solve(solver.prepare(Problem(G)), Phi.T @ right, float(self.penalty))
        W, b = found.coefficients, np.zeros(Y.shape[1])
        if self.intercept:
            W, shift = W[:, :-1], W[:, -1]
            fitted = Phi.T @ s
            b = (s @ Y - fitted @ W) / (s @ s - fitted @ shift)
            W = W - shift[:, None] * b
        alpha = (Y - s[:, None] * b - Phi @ W) / float(self.penalty)
        solution = Solution(
            coefficients=(s[:, None] * alpha).reshape(target.shape),
            intercept=b if target.ndim > 1 else float(b[0]),
            status=found.status, certificate=found.certificate, solver=found.solver,
            penalty=found.penalty, history=found.history, message=found.message,
        )  # fmt: skip
        return solution, W.reshape(-1, *target.shape[1:])

    def _evaluate(self, X: Any) -> np.ndarray:
        """Return f(x) + b of new items."""
        check_is_fitted(self)
        points = self._admit_new(X, self.kernel_)
        if self.coef_ is not None:
            features = features_of(self.kernel_, self.function_.points)
            return np.asarray(features(points) @ self.coef_) + self.intercept_
        values = product(self.kernel_, points, self.function_.points, self.dual_coef_)
        return values + self.intercept_


def features_of(kernel: Kernel, points: Points) -> FeatureMap:
    """Return the finite feature map that the primal route relies on."""
    features = kernel.map_features(points)
    assert features is not None
    return features


class KernelRidge(MultiOutputMixin, RegressorMixin, Ridge):
    """Kernel ridge regression.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    penalty : float
        λ of (K + λI)a = y. With 0 the function goes through all the data, and a singular Gram
        matrix is an error.
    intercept : bool
        Whether to add a constant that is not penalized.
    indefinite : {"error", "clip", "flip", "shift"}
        What to do with a kernel that is not positive semi-definite.
    follow : Plan, optional
        Choices of yours about route, solver, precision and memory.

    Attributes
    ----------
    function_ : Function
        What was learned, without the intercept.
    dual_coef_ : ndarray of shape (n,) or (n, targets)
    intercept_ : float or ndarray
    coef_ : ndarray or None
        Weights of the kernel's features, if the primal system was solved.
    kernel_ : Kernel
        With its heuristics resolved.
    solution_ : Solution
        Status and certificate (relative residual).
    plan_ : Plan

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> machine = KernelRidge(Gaussian(1.0), penalty=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(machine.predict([[1.5]])[0] - np.sin(1.5)) < 0.01)
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets)."""
        points = self._admit(X)
        target = admit_target(y, len(points))
        return self._fit(points, target, admit_weights(sample_weight, len(points)))

    def predict(self, X: Any) -> np.ndarray:
        """Return the value of the learned function at each item."""
        return self._evaluate(X)


class KernelRidgeClassifier(ClassifierMixin, Ridge):
    """Classification by kernel ridge regression on ±1, one class against the rest.

    Parameters
    ----------
    kernel, penalty, intercept, indefinite, follow
        As in `KernelRidge`.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with the sample weights.

    Attributes
    ----------
    classes_ : ndarray
    function_, dual_coef_, intercept_, coef_, kernel_, solution_, plan_
        As in `KernelRidge`; with more than two classes one column for each.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    >>> machine = KernelRidgeClassifier(Polynomial(2, offset=1.0), penalty=0.01).fit(X, y)
    >>> machine.predict(X).tolist()
    ['no', 'yes', 'yes', 'no']
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        penalty: float = 1.0,
        *,
        intercept: bool = False,
        indefinite: str = "error",
        follow: Plan | None = None,
        class_weight: Any = None,
    ) -> None:
        super().__init__(
            kernel, penalty, intercept=intercept, indefinite=indefinite, follow=follow
        )
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._admit(X)
        codes, classes = admit_labels(y, len(points))
        weights = self._weights(codes, classes, sample_weight)
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        self.classes_ = classes
        return self._fit(points, signs[:, 1] if len(classes) == 2 else signs, weights)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of the second class, or with more classes the score of each."""
        return self._evaluate(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the label with the highest score."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    def _weights(self, codes: np.ndarray, classes: np.ndarray, given: Any) -> np.ndarray | None:
        weights = admit_weights(given, len(codes))
        if self.class_weight is None:
            return weights
        from sklearn.utils.class_weight import compute_sample_weight

        balance = compute_sample_weight(self.class_weight, classes[codes])
        return balance if weights is None else weights * balance
