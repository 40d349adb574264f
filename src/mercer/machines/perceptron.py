"""The perceptron: the oldest machine that learns, with its theorem.

It looks for a vector a with aᵀy > 0 for all items, where y = (1, x) are generalized coordinates,
multiplied by −1 for items of the first class. If there is one, at most

    k₀ = max‖y‖²‖â‖² / min(âᵀy)²

updates find such a vector, â being any solution (Novikoff; Machine Learning lecture, "Perceptron
convergence"). With another kernel than the linear one the vector is a function of the kernel's
space and a bias, ⟨f, k(·, x)⟩ + b = Σcᵢk(x, xᵢ) + Σcᵢ (22, 23): the constant coordinate turns k
into k + 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from mercer.domains import Items, Points, admit_labels
from mercer.errors import ConvergenceWarning, DomainError, ValidityError, suggestion
from mercer.gram import LowRank, assemble, features_of
from mercer.kernels import Kernel, Linear
from mercer.machines.chunks import require_fitted
from mercer.machines.machine import number
from mercer.machines.scores import ScoreClassifier
from mercer.memory import afford
from mercer.plans import Decision
from mercer.plans.sums import SumOverItems, choose_sum
from mercer.rkhs import Function
from mercer.solvers.perceptron import PerceptronRule, PerceptronSolution, fit_perceptron
from mercer.solvers.status import caller_of_mercer
from mercer.values import Seed, whole

__all__ = ["Perceptron"]

RULES = ("single", "batch")


class Perceptron(ScoreClassifier):
    """Linear classification by correcting errors, in any kernel's space.

    With ``kernel="linear"`` it learns a weight vector (primal), with any other kernel coefficients
    of the items on their Gram matrix (dual). More than two classes are learned one against the
    rest, and the highest score decides.

    Parameters
    ----------
    kernel : Kernel or {"linear", "gaussian", "laplacian", "polynomial", "precomputed"}
    rule : {"single", "batch"}
        "single" corrects one error after the other, "batch" all errors of a pass at once.
    margin : float
        An item is wrong while aᵀy ≤ margin. A positive margin asks for a safe distance.
    learning_rate : float or callable
        η; a function of the pass k = 0, 1, … is the schedule η(k).
    threshold : float
        θ: the batch rule also ends when the step |η(k)Σy| is shorter than this.
    max_epochs : int
        Largest number of passes over the items.
    averaged : bool
        Whether to keep the mean of all vectors on the way, which serves data that cannot be
        separated (Freund & Schapire, 1999). There is then no warning about errors that are left.
    shuffle : bool
        Whether every pass has a new random order, instead of that of the items.
    random_state : int, RandomState or None
        Seed of the orders.

    Attributes
    ----------
    classes_ : ndarray
    function_ : Function
        What was learned, without the bias: Σcᵢk(·, xᵢ), in the span of the items.
    intercept_ : float or ndarray
        The bias.
    coef_ : ndarray of shape (d,) or (d, classes), or None
        The weight vector, with the linear kernel. (intercept_, coef_) is the vector a.
    dual_coef_ : ndarray of shape (n,) or (n, classes)
        The cᵢ: η times the sign times the number of corrections, if η is a number.
    converged_ : bool
        Whether every item is on its side, beyond the margin.
    n_updates_ : int or ndarray of shape (classes,)
        How many times the vector was changed.
    n_epochs_ : int
        Passes over the items; with several classes, of the one that took most.
    kernel_ : Kernel
        With its heuristics resolved.
    solution_ : PerceptronSolution
        Status and certificate: the share of items that are wrong. The history has the number of
        updates ("single") or of wrong items ("batch") of each pass, summed over the classes.

    Notes
    -----
    Cost of a pass: O(nd) in the primal; in the dual O(n), and O(n) more for each update, with n²
    numbers in memory. There are no sample weights: a second visit to an item is
    not a double weight.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["off", "on", "on", "off"]
    >>> machine = Perceptron(Polynomial(2, offset=1.0)).fit(X, y)
    >>> machine.converged_, machine.predict(X).tolist()
    (True, ['off', 'on', 'on', 'off'])
    """

    saved = ("_signs",)

    def __init__(
        self,
        kernel: Any = "linear",
        *,
        rule: str = "single",
        margin: float = 0.0,
        learning_rate: float | Callable[[int], float] = 1.0,
        threshold: float = 1e-6,
        max_epochs: int = 1000,
        averaged: bool = False,
        shuffle: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.rule = rule
        self.margin = margin
        self.learning_rate = learning_rate
        self.threshold = threshold
        self.max_epochs = max_epochs
        self.averaged = averaged
        self.shuffle = shuffle
        self.random_state = random_state

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> Perceptron().plan(np.ones((500, 3))).route
        'primal'
        """
        points = self._admit(X)
        kernel = self._resolve(points)
        self._require_valid(kernel, "error")
        primal = isinstance(kernel, Linear)
        why = (
            "a vector of the features" if primal else "the whole Gram matrix, which is walked over"
        )
        way = SumOverItems(columns=8, compared=True, stored=not primal)
        targets = 1 if classes == 2 else classes
        return choose_sum("perceptron", kernel, points, way, why, targets=targets, primal=primal)

    def fit(self, X: Items, y: ArrayLike) -> Self:
        """Learn from items `X` with labels `y`."""
        points = self._own(X, self._admit(X))
        codes, classes = admit_labels(y, len(points))
        rule = self._rule()
        kernel = self._resolve(points)
        self._require_valid(kernel, "error")
        self._require_finite(kernel, points)
        signs = np.where(codes[:, None] == np.arange(len(classes)), 1.0, -1.0)
        signs = signs[:, 1] if len(classes) == 2 else signs
        found = fit_perceptron(assemble(kernel, points, self._route(kernel, points)), signs, rule)
        found = replace(found, message=self._message(found, classes))
        function = Function(kernel, points, found.coefficients)
        if found.message and not self.averaged:
            warnings.warn(found.message, ConvergenceWarning, stacklevel=caller_of_mercer())

        self._remember(X, points)
        self.classes_, self.kernel_, self.solution_ = classes, kernel, found
        self.function_, self.dual_coef_ = function, found.coefficients
        self.intercept_, self.coef_ = found.intercept, found.weights
        self.converged_, self.n_epochs_ = found.status == "solved", found.epochs
        self.n_updates_ = int(found.updates[0]) if signs.ndim == 1 else found.updates
        self._signs = signs.astype(np.int8)
        return self

    def bound(self, solution: Any, intercept: Any = 0.0) -> Any:
        """Return k₀, the number of updates that the convergence theorem allows.

        For the fixed-increment rule from a(1) = 0 it is max‖y‖²‖â‖²/min(âᵀy)²; a margin m adds
        2m/η to max‖y‖². A step of the batch rule adds up to n items, and the same argument gives n
        times the first term.

        Parameters
        ----------
        solution : array of shape (d + 1,) or (d + 1, classes), or Function
            A solution vector â = (w₀, w) in generalized coordinates; or a function of the
            kernel's space, whose bias is `intercept`.
        intercept : float or array

        Returns
        -------
        float or ndarray of shape (classes,)

        Examples
        --------
        >>> machine = Perceptron().fit([[-1.0], [1.0], [2.0]], [0, 1, 1])
        >>> machine.n_updates_, machine.bound([0.0, 1.0])
        (2, 5.0)
        """
        require_fitted(self)
        if callable(self.learning_rate):
            raise ValidityError(
                "the convergence theorem is about a fixed increment, but learning_rate is a "
                "function; fit with a number"
            )
        scores, square = self._judge(solution, intercept)
        z = self._signs
        if scores.shape != z.shape:
            raise DomainError(
                f"there are {z[0].size} columns of scores to bound, but the solution has "
                f"{scores[0].size}: give one vector for each class, or one for two classes"
            )
        smallest = np.min(z * scores, axis=0)
        if np.min(smallest) <= 0:
            item = int(np.argmin((z * scores).reshape(len(z), -1).min(axis=1)))
            raise ValidityError(
                f"this is no solution vector: item {item} is on the wrong side "
                f"(âᵀy = {np.min(smallest):.3g}), but the theorem needs âᵀy > 0 for every item"
            )
        points = self.function_.points
        largest = 1.0 + float(np.max(np.asarray(self.kernel_.evaluate_diagonal(points))))
        items = len(points) if self.rule == "batch" else 1
        total = items * largest + 2 * float(self.margin) / float(self.learning_rate)
        bounds = total * square / smallest**2
        return float(bounds) if np.ndim(bounds) == 0 else bounds

    def _judge(self, solution: Any, intercept: Any) -> tuple[np.ndarray, Any]:
        """Return âᵀ(1, x) of the training items, and ‖â‖²."""
        points = self.function_.points
        if isinstance(solution, Function):
            if solution.kernel != self.kernel_:
                raise ValidityError(
                    f"the solution is a function of {solution.kernel!r}, but the perceptron walks "
                    f"in the space of {self.kernel_!r}"
                )
            square = np.square(solution.norm()) + np.square(intercept)
            return solution(points) + intercept, square
        if self.coef_ is None:
            raise DomainError(
                f"with {self.kernel_!r} a solution is a function of its space and a bias: pass a "
                "Function, and intercept="
            )
        a = np.asarray(solution, dtype=np.float64)
        if a.ndim not in (1, 2) or len(a) != len(self.coef_) + 1:
            raise DomainError(
                f"a solution vector (w₀, w) has {len(self.coef_) + 1} entries, found shape "
                f"{a.shape}"
            )
        features = LowRank(features_of(self.kernel_, points)(points)).features
        return np.asarray(features @ a[1:]) + a[0], np.sum(a**2, axis=0)

    def _rule(self) -> PerceptronRule:
        """Return the checked parameters."""
        if self.rule not in RULES:
            raise ValidityError(f"rule cannot be {self.rule!r}{suggestion(self.rule, RULES)}")
        seed = None
        if self.shuffle:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        return PerceptronRule(
            batch=self.rule == "batch",
            margin=number(self.margin, "margin"),
            rate=self._rate(),
            threshold=number(self.threshold, "threshold"),
            epochs=whole(self, "max_epochs", self.max_epochs),
            averaged=bool(self.averaged),
            seed=seed,
        )

    def _rate(self) -> Callable[[int], float]:
        """Return η(k), refusing rates that are not positive."""
        given = self.learning_rate

        def rate(k: int) -> float:
            eta = number(given(k) if callable(given) else given, f"learning_rate of pass {k}")
            if eta == 0:
                raise ValidityError(f"learning_rate must be positive; it is 0 in pass {k}")
            return eta

        rate(0)
        return rate

    def _route(self, kernel: Kernel, points: Points) -> str:
        """Return "primal" for the linear kernel; otherwise see that the Gram matrix fits."""
        if isinstance(kernel, Linear):
            return "primal"
        n = len(points)
        advice = 'use fewer items, or kernel="linear", which needs no Gram matrix'
        afford(8 * n**2, f"the Gram matrix of {n} items", advice)
        return "dual"

    def _require_finite(self, kernel: Kernel, points: Points) -> None:
        with np.errstate(over="ignore"):
            squares = np.asarray(kernel.evaluate_diagonal(points))
        if not np.isfinite(squares).all():
            item = int(np.flatnonzero(~np.isfinite(squares))[0])
            raise ValidityError(
                f"{kernel!r} of item {item} and itself is not a finite number; scale the data down"
            )

    def _message(self, found: PerceptronSolution, classes: np.ndarray) -> str:
        """Say which errors are left and what to do; nothing if there are none."""
        if found.status == "solved":
            return ""
        wrong, n = found.wrong, len(found.coefficients)
        left = f"{wrong[0]} of {n} items are"
        if len(classes) > 2:
            parts = [f"{w} for {c!r}" for w, c in zip(wrong, classes.tolist(), strict=True) if w]
            left = f"of {n} items, {', '.join(parts)} against the rest are"
        passes = f"{found.epochs} pass" + ("es" if found.epochs > 1 else "")
        if self.rule == "batch" and found.epochs < self.max_epochs:
            passes += f", with steps shorter than threshold={self.threshold}"
        where = "on the wrong side" if self.margin == 0 else "on the wrong side or in the margin"
        return (
            f"Perceptron stopped after {passes}, while {left} still {where}: the classes may not "
            "be separable by a hyperplane of this kernel's space. Use a richer kernel such as "
            "Polynomial(2, offset=1.0) or Gaussian(), averaged=True, or a larger max_epochs"
        )
