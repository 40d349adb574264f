"""The configural-cue model (Gluck & Bower, 1988): the delta rule on all conjunctions of values.

On the cube of three binary dimensions its kernel depends on the Hamming distance alone, so Walsh
functions diagonalize it, and the speed at which a category is learned depends on how its energy is
spread over their orders.
"""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from mercer.cognition.experiments.designs import shj
from mercer.cognition.learners.cues import ConfiguralCue

CUBE = shj("I").stimuli
KERNEL = ConfiguralCue.kernel(3)
TYPES = ("I", "II", "III", "IV", "V", "VI")
EIGENVALUES = {0: 19, 1: 9, 2: 3, 3: 1}
QUARTER = Fraction(1, 4)
ENERGIES = {
    "I": (1, 0, 0),
    "II": (0, 1, 0),
    "III": (2 * QUARTER, 2 * QUARTER, 0),
    "IV": (3 * QUARTER, 0, QUARTER),
    "V": (QUARTER, 2 * QUARTER, QUARTER),
    "VI": (0, 0, 1),
}


def targets(kind):
    return np.where(shj(kind).categories == "A", 1.0, -1.0)


def walsh(order):
    """Products of `order` of the three dimensions, with values ±1, as unit vectors."""
    signs = 1 - 2 * CUBE
    sets = combinations(range(3), order)
    return np.array([signs[:, list(chosen)].prod(axis=1) for chosen in sets]) / np.sqrt(8)


def conjunctions(x):
    """The 26 cues of a stimulus, listed one by one."""
    cues = []
    for size in (1, 2, 3):
        for dimensions in combinations(range(3), size):
            for values in product((0.0, 1.0), repeat=size):
                cues.append(float(all(x[i] == v for i, v in zip(dimensions, values, strict=True))))
    return np.array(cues)


PHI = np.array([conjunctions(x) for x in CUBE])


def test_there_are_26_conjunctions():
    assert PHI.shape == (8, 26)
    assert KERNEL.features(CUBE).shape == (8, 26)


def test_the_kernel_counts_the_conjunctions_that_two_stimuli_share():
    K, distance = KERNEL(CUBE), np.abs(CUBE[:, None] - CUBE[None]).sum(axis=-1).astype(int)
    np.testing.assert_array_equal(K, np.array([7.0, 3.0, 1.0, 0.0])[distance])
    np.testing.assert_array_equal(K, 2.0 ** (3 - distance) - 1)
    np.testing.assert_array_equal(K, PHI @ PHI.T)
    assert KERNEL.proof().verdict == "proved"


def test_its_eigenvalues_are_those_of_the_walsh_orders():
    K = KERNEL(CUBE)
    np.testing.assert_allclose(np.linalg.eigvalsh(K), [1, 3, 3, 3, 9, 9, 9, 19], rtol=1e-12)
    for order, value in EIGENVALUES.items():
        np.testing.assert_allclose(walsh(order) @ K, value * walsh(order), atol=1e-13)


@pytest.mark.parametrize("kind", TYPES)
def test_energy_of_the_categories_by_order(kind):
    t = targets(kind) / np.sqrt(8)
    energies = [np.sum((walsh(order) @ t) ** 2) for order in range(4)]
    np.testing.assert_allclose(energies, [0, *map(float, ENERGIES[kind])], atol=1e-14)


def law(kind, rate, epochs):
    """Mean squared residual after some epochs: Σ E_k (1 − ηλ_k)^{2n}."""
    pairs = zip((1, 2, 3), ENERGIES[kind], strict=True)
    return sum(E * (1 - rate * EIGENVALUES[order]) ** (2 * epochs) for order, E in pairs)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rate", [Fraction(1, 500), Fraction(3, 100), Fraction(1, 10)])
def test_batch_learning_leaves_the_residual_of_the_law_exactly(kind, rate):
    exact = np.vectorize(Fraction, otypes=[object])
    cues, t, w = exact(PHI), exact(targets(kind)), exact(np.zeros(26))
    for epoch in range(30):
        residual = t - cues @ w
        assert residual @ residual / 8 == law(kind, rate, epoch)
        w = w + rate * (cues.T @ residual)


@pytest.mark.parametrize("kind", TYPES)
def test_for_small_rates_trial_by_trial_learning_follows_the_law(kind):
    rate, epochs = 1e-4, 300
    model = ConfiguralCue(rate).fit(
        np.tile(CUBE, (epochs, 1)), np.tile(shj(kind).categories, epochs)
    )
    residual = targets(kind) - model.function_(CUBE)[:, 0]
    assert np.mean(residual**2) == pytest.approx(law(kind, rate, epochs), rel=2e-3)


def test_the_coefficients_of_stimuli_are_the_weights_of_all_cues():
    design = shj("V")
    order = design.trials(np.random.default_rng(3))
    model = ConfiguralCue(0.03, choice=2.5).fit(CUBE[order], design.categories[order])
    w, trace, t = np.zeros(26), [], targets("V")
    for i in order:
        o = w @ PHI[i]
        trace.append(1 / (1 + np.exp(-2.5 * o)))
        w += 0.03 * (t[i] - o) * PHI[i]
    np.testing.assert_allclose(model.trace_[:, 0], trace, rtol=1e-11)
    np.testing.assert_allclose(model.function_(CUBE)[:, 0], PHI @ w, rtol=1e-11)


def test_the_law_finds_type_II_harder_than_type_III_after_any_number_of_epochs():
    for rate in (0.001, 0.01, 0.1):
        II, III = (np.array([law(kind, rate, n) for n in range(1, 500)]) for kind in ("II", "III"))
        assert (II > III).all()


@pytest.mark.parametrize("rate", [0.003, 0.02, 0.08])
@pytest.mark.parametrize("choice", [1.0, 4.0])
def test_type_II_is_never_easier_than_III_or_IV_as_it_is_for_people(rate, choice):
    model = ConfiguralCue(rate, choice)
    curves = [model.simulate(shj(kind), subjects=200, return_subjects=True) for kind in TYPES]
    means = np.array([curve.mean(axis=1) for curve in curves])
    for easier in (2, 3):
        difference = means[1] - means[easier]
        assert difference.mean() > 3 * difference.std() / np.sqrt(200)
    assert (curves[1].mean(axis=0) > curves[2].mean(axis=0)).all()
