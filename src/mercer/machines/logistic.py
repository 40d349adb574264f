"""Kernel logistic regression: a classifier that knows how sure it is.

Minimizes Σ wᵢ·(−log p(yᵢ|xᵢ)) + λ/2 |f|² over all functions of the kernel's space. With two
classes p(second|x) = 1/(1 + exp(−f(x) − b)); with more there is a function for each class, the
penalty is the sum of theirs, and p is the softmax of all scores (Bishop, 4.3.2 and 4.3.4). By the
representer theorem f = Σ aᵢ k(·, xᵢ), and at the minimum λaᵢ = wᵢ(yᵢ − pᵢ): an item counts as
much as it is mistaken for another class. With the linear kernel it is scikit-learn's
`LogisticRegression` with C = 1/λ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, softmax

from mercer.domains import Items, Points, admit_labels, admit_weights, in_passes, weigh_classes
from mercer.errors import PlanError
from mercer.gram import Dense, assemble
from mercer.kernels import Kernel
from mercer.machines.scores import ScoreClassifier, require_weight
from mercer.machines.sketching import (
    MIN_SAMPLE_WEIGHT,
    Sketching,
    TrainingSet,
    decide_approximation,
    plan_sketched_fit,
    read_training_set,
    resolve_on_sample,
    weight_share,
)
from mercer.plans import Decision, Plan, asks_for_sketch, requested, size_of
from mercer.plans.products import choose_newton
from mercer.plans.ridge import choose_approximation
from mercer.rkhs.primal_function import function_of
from mercer.solvers import Problem
from mercer.solvers.newton import Newton
from mercer.solvers.sketched_newton import SketchedNewton
from mercer.values import positive, whole

__all__ = ["KernelLogistic"]


class KernelLogistic(ScoreClassifier):
    """Kernel logistic regression, for two classes or more.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    penalty : float
        λ > 0 of Σ wᵢ·(−log p(yᵢ|xᵢ)) + λ/2 |f|².
    intercept : bool
        Whether to add constants that are not penalized; with more than two classes they sum to 0.
    tol : float
        Largest norm of the gradient in the kernel's space that counts as solved.
    max_iter : int
        Largest number of Newton steps.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with the sample weights.
    follow : Plan, optional
        Choices of yours about route and memory.

    Attributes
    ----------
    classes_ : ndarray
    function_ : Function
        The log odds of the second class without the intercept; with more than two classes a score
        for each. Its points are the training items whose weight is not zero.
    dual_coef_ : ndarray of shape (n,) or (n, classes)
    intercept_ : float or ndarray
    coef_ : ndarray or None
        Weights of the kernel's features, where those are fewer than the items.
    n_iter_ : int
        Number of points at which the gradient was computed.
    solution_ : NewtonSolution
        Status, `certificate` (norm of the gradient), `history` of such norms and `objectives`.
    kernel_ : Kernel
        With its heuristics resolved.
    plan_ : Decision

    Notes
    -----
    Newton's method with a line search. The system of each step is solved by conjugate gradients,
    with a product of K and an n × classes matrix for each of their steps: n² operations a class.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> machine = KernelLogistic(Gaussian(1.0), penalty=0.1)
    >>> machine = machine.fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> machine.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    >>> machine.predict_proba([[1.5]]).round(3)
    array([[0.5, 0.5]])
    """

    def __init__(
        self,
        kernel: Any = "gaussian",
        penalty: float = 1.0,
        *,
        intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 100,
        class_weight: dict[Any, float] | str | None = None,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.penalty = penalty
        self.intercept = intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.follow = follow

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> print(KernelLogistic("linear").plan(np.zeros((500, 3))).explain())
        Route primal, solver newton, double precision.
        Needs about ... of ... available.
        - primal, because there are 3 features for 500 items
        ...
        """
        if in_passes(X) or asks_for_sketch(self.follow):
            return plan_sketched_fit(self, X, 1 if classes == 2 else classes, newton=True)
        points = self._admit(X)
        return self._decide(self._resolve(points), points, classes)

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`; a `Stream` is read in passes."""
        if in_passes(X) or asks_for_sketch(self.follow):
            return self._fit_sketch(read_training_set(self, X, y, sample_weight))
        points = self._own(X, self._admit(X))
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        kernel = self._resolve(points, weights)
        require_weight(codes, classes, weights)
        if weights is not None:  # items of weight zero are as good as absent
            kept = np.flatnonzero(weights > 0)
            points, codes, weights = points[kept], codes[kept], weights[kept]
        penalty = positive(self, "penalty", self.penalty)
        decision = self._decide(kernel, points, len(classes))
        if decision.sketched:
            return self._fit_sketch(read_training_set(self, X, y, sample_weight))
        problem = Problem(assemble(kernel, points, decision.route), weights, bool(self.intercept))
        tol, steps = positive(self, "tol", self.tol), whole(self, "max_iter", self.max_iter)
        solver = Newton(tol, steps, decision.each)
        state = solver.prepare(problem)
        solution = solver.solve(state, codes, penalty)
        if decision.route != "primal":
            solution = solution.noting(self._require_curvature(kernel, state.problem.gram))
        solution.require_solved()
        function = function_of(kernel, points, solution.coefficients, solution.weights)

        self._remember(X, points)
        self.classes_, self.kernel_, self.plan_, self.solution_ = (
            classes,
            kernel,
            decision,
            solution,
        )
        self.function_, self.dual_coef_ = function, solution.coefficients
        self.intercept_, self.coef_ = solution.intercept, solution.weights
        self.n_iter_ = len(solution.history)
        return self

    def _fit_sketch(self, given: TrainingSet) -> Self:
        """Learn with the functions of a sketch, and estimate how far that is from exact."""
        items = given.items
        codes, classes = admit_labels(given.y, items.count)
        weights = admit_weights(given.weights, items.count)
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        require_weight(codes, classes, weights)
        kernel = resolve_on_sample(self, items, weights)
        self._require_valid(kernel, "error")
        penalty, intercept = positive(self, "penalty", self.penalty), bool(self.intercept)
        size = items.size(kernel, 1 if len(classes) == 2 else len(classes), weights is not None)
        decision = decide_approximation(self.follow, kernel, items, size, newton=True)
        sketching = Sketching.of(kernel, items, decision)
        tol, steps = positive(self, "tol", self.tol), whole(self, "max_iter", self.max_iter)
        solver = SketchedNewton(tol, steps, seed=decision.approximate.seed)
        state = solver.prepare(sketching.sketch, weights, intercept)
        solution = solver.solve(state, codes, penalty)

        def learn(gram: Dense, places: np.ndarray) -> tuple[np.ndarray, Any] | None:
            there, some = np.unique(codes[places], return_inverse=True)
            if len(there) < 2:
                return None
            exact = Newton(tol, steps)
            part = None if weights is None else np.maximum(weights[places], MIN_SAMPLE_WEIGHT)
            share = penalty * weight_share(places, weights, items.count)  # the same for each item
            found = exact.solve(exact.prepare(Problem(gram, part, intercept)), some, share)
            return found.coefficients, found.intercept

        approximation = sketching.estimate_error(learn, state.white, weights=weights)
        solution = replace(solution, approximation=approximation).noting(sketching.doubt)
        solution.require_solved()
        function = sketching.function(solution.coefficients)

        self._remember(given.X, items.sample)
        self.classes_, self.kernel_, self.plan_, self.solution_ = (
            classes,
            kernel,
            decision,
            solution,
        )
        self.function_, self.dual_coef_ = function, solution.coefficients
        self.intercept_, self.coef_ = solution.intercept, None
        self.n_iter_ = len(solution.history)
        return self

    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each class, in the order of `classes_`."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1)

    def predict_log_proba(self, X: Items) -> np.ndarray:
        """Return the logarithm of the probability of each class."""
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return -np.logaddexp(0.0, np.column_stack([scores, -scores]))
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def _decide(self, kernel: Kernel, points: Points, classes: int) -> Decision:
        self._require_valid(kernel, "error")
        size = size_of(kernel, points, targets=1 if classes == 2 else classes)
        request = requested(self.follow, sketches=True)
        try:
            return choose_newton(request, size)
        except PlanError as error:
            if request.approximate == "never" or request.route != "auto":
                raise
            try:
                return choose_approximation(request, size, newton=True)
            except PlanError:
                raise error from None  # which says how many items would fit
