"""The case of a solver: small systems, and their answers by other means.

Answers are compared with `numpy.linalg.solve` of the bordered system

    ⎡ K + λW⁻¹  1 ⎤ ⎡a⎤   ⎡y⎤
    ⎣    1ᵀ     0 ⎦ ⎣b⎦ = ⎣0⎦

(without its border if there is no intercept), which no solver of mercer uses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.gram import Dense, LowRank
from mercer.solvers import Problem, Solution, Solver, State

__all__ = ["SolverCase", "expected", "residual", "root", "singular_grams"]


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
        self, K: Any, y: np.ndarray, penalty: float, weights: Any = None, intercept: bool = False
    ) -> Solution:
        """Solve one system on a fresh state."""
        return self.solver.solve(self.prepare(K, weights, intercept), y, penalty)

    def prepare(self, K: Any, weights: Any = None, intercept: bool = False) -> State:
        """Return a fresh state for a matrix or an operator."""
        if isinstance(K, np.ndarray):
            K = LowRank(root(K)) if self.features else Dense(K)
        return self.solver.prepare(Problem(K, weights, intercept))


def expected(
    K: np.ndarray, Y: np.ndarray, penalty: float, w: Any = None, intercept: bool = False
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
