"""Kernel ridge regression: the smoothest function that is near the data.

Minimizes Σ wᵢ(yᵢ − f(xᵢ) − b)² + λ|f|² over all functions f of the kernel's space. The solution is
a sum over the data, f = Σ aᵢ k(·, xᵢ) with (K + λW⁻¹)a + b = y (Bishop, 6.8); with finitely many
features Φ it is as well f = Φw with (ΦᵀWΦ + λI)w = ΦᵀW(y − b), and then a = W(y − Φw − b)/λ (6.4).
Whichever system is cheaper is solved; both give the same function.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import MultiOutputMixin, RegressorMixin

from mercer.domains import (
    Items,
    Points,
    admit_labels,
    admit_target,
    admit_weights,
    in_passes,
    is_stream,
    to_numpy,
    weigh_classes,
)
from mercer.engine.tiles import diagonal
from mercer.errors import ConvergenceWarning
from mercer.gram import Dense, assemble
from mercer.gram.whitening import Whitening
from mercer.kernels import Kernel
from mercer.machines.machine import number
from mercer.machines.scores import ExpansionMachine, ScoreClassifier
from mercer.machines.sketching import (
    SampledItems,
    Sketching,
    decide_approximation,
    in_memory,
    plan_sketched_fit,
    read_training_set,
    resolve_on_sample,
    weight_share,
)
from mercer.plans import Decision, Plan, Size, choose_ridge, requested, size_of
from mercer.plans.ridge import decide_ridge, prepare
from mercer.rkhs.primal_function import function_of
from mercer.solvers import Cholesky, Problem, SketchedRidge, Solution
from mercer.solvers.curvature import Curvature
from mercer.solvers.status import caller_of_mercer

__all__ = ["KernelRidge", "KernelRidgeClassifier", "Regression"]


@dataclass(frozen=True)
class Regression:
    """What is regressed on the items.

    Attributes
    ----------
    target : ndarray of shape (n,) or (n, targets)
    weights : ndarray or None
        Of the items, those of their classes included.
    classes : ndarray or None
    codes : ndarray or None
        The class of each item, if there are classes.
    """

    target: np.ndarray
    weights: np.ndarray | None
    classes: np.ndarray | None = None
    codes: np.ndarray | None = None

    @property
    def targets(self) -> int:
        """How many there are of each item."""
        return 1 if self.target.ndim == 1 else self.target.shape[1]


class Ridge(ExpansionMachine):
    """What regression and classification by ridge share: plan, solve, keep."""

    abilities = ("shared Gram matrix", "closed-form folds")
    mixes_targets: ClassVar[bool] = False
    solution_only: ClassVar[bool] = True  # nobody asks for a factor after the fit

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

    @property
    def has_intercept(self) -> bool:
        """Whether the regression has a constant that is not penalized."""
        return bool(self.intercept)

    @property
    def closed_form_applies(self) -> bool:
        """Whether folds change neither weights nor kernel, with the present parameters."""
        return self.indefinite == "error" and getattr(self, "class_weight", None) != "balanced"

    def regression_scores(
        self, values: np.ndarray, sums: np.ndarray | None, sizes: np.ndarray, penalty: float
    ) -> np.ndarray | None:
        """Return the values of the regression, which are the scores."""
        return values

    def plan(self, X: Items, targets: int = 1) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> import numpy as np
        >>> print(KernelRidge("linear").plan(np.zeros((500, 3))).explain())
        Route primal, solver cholesky, double precision.
        Needs about ... of ... available.
        - primal, because 3 features and 500 items take ... operations in the primal and ...
        """
        if in_passes(X) and self._needs_passes(X):
            whole = not self.solution_only
            return plan_sketched_fit(self, X, targets + bool(self.intercept), whole=whole)
        points = self._admit(X)
        kernel = self._resolve(points)
        repair = self._require_valid(kernel, self.indefinite)
        size = self._size(kernel, points, targets, False, repair)
        return decide_ridge(requested(self.follow, sketches=True), kernel, points, size)

    def _fit(
        self,
        X: Items,
        points: Points,
        target: np.ndarray,
        weights: np.ndarray | None,
    ) -> Self:
        """Walk through the rooms: X is admitted; resolve, decide, assemble, solve, keep."""
        points = self._own(X, points)
        kernel = self._resolve(points, weights)
        repair = self._require_valid(kernel, self.indefinite)
        targets = 1 if target.ndim == 1 else target.shape[1]
        size = self._size(kernel, points, targets, weights is not None, repair)
        decision = decide_ridge(requested(self.follow, sketches=True), kernel, points, size)
        if decision.sketched:
            items = in_memory(points)
            return self._fit_sketch(X, kernel, items, Regression(target, weights), decision)
        problem = Problem(assemble(kernel, points, decision), weights, self.intercept)
        penalty = float(self.penalty)
        decision, solver, state = prepare(decision, problem, size, penalty, self.indefinite)
        solution = solver.solve(state, target, penalty).require_solved()
        if not repair and decision.route == "dual":
            gram = state if hasattr(state, "block") else problem.gram
            solution = self._judged(solution, self._curvature(kernel, gram))
        function = function_of(kernel, points, solution.coefficients, solution.weights)

        self._remember(X, points)
        self.kernel_, self.plan_, self.solution_ = kernel, decision, solution
        self.function_, self.dual_coef_ = function, solution.coefficients
        self.intercept_, self.coef_ = solution.intercept, solution.weights
        return self

    def _judged(self, solution: Solution, curvature: Curvature | None) -> Solution:
        """Return a solution that claims what is known of the kernel.

        Where K has negative eigenvalues and K + λI has none, the system has an answer, which
        predicts; but it minimizes nothing.
        """
        if curvature is None:
            return solution
        if not curvature.negative:
            return solution.noting(curvature.doubt)
        found = solution.noting(
            f'{curvature.refusal()}, or indefinite="clip", "flip" or "shift"; the answer '
            "solves the linear system, but minimizes nothing"
        )
        warnings.warn(found.message, ConvergenceWarning, stacklevel=caller_of_mercer())
        return replace(found, status="unproved")

    def _needs_passes(self, X: Any) -> bool:
        """Tell whether data are read in passes; a mapped file may also be small enough."""
        if in_passes(X):
            return True
        # The condition number is not known yet; memory and time do not depend on it.
        size = Size(items=len(X), row=8.0 * X.shape[1] if X.ndim == 2 else 8.0, condition=1.0)
        return choose_ridge(requested(self.follow, sketches=True), size).sketched

    def _fit_stream(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None) -> Regression:
        """Learn from items that are read in passes; only targets and a sample are kept."""
        given = read_training_set(self, X, y, sample_weight)
        regression = self.regression(given.y, given.items.count, given.weights)
        kernel = resolve_on_sample(self, given.items, regression.weights)
        number(self.penalty, "penalty")
        self._require_valid(kernel, "error")
        targets = regression.targets + bool(self.intercept)
        size = given.items.size(kernel, targets, regression.weights is not None)
        decision = decide_approximation(
            self.follow, kernel, given.items, size, whole=not self.solution_only
        )
        self._fit_sketch(given.X, kernel, given.items, regression, decision)
        return regression

    def _fit_sketch(
        self,
        X: Items,
        kernel: Kernel,
        items: SampledItems,
        regression: Regression,
        decision: Decision,
    ) -> Self:
        """Learn with the functions of a sketch, and estimate how far that is from exact."""
        sketching = Sketching.of(kernel, items, decision)
        intercept, penalty = bool(self.intercept), float(self.penalty)
        # Single precision leaves no more digits than these.
        solver = SketchedRidge(decision.direct, 1e-4 if decision.precision == "mixed" else None)
        sketch: Any = sketching.sketch
        state = solver.prepare(Problem(sketch, regression.weights, intercept))
        solution = solver.solve(state, regression.target, penalty)

        def learn(gram: Dense, places: np.ndarray) -> tuple[np.ndarray, Any]:
            weights = None if regression.weights is None else regression.weights[places]
            exact = Cholesky("double")
            # The penalty for each item is the same.
            share = penalty * weight_share(places, regression.weights, items.count)
            some = exact.solve(
                exact.prepare(Problem(gram, weights, intercept)), regression.target[places], share
            )
            return some.coefficients, some.intercept

        approximation = sketching.estimate_error(learn, state.white, weights=regression.weights)
        solution = replace(solution, approximation=approximation).require_solved()
        solution = solution.noting(sketching.doubt)
        known = self._known_of_sketch(sketching, state.white, regression, solution)

        self._remember(X, items.sample)
        self.kernel_, self.plan_, self.solution_ = kernel, decision, solution
        self.function_ = sketching.function(solution.coefficients)
        self.dual_coef_ = solution.coefficients
        self.intercept_, self.coef_ = solution.intercept, None
        for name, value in known.items():
            setattr(self, name, value)
        return self

    def _known_of_sketch(
        self, sketching: Sketching, white: Whitening, regression: Regression, solution: Solution
    ) -> dict[str, Any]:
        """Return further attributes of a machine that learned with a sketch."""
        return {}

    def _size(
        self, kernel: Kernel, points: Points, targets: int, weighted: bool, repair: bool
    ) -> Size:
        """Measure the problem; `repair` is whether its spectrum must be repaired."""
        penalty = number(self.penalty, "penalty")
        trace = float(np.sum(np.abs(to_numpy(diagonal(kernel, points)), dtype=float)))
        return size_of(
            kernel,
            points,
            targets=targets + bool(self.intercept),
            weighted=weighted,
            condition=(trace + penalty) / penalty if penalty else np.inf,
            definite=not repair,
            solution_only=self.solution_only,
        )


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
    plan_ : Decision

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(0, 6, 30)[:, None]
    >>> machine = KernelRidge(Gaussian(1.0), penalty=0.01).fit(X, np.sin(X[:, 0]))
    >>> bool(abs(machine.predict([[1.5]])[0] - np.sin(1.5)) < 0.01)
    True
    """

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with targets `y`, of shape (n,) or (n, targets).

        A `Stream`, or a mapped file too large for an exact answer, is read in passes; its chunks
        may bring the targets.
        """
        if is_stream(X) and self._needs_passes(X):
            self._fit_stream(X, y, sample_weight)
            return self
        points = self._admit(X)
        regression = self.regression(y, len(points), sample_weight)
        return self._fit(X, points, regression.target, regression.weights)

    def regression(
        self, y: ArrayLike, count: int, sample_weight: ArrayLike | None = None
    ) -> Regression:
        """Return targets and weights as `fit` reads them."""
        return Regression(admit_target(y, count), admit_weights(sample_weight, count))

    def predict(self, X: Items) -> np.ndarray:
        """Return the value of the learned function at each item."""
        return self._decision_values(X)


class KernelRidgeClassifier(ScoreClassifier, Ridge):
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
        class_weight: dict[Any, float] | str | None = None,
    ) -> None:
        super().__init__(
            kernel, penalty, intercept=intercept, indefinite=indefinite, follow=follow
        )
        self.class_weight = class_weight

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`; a `Stream` is read in passes."""
        if is_stream(X) and self._needs_passes(X):
            regression = self._fit_stream(X, y, sample_weight)
        else:
            points = self._admit(X)
            regression = self.regression(y, len(points), sample_weight)
            self._fit(X, points, regression.target, regression.weights)
        assert regression.classes is not None
        self.classes_ = regression.classes
        return self

    def regression(
        self, y: ArrayLike, count: int, sample_weight: ArrayLike | None = None
    ) -> Regression:
        """Return ±1 for each class, weights and classes as `fit` reads them."""
        codes, classes = admit_labels(y, count)
        weights = admit_weights(sample_weight, count)
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        target = signs[:, 1] if len(classes) == 2 else signs
        return Regression(target, weights, classes, codes)
