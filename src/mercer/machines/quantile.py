"""Quantile regression: the number below which a target lies with a given probability.

Minimizes ½|f|² + C Σ ρ_τ(yᵢ − f(xᵢ) − b) for each level τ, where the pinball loss ρ_τ makes being
too low cost τ and being too high 1 − τ (Takeuchi, Le, Sears & Smola, 2006).
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from mercer.domains import Items, admit_numbers, admit_weights
from mercer.errors import ValidityError
from mercer.machines.svm import SupportVectorMachine, support_expansion
from mercer.machines.svm_programs import MarginProgram, box_bounds, positive_C
from mercer.plans import Decision, Plan
from mercer.solvers.pinball import pinball_loss, pinball_program
from mercer.solvers.quadratic import Optimum

__all__ = ["KernelQuantile", "levels_of"]


def levels_of(level: Any) -> tuple[float, ...]:
    """Return the levels, rising; each must lie between 0 and 1.

    Examples
    --------
    >>> levels_of(0.5), levels_of([0.9, 0.1])
    ((0.5,), (0.1, 0.9))
    """
    given = [level] if isinstance(level, numbers.Real) else level
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or not len(given):
        raise ValidityError(f"level must be a number or several, found {level!r}")
    found = []
    for one in given:
        value = float(one) if isinstance(one, numbers.Real) else np.nan
        if not 0 < value < 1:
            raise ValidityError(
                f"a level is a probability between 0 and 1, found {one!r}; the lowest and the "
                "highest value that are possible follow from no number of items"
            )
        found.append(value)
    if len(set(found)) < len(found):
        raise ValidityError(f"levels must be different, found {level!r}")
    return tuple(sorted(found))


class KernelQuantile(RegressorMixin, SupportVectorMachine):
    """Kernel quantile regression, with one or several levels that never cross.

    Several levels share the Gram matrix. Functions that were learned for different levels may
    cross where there are few items; the predictions of each item are therefore put in order, from
    the lowest level to the highest, which makes them no worse at any level (Chernozhukov,
    Fernández-Val & Galichon, 2010).

    Parameters
    ----------
    kernel : Kernel or {"gaussian", "linear", "laplacian", "polynomial", "precomputed"}
    level : float or sequence of float
        The probability of a value below the prediction; 0.5 is the median.
    C : float
        Price of the loss. The penalty of the mean in `KernelRidge` is like 1/C.
    tol : float
        Largest violation of the Kuhn-Tucker conditions that is called solved, in standard
        deviations of the target.
    max_iter, indefinite, follow
        As in `SVC`.

    Attributes
    ----------
    levels_ : tuple of float
        Rising.
    function_ : Function
        One output for each level, without the offset. They may cross.
    intercept_ : ndarray of shape (levels,)
    dual_coef_ : ndarray of shape (levels, n_SV)
    support_, support_vectors_, n_support_
        As in `SVR`: items with a coefficient at any level.
    solution_ : tuple of Optimum
        One for each level. Its gap, in the unit of the objective, bounds how far the objective is
        from the smallest possible.
    n_iter_ : int
    kernel_ : Kernel
    plan_ : Decision

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, size=(300, 1))
    >>> y = np.sin(X[:, 0]) + rng.uniform(-1, 1, size=300)
    >>> machine = KernelQuantile(level=[0.1, 0.5, 0.9], C=1.0).fit(X, y)
    >>> machine.predict([[3.0]]).round(1)
    array([[-0.5,  0.3,  1. ]])
    >>> bool(max(found.gap for found in machine.solution_) < 1.0)
    True
    """

    levels_: tuple[float, ...]

    def __init__(
        self,
        kernel: Any = "gaussian",
        level: float | Sequence[float] = 0.5,
        *,
        C: float = 1.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
        indefinite: str = "error",
        follow: Plan | None = None,
    ) -> None:
        self.kernel = kernel
        self.level = level
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.indefinite = indefinite
        self.follow = follow

    def fit(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from items `X` with numbers `y`."""
        levels = levels_of(self.level)
        points = self._admit(X)
        target = admit_numbers(y, len(points))
        weights = admit_weights(sample_weight, len(points))
        kernel = self._resolve(points, weights)
        order = np.arange(len(points))
        if weights is not None:  # items of weight zero are as good as absent
            order = np.flatnonzero(weights > 0)
        some = None if weights is None else weights[order]
        scale = _spread(target[order], some)
        programs = self._programs(target[order] / scale, some, scale, levels)
        solved = self._solve(kernel, points[order], programs, some)
        optima = tuple(
            _rescaled(found, scale).named(f"level {level:g}: ", order)
            for level, found in zip(levels, solved.optima, strict=True)
        )
        for found in optima:
            found.require_solved()
        beta = np.column_stack([found.coefficients for found in optima])
        single = isinstance(self.level, numbers.Real)
        expansion = support_expansion(kernel, solved, order, beta[:, 0] if single else beta)

        self._remember(X, points)
        expansion.set_on(self)
        self.kernel_, self.plan_, self.solution_ = kernel, solved.decision, optima
        self.levels_ = levels
        self.dual_coef_ = beta[np.any(beta != 0, axis=1)].T
        self.intercept_ = np.array([float(found.offsets[0]) for found in optima])
        self.n_support_ = np.array([len(self.support_)], dtype=np.int32)
        self.n_iter_ = int(sum(found.steps for found in optima))
        return self

    def _programs(
        self,
        target: np.ndarray,
        weights: np.ndarray | None,
        scale: float,
        levels: tuple[float, ...],
    ) -> list[MarginProgram]:
        """Return a program for each level, of the target in units of its spread."""
        bounds = box_bounds(self.C, weights, len(target)) / scale
        if np.isinf(bounds).any():
            raise ValidityError("C of KernelQuantile must be finite, found inf")
        ranges = [(0, len(target))]
        return [MarginProgram(ranges, pinball_program(target, tau, bounds)) for tau in levels]

    def _largest_bound(self) -> float:
        return positive_C(self.C)

    def predict(self, X: Items) -> np.ndarray:
        """Return the quantile of each item; of several levels one column for each, rising."""
        values = self._decision_values(X)
        if isinstance(self.level, numbers.Real):
            return values.reshape(-1)
        return np.sort(values.reshape(len(values), -1), axis=1)

    def score(self, X: Items, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of the pinball loss that is explained, 1 being all of it.

        The loss of these predictions is compared with that of the quantiles of `y` itself, as in
        scikit-learn's ``d2_pinball_score``; of several levels it is the mean.
        """
        found = self.predict(X).reshape(-1, len(self.levels_))
        target = admit_numbers(y, len(found))
        given = admit_weights(sample_weight, len(found))
        w = np.ones(len(found)) if given is None else given
        scores = []
        for column, level in zip(found.T, self.levels_, strict=True):
            plain = np.quantile(target, level, method="inverted_cdf", weights=w)
            least = float(w @ pinball_loss(target - plain, level))
            loss = float(w @ pinball_loss(target - column, level))
            scores.append(1 - loss / least if least else float(loss == 0))
        return float(np.mean(scores))

    def plan(self, X: Items) -> Decision:
        """Return what `fit` would do with these items, without doing it.

        Examples
        --------
        >>> KernelQuantile(level=(0.1, 0.9)).plan(np.ones((100, 3))).stored
        True
        """
        return self._dry_run(X, len(levels_of(self.level)))


def _spread(target: np.ndarray, weights: np.ndarray | None) -> float:
    """Return the standard deviation of the target, 1 if there is none."""
    mean = np.average(target, weights=weights)
    return float(np.sqrt(np.average((target - mean) ** 2, weights=weights))) or 1.0


def _rescaled(found: Optimum, scale: float) -> Optimum:
    """Return the answer to a program whose target was divided by a number."""
    square = scale * scale
    return replace(
        found,
        coefficients=scale * found.coefficients,
        offsets=scale * found.offsets,
        slopes=scale * found.slopes,
        objective=square * found.objective,
        gap=square * found.gap,
        square=square * found.square,
        rounding=scale * found.rounding,
        uncertainty=scale * found.uncertainty,
        violation=scale * found.violation,
    )
