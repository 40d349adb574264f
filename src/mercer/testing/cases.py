"""Cases: kernels, machines and solvers, each with what the laws are held against.

Answers of a solver are compared with `numpy.linalg.solve` of the bordered system

    ⎡ K + λW⁻¹  1 ⎤ ⎡a⎤   ⎡y⎤
    ⎣    1ᵀ     0 ⎦ ⎣b⎦ = ⎣0⎦

(without its border if there is no intercept), which no solver of mercer uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from mercer.domains import Columns, GramRows, Items, VectorDomain
from mercer.gram import Dense, LowRank
from mercer.kernels import Kernel, named
from mercer.solvers import Problem, Solution, Solver, State
from mercer.testing.law import Inapplicable, agree, count, take

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

__all__ = [
    "KernelCase",
    "MachineCase",
    "SolverCase",
    "expected",
    "failures",
    "residual",
    "root",
    "singular_grams",
    "values",
]


@dataclass(frozen=True)
class KernelCase:
    """A kernel with items to hold the laws against.

    Parameters
    ----------
    kernel : Kernel
        With or without unresolved heuristics.
    items : sequence, array, DataFrame or Gram matrix
        At least eight things that the kernel compares.
    names : mapping, optional
        Functions that the kernel's `repr` mentions, by name.
    tolerance : float
        Allowed rounding error, relative to the larger self-similarity of a pair.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> KernelCase(Gaussian(1.0), [[float(i)] for i in range(8)]).tolerance
    1e-10
    """

    kernel: Kernel
    items: Any
    names: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 1e-10

    def __str__(self) -> str:
        return f"{self.kernel!r} on {count(self.items)} items"

    @cached_property
    def resolved(self) -> Kernel:
        """The kernel with its heuristics resolved on the items."""
        return self.kernel.resolve(self.items)

    @cached_property
    def gram(self) -> np.ndarray:
        """k(A) of all items."""
        return np.asarray(self.resolved(self.items))

    @property
    def left(self) -> Any:
        """The first two thirds of the items."""
        return take(self.items, slice(0, 2 * count(self.items) // 3))

    @property
    def right(self) -> Any:
        """The last two thirds, in reverse order, so that the middle is in both parts."""
        n = count(self.items)
        return take(self.items, np.arange(n - 1, n // 3 - 1, -1))

    @property
    def vectors(self) -> np.ndarray:
        """The items as rows of numbers, for kernels that compare such."""
        domain = self.kernel.domain
        numeric = isinstance(self.items, np.ndarray) and self.items.dtype.kind == "f"
        if not numeric or not isinstance(domain, VectorDomain | Columns):
            raise Inapplicable("it does not compare rows of numbers")
        return self.items

    def agree(self, found: ArrayLike, expected: ArrayLike, what: str, A: Any, B: Any) -> None:
        """Assert that two versions of k(A, B) are equal up to rounding.

        An error of k(x, z) is relative to the larger of k(x, x) and k(z, z), because that is the
        size of the numbers of which most kernels are differences.
        """
        a, b = (np.abs(np.asarray(self.resolved.diagonal(side))) for side in (A, B))
        size = np.maximum(np.maximum(a[:, None], b[None, :]), np.abs(np.asarray(expected)))
        agree(found, expected, what, self.tolerance, size)

    def require_things(self) -> None:
        """Skip laws about single things where only the matrix is known."""
        if isinstance(self.resolved.admit(self.items), GramRows):
            raise Inapplicable("a precomputed kernel knows its matrix, not its items")


@dataclass(frozen=True)
class MachineCase:
    """An unfitted machine with items to learn from, their targets, and new items.

    `target` holds numbers of shape (n,) or (n, targets), or labels.

    Parameters
    ----------
    machine : BaseEstimator
    items : sequence of things
    target : array
    new : sequence of things

    Examples
    --------
    >>> from mercer import KernelRidge
    >>> case = MachineCase(KernelRidge("linear"), [[1.0], [2.0]], [1.0, 2.0], [[3.0]])
    >>> len(case.items), len(case.new)
    (2, 1)
    """

    machine: Any
    items: Any
    target: Any
    new: Any

    def __str__(self) -> str:
        return f"{self.machine!r} on {count(self.items)} items"

    def fresh(self) -> Any:
        """Return an unfitted copy."""
        from sklearn.base import clone

        return clone(self.machine)

    def fitted(
        self, items: Items | None = None, target: ArrayLike | None = None, **more: Any
    ) -> Any:
        """Return a fitted copy."""
        return self.fresh().fit(
            self.items if items is None else items,
            self.target if target is None else target,
            **more,
        )

    @property
    def pairwise(self) -> bool:
        """Whether items are rows of a Gram matrix."""
        return named(self.machine.kernel) == named("precomputed")


def values(machine: BaseEstimator, items: Items) -> np.ndarray:
    """Return the numbers that a machine computes: scores, probabilities, or predictions."""
    for name in ("decision_function", "predict_proba", "transform"):
        if hasattr(machine, name):
            return getattr(machine, name)(items)
    return machine.predict(items)


def failures(case: MachineCase) -> list[tuple[str, dict[str, Any], Any, Any]]:
    """Return reasons why a fit must fail: a name, parameters, items and target."""
    from sklearn.base import is_classifier, is_regressor

    n, X, y = count(case.items), case.items, case.target
    wrong: list[tuple[str, dict[str, Any], Any, Any]] = [
        ("a target that is too short", {}, X, take(y, slice(0, n - 1))),
        ("no target", {}, X, None),
        ("an unknown policy", {"indefinite": "ignore"}, X, y),
        ("a negative penalty", {"penalty": -1.0}, X, _other_labels(y)),
    ]
    if not case.pairwise:
        twice = np.repeat(np.arange(n), 2)
        labels = take(_other_labels(y), twice)
        singular = {"penalty": 0.0, "indefinite": "error"}
        wrong.append(("a singular system", singular, take(X, twice), labels))
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not case.pairwise:
        bad = X.copy()
        bad[1, 0] = np.nan
        wrong.append(("NaN among the items", {}, bad, y))
        wrong.append(("narrower items, short target", {}, X[:, :-1], take(y, slice(0, n - 1))))
    if not (is_classifier(case.machine) or is_regressor(case.machine)):
        wrong = [(why, changes, items, target) for why, changes, items, target in wrong
                 if "target" not in why]  # fmt: skip
    known = case.machine.get_params(deep=False)
    return [reason for reason in wrong if set(reason[1]) <= set(known)]


def _other_labels(y: ArrayLike) -> Any:
    """Return a target of the same shape with other labels, or other numbers."""
    y = np.asarray(y)
    return np.char.add("other ", y.astype(str)) if y.dtype.kind in "UOS" else y + 1


@dataclass(frozen=True)
class SolverCase:
    """A solver, and small systems to try it on.

    Parameters
    ----------
    solver : Solver
    features : bool
        Whether it wants the Gram matrix as features Φ with K = ΦΦᵀ.
    seed : int
        Of the systems.

    Examples
    --------
    >>> from mercer.solvers import Eigen
    >>> SolverCase(Eigen()).features
    False
    """

    solver: Solver
    features: bool = False
    seed: int = 0

    def __str__(self) -> str:
        return repr(self.solver)

    def gram(self, n: int = 15) -> np.ndarray:
        """Return a positive definite matrix with eigenvalues from 1e-2 to about 10."""
        X = np.random.default_rng(self.seed).normal(size=(n, 3))
        squares = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
        return 2.0 * np.exp(-squares / 2) + 0.01 * np.eye(n)

    def targets(self, n: int = 15) -> np.ndarray:
        """Return three targets of different sizes, the last one zero."""
        Y = np.random.default_rng(self.seed + 1).normal(size=(n, 3))
        return Y * np.array([1.0, 1e6, 0.0])

    def solve(
        self,
        K: Any,
        y: np.ndarray,
        penalty: float,
        weights: np.ndarray | None = None,
        intercept: bool = False,
    ) -> Solution:
        """Solve one system on a fresh state."""
        return self.solver.solve(self.prepare(K, weights, intercept), y, penalty)

    def prepare(self, K: Any, weights: np.ndarray | None = None, intercept: bool = False) -> State:
        """Return a fresh state for a matrix or an operator."""
        if isinstance(K, np.ndarray):
            K = LowRank(root(K)) if self.features else Dense(K)
        return self.solver.prepare(Problem(K, weights, intercept))


def expected(
    K: np.ndarray,
    Y: np.ndarray,
    penalty: float,
    w: np.ndarray | None = None,
    intercept: bool = False,
) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients and intercepts by the textbook, with a dense LU factorization."""
    n = len(K)
    M = np.zeros((n + intercept, n + intercept))
    M[:n, :n] = K + penalty * np.diag(np.ones(n) if w is None else 1 / w)
    right = np.zeros((n + intercept, Y.shape[1]))
    right[:n] = Y
    if intercept:
        M[:n, n] = M[n, :n] = 1.0
    answer = np.linalg.solve(M, right)
    return answer[:n], answer[n] if intercept else np.zeros(Y.shape[1])


