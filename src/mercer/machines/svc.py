"""Support vector classification: the hyperplane with the widest margin.

With labels z = ±1, minimizes ½|w|² + C Σ ξᵢ subject to zᵢ(⟨w, φ(xᵢ)⟩ + w₀) ≥ 1 − ξᵢ, ξ ≥ 0: the
soft margin of the Machine Learning lecture. Its dual maximizes Σα − ½ΣΣ zᵢzⱼαᵢαⱼk(xᵢ, xⱼ) over
0 ≤ α ≤ C, Σzα = 0, and w = Σ zᵢαᵢφ(xᵢ): only items with αᵢ > 0 count, the support vectors. An
infinite C allows no slack. Then w₀ = −½(min over z=1 of ⟨w, φ(x)⟩ + max over z=−1), the margin is
1/|w|, and |w|² = Σα.

`NuSVC` is the same family with another parameter (Schölkopf et al., 2000): ν bounds the share of
items inside the margin from above and the share of support vectors from below.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer.domains import Points, admit_labels, admit_weights, weigh_classes
from mercer.errors import ConvergenceWarning, ValidityError, suggestion
from mercer.kernels import Kernel
from mercer.machines.calibration import METHODS, Calibration, calibrate
from mercer.machines.margin import (
    Kept,
    Margin,
    Program,
    Solved,
    keep,
    poured,
    price,
    share,
    upper_bounds,
)
from mercer.machines.pairs import Duel, confidence, duels, sklearn_layout, votes
from mercer.machines.scores import require_weight
from mercer.plans import Plan
from mercer.plans.margins import MarginPlan
from mercer.solvers.quadratic import Optimum, Quadratic

__all__ = ["SVC", "NuSVC"]

MULTICLASS = ("ovo", "ovr")
SHAPES = ("ovr", "ovo")


@dataclass(frozen=True)
class Learned:
    """What a fit has found, before the machine shows it."""

    kernel: Kernel
    kept: Kept
    solved: Solved
    rounds: list[Duel]
    intercept: np.ndarray
    classes: int
    owners: np.ndarray  # class of each support vector
    table: np.ndarray  # coefficients of support vectors, one column for each duel


def _calibrated(machine: Any) -> bool:
    if not machine.probability:
        raise AttributeError(
            f"{type(machine).__name__} has no probabilities because they take several fits: ask "
            "for them with probability=True"
        )
    return True


class Classifier(ClassifierMixin, Margin):
    """What both classifiers share: duels of classes, scores, votes, probabilities."""

    classes_: np.ndarray
    multiclass: str
    class_weight: Any
    probability: Any
    decision_function_shape: str
    break_ties: bool
    warm_start: bool
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from items `X` with labels `y`."""
        self._check_choices()
        points = self._admit(X)
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        require_weight(codes, classes, weights)
        kernel = self._resolve(points, weights)
        learned = self._learn(kernel, points, codes, weights, classes)
        calibration = None
        if self.probability:
            calibration = calibrate(self, learned, points, codes, classes, weights)

        self._remember(X, points)
        self.classes_, self.kernel_, self.plan_ = classes, kernel, learned.solved.plan
        learned.kept.give(self)
        self._show(learned)
        self._calibration: Calibration | None = calibration
        if self.warm_start:
            self._last = self._memory(learned)
        return self

    def _learn(
        self,
        kernel: Kernel,
        points: Points,
        codes: np.ndarray,
        weights: np.ndarray | None,
        classes: np.ndarray,
    ) -> Learned:
        """Sort the items by class, solve a program for each duel, and gather the coefficients."""
        order = np.argsort(codes, kind="stable")
        if weights is not None:  # items of weight zero are as good as absent
            order = order[weights[order] > 0]
        counts = np.bincount(codes)
        counts = np.bincount(codes[order], minlength=len(counts))
        sorted_weights = None if weights is None else weights[order]
        rounds = duels(counts, self.multiclass)
        programs = self._programs(rounds, sorted_weights, len(order))
        solved = self._solve(kernel, points[order], programs, sorted_weights, self._is_hard)
        C = np.zeros((len(order), len(rounds)))
        intercept = np.zeros(len(rounds))
        for column, (duel, optimum) in enumerate(zip(rounds, solved.optima, strict=True)):
            optimum.named(duel.label(classes), order[duel.items]).require_solved()
            beta, intercept[column] = self._read(duel, optimum)
            C[duel.items, column] = beta
        kept = keep(kernel, solved, order, C[:, 0] if len(rounds) == 1 else C)
        used = np.flatnonzero((C != 0).any(axis=1))
        return Learned(
            kernel, kept, solved, rounds, intercept, len(counts), codes[order[used]], C[used]
        )

    def _programs(
        self, rounds: list[Duel], weights: np.ndarray | None, count: int
    ) -> list[Program]:
        """Return the quadratic program of each duel."""
        raise NotImplementedError

    def _read(self, duel: Duel, optimum: Optimum) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept of a solved duel."""
        raise NotImplementedError

    @property
    def _is_hard(self) -> bool:
        return False

    def _memory(self, learned: Learned) -> Any:
        """Return what a warm start needs."""
        return None

    def _show(self, learned: Learned) -> None:
        """Set the attributes that scikit-learn's users know, and the margins."""
        optima = learned.solved.optima
        single = len(optima) == 1
        self.intercept_ = learned.intercept
        self.coef_ = None
        table = learned.table
        if self.multiclass == "ovo" and not single:
            self.dual_coef_ = sklearn_layout(table, learned.owners, learned.classes)
        else:
            self.dual_coef_ = np.ascontiguousarray(table.T)
        self.n_support_ = np.bincount(learned.owners, minlength=learned.classes).astype(np.int32)
        self.solution_ = optima[0] if single else tuple(optima)
        self.n_iter_ = np.array([optimum.steps for optimum in optima])
        squares = np.array([self._square(optimum) for optimum in optima])
        with np.errstate(divide="ignore"):
            margins = 1 / np.sqrt(np.maximum(squares, 0.0))
        self.squared_norm_ = float(squares[0]) if single else squares
        self.margin_ = float(margins[0]) if single else margins

    def _square(self, optimum: Optimum) -> float:
        """Return |w|²."""
        return optimum.square

    def decision_function(self, X: Any) -> np.ndarray:
        """Return scores.

        With two classes, that of the second. With more, one for each class: votes with fractions
        that break ties ("ovo"), or the values of each against the rest ("ovr"); or, with
        ``decision_function_shape="ovo"``, the value of each pair, positive for the first of it.
        """
        check_is_fitted(self)
        scores = self._scores(X)
        if scores.ndim == 1 or self.multiclass == "ovr":
            return scores
        if self.decision_function_shape == "ovo":
            return scores
        return confidence(scores, len(self.classes_))

    def predict(self, X: Any) -> np.ndarray:
        """Return the label that wins: most votes, of equal ones the first; or the highest score.

        With ``break_ties=True`` equal votes are decided by the scores.
        """
        check_is_fitted(self)
        if self.break_ties or (self.multiclass == "ovr" and len(self.classes_) > 2):
            return self.classes_[self._winners(self._scores(X))]  # values decide, not only signs
        return self.classes_[self._winners(self._decisions(X))]

    def _winners(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return (scores > 0).astype(int)
        if self.multiclass == "ovr":
            return scores.argmax(axis=1)
        count = votes if not self.break_ties else confidence
        return count(scores, len(self.classes_)).argmax(axis=1)

    @available_if(_calibrated)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class; the most probable one is that of `predict`."""
        check_is_fitted(self)
        scores = self._scores(X)
        if self._calibration is None:
            raise AttributeError("probability was not asked for when this machine was fitted")
        return self._calibration.probabilities(scores, self._winners(scores))

    @available_if(_calibrated)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Return the logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))

    def plan(self, X: Any, classes: int = 2) -> MarginPlan:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> print(SVC("gaussian").plan(np.ones((10_000, 3))).explain())
        Route dual, block SMO on working sets of 1250, stored in single precision.
        Needs about ... of ... available.
        - rows as they are needed, not the whole Gram matrix: rows are cheap to compute again
        """
        pairs = classes * (classes - 1) // 2
        problems = pairs if classes == 2 or self.multiclass == "ovo" else classes
        return self._dry_run(X, problems, self._is_hard)

    def _check_choices(self) -> None:
        choices = {"multiclass": MULTICLASS, "decision_function_shape": SHAPES}
        for name, known in choices.items():
            value = getattr(self, name)
            if value not in known:
                raise ValidityError(f"{name} cannot be {value!r}{suggestion(value, known)}")
        if self.probability not in (False, True, None, *METHODS):
            raise ValidityError(
                f"probability cannot be {self.probability!r}; it is False, True or one of "
                f"{', '.join(map(repr, METHODS))}"
            )
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValidityError("break_ties must be False when decision_function_shape is 'ovo'")


class SVC(Classifier):
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
    plan_ : MarginPlan

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

    def __init__(
        self,
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        multiclass: str = "ovo",
        class_weight: Any = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        probability: Any = False,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        indefinite: str = "error",
        warm_start: bool = False,
        random_state: Any = None,
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

    @property
    def _is_hard(self) -> bool:
        return price(self.C) == np.inf

    def _memory(self, learned: Learned) -> Any:
        return float(self.C), [optimum.coefficients for optimum in learned.solved.optima]

    def _programs(
        self, rounds: list[Duel], weights: np.ndarray | None, count: int
    ) -> list[Program]:
        bounds = upper_bounds(self.C, weights, count)
        programs: list[Program] = []
        for duel in rounds:
            z, u = duel.signs, bounds[duel.items]
            lower, upper = np.where(z < 0, -u, 0.0), np.where(z > 0, u, 0.0)
            start = self._start(len(programs), lower, upper)
            programs.append(Program(duel.ranges, Quadratic(z, lower, upper, start)))
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
        # Where some were at their bound, it moves; where none was, C had no influence.
        factor = min(factor, change) if factor <= change * (1 + 1e-9) else min(factor, 1.0)
        start = np.clip(beta * factor, lower, upper)
        start = np.where(upper - start <= 1e-12 * upper, upper, start)
        return np.where(start - lower <= -1e-12 * lower, lower, start)

    def _read(self, duel: Duel, optimum: Optimum) -> tuple[np.ndarray, float]:
        if not self._is_hard or optimum.status != "solved":
            return optimum.coefficients, float(optimum.offsets[0])
        z = duel.signs
        values = z - optimum.slopes
        w0 = -0.5 * (float(values[z > 0].min()) + float(values[z < 0].max()))
        return optimum.coefficients, w0


class NuSVC(Classifier):
    """Support vector classification with ν in the place of C.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    nu : float
        Between 0 and 1: an upper bound of the share of items inside the margin or wrong, and a
        lower bound of the share of support vectors. Classes of unequal size limit it.
    multiclass, tol, max_iter, probability, decision_function_shape, break_ties, \
    indefinite, random_state, follow
        As in `SVC`.

    Attributes
    ----------
    rho_ : float or ndarray
        ρ, the margin of the unscaled program. What is shown is divided by it, as if it were
        `SVC` with C = 1/ρ.
    classes_, support_, support_vectors_, n_support_, dual_coef_, intercept_, function_, margin_, \
    squared_norm_, solution_, n_iter_, kernel_, plan_
        As in `SVC`.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> machine = NuSVC("linear", nu=0.5).fit(X, y)
    >>> machine.predict([[0.4], [2.6]]).tolist(), round(machine.margin_, 6)
    ([0, 1], 1.0)
    """

    # Neither has a meaning here: ν is a share of all weight, and fixes the sums of the program.
    class_weight = None
    warm_start = False

    def __init__(
        self,
        kernel: Any = "gaussian",
        nu: float = 0.5,
        *,
        multiclass: str = "ovo",
        tol: float = 1e-3,
        max_iter: int | None = None,
        probability: Any = False,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        indefinite: str = "error",
        random_state: Any = None,
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.multiclass = multiclass
        self.tol = tol
        self.max_iter = max_iter
        self.probability = probability
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.indefinite = indefinite
        self.random_state = random_state
        self.follow = follow

    def _programs(
        self, rounds: list[Duel], weights: np.ndarray | None, count: int
    ) -> list[Program]:
        nu = share(self.nu)
        # Only shares of the weight matter, so that it may as well be 1 on average.
        bounds = np.ones(count) if weights is None else weights / weights.mean()
        programs: list[Program] = []
        for duel in rounds:
            z, u = duel.signs, bounds[duel.items]
            half = nu * float(u.sum()) / 2
            if half > min(float(u[z > 0].sum()), float(u[z < 0].sum())) * (1 + 1e-12):
                raise ValidityError(
                    f"specified nu is infeasible: nu={self.nu} asks for more support vectors of "
                    f"the smaller class than it has; use a nu below {self._largest(u, z):.3g}"
                )
            lower, upper = np.where(z < 0, -u, 0.0), np.where(z > 0, u, 0.0)
            start = np.zeros(len(z))
            for side in (z > 0, z < 0):
                start[side] = z[side] * poured(u[side], half)
            problem = Quadratic(np.zeros(len(z)), lower, upper, start, duel.sizes)
            programs.append(Program(duel.ranges, problem))
        return programs

    def _largest(self, u: np.ndarray, z: np.ndarray) -> float:
        return 2 * min(float(u[z > 0].sum()), float(u[z < 0].sum())) / float(u.sum())

    def _read(self, duel: Duel, optimum: Optimum) -> tuple[np.ndarray, float]:
        rho = self._rho(optimum)
        if rho <= optimum.violation:
            message = (
                f"the margin of nu={self.nu} has no width: the classes overlap too much for so "
                "few support vectors, and scores mean little; use a larger nu, or a richer kernel"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=4)
        return optimum.coefficients / rho, float(optimum.offsets.mean()) / rho

    def _rho(self, optimum: Optimum) -> float:
        """Return ρ, no smaller than what can be told from zero."""
        first = optimum.coefficients[np.flatnonzero(optimum.coefficients)[0]]
        rho = float(np.sign(first) * (optimum.offsets[1] - optimum.offsets[0])) / 2
        return max(rho, optimum.violation, float(np.finfo(float).tiny))

    def _square(self, optimum: Optimum) -> float:
        return optimum.square / self._rho(optimum) ** 2

    def _show(self, learned: Learned) -> None:
        super()._show(learned)
        found = [self._rho(optimum) for optimum in learned.solved.optima]
        self.rho_ = found[0] if len(found) == 1 else np.array(found)
