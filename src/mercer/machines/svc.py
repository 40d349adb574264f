"""Support vector classification: the hyperplane with the widest margin.

With labels z = ±1, minimizes ½|w|² + C Σ ξᵢ subject to zᵢ(⟨w, φ(xᵢ)⟩ + w₀) ≥ 1 − ξᵢ, ξ ≥ 0: the
soft margin of the Machine Learning lecture. Its dual maximizes Σα − ½ΣΣ zᵢzⱼαᵢαⱼk(xᵢ, xⱼ) over
0 ≤ α ≤ C, Σzα = 0, and w = Σ zᵢαᵢφ(xᵢ): only items with αᵢ > 0 count, the support vectors. An
infinite C allows no slack. Then w₀ = −½(min over z=1 of ⟨w, φ(x)⟩ + max over z=−1), the margin is
1/|w|, and |w|² = Σα.

With many items and where the user allows it, the same is learned approximately: with the functions
of a sketch, and with the slacks squared, ½|w|² + C Σ ξᵢ², which Newton's method minimizes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items, admit_labels, admit_weights, in_passes, weigh_classes
from mercer.errors import ValidityError
from mercer.gram import Dense
from mercer.machines.multiclass import BinaryProblem
from mercer.machines.scores import require_weight
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
from mercer.machines.svm_classifier import MarginFit, SupportVectorClassifier
from mercer.machines.svm_programs import MarginProgram, box_bounds, positive_C
from mercer.plans import Decision, Plan, asks_for_sketch
from mercer.solvers.quadratic import Optimum, Quadratic
from mercer.solvers.sketched_newton import SketchedNewton
from mercer.values import Seed

__all__ = ["SVC"]

SQUARED_SLACK_BOUND = 100.0  # times C, which coefficients for squared slacks hardly reach
JUDGING_MATRICES = 7  # Gram matrices of a sample in memory while both answers are learned from it
EXACT_ONLY = ("support_", "support_vectors_", "n_support_", "margin_", "squared_norm_")
SKETCH_TOL = 1e-4  # norm of the gradient that counts as solved with a sketch


class SVC(SupportVectorClassifier):
    """Support vector classification.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    C : float
        Price of slack; ``inf`` asks for a hard margin, which is an error if there is none.
    multiclass : {"ovo", "ovr"}
        With more than two classes: one machine for each pair, or one for each class.
    class_weight : dict or "balanced", optional
        Weights of the classes; C of an item is multiplied by them and by its sample weight.
    tol : float
        Largest violation of the Kuhn-Tucker conditions that counts as solved; at most 1e-6 is
        used for a hard margin.
    max_iter : int, optional
        Largest number of steps, each of which moves two variables. Whoever needs more gets a
        warning with the duality gap.
    probability : bool or {"cross-validated", "exact"}
        Whether `predict_proba` is wanted: scores are calibrated on five folds (True,
        "cross-validated") or on the machine's own scores of its training items ("exact"), which
        costs nothing but makes it too sure of itself.
    decision_function_shape : {"ovr", "ovo"}
    break_ties : bool
        Whether equal votes are decided by scores rather than by the order of the classes.
    indefinite : {"error", "clip", "flip", "shift"}
        What to do with a kernel that is not positive semi-definite.
    warm_start : bool
        Whether a refit on the same items starts from the last solution: cheap along ascending C.
    random_state : int, RandomState or None
        Seed of the folds of calibration.
    follow : Plan, optional
        Choices of yours about route and memory.

    Attributes
    ----------
    classes_ : ndarray
    support_ : ndarray of shape (n_SV,)
        Places of the support vectors among the training items, class by class.
    support_vectors_ : ndarray or list
    n_support_ : ndarray of shape (classes,)
    dual_coef_ : ndarray of shape (classes − 1, n_SV), or (classes, n_SV) with "ovr"
        zα, laid out as scikit-learn's.
    intercept_ : ndarray of shape (pairs,) or (classes,)
        w₀.
    function_ : Function
        What was learned, without the intercept; with more than two classes one output for each
        pair or class.
    margin_ : float or ndarray
        1/|w|.
    squared_norm_ : float or ndarray
        |w|²; with a hard margin it equals Σα.
    solution_ : Optimum or tuple of Optimum
        Status, objective, duality `gap`, largest `violation` and `history`, for each machine.
    n_iter_ : ndarray
        Steps of each machine.
    kernel_ : Kernel
        With its heuristics resolved.
    plan_ : Decision

    Notes
    -----
    Cost: the similarities of the support vectors to all items, about n·n_SV kernel evaluations;
    memory as the plan says, never n² unless it fits.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["off", "on", "on", "off"]
    >>> machine = SVC(Gaussian(1.0), C=100.0).fit(X, y)
    >>> machine.predict(X).tolist()
    ['off', 'on', 'on', 'off']
    >>> machine.solution_.status, machine.support_.tolist()
    ('solved', [0, 3, 1, 2])
    """

    abilities = ("shared Gram matrix", "path along C")

    def __init__(
        self,
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        multiclass: str = "ovo",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        probability: Any = False,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        indefinite: str = "error",
        warm_start: bool = False,
        random_state: Seed = None,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter
        self.probability = probability
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.indefinite = indefinite
        self.warm_start = warm_start
        self.random_state = random_state
        self.follow = follow

    def fit(self, X: Items, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`.

        If the plan allows an approximation, or the items are a `Stream`, with squared slacks and
        the functions of a sketch; there are no support vectors then.
        """
        if in_passes(X) or asks_for_sketch(self.follow):
            return self._fit_sketch(read_training_set(self, X, y, sample_weight))
        return super().fit(X, y, sample_weight)

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> from mercer.plans import Nystrom
        >>> print(SVC(follow=Plan(approximate=Nystrom(50))).plan(np.ones((1000, 3))).explain())
        APPROXIMATE: Route nystrom, solver newton, double precision.
        ...
        """
        if in_passes(X) or asks_for_sketch(self.follow):
            return plan_sketched_fit(
                self, X, self._problems(classes), newton=True, judging=JUDGING_MATRICES
            )
        return super().plan(X, classes)

    def _fit_sketch(self, given: TrainingSet) -> Self:
        """Learn by squared slacks with the functions of a sketch."""
        self._check_choices()
        C, items = positive_C(self.C), given.items
        if self._is_hard or self.probability or self.indefinite != "error":
            raise ValidityError(
                "the approximate route needs a finite C and a valid kernel, and has no "
                "probabilities of its own; for those use mercer.Calibrated(SVC(...))"
            )
        codes, classes = admit_labels(given.y, items.count)
        weights = admit_weights(given.weights, items.count)
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        require_weight(codes, classes, weights)
        kernel = resolve_on_sample(self, items, weights)
        self._require_valid(kernel, "error")
        signs = self._signs(codes)
        size = items.size(kernel, signs.shape[1], weights is not None, JUDGING_MATRICES)
        decision = decide_approximation(self.follow, kernel, items, size, newton=True)
        sketching = Sketching.of(kernel, items, decision)
        loss: Any = "squared hinge"
        solver = SketchedNewton(SKETCH_TOL, loss=loss, seed=decision.approximate.seed)
        state = solver.prepare(sketching.sketch, weights, intercept=True)
        solution = solver.solve(state, signs, 1 / C)

        learn = partial(self._learned, codes=codes, weights=weights, count=items.count)
        exact = partial(learn, squared=False)
        words = ", squared slacks"
        approximation = sketching.estimate_error(learn, state.white, exact, words, weights=weights)
        solution = replace(solution, approximation=approximation).noting(sketching.doubt)
        solution.require_solved()

        self._remember(given.X, items.sample)
        for name in EXACT_ONLY:  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        self.classes_, self.kernel_, self.solution_ = classes, kernel, solution
        self.plan_: Decision = decision
        self.function_ = sketching.function(solution.coefficients)
        self.dual_coef_ = solution.coefficients
        self.intercept_ = np.atleast_1d(solution.intercept)
        self.n_iter_ = np.array([len(solution.history)])
        self._calibration = None
        return self

    def _learned(
        self,
        gram: Dense,
        places: np.ndarray,
        codes: np.ndarray,
        weights: np.ndarray | None,
        count: int,
        squared: bool = True,
    ) -> tuple[np.ndarray, Any] | None:
        """Learn from the Gram matrix of some of `count` items, with squared slacks or plain ones.

        Returns coefficients and intercepts of all binary problems, or None if a class is missing.
        """
        if len(np.unique(codes[places])) < len(np.unique(codes)):
            return None
        w = np.ones(len(places)) if weights is None else weights[places]
        share, K = positive_C(self.C) / weight_share(places, weights, count), gram.array
        if squared:  # it has no bounds, but a ridge
            K = K.copy()
            K[np.diag_indices(len(K))] += 1 / (2 * share * np.maximum(w, MIN_SAMPLE_WEIGHT))
        bound = share * (SQUARED_SLACK_BOUND if squared else 1.0)
        machine = type(self)("precomputed", bound, multiclass=self.multiclass)
        found = machine.fit(K, codes[places], w).function_
        a = np.zeros((len(places), len(machine.intercept_)))
        a[found.points.places] = found.coefficients.reshape(len(found.points), -1)
        return a, machine.intercept_

    def _signs(self, codes: np.ndarray) -> np.ndarray:
        """Return the z of each item in each problem, 0 where it takes no part."""
        arranged = self._arrange(codes, None)
        signs = np.zeros((len(codes), len(arranged.problems)))
        for column, problem in enumerate(arranged.problems):
            signs[arranged.order[problem.items], column] = problem.signs
        return signs

    @property
    def _is_hard(self) -> bool:
        return positive_C(self.C) == np.inf

    def _largest_bound(self) -> float:
        return positive_C(self.C)

    def _warm_start_from(self, learned: MarginFit) -> Any:
        return float(self.C), [optimum.coefficients for optimum in learned.solved.optima]

    def _programs(
        self, problems: list[BinaryProblem], weights: np.ndarray | None, count: int
    ) -> list[MarginProgram]:
        bounds = box_bounds(self.C, weights, count)
        programs: list[MarginProgram] = []
        for problem in problems:
            z, u = problem.signs, bounds[problem.items]
            lower, upper = np.where(z < 0, -u, 0.0), np.where(z > 0, u, 0.0)
            start = self._start(len(programs), lower, upper)
            programs.append(MarginProgram(problem.ranges, Quadratic(z, lower, upper, start)))
        return programs

    def _start(self, place: int, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
        """Return where to begin: the last solution, made small enough for the box, or zero.

        Whatever the items are now, it is feasible, so that the answer does not depend on it.
        """
        C, last = getattr(self, "_last", (1.0, [])) if self.warm_start else (1.0, [])
        if place >= len(last) or len(last[place]) != len(lower):
            return np.zeros(len(lower))
        beta = last[place]
        if ((beta > 0) & (upper == 0)).any() or ((beta < 0) & (lower == 0)).any():
            return np.zeros(len(lower))
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(beta > 0, upper / beta, np.where(beta < 0, lower / beta, np.inf))
        factor, change = float(room.min()), float(self.C) / C
        if np.isinf(factor) or np.isinf(change):  # no bound, or no coefficient that could meet one
            return np.clip(beta, lower, upper)
        # Where some were at their bound, it moves; where none was, C had no influence.
        factor = min(factor, change) if factor <= change * (1 + 1e-9) else min(factor, 1.0)
        start = np.clip(beta * factor, lower, upper)
        start = np.where(upper - start <= 1e-12 * upper, upper, start)
        return np.where(start - lower <= -1e-12 * lower, lower, start)

    def _coefficients_of(
        self, problem: BinaryProblem, optimum: Optimum
    ) -> tuple[np.ndarray, float]:
        if not self._is_hard or optimum.status != "solved":
            return optimum.coefficients, float(optimum.offsets[0])
        z = problem.signs
        values = z - optimum.slopes
        w0 = -0.5 * (float(values[z > 0].min()) + float(values[z < 0].max()))
        return optimum.coefficients, w0
