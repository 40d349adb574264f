"""Support vector machines: what classification, regression and novelty detection share.

Each is a quadratic program or several on the same items (see `mercer.solvers.quadratic`). This
module walks from points to solved programs; the machines say which programs, and what their
answers mean.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from mercer.domains import GRAM_ROWS, GramRows, Items, Points, Vectors, to_numpy
from mercer.engine.tiles import diagonal, on_numpy, prepare_points
from mercer.errors import DomainError, ValidityError
from mercer.gram import (
    Dense,
    Gram,
    GramRanges,
    LowRank,
    assemble,
    engine_named,
    features_of,
    product,
)
from mercer.gram.buffers import BUFFERS
from mercer.gram.climbing import Climbing
from mercer.gram.engines import Carrying
from mercer.kernels import Kernel, Linear
from mercer.machines.chunks import require_fitted
from mercer.machines.scores import ExpansionMachine
from mercer.machines.svm_certificates import certified
from mercer.machines.svm_programs import MarginProgram, max_steps, part_of, rounding, run
from mercer.plans import Decision, Plan, requested
from mercer.plans.margins import decide_margin
from mercer.rkhs import Function
from mercer.solvers import Problem
from mercer.solvers.as_is import climb_as_is
from mercer.solvers.quadratic import Optimum, SMOOptions
from mercer.solvers.ridge.eigen import Decomposed, transfer
from mercer.solvers.working_set import MAX_STORED_ITEMS
from mercer.threads import one_blas_thread
from mercer.values import positive

__all__ = ["Solved", "SupportExpansion", "SupportVectorMachine", "support_expansion"]

# Single precision serves while its rounding changes slopes by less than this share of tol. It is
# not tried where C·k(x, x)/tol is larger than MAX_SINGLE_SLOPE or tol so small that this could
# hardly be, nor for so few items that it is not worth its check on some of them.
MAX_ROUNDING = 0.1
MAX_SINGLE_SLOPE = 1e5
MIN_SINGLE_TOL = 1e-5
MIN_SINGLE_ITEMS = 2000
# Similarities of a prediction from which on single precision is worth its checks.
MIN_SINGLE_PAIRS = 100_000
# Signs of scores are trusted beyond this share of Σ|β|k(x, x), and so often what was measured.
DOUBTFUL_SHARE = 1e-6
DOUBTFUL_ROUNDINGS = 100
HARD_TOL = 1e-6  # largest violation of a hard margin, whose formulas hold only at the optimum


@dataclass(frozen=True)
class Solved:
    """Solved programs, and how they were computed."""

    optima: list[Optimum]
    decision: Decision
    points: Points  # in the order of the programs
    transfer: Callable[[np.ndarray], np.ndarray] | None  # coefficients for plain similarities
    origin: Any = None  # from which the points were seen, if they are vectors

    def after(self, before: Solved) -> Solved:
        """Return these answers, with the steps of those that they began with."""
        pairs = zip(self.optima, before.optima, strict=True)
        return replace(self, optima=[replace(o, steps=o.steps + b.steps) for o, b in pairs])


class SupportVectorMachine(ExpansionMachine):
    """A machine that is one or several quadratic programs."""

    max_shared_items = MAX_STORED_ITEMS
    policies = (*ExpansionMachine.policies, "as is")

    kernel: Any
    tol: float
    max_iter: int | None
    indefinite: str
    follow: Plan | None
    support_: np.ndarray
    support_vectors_: Any
    solution_: Any

    def _solve(
        self,
        kernel: Kernel,
        points: Points,
        programs: list[MarginProgram],
        weights: np.ndarray | None = None,
        hard: bool = False,
    ) -> Solved:
        """Plan, assemble and solve, first in single precision where that may be enough.

        The weights of items count where a spectrum is repaired.
        """
        tol = positive(self, "tol", self.tol)
        tol = min(tol, HARD_TOL) if hard else tol
        repair = self._require_valid(kernel, self.indefinite)
        single = self._may_be_single(points, hard or repair)
        if single:  # large coefficients leave no digits for the slopes
            bound = max(float(np.abs(p.problem.upper).max()) for p in programs)
            single = self._serves(kernel, points, bound, tol)
        decision = self._decide(kernel, points, len(programs), single, repair)
        rough = None
        if decision.precision == "mixed":
            rough = self._attempt_single(kernel, points, programs, decision, tol)
            if rough is not None and rough.optima[0].rounding <= MAX_ROUNDING * tol:
                return rough
            decision = self._decide(kernel, points, len(programs), False, repair)
        if rough is None:
            return self._attempt(kernel, points, programs, decision, tol, weights, repair)
        # Go on from there, in double precision.
        programs = [p.begin(o) for p, o in zip(programs, rough.optima, strict=True)]
        return self._attempt(kernel, points, programs, decision, tol, weights, repair).after(rough)

    def _attempt_single(
        self,
        kernel: Kernel,
        points: Points,
        programs: list[MarginProgram],
        decision: Decision,
        tol: float,
    ) -> Solved | None:
        """Solve in single precision and measure its rounding; None if values are too large."""
        try:
            solved = self._attempt(kernel, points, programs, decision, tol, None, False)
        except ValidityError:
            return None
        off = rounding(kernel, points, programs, solved.optima)
        return replace(solved, optima=[replace(found, rounding=off) for found in solved.optima])

    def _attempt(
        self,
        kernel: Kernel,
        points: Points,
        programs: list[MarginProgram],
        decision: Decision,
        tol: float,
        weights: np.ndarray | None,
        repair: bool,
    ) -> Solved:
        """Assemble and solve, in the precision that was decided."""
        dtype = decision.gram_dtype
        prepared = prepare_points(kernel, points, single=dtype == np.float32)
        steps = max_steps(self.max_iter)
        unproved = not repair and kernel.proof().verdict != "proved"
        options = SMOOptions(tol, steps, decision.working, decision.largest, decision.kept, dtype)
        source, carry = self._assemble(kernel, prepared, decision, weights, repair)
        with one_blas_thread:
            optima = run(source, programs, options)
        asked = positive(self, "tol", self.tol)  # a hard margin's own is smaller
        if isinstance(source, Climbing):
            source = cast(Gram, source.pieces)
        seen = source if unproved else None
        optima = certified(kernel, points, seen, programs, optima, asked)
        if self.indefinite == "as is":
            optima = [
                climb_as_is(part_of(source, program), program.problem, options)
                if found.status == "invalid"
                else found
                for program, found in zip(programs, optima, strict=True)
            ]
        if isinstance(source, GramRanges) and not isinstance(points, GramRows):
            BUFFERS.give(source.array)
        return Solved(optima, decision, points, carry, getattr(prepared, "origin", None))

    def _may_be_single(self, points: Points, exacting: bool) -> bool:
        """Tell whether single precision can serve for similarities, and is worth a check."""
        rough = positive(self, "tol", self.tol) >= MIN_SINGLE_TOL and not exacting
        return rough and len(points) >= MIN_SINGLE_ITEMS

    def _dry_run(self, X: Items, problems: int, hard: bool = False) -> Decision:
        """Return the decision for these items, without the work."""
        points = self._admit(X)
        kernel = self._resolve(points)
        repair = self._require_valid(kernel, self.indefinite)
        single = self._may_be_single(points, hard or repair)
        if single:
            tol = positive(self, "tol", self.tol)
            single = self._serves(kernel, points, self._largest_bound(), tol)
        return self._decide(kernel, points, problems, single, repair)

    def _largest_bound(self) -> float:
        """Return the widest box of a variable without weights, for a plan that knows no labels."""
        return 1.0

    def _serves(self, kernel: Kernel, points: Points, bound: float, tol: float) -> bool:
        """Tell whether coefficients leave digits for slopes in single precision."""
        height = float(np.max(np.abs(to_numpy(diagonal(kernel, points)))))
        return bound * height <= MAX_SINGLE_SLOPE * tol

    def _decide(
        self, kernel: Kernel, points: Points, problems: int, single: bool, repair: bool
    ) -> Decision:
        return decide_margin(requested(self.follow), kernel, points, problems, single, repair)

    def _assemble(
        self,
        kernel: Kernel,
        points: Points,
        decision: Decision,
        weights: np.ndarray | None,
        repair: bool,
    ) -> tuple[Gram | GramRanges | Climbing, Callable[[np.ndarray], np.ndarray] | None]:
        """Return the Gram matrix or what stands for it, and how coefficients become plain."""
        if repair:
            # As if an item of weight w were there w times: the spectrum is that of SKS, S = √W.
            state = Decomposed(Problem(assemble(kernel, points), weights), self.indefinite)
            V = state.vectors if state.roots is None else state.vectors / state.roots[:, None]
            return GramRanges((V * state.values) @ V.T), lambda c: transfer(
                state, c, self.indefinite
            )
        if decision.route == "primal":
            return LowRank(features_of(kernel, points)(points)), None
        engine: Any = engine_named(decision.device)
        dtype, there = decision.gram_dtype, decision.stored and isinstance(engine, Carrying)
        place = "dual" if there else decision
        found = assemble(kernel, points, place, decision.gram_precision)
        if there:  # the matrix is made here, and what is done with it elsewhere
            matrix = (
                found.array if isinstance(found, Dense) else np.empty((len(points),) * 2, dtype)
            )
            if not isinstance(found, Dense):
                found.fill(matrix)
            return engine.carry(matrix.astype(dtype, copy=False)), None
        if isinstance(found, Dense):
            return GramRanges(found.array.astype(dtype, copy=False)), None
        if decision.stored:
            K = BUFFERS.take((len(points), len(points)), dtype)
            found.fill(K)
            return GramRanges(K), None
        return found, None

    @property
    def coef_(self) -> np.ndarray:  # type: ignore[override]
        """The weights of the features of a linear kernel, one row for each program."""
        if not isinstance(getattr(self, "kernel_", None), Linear):
            raise AttributeError("coef_ is only available with a linear kernel")
        rows: Any = self.function_.points.array
        found = rows.T @ self.function_.coefficients.reshape(len(self.function_.points), -1)
        return np.asarray(found).T

    def _feature_weights(self) -> None:
        return None  # scores are those of the support vectors

    def _decision_values(self, X: Items) -> np.ndarray:
        """Return f(x) + b; of precomputed similarities only the support columns are read."""
        require_fitted(self)
        points = getattr(self.function_, "points", None)
        if not isinstance(points, GramRows):
            return super()._decision_values(X)
        rows, width, kept = np.asarray(X), self.n_features_in_, len(points)
        if rows.ndim == 2 and rows.shape[1] == width:
            rows = rows[:, points.places]
        elif rows.ndim == 2 and rows.shape[1] != kept:
            raise DomainError(
                f"X has {rows.shape[1]} features, but {type(self).__name__} is expecting {width} "
                f"features as input: similarities to all training items, or to the {kept} that "
                "count"
            )
        similarities = GRAM_ROWS.admit(rows).matrix
        return similarities @ self.function_.coefficients + self.intercept_

    def _decision_signs(self, X: Items) -> np.ndarray:
        """Return scores of which only the signs are those of double precision.

        Where the fit has shown that single precision is accurate enough, scores are computed so,
        and those that are near zero once more.
        """
        require_fitted(self)
        function, decision = self.function_, getattr(self, "plan_", None)
        rough = getattr(decision, "precision", "") == "mixed"
        rough = rough and getattr(decision, "device", "cpu") == "cpu"
        if not rough or not isinstance(function.points, Vectors):
            return self._decision_values(X)
        points = self._admit_new(X, self.kernel_)
        few = len(points) * len(function) < MIN_SINGLE_PAIRS
        if few or not isinstance(points, Vectors) or not on_numpy(points):
            return self._values(points) + self.intercept_
        origin = function.points.origin
        few_digits = function.points.view(
            "single precision", lambda p: prepare_points(self.kernel_, p, origin, single=True)
        )
        new = prepare_points(self.kernel_, points, origin, single=True)
        try:
            scores = (
                product(self.kernel_, new, few_digits, function.coefficients) + self.intercept_
            )
        except ValidityError:  # too large for single precision
            return self._decision_values(X)
        table = np.abs(scores.reshape(len(scores), -1))
        sure = (table > self._doubt(points)) & (table < np.inf)
        doubtful = np.flatnonzero(~sure.all(axis=1))
        if len(doubtful):
            some = points[doubtful]
            scores[doubtful] = function(some) + self.intercept_
        return scores

    def _doubt(self, points: Points) -> np.ndarray:
        """Return how near zero a score must be to be computed again, by item and program."""
        optima = self.solution_ if isinstance(self.solution_, tuple) else (self.solution_,)
        c = np.abs(self.function_.coefficients.reshape(len(self.function_.points), -1))
        height = float(np.max(np.abs(to_numpy(diagonal(self.kernel_, self.function_.points)))))
        doubt = np.maximum(
            DOUBTFUL_SHARE * height * c.sum(axis=0), DOUBTFUL_ROUNDINGS * optima[0].rounding
        )
        with np.errstate(all="ignore"):  # an item's similarities grow with the root of k(x, x)
            lengths = np.sqrt(np.abs(to_numpy(self.kernel_.evaluate_diagonal(points))) / height)
            return np.fmax(lengths, 1.0)[:, None] * doubt


@dataclass(frozen=True)
class SupportExpansion:
    """The function that was learned, on the support vectors alone."""

    function: Function
    support: np.ndarray
    vectors: Any

    def set_on(self, machine: SupportVectorMachine) -> None:
        """Set the attributes of a machine."""
        machine.function_, machine.support_ = self.function, self.support
        machine.support_vectors_ = self.vectors


def support_expansion(
    kernel: Kernel, solved: Solved, order: np.ndarray, coefficients: np.ndarray
) -> SupportExpansion:
    """Return the function on the items that have coefficients.

    Parameters
    ----------
    order : ndarray
        The place among the user's items of each item.
    coefficients : ndarray of shape (n,) or (n, programs)
    """
    used = np.flatnonzero(np.any(coefficients.reshape(len(order), -1) != 0, axis=1))
    plain, places = coefficients, used
    if solved.transfer is not None:
        plain, places = solved.transfer(coefficients), np.arange(len(order))
    if len(places) == 0:  # a function needs a point to stand on: the first, times zero
        places = np.array([0])
    points = prepare_points(kernel, solved.points[places], solved.origin)
    function = Function(kernel, points, plain[places])
    found = len(used) or isinstance(solved.points, Vectors)
    vectors = _things(solved.points[used]) if found else []
    return SupportExpansion(function, order[used].astype(np.int32), vectors)


def _things(points: Points) -> Any:
    """Return points as a user would know them."""
    if isinstance(points, Vectors):
        return points.array
    return list(points.items())
