"""Support vector classification by ν (Schölkopf et al., 2000).

The same family of machines as `SVC`, with another parameter: ν bounds the share of items inside
the margin from above and the share of support vectors from below.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from mercer.errors import ConvergenceWarning, ValidityError
from mercer.machines.multiclass import BinaryProblem
from mercer.machines.svm_classifier import MarginFit, SupportVectorClassifier
from mercer.machines.svm_programs import MarginProgram, fill_bounds, fraction
from mercer.plans import Plan
from mercer.solvers.quadratic import Optimum, Quadratic
from mercer.solvers.status import caller_of_mercer
from mercer.values import Seed

__all__ = ["NuSVC"]


class NuSVC(SupportVectorClassifier):
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
        random_state: Seed = None,
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
        self, problems: list[BinaryProblem], weights: np.ndarray | None, count: int
    ) -> list[MarginProgram]:
        nu = fraction(self.nu)
        # Only shares of the weight matter, so that it may as well be 1 on average.
        bounds = np.ones(count) if weights is None else weights / weights.mean()
        programs: list[MarginProgram] = []
        for problem in problems:
            z, u = problem.signs, bounds[problem.items]
            half = nu * float(u.sum()) / 2
            if half > min(float(u[z > 0].sum()), float(u[z < 0].sum())) * (1 + 1e-12):
                raise ValidityError(
                    f"specified nu is infeasible: nu={self.nu} asks for more support vectors of "
                    f"the smaller class than it has; use a nu below {self._largest(u, z):.3g}"
                )
            lower, upper = np.where(z < 0, -u, 0.0), np.where(z > 0, u, 0.0)
            start = np.zeros(len(z))
            for side in (z > 0, z < 0):
                start[side] = z[side] * fill_bounds(u[side], half)
            quadratic = Quadratic(np.zeros(len(z)), lower, upper, start, problem.sizes)
            programs.append(MarginProgram(problem.ranges, quadratic))
        return programs

    def _largest(self, u: np.ndarray, z: np.ndarray) -> float:
        return 2 * min(float(u[z > 0].sum()), float(u[z < 0].sum())) / float(u.sum())

    def _coefficients_of(
        self, problem: BinaryProblem, optimum: Optimum
    ) -> tuple[np.ndarray, float]:
        rho = self._rho(optimum)
        if rho <= optimum.violation:
            message = (
                f"the margin of nu={self.nu} has no width: the classes overlap too much for so "
                "few support vectors, and scores mean little; use a larger nu, or a richer kernel"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=caller_of_mercer())
        return optimum.coefficients / rho, float(optimum.offsets.mean()) / rho

    def _rho(self, optimum: Optimum) -> float:
        """Return ρ, no smaller than what can be told from zero."""
        first = optimum.coefficients[np.flatnonzero(optimum.coefficients)[0]]
        rho = float(np.sign(first) * (optimum.offsets[1] - optimum.offsets[0])) / 2
        return max(rho, optimum.violation, float(np.finfo(float).tiny))

    def _square(self, optimum: Optimum) -> float:
        rho = self._rho(optimum)
        return optimum.square / rho / rho  # whose square may be too small for a number

    def _set_attributes(self, learned: MarginFit) -> None:
        super()._set_attributes(learned)
        found = [self._rho(optimum) for optimum in learned.solved.optima]
        self.rho_ = found[0] if len(found) == 1 else np.array(found)
