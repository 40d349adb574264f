"""Least squares for the weights of basis functions that are not the kernel's own features.

Minimizes |Y − ΦW|² + λ|W|² for a table Φ of n items and m basis functions (Bishop, 3.27) by a QR
factorization of Φ above √λI. The normal equations would square the condition number, and basis
functions that overlap have a large one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from mercer.solvers.cost import Cost, Requirements, Size, item_bytes
from mercer.solvers.ridge.solver import Solution, Status

__all__ = ["LeastSquares"]


@dataclass(frozen=True)
class LeastSquares:
    """Fit weights by a QR factorization, at 2nm² operations.

    Examples
    --------
    >>> Phi, y = np.array([[1.0], [2.0], [3.0]]), np.array([1.0, 2.0, 3.0])
    >>> LeastSquares().solve(Phi, y, penalty=1.0).coefficients.round(4)
    array([0.9333])
    """

    name = "qr"
    requires: ClassVar[Requirements] = Requirements()

    def cost(self, size: Size, searched: bool = False) -> Cost:
        """Return what the table and its factors take, or before that the search of its columns."""
        n, m = size.items, min(size.functions, size.items)
        table = 8 * n * m + max(24 * (n + m) * m, size.tiles)
        table = max(table, 24 * n**2 if searched else 0)
        return Cost(table + 8 * n * size.targets * 6 + item_bytes(size))

    def solve(self, Phi: np.ndarray, target: np.ndarray, penalty: float) -> Solution:
        """Return weights; the certificate is |Φᵀ(Y − ΦW) − λW| / |ΦᵀY|."""
        m = Phi.shape[1]
        Y = target.reshape(len(Phi), -1)
        table, right = Phi, Y
        if penalty:
            table = np.concatenate([Phi, np.sqrt(penalty) * np.eye(m)])
            right = np.concatenate([Y, np.zeros((m, Y.shape[1]))])
        W, message = np.full((m, Y.shape[1]), np.nan), _dependent(len(Phi), m, penalty)
        status: Status = "singular"
        if len(table) >= m:
            Q, R = qr(table, mode="economic", check_finite=False)
            if lapack.dtrcon(R)[0] > np.finfo(float).eps:
                W, status, message = solve_triangular(R, Q.T @ right), "solved", ""
        slope = Phi.T @ (Y - Phi @ W) - penalty * W
        length = float(np.linalg.norm(Phi.T @ Y)) or 1.0
        return Solution(
            coefficients=W.reshape(-1, *target.shape[1:]),
            intercept=0.0,
            status=status,
            certificate=float(np.linalg.norm(slope)) / length if status == "solved" else np.inf,
            solver=self.name,
            penalty=penalty,
            message=message,
        )


def _dependent(items: int, functions: int, penalty: float) -> str:
    with_penalty = "without a penalty" if penalty == 0 else f"with penalty {penalty:.3g}"
    return (
        f"{with_penalty} the weights of {functions} basis functions are not determined by {items} "
        "items to working precision: two centers may be equal, or nearly so for this bandwidth; "
        "use fewer centers, a smaller bandwidth, or a larger penalty"
    )
