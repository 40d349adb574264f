"""Fitted machines do not depend on what becomes of the array that they were fitted to."""

import numpy as np
import pytest

from mercer import (
    SVC,
    ExemplarClassifier,
    ExemplarRegressor,
    GaussianProcess,
    KernelLogistic,
    KernelMeans,
    KernelNeighbors,
    KernelPCA,
    KernelRidge,
    KernelRidgeClassifier,
    Perceptron,
    PrototypeClassifier,
)
from mercer.kernels import Gaussian

MACHINES = [
    KernelRidge(Gaussian(1.0)),
    KernelRidge("linear"),
    KernelRidgeClassifier(Gaussian(1.0)),
    GaussianProcess(Gaussian(1.0), 0.1),
    KernelPCA(Gaussian(1.0), 2),
    KernelLogistic(Gaussian(1.0)),
    Perceptron(Gaussian(1.0)),
    PrototypeClassifier(Gaussian(1.0)),
    ExemplarClassifier(Gaussian(1.0)),
    ExemplarRegressor(Gaussian(1.0)),
    KernelNeighbors(Gaussian(1.0)),
    KernelMeans(Gaussian(1.0), 2),
    SVC(Gaussian(1.0)),
]


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: repr(m)[:40])
def test_changing_the_array_in_place_changes_no_answer(machine):
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), rng.normal(size=(5, 3))
    machine.fit(X, np.sign(X[:, 0]))
    names = ("transform", "decision_function", "predict_proba", "predict")
    ask = next(getattr(machine, name) for name in names if hasattr(machine, name))
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
