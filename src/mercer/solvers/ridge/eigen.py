"""Eigen: one decomposition, then every penalty at once; and kernels that are not valid.

With SKS = VΛVᵀ the answer for any λ is V(Λ + λ)⁻¹VᵀSy. A Gram matrix with negative eigenvalues
can be repaired here first (Chen et al., JMLR 2009). A new point is mapped as the training points
are, k(x) ↦ Tᵀk(x), by changing the coefficients: f(x) = k(x)ᵀTa. For "clip" T projects on the
directions with positive eigenvalues, for "flip" it changes the sign of the others. "shift" adds to
self-similarities, which new points do not have; there T projects as for "clip".

The sign of an eigenvalue that is rounding says nothing: the last bit of a parameter would decide
whether its direction counts for new points. So what is below n units in the last place of the
largest is taken for zero, and its direction for none (`significant`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from scipy.linalg import eigh

from mercer.lapack import EPS
from mercer.solvers.cost import Cost, Requirements, Size, factor_seconds, stored_cost
from mercer.solvers.ridge.solver import (
    Problem,
    Solution,
    SolvedColumns,
    Solver,
    State,
    decouple,
    singular_message,
)

__all__ = ["Eigen"]


class Decomposed(State):
    """SKS = VΛVᵀ, with the spectrum that the solution uses."""

    def __init__(self, problem: Problem, indefinite: str) -> None:
        super().__init__(problem)
        M = problem.gram.matrix()
        if self.roots is not None:
            M = decouple(self.roots[:, None] * M * self.roots, self.roots)
        # The fast driver counts its workspace of 2n² numbers in 32 bits.
        driver = "evd" if len(M) < 30_000 else "evr"
        self.original, self.vectors = eigh(M, driver=driver, check_finite=False)
        self.values = repaired(self.original, indefinite)
        self.indefinite = indefinite
        self._product = M

    def multiply(self, X: np.ndarray) -> np.ndarray:
        if self.indefinite == "error":
            return self._product @ X
        return self.vectors @ (self.values[:, None] * (self.vectors.T @ X))


@dataclass(frozen=True)
class Eigen(Solver):
    """Solve by an eigendecomposition, about thirty times the work of a Cholesky factor.

    Parameters
    ----------
    indefinite : {"error", "clip", "flip", "shift"}
        What to do with negative eigenvalues: nothing, set them to zero, make them positive, or
        raise all by the magnitude of the most negative one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.gram import Dense
    >>> solver = Eigen()
    >>> state = solver.prepare(Problem(Dense(np.array([[2.0, 1.0], [1.0, 2.0]]))))
    >>> solver.solve(state, np.array([4.0, 5.0]), penalty=1.0).coefficients.round(12)
    array([0.875, 1.375])
    """

    indefinite: Literal["error", "clip", "flip", "shift"] = "error"
    name = "eigen"
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size) -> Cost:
        """Return what the matrix and its decomposition take."""
        return stored_cost(size, self.workspace(size.items), 27 * factor_seconds(size.items))

    def workspace(self, order: int) -> int:
        """Return the bytes beside a matrix: its vectors, and twice that for LAPACK."""
        return 24 * order**2

    def prepare(self, problem: Problem) -> Decomposed:
        return Decomposed(problem, self.indefinite)

    def columns(self, state: Decomposed, R: np.ndarray, penalty: float) -> SolvedColumns:
        shifted = state.values + penalty
        largest = float(np.abs(state.values).max(initial=0.0))
        smallest = len(shifted) * np.finfo(float).eps * (largest + penalty)
        if shifted.min() <= smallest:
            message = singular_message(penalty, len(shifted), largest)
            return SolvedColumns(np.full_like(R, np.nan), "singular", message)
        return SolvedColumns(state.vectors @ ((state.vectors.T @ R) / shifted[:, None]))

    def solve(self, state: State, target: np.ndarray, penalty: float) -> Solution:
        assert isinstance(state, Decomposed)
        solution = super().solve(state, target, penalty)
        if self.indefinite != "error" and solution.status != "singular":
            changed = transfer(state, solution.coefficients, self.indefinite)
            return replace(solution, coefficients=changed)
        return solution


def repaired(values: np.ndarray, indefinite: str) -> np.ndarray:
    """Return a spectrum without negative eigenvalues, by the policy."""
    if indefinite == "clip":
        return np.maximum(significant(values), 0.0)
    if indefinite == "flip":
        return np.abs(significant(values))
    if indefinite == "shift":
        return values - min(float(values[0]), 0.0)
    return values


def significant(values: np.ndarray) -> np.ndarray:
    """Return a spectrum with zeros for what is rounding.

    Examples
    --------
    >>> significant(np.array([-1.0, -1e-17, 2.0]))
    array([-1.,  0.,  2.])
    """
    rounding = len(values) * EPS * float(np.abs(values).max(initial=0.0))
    return np.where(np.abs(values) > rounding, values, 0.0)


def transfer(state: Decomposed, coefficients: np.ndarray, indefinite: str) -> np.ndarray:
    """Return T @ coefficients, so that plain similarities of new points can be used."""
    s = np.ones(len(state.values)) if state.roots is None else state.roots
    safe = np.where(s > 0, s, 1.0)
    known = significant(state.original)
    signs = np.sign(known) if indefinite == "flip" else (known > 0).astype(float)
    alpha = coefficients.reshape(len(s), -1) / safe[:, None]
    mapped = state.vectors @ (signs[:, None] * (state.vectors.T @ alpha))
    return (mapped * s[:, None]).reshape(coefficients.shape)
