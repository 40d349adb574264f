"""Each law of solvers notices a solver that breaks it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from mercer.gram import Dense
from mercer.solvers import Cholesky, Eigen, Problem
from mercer.testing import SOLVER_LAWS, SolverCase, apply


class Inexact(Cholesky):
    """Stops short of the solution."""

    def columns(self, state, R, penalty):
        found = super().columns(state, R, penalty)
        return replace(found, values=found.values * (1 + 1e-7))


class Unweighted(Cholesky):
    """Drops the weights."""

    def prepare(self, problem):
        return super().prepare(replace(problem, weights=None))


class Centered(Cholesky):
    """Takes the mean of the target for the intercept."""

    def solve(self, state, target, penalty):
        found = super().solve(state, target, penalty)
        return replace(found, intercept=target.mean(axis=0))


class Entangled(Cholesky):
    """Scales all targets alike."""

    def solve(self, state, target, penalty):
        found = super().solve(state, target, penalty)
        return replace(found, coefficients=found.coefficients * (1 + 1e-7 * target.ndim))


class Boastful(Inexact):
    """Certifies more than it has."""

    def solve(self, state, target, penalty):
        return replace(super().solve(state, target, penalty), certificate=0.0)


class Silent(Cholesky):
    """Rescues a singular system without a word."""

    def columns(self, state, R, penalty):
        return super().columns(state, R, max(penalty, 1e-8))


class Sticky(Cholesky):
    """Keeps the first penalty that a state has seen."""

    def columns(self, state, R, penalty):
        state.first = getattr(state, "first", penalty)
        return super().columns(state, R, state.first)


class Suspicious(Cholesky):
    """Trusts stored matrices only."""

    def prepare(self, problem):
        stored = isinstance(problem.gram, Dense)
        return super().prepare(problem if stored else replace(problem, gram=Dense(np.eye(15))))


class Greedy(Cholesky):
    """Works in the memory of its input."""

    def prepare(self, problem):
        return super().prepare(replace(problem, gram=Dense(problem.gram.matrix(), owned=True)))


@dataclass(frozen=True)
class Local(Eigen):
    """Repairs the spectrum for the training items only."""

    def solve(self, state, target, penalty):
        return super(Eigen, self).solve(state, target, penalty)


class Lenient(Cholesky):
    """Makes something of a penalty that is none."""

    def solve(self, state, target, penalty):
        return super().solve(state, target, abs(np.nan_to_num(penalty, posinf=1.0)))


BROKEN = [
    ("truth", Inexact()),
    ("weights", Unweighted()),
    ("repetition", Unweighted()),
    ("removal", Unweighted()),
    ("removal_without_penalty", Unweighted()),
    ("intercepts", Centered()),
    ("targets", Entangled()),
    ("certificate", Boastful()),
    ("singular", Silent()),
    ("penalties", Sticky()),
    ("operators", Suspicious()),
    ("inputs", Greedy()),
    ("repair", Local("clip")),
    ("repair", Local("flip")),
    ("bad_penalties", Lenient()),
]


@pytest.mark.parametrize(
    ("law", "solver"), BROKEN, ids=[f"{a}-{type(b).__name__}" for a, b in BROKEN]
)
def test_a_broken_solver_is_noticed(law, solver):
    with pytest.raises(AssertionError, match=f"{law} does not hold for"):
        apply(SOLVER_LAWS[law], SolverCase(solver))


def test_every_law_has_a_solver_that_breaks_it():
    assert {law for law, _ in BROKEN} == set(SOLVER_LAWS)


def test_a_certificate_tells_of_an_inexact_answer():
    # The values are off by 1e-7, so (K + λI)a is, and the residual with it.
    case = SolverCase(Inexact())
    assert case.solve(case.gram(), case.targets(), 0.3).certificate == pytest.approx(
        1e-7, rel=1e-6
    )
    assert Problem(Dense(case.gram())).weights is None
