"""A kernel times c with a penalty times c is the same problem, whatever c is."""

import warnings

import numpy as np
import pytest

from mercer import KernelRidge, Plan
from mercer.kernels import Gaussian, Linear

X = np.random.default_rng(0).normal(size=(60, 3))
y = np.sin(X[:, 0])


@pytest.mark.parametrize("c", [1e-60, 1e-30, 1.0, 1e30, 1e40, 1e60])
@pytest.mark.parametrize("precision", ["double", "mixed"])
def test_the_unit_of_similarity_does_not_matter(c, precision):
    plan = Plan(precision=precision)
    plain = KernelRidge(Gaussian(1.0), 0.1, follow=plan).fit(X, y)
    scaled = KernelRidge(c * Gaussian(1.0), 0.1 * c, follow=plan).fit(X, y)
    assert scaled.solution_.status == "solved"
    assert scaled.solution_.certificate < 1e-10
    np.testing.assert_allclose(scaled.predict(X), plain.predict(X), atol=1e-10)


@pytest.mark.parametrize("penalty", [1e-4, 1e-8, 1e-12])
def test_a_well_determined_primal_fit_is_not_called_ill_conditioned(penalty):
    rows = np.random.default_rng(1).normal(size=(1000, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine = KernelRidge(Linear(), penalty).fit(
            rows, rows @ [1.0, 2.0, 3.0] + rows[:, 0] ** 2
        )
    assert machine.plan_.route == "primal"
    assert machine.solution_.certificate < 1e-12
    expected = np.linalg.lstsq(rows, rows @ [1.0, 2.0, 3.0] + rows[:, 0] ** 2)[0]
    np.testing.assert_allclose(machine.coef_, expected, atol=1e-6)