def residual(K: np.ndarray, Y: np.ndarray, penalty: float, found: Solution) -> tuple[float, float]:
    """Return |y − Ka − λa − b| / |y| of the worst target in long doubles, and its rounding."""
    a = found.coefficients.astype(np.longdouble)
    rest = Y - K.astype(np.longdouble) @ a - penalty * a - found.intercept
    lengths = np.linalg.norm(Y, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    true = np.sqrt((rest**2).sum(axis=0)) / lengths
    terms = (np.linalg.norm(K, 2) + penalty) * np.linalg.norm(found.coefficients, axis=0)
    terms = terms + lengths + np.sqrt(len(K)) * np.abs(found.intercept)
    rounding = len(K) * np.finfo(float).eps * np.max(terms / lengths)
    return float(true.max()), float(rounding)


def singular_grams(seed: int = 0) -> list[np.ndarray]:
    """Return positive semi-definite matrices that are singular for different reasons."""
    rng = np.random.default_rng(seed)
    few = [rng.normal(size=(n, n - 1 - n // 6)) for n in (2, 5, 8, 13, 20, 34)]
    twice = np.repeat(rng.normal(size=(5, 3)), 2, axis=0)
    copies = np.exp(-((twice[:, None] - twice[None]) ** 2).sum(axis=2))
    line = np.linspace(0.0, 1.0, 40)[:, None]
    flat = np.exp(-((line - line.T) ** 2) / 50.0)  # a bandwidth of five times the range
    return [*(F @ F.T for F in few), copies, flat, np.zeros((3, 3)), np.ones((4, 4))]


def root(K: np.ndarray) -> np.ndarray:
    """Return features Φ with ΦΦᵀ = K."""
    values, V = np.linalg.eigh(K)
    return V * np.sqrt(np.maximum(values, 0.0))
