"""Linear machines against general optimization of what they claim to minimize."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from mercer.solvers.dual_coordinates import descend
from mercer.solvers.linear_newton import descend_primal, label_slack, tube_slack
from mercer.solvers.tube_coordinates import descend_tube

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
Y = X @ RNG.normal(size=5) + 1.0 + 0.5 * RNG.normal(size=40)
Z = np.where(Y > 1.0, 1.0, -1.0)
PRICES = RNG.uniform(0.1, 3.0, 40) * (np.arange(40) % 7 > 0)


def smallest(slack, constant):
    """Return the least of ½|w|² + Σ cu², by a general method."""
    A = np.column_stack([X, np.full(40, constant)])
    found = minimize(lambda w: w @ w / 2 + PRICES @ slack(A @ w) ** 2, np.zeros(6), tol=1e-12)
    return found.fun


@pytest.mark.parametrize("form", [sparse.csr_array, np.asarray])
@pytest.mark.parametrize("constant", [0.0, 1.0, 5.0])
@pytest.mark.parametrize("slack", [label_slack(Z), tube_slack(Y, 0.0), tube_slack(Y, 0.4)])
def test_the_primal_is_the_smallest(form, constant, slack):
    found = descend_primal(form(X), slack, PRICES, constant=constant, steps=50)
    least = smallest(slack, constant)
    assert found.solved and found.objective == pytest.approx(least, rel=1e-7)
    assert found.gap < 1e-9
    weights = X.T @ found.coefficients
    np.testing.assert_allclose(weights, found.weights, atol=1e-5)


@pytest.mark.parametrize("constant", [0.0, 2.0])
def test_the_dual_has_the_same_optimum(constant):
    rows = sparse.csr_array(X)
    given = {"squared": True, "constant": constant, "tol": 1e-10, "epochs": 10**5, "seed": 0}
    for found, slack in (
        (descend(rows, Z, PRICES, **given), label_slack(Z)),
        (descend_tube(rows, Y, PRICES, epsilon=0.4, **given), tube_slack(Y, 0.4)),
    ):
        primal = descend_primal(rows, slack, PRICES, constant=constant, steps=50)
        np.testing.assert_allclose(found.weights, primal.weights, atol=1e-6)
        np.testing.assert_allclose(found.coefficients, primal.coefficients, atol=1e-5)
        np.testing.assert_allclose(X.T @ found.coefficients, found.weights, atol=1e-9)


def test_a_gap_bounds_what_is_missing_after_few_steps():
    least = smallest(label_slack(Z), 1.0)
    for steps in range(4):
        found = descend_primal(X, label_slack(Z), PRICES, constant=1.0, steps=steps)
        assert -1e-9 <= found.objective - least <= found.gap + 1e-9


def test_the_tube_has_room():
    wide = descend_tube(
        sparse.csr_array(X), Y, PRICES, epsilon=100.0, squared=False, constant=1.0, tol=1e-6,
        epochs=100, seed=0,
    )  # fmt: skip
    assert not wide.weights.any() and wide.solved and wide.gap == 0.0
