"""Classification by margins: two classes at a time, scores, votes and probabilities.

`SVC` and `NuSVC` say what the quadratic program of two classes is, and what its answer means; this
module does what is the same for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from mercer.domains import Items, Points, admit_labels, admit_weights, weigh_classes
from mercer.errors import ValidityError, suggestion
from mercer.kernels import Kernel
from mercer.machines.calibration import METHODS, Calibration, calibrate
from mercer.machines.chunks import require_fitted
from mercer.machines.multiclass import (
    BinaryProblem,
    binary_problems,
    confidence,
    pair_directions,
    sklearn_layout,
    votes,
)
from mercer.machines.scores import require_weight
from mercer.machines.svm import Solved, SupportExpansion, SupportVectorMachine, support_expansion
from mercer.machines.svm_programs import MarginProgram
from mercer.plans import Decision
from mercer.solvers.quadratic import Optimum

__all__ = ["MarginFit", "SortedByClass", "SupportVectorClassifier"]

MULTICLASS = ("ovo", "ovr")
SHAPES = ("ovr", "ovo")


@dataclass(frozen=True)
class SortedByClass:
    """Items sorted by class, and the problems of two classes among them."""

    order: np.ndarray
    weights: np.ndarray | None
    counts: np.ndarray
    problems: list[BinaryProblem]


@dataclass(frozen=True)
class MarginFit:
    """What a fit has found, before the machine shows it."""

    kernel: Kernel
    expansion: SupportExpansion
    solved: Solved
    problems: list[BinaryProblem]
    intercept: np.ndarray
    classes: int
    owners: np.ndarray  # class of each support vector
    table: np.ndarray  # coefficients of support vectors, one column for each problem


def _calibrated(machine: BaseEstimator) -> bool:
    if not machine.probability:
        raise AttributeError(
            f"{type(machine).__name__} has no probabilities because they take several fits: ask "
            "for them with probability=True"
        )
    return True


class SupportVectorClassifier(ClassifierMixin, SupportVectorMachine):
    """What both classifiers share: two classes at a time, scores, votes, probabilities."""

    saved = ("_calibration",)
    cached = ("_last",)

    classes_: np.ndarray
    multiclass: str
    class_weight: dict[Any, float] | str | None
    probability: Any
    decision_function_shape: str
    break_ties: bool
    warm_start: bool
    random_state: Any

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
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
        self.classes_, self.kernel_ = classes, kernel
        self.plan_: Decision = learned.solved.decision
        learned.expansion.set_on(self)
        self._set_attributes(learned)
        self._calibration: Calibration | None = calibration
        if self.warm_start:
            self._last = self._warm_start_from(learned)
        return self

    def _learn(
        self,
        kernel: Kernel,
        points: Points,
        codes: np.ndarray,
        weights: np.ndarray | None,
        classes: np.ndarray,
    ) -> MarginFit:
        """Sort the items by class, solve a program for each pair, and gather the coefficients."""
        arranged = self._arrange(codes, weights)
        order, problems = arranged.order, arranged.problems
        programs = self._programs(problems, arranged.weights, len(order))
        solved = self._solve(kernel, points[order], programs, arranged.weights, self._is_hard)
        C, intercept = self._gather(arranged, solved.optima, classes)
        expansion = support_expansion(kernel, solved, order, C[:, 0] if len(problems) == 1 else C)
        used = np.flatnonzero((C != 0).any(axis=1))
        return MarginFit(
            kernel,
            expansion,
            solved,
            problems,
            intercept,
            len(arranged.counts),
            codes[order[used]],
            C[used],
        )

    def _arrange(self, codes: np.ndarray, weights: np.ndarray | None) -> SortedByClass:
        """Sort the items by class; those of weight zero are as good as absent."""
        order = np.argsort(codes, kind="stable")
        if weights is not None:
            order = order[weights[order] > 0]
        counts = np.bincount(codes[order], minlength=int(codes.max()) + 1)
        chosen = None if weights is None else weights[order]
        return SortedByClass(order, chosen, counts, binary_problems(counts, self.multiclass))

    def _gather(
        self, arranged: SortedByClass, optima: list[Optimum], classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients of the items, a column for each problem, and the intercepts."""
        C = np.zeros((len(arranged.order), len(arranged.problems)))
        intercept = np.zeros(len(arranged.problems))
        for column, (problem, optimum) in enumerate(zip(arranged.problems, optima, strict=True)):
            optimum.named(problem.label(classes), arranged.order[problem.items]).require_solved()
            C[problem.items, column], intercept[column] = self._coefficients_of(problem, optimum)
        return C, intercept

    def _programs(
        self, problems: list[BinaryProblem], weights: np.ndarray | None, count: int
    ) -> list[MarginProgram]:
        """Return the quadratic program of each problem."""
        raise NotImplementedError

    def _coefficients_of(
        self, problem: BinaryProblem, optimum: Optimum
    ) -> tuple[np.ndarray, float]:
        """Return coefficients and intercept of a solved problem."""
        raise NotImplementedError

    @property
    def _is_hard(self) -> bool:
        return False

    def _warm_start_from(self, learned: MarginFit) -> Any:
        """Return what a warm start needs."""
        return None

    def _set_attributes(self, learned: MarginFit) -> None:
        """Set the attributes that scikit-learn's users know, and the margins."""
        optima = learned.solved.optima
        single = len(optima) == 1
        self.intercept_ = learned.intercept
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

    def decision_function(self, X: Items) -> np.ndarray:
        """Return scores.

        With two classes, that of the second. With more, one for each class: votes with fractions
        that break ties ("ovo"), or the values of each against the rest ("ovr"); or, with
        ``decision_function_shape="ovo"``, the value of each pair, positive for the first of it.
        """
        require_fitted(self)
        scores = self._decision_values(X)
        if scores.ndim == 1 or self.multiclass == "ovr":
            return scores
        if self.decision_function_shape == "ovo":
            return scores
        return confidence(scores, len(self.classes_))

    def predict(self, X: Items) -> np.ndarray:
        """Return the label that wins: most votes, of equal ones the first; or the highest score.

        With ``break_ties=True`` equal votes are decided by the scores.
        """
        require_fitted(self)
        if self.break_ties or (self.multiclass == "ovr" and len(self.classes_) > 2):
            # Values decide, not only signs.
            return self.classes_[self._winners(self._decision_values(X))]
        return self.classes_[self._winners(self._decision_signs(X))]

    def _winners(self, scores: np.ndarray) -> np.ndarray:
        if scores.ndim == 1:
            return (scores > 0).astype(int)
        if self.multiclass == "ovr":
            return scores.argmax(axis=1)
        count = votes if not self.break_ties else confidence
        return count(scores, len(self.classes_)).argmax(axis=1)

    @available_if(_calibrated)
    def predict_proba(self, X: Items) -> np.ndarray:
        """Return the probability of each class; the most probable one is that of `predict`."""
        require_fitted(self)
        scores = self._decision_values(X)
        if self._calibration is None:
            raise AttributeError("probability was not asked for when this machine was fitted")
        return self._calibration.probabilities(scores, self._winners(scores))

    @available_if(_calibrated)
    def predict_log_proba(self, X: Items) -> np.ndarray:
        """Return the logarithm of the probability of each class."""
        return np.log(self.predict_proba(X))

    def class_directions(self, outputs: int) -> np.ndarray:
        """Return what each class makes of the scores: the mean over its pairs with the others."""
        if self.multiclass != "ovo" or outputs == 1:
            return super().class_directions(outputs)
        return pair_directions(len(self.classes_))

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> from mercer import SVC
        >>> print(SVC("gaussian").plan(np.ones((10_000, 3))).explain())
        Route dual, block SMO on working sets of 1250, stored in single precision.
        Needs about ... of ... available.
        - rows as they are needed, not the whole Gram matrix: rows are cheap to compute again
        """
        return self._dry_run(X, self._problems(classes), self._is_hard)

    def _problems(self, classes: int) -> int:
        """Return the number of binary problems."""
        pairs = classes * (classes - 1) // 2
        return pairs if classes == 2 or self.multiclass == "ovo" else classes

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
