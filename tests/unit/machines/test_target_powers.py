"""Powers of a target: there and back again, and what has none."""

import numpy as np
import pytest

from mercer.errors import DomainError, ValidityError
from mercer.machines.target_powers import (
    POWERS,
    backward,
    forward,
    require_power,
    require_scalable,
)


@pytest.mark.parametrize("scale", POWERS)
def test_back_again_are_the_targets_and_their_order_stays(scale):
    y = np.array([0.01, 0.5, 1.0, 30.0, 1e6])
    t = forward(y, scale)
    assert (np.diff(t) > 0).all()
    np.testing.assert_allclose(backward(t, scale), y, rtol=1e-12)


def test_what_is_below_all_targets_is_nothing_and_what_is_far_above_is_finite():
    assert backward(np.array([-3.0]), "root") == 0
    assert np.isfinite(backward(np.array([1e6]), "log")).all()


def test_zeros_have_roots_and_no_logarithm():
    y = np.array([2.0, 0.0, 3.0])
    require_scalable(y, "root")
    with pytest.raises(DomainError, match=r"1 of 3 are not: item 1 has 0; 'root'"):
        require_scalable(y, "log")
    with pytest.raises(DomainError, match=r"fourth root needs targets that are 0 or more.*item 1"):
        require_scalable(np.array([1.0, -2.0]), "fourth root")
    require_scalable(-y, "none")


def test_an_unknown_scale_says_which_there_are():
    with pytest.raises(ValidityError, match=r"'lgo'.*'log'"):
        require_power("lgo")
