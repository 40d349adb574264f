"""Machines with models inside come back from a file as they were."""

import numpy as np
import pytest

import mercer
from mercer import KernelRidge
from mercer.kernels import Density, Fisher, HiddenMarkov, LatentGaussian, Mixture
from mercer.models import GaussianDensity, GaussianMixtureModel, HiddenMarkovModel

ROWS = np.random.default_rng(9).normal(size=(20, 2))
WORDS = ["aabb", "abab", "bbbb", "bbab", "aaaa", "abba"] * 2
HIDDEN = HiddenMarkovModel(2, smoothing=0.1)


@pytest.mark.parametrize(
    ("kernel", "items"),
    [
        (Density(GaussianDensity(), fit_model=True), ROWS),
        (Mixture(GaussianMixtureModel(2), fit_model=True), ROWS),
        (Mixture((GaussianDensity([0.0, 0.0], 1.0), GaussianDensity([1.0, 0.0], 1.0))), ROWS),
        (LatentGaussian(1), ROWS),
        (Fisher(GaussianDensity(), fit_model=True), ROWS),
        (Fisher(HIDDEN, ridge=0.1, fit_model=True), WORDS),
        (HiddenMarkov(HIDDEN, fit_model=True), WORDS),
    ],
    ids=lambda part: type(part).__name__,
)
def test_a_saved_machine_predicts_the_same(kernel, items, tmp_path):
    machine = KernelRidge(kernel, 0.1).fit(items, np.arange(len(items)) % 3)
    mercer.save(machine, tmp_path / "machine")
    again = mercer.load(tmp_path / "machine")
    np.testing.assert_array_equal(again.predict(items), machine.predict(items))
    assert again.kernel_ == machine.kernel_
