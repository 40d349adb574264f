"""All penalties at once: what one eigendecomposition says about every ridge regression.

With S = √W and SKS = VΛVᵀ, the inverse C = (SKS + λI)⁻¹ is V(Λ + λ)⁻¹Vᵀ for any λ. With fewer
features than items, B = SΦ and BᵀB = QΓQᵀ, it is (I − H(Γ + λ)⁻¹Hᵀ)/λ, where H = BQ. An intercept
takes Cs(Cs)ᵀ/sᵀCs from it, with s = S1. Coefficients are a = Sα, α = CSy, and

    yᵢ − f₋ᵢ(xᵢ) = αᵢ/(sᵢCᵢᵢ)                 what is left of item i by all the others
    yᵢ − f(xᵢ)   = λαᵢ/sᵢ                     what is left of it by all items
    tr H         = n − λ tr C                 degrees of freedom, H being the map from y to f
    |f|²         = Σ Λⱼ(VᵀSy)ⱼ²/(Λⱼ + λ)²

(Bishop, 6.8; Wahba, *Spline models*, 4.2). So each further penalty costs two products with V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.domains import admit_weights
from mercer.errors import SelectionError
from mercer.gram import LowRank, Operator
from mercer.machines.scores import cheapest
from mercer.memory import afford
from mercer.selection.held_out_scores import intercept_of, is_ridge
from mercer.selection.validation import require_machine
from mercer.solvers import Eigen, Primal, Problem

__all__ = ["Measures", "Spectrum", "Task", "afford_path", "measure", "task_of"]

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Spectrum:
    """(SKS + λI)⁻¹ for every λ.

    Parameters
    ----------
    vectors : ndarray of shape (n, n) or (n, features)
        V, or H if there are fewer features than items.
    values : ndarray
        The eigenvalues Λ or Γ.

    Examples
    --------
    >>> C = Spectrum(np.eye(2), np.array([1.0, 3.0]))
    >>> C.solve(np.array([2.0, 4.0]), np.array([1.0, 5.0]))
    array([[1.        , 0.33333333],
           [1.        , 0.5       ]])
    """

    vectors: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, gram: Operator, weights: np.ndarray) -> Spectrum:
        """Decompose once; all weights must be positive."""
        problem = Problem(gram, weights)
        if isinstance(gram, LowRank):
            featured = Primal(Eigen()).prepare(problem)
            small: Any = featured.small
            return cls(np.asarray(featured.features @ small.vectors), small.values)
        state = Eigen().prepare(problem)
        return cls(state.vectors, state.values)

    @property
    def is_full(self) -> bool:
        return len(self.vectors) == len(self.values)

    @property
    def smallest(self) -> float:
        """Smallest eigenvalue of SKS."""
        return float(self.values.min()) if self.is_full else min(0.0, float(self.values.min()))

    def condition(self, penalties: np.ndarray) -> np.ndarray:
        """Return the condition number of SKS + λI, infinite where that is not definite."""
        low = self.smallest + penalties
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(
                low > 0, (self.values.max() + penalties) / np.maximum(low, 0.0), np.inf
            )

    def solve(self, r: np.ndarray, penalties: np.ndarray) -> np.ndarray:
        """Return Cr, a column for each penalty."""
        found = self.vectors @ ((self.vectors.T @ r)[:, None] * self._shrink(penalties))
        return found if self.is_full else (r[:, None] - found) / penalties

    def diagonal(self, penalties: np.ndarray) -> np.ndarray:
        """Return the diagonal of C, a column for each penalty."""
        found = self.vectors**2 @ self._shrink(penalties)
        return found if self.is_full else (1.0 - found) / penalties

    def degrees(self, penalties: np.ndarray) -> np.ndarray:
        """Return n − λ tr C."""
        return self.values @ self._shrink(penalties)

    def log_determinant(self, penalties: np.ndarray) -> np.ndarray:
        """Return log |SKS + λI|."""
        found = np.log(self.values[:, None] + penalties).sum(axis=0)
        free = len(self.vectors) - len(self.values)
        return found + free * np.log(penalties) if free else found

    def squared_norm(
        self, r: np.ndarray, s: np.ndarray, b: np.ndarray, penalties: np.ndarray
    ) -> np.ndarray:
        """Return |f|² where f is fitted to r − b·s, with a b for each penalty."""
        Z = (self.vectors.T @ r)[:, None] - np.outer(self.vectors.T @ s, b)
        scale = self.values if self.is_full else np.ones(len(self.values))
        return scale @ (Z * self._shrink(penalties)) ** 2

    def _shrink(self, penalties: np.ndarray) -> np.ndarray:
        return 1.0 / (self.values[:, None] + penalties)


@dataclass(frozen=True)
class Task:
    """What a machine's ridge regression is about: only items that count.

    Attributes
    ----------
    places : ndarray
        Where these items are among the user's.
    count : int
        Number of the user's items.
    gram : Operator
    target : ndarray of shape (n, targets)
    weights : ndarray
        Of the squared errors, all positive.
    intercept : bool
    codes : ndarray or None
        Classes of the items, for a classifier.
    counts : ndarray
        Weights of the items' mistakes: those of the user, without those of classes.
    flat : bool
        Whether y is one column, for which arrays have no axis.
    """

    places: np.ndarray
    count: int
    gram: Operator
    target: np.ndarray
    weights: np.ndarray
    intercept: bool
    codes: np.ndarray | None
    counts: np.ndarray
    flat: bool


def task_of(machine: Any, X: Any, y: Any, sample_weight: Any = None) -> Task:
    """Return what a ridge-like machine would solve, its kernel resolved on all items.

    Examples
    --------
    >>> from mercer import KernelRidgeClassifier
    >>> task = task_of(KernelRidgeClassifier("linear"), [[1.0], [2.0]], ["no", "yes"])
    >>> task.target.ravel(), task.codes
    (array([-1.,  1.]), array([0, 1]))
    """
    require_machine(machine)
    if not is_ridge(machine):
        raise SelectionError(
            "a criterion of penalties needs KernelRidge, KernelRidgeClassifier, "
            f"KernelDiscriminant or GaussianProcess, found {machine!r}"
        )
    if not machine.similarities_suffice:
        raise SelectionError(
            "the errors of items that are left out are those of exact answers, but the machine "
            'has an approximate plan; use approximate="never", or GridSearchCV'
        )
    points = machine._admit(X)
    found = machine.regression(y, len(points), sample_weight)
    weights, codes, target = found.weights, found.codes, found.target
    counts = admit_weights(sample_weight, len(points))
    intercept = intercept_of(machine)
    kernel = machine._resolve(points, weights)
    repair = machine._require_valid(kernel, getattr(machine, "indefinite", "error"))
    places = np.arange(len(points)) if weights is None else np.flatnonzero(weights)
    if len(places) <= intercept:
        raise SelectionError("an item cannot be left out: it is the only one with a weight")
    gram = cheapest(kernel, points if len(places) == len(points) else points[places])
    if repair:
        _refuse_repair(gram, machine.indefinite)
    ones = np.ones(len(points))
    return Task(
        places,
        len(points),
        gram,
        target[places].reshape(len(places), -1),
        (ones if weights is None else weights)[places],
        intercept,
        None if codes is None else codes[places],
        (ones if counts is None else counts)[places],
        target.ndim == 1,
    )


def _refuse_repair(gram: Operator, indefinite: str) -> None:
    """Refuse a spectrum that would be repaired: without an item the repair is another one."""
    values = np.linalg.eigvalsh(gram.matrix())
    if values[0] < -len(values) * EPS * np.abs(values).max():
        raise SelectionError(
            f"the Gram matrix has the eigenvalue {values[0]:.3g}, and what indefinite="
            f"{indefinite!r} makes of it changes when an item is left out; use a valid kernel, "
            "or cross-validation with GridSearchCV"
        )


@dataclass(frozen=True)
class Measures:
    """What is known at each penalty. Errors are means with the weights, over all targets.

    Attributes
    ----------
    predictions : ndarray of shape (n, penalties, targets)
        Of each item by the others.
    losses : ndarray of shape (n, penalties)
        Squared errors of these, the mean over targets.
    training, gcv, degrees, norm, evidence : ndarray of shape (penalties,)
    """

    predictions: np.ndarray
    losses: np.ndarray
    training: np.ndarray
    gcv: np.ndarray
    degrees: np.ndarray
    norm: np.ndarray
    evidence: np.ndarray


def measure(task: Task, spectrum: Spectrum, penalties: np.ndarray) -> Measures:
    """Measure all penalties, at the cost of a product with V for each and each target."""
    s, weight = np.sqrt(task.weights), task.weights.sum()
    (n, targets), count = task.target.shape, len(penalties)
    c, degrees = spectrum.diagonal(penalties), spectrum.degrees(penalties)
    free = 2 * np.log(s).sum() - spectrum.log_determinant(penalties)
    q, total = np.zeros((n, 1)), np.ones(count)
    if task.intercept:
        q = spectrum.solve(s, penalties)
        total = s @ q
        c -= q**2 / total
        degrees = degrees + penalties * (q**2).sum(axis=0) / total
        free -= np.log(total)
    predictions = np.empty((n, count, targets))
    losses = np.zeros((n, count))
    square, norm = np.zeros(count), np.zeros(count)
    evidence = targets * (free - (n - task.intercept) * np.log(2 * np.pi)) / 2
    for column, y in enumerate(task.target.T):
        alpha = spectrum.solve(s * y, penalties)
        b = s @ alpha / total if task.intercept else np.zeros(count)
        alpha -= q * b
        residuals = alpha / (s[:, None] * c)
        predictions[:, :, column] = y[:, None] - residuals
        losses += residuals**2 / targets
        square += np.sum(alpha**2, axis=0) / (weight * targets)
        norm += spectrum.squared_norm(s * y, s, b, penalties)
        evidence -= (s * y) @ alpha / 2
    gcv = square * (n / c.sum(axis=0)) ** 2  # both errors divided by λ², which may be zero
    return Measures(predictions, losses, square * penalties**2, gcv, degrees, norm, evidence)


def afford_path(task: Task, penalties: int) -> None:
    """Refuse a path that would not fit into memory."""
    n, targets = task.target.shape
    columns = 4 * task.gram.features.shape[1] if isinstance(task.gram, LowRank) else 5 * n
    needed = 8.0 * n * (columns + penalties * (2 * targets + 6))
    afford(needed, f"a path of {penalties} penalties on {n} items", "use fewer items or penalties")
