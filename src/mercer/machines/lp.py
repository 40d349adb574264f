"""The linear programming support vector machine: few items, any similarity.

For two classes, with signs zᵢ = ±1, it minimizes

    Σ αⱼ + C Σ ξᵢ    subject to    zᵢ(Σ αⱼzⱼ k(xᵢ, xⱼ) + w₀) ≥ 1 − ξᵢ,   α ≥ 0,  ξ ≥ 0

(Machine Learning lecture, "Linear Programming Support Vector Machines"). The lecture's print
leaves out zⱼ, which would give all items coefficients of the same sign; with it the machine is the
standard one (Mangasarian, 2000), and the discriminant function is the lecture's, Σ αⱼzⱼ k(x, xⱼ).
The sum of the multipliers stands for their number, so that few items are left to compare new ones
with. The norm of the kernel's space does not occur, so the kernel need not be valid: any measure
of similarity will do, indefinite ones too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Items, Points, admit_labels, admit_weights, weigh_classes
from mercer.errors import ValidityError, suggestion
from mercer.gram import assemble
from mercer.kernels import Kernel
from mercer.machines.multiclass import pair_directions, votes
from mercer.machines.scores import ScoreClassifier, require_weight
from mercer.machines.svm_programs import positive_C
from mercer.memory import afford
from mercer.plans import Decision, Plan, size_of
from mercer.plans.chooser import Candidate, choose
from mercer.rkhs import Function
from mercer.solvers.linear_program import BYTES_PER_ENTRY, LinearSolution, SimplexMethod, separate
from mercer.values import positive

__all__ = ["LPSVC"]

SCHEMES = ("ovo", "ovr")


class LPSVC(ScoreClassifier):
    """Linear programming support vector machine, for two classes or more.

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
        It need not be positive semi-definite.
    C : float
        Price of the slack ξ. With infinity there is none, and classes that are not separable in
        feature space are an error.
    multiclass : {"ovo", "ovr"}
        With more than two classes, whether each pair of them votes ("one versus one"; among equals
        the first class wins) or each is separated from the rest and the highest score decides.
    class_weight : dict or "balanced", optional
        Weights of the classes, multiplied with the sample weights; both scale the C of an item.
    tol : float
        Largest duality gap, relative to the objective, and largest violation of a margin that
        count as solved.

    Attributes
    ----------
    classes_ : ndarray
    support_ : ndarray of int
        The training items with coefficients, of any program, in ascending order.
    function_ : Function
        What was learned, without the intercept, in terms of these items alone. With "ovr" there
        is a column for each class, with "ovo" one for each pair (0, 1), (0, 2), …, (1, 2), …,
        positive where the first one has the vote, as in scikit-learn.
    dual_coef_ : ndarray of shape (support,) or (support, columns)
        The αⱼzⱼ.
    intercept_ : float or ndarray
        Where several are equally good, the middle of them.
    coef_ : None
    solution_ : LinearSolution, or a tuple of one for each column
        Status, objective, duality gap and violation. Its coefficients are those of all items that
        were in the program.
    kernel_ : Kernel
        With its heuristics resolved.

    Notes
    -----
    HiGHS solves each program by the dual simplex method, which takes O(n²) operations for a step
    and often about n steps. There are about 130 bytes in memory for each pair of items. A solution
    that is not unique (items on a grid may have several) is one of the sparse ones.

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> X, y = [[-2.0], [-1.0], [1.0], [3.0]], ["no", "no", "yes", "yes"]
    >>> machine = LPSVC("linear", C=10.0).fit(X, y)
    >>> machine.support_.tolist(), machine.dual_coef_.round(6), machine.intercept_
    ([3], array([0.333333]), 0.0)
    >>> LPSVC(Sigmoid(1.0, -1.0)).fit(X, y).predict([[-3.0], [2.0]]).tolist()
    ['no', 'yes']
    """

    saved = ("_votes",)

    def __init__(
        self,
        kernel: Any = "gaussian",
        C: float = 1.0,
        *,
        multiclass: str = "ovo",
        class_weight: dict[Any, float] | str | None = None,
        tol: float = 1e-6,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.tol = tol

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with labels `y`; an item's weight scales its C."""
        points = self._admit(X)
        codes, classes = admit_labels(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        weights = weigh_classes(self.class_weight, codes, classes, weights)
        worth, tol = positive_C(self.C), positive(self, "tol", self.tol)
        kernel = self._resolve(points, weights)
        require_weight(codes, classes, weights)
        kept = np.arange(len(points)) if weights is None else np.flatnonzero(weights)
        points, codes = points[kept], codes[kept]  # items of weight zero are as good as absent
        prices = worth * (np.ones(len(kept)) if weights is None else weights[kept])
        tasks = self._separations(codes, classes)
        K = _matrix(kernel, points, max(len(task.rows) for task in tasks))
        solutions, coefficients = [], np.zeros((len(points), len(tasks)))
        for column, task in enumerate(tasks):
            solutions.append(task.solve(K, prices, tol).require_solved())
            coefficients[task.rows, column] = solutions[-1].coefficients
        intercepts = np.array([solution.intercept for solution in solutions])
        if len(classes) == 2:
            coefficients = coefficients[:, 0]
        used = np.flatnonzero(coefficients.reshape(len(points), -1).any(axis=1))
        # A function needs a point to stand on: without coefficients, the first, times zero.
        rows = used if len(used) else np.array([0])
        function = Function(kernel, points[rows], coefficients[rows])

        self._remember(X, points)
        self.classes_, self.kernel_, self.support_ = classes, kernel, kept[used]
        self.function_, self.dual_coef_, self.coef_ = function, coefficients[used], None
        self.intercept_ = intercepts if len(classes) > 2 else float(intercepts[0])
        self.solution_ = tuple(solutions) if len(classes) > 2 else solutions[0]
        self._votes = self.multiclass == "ovo" and len(classes) > 2
        return self

    def plan(self, X: Items, classes: int = 2) -> Decision:
        """Return what `fit` would need of memory for these items, without doing it.

        Examples
        --------
        >>> LPSVC().plan(np.zeros((300, 2))).solver
        'highs'
        """
        points = self._admit(X)
        size = size_of(self._resolve(points), points, features=None)
        chosen = Candidate(
            "highs", SimplexMethod(), size, ("a linear program of a stored matrix",)
        )
        return choose(Plan(), [chosen])

    def decision_function(self, X: Items) -> np.ndarray:
        """Return the score of the second class, or with more classes a score of each.

        With "ovo" these are votes; ``function_(X) + intercept_`` has the scores of the pairs.
        """
        scores = super().decision_function(X)
        if not self._votes:
            return scores
        return votes(scores, len(self.classes_))

    def class_directions(self, outputs: int) -> np.ndarray:
        """Return what each class makes of the scores, which may be those of pairs."""
        if not self._votes:
            return super().class_directions(outputs)
        return pair_directions(len(self.classes_))

    def _separations(self, codes: np.ndarray, classes: np.ndarray) -> list[Separation]:
        """Return the linear programs to solve: one for two classes, or by the scheme."""
        if self.multiclass not in SCHEMES:
            raise ValidityError(
                f"multiclass cannot be {self.multiclass!r}{suggestion(self.multiclass, SCHEMES)}"
            )
        names, rows = [repr(name) for name in classes.tolist()], np.arange(len(codes))
        if len(names) == 2:  # a positive score is the second class
            return [Separation(rows, np.where(codes == 1, 1.0, -1.0), " and ".join(names))]
        if self.multiclass == "ovo":
            pairs = combinations(range(len(names)), 2)
            groups = [(rows[(codes == i) | (codes == j)], i, j) for i, j in pairs]
            return [
                Separation(
                    part, np.where(codes[part] == i, 1.0, -1.0), f"{names[i]} and {names[j]}"
                )
                for part, i, j in groups
            ]
        return [
            Separation(rows, np.where(codes == i, 1.0, -1.0), f"{name} and the rest")
            for i, name in enumerate(names)
        ]


@dataclass(frozen=True)
class Separation:
    """Items of two groups to separate, and what the groups are called."""

    rows: np.ndarray
    signs: np.ndarray
    name: str

    def solve(self, K: np.ndarray, prices: np.ndarray, tol: float) -> LinearSolution:
        """Return the solution; if it needs a message, that names the groups."""
        block = K if len(self.rows) == len(K) else K[np.ix_(self.rows, self.rows)]
        found = separate(block, self.signs, prices[self.rows], tol)
        if not found.message:
            return found
        return replace(found, message=f"{self.name}: {found.message}")


def _matrix(kernel: Kernel, points: Points, largest: int) -> np.ndarray:
    """Return the Gram matrix, if there is memory for it and for the largest program."""
    n = len(points)
    task = f"linear programming with {largest} of {n} items"
    afford(8 * n**2 + BYTES_PER_ENTRY * largest**2, task, "use fewer items")
    return assemble(kernel, points).matrix()
