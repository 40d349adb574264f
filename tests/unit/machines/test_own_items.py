"""Fitted machines do not depend on what becomes of the array that they were fitted to."""

import numpy as np
import pytest

from mercer import GaussianProcess, KernelPCA, KernelRidge, KernelRidgeClassifier
from mercer.kernels import Gaussian

MACHINES = [
    KernelRidge(Gaussian(1.0)),
    KernelRidge("linear"),
    KernelRidgeClassifier(Gaussian(1.0)),
    GaussianProcess(Gaussian(1.0), 0.1),
    KernelPCA(Gaussian(1.0), 2),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: repr(m)[:40])
def test_changing_the_array_in_place_changes_no_answer(machine):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    machine.fit(X, np.sign(X[:, 0]))
    ask = getattr(machine, "transform", None) or getattr(
        machine, "decision_function", machine.predict
    )
    before = ask(new)
    X[:] = rng.normal(size=X.shape)
    np.testing.assert_array_equal(ask(new), before)
    if isinstance(machine, GaussianProcess):
        std = machine.predict(new, return_std=True)[1]
        X[:] = 0.0
        np.testing.assert_array_equal(machine.predict(new, return_std=True)[1], std)


def test_a_file_that_is_mapped_is_not_copied():
    mapped = np.memmap("/dev/zero", dtype=float, mode="r", shape=(30, 2))
    machine = KernelRidge(Gaussian(5.0)).fit(mapped, np.ones(30))
    assert np.may_share_memory(machine.function_.points.array, mapped)
