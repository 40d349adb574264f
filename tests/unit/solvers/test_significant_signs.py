"""Spectra that are repaired: the last bit of a parameter decides nothing."""

import numpy as np
import pytest

from mercer import SVC, KernelRidge
from mercer.kernels import Sigmoid


@pytest.mark.parametrize("indefinite", ["clip", "flip"])
@pytest.mark.parametrize("make", [KernelRidge, SVC])
def test_scores_do_not_jump_where_a_slope_changes_in_its_last_bits(make, indefinite):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 2)), rng.normal(size=(20, 2))
    X = np.concatenate([X, X])  # every item twice: half of the eigenvalues are rounding
    y = np.sign(X[:, 0] * X[:, 1])
    found = []
    for slope in (0.5, 0.5 + 1e-15, 0.5 - 1e-15):
        machine = make(Sigmoid(slope, 0.1), indefinite=indefinite, **extra(make)).fit(X, y)
        found.append(getattr(machine, "decision_function", machine.predict)(new))
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    np.testing.assert_allclose(found[2], found[0], atol=1e-6)


def extra(make):
    return {"penalty": 1e-3} if make is KernelRidge else {"tol": 1e-9}
